; LDS is written while an asynchronous copy may still read it. GPU: gfx1250
; RUN: --grid 32 --block 32 --arg buf:256:u32=ramp --lds 4096
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_wait_kmcnt 0x0
  ds_store_b32 v1, v0
  s_wait_dscnt 0x0
  global_store_async_from_lds_b32 v1, v1, s[4:5]
  s_wait_storecnt 0x0
  ds_load_b32 v2, v1
  ds_store_b32 v1, v1  ; FINDING: wait still-read
  s_wait_dscnt 0x0
  s_wait_asynccnt 0x0
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_wait_kmcnt 0x0
  ds_store_b32 v1, v0
  s_wait_dscnt 0x0
  global_store_async_from_lds_b32 v1, v1, s[4:5]
  ds_load_b32 v2, v1
  ds_store_b32 v1, v1 offset:128
  s_wait_asynccnt 0x0
  ds_store_b32 v1, v1
  s_wait_dscnt 0x0
  s_endpgm
descriptor mended
.include "metadata.inc"

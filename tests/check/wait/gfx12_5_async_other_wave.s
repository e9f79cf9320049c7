; A wave reads what another copies to LDS, which comes to the barrier before its copies are done. GPU: gfx1250
; RUN: --grid 64 --block 64 --arg buf:256:u32=ramp --lds 4096
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_wait_kmcnt 0x0
  v_xor_b32 v3, 0x80, v1
  global_load_async_to_lds_b32 v1, v1, s[4:5]
  s_barrier_signal -1
  s_barrier_wait -1
  ds_load_b32 v2, v3  ; FINDING: wait missing-wait
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
  v_xor_b32 v3, 0x80, v1
  global_load_async_to_lds_b32 v1, v1, s[4:5]
  s_wait_asynccnt 0x0
  s_barrier_signal -1
  s_barrier_wait -1
  ds_load_b32 v2, v3
  s_wait_dscnt 0x0
  s_endpgm
descriptor mended
.include "metadata.inc"

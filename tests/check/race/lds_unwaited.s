; A barrier comes before LDS has done what was stored: nothing waits for that. GPU: gfx1100
; RUN: --grid 128 --block 128 --arg buf:256:u32 --lds 1024
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  v_xor_b32 v2, 0x100, v1
  ds_store_b32 v1, v0
  s_barrier
  ds_load_b32 v3, v2  ; FINDING: race lds
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  v_xor_b32 v2, 0x100, v1
  ds_store_b32 v1, v0
  ds_load_b32 v4, v1
  s_waitcnt lgkmcnt(1)
  s_barrier
  ds_load_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor mended
.include "metadata.inc"

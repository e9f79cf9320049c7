; An offset in LDS that nobody has written. GPU: gfx803
; RUN: --grid 64 --block 64 --arg buf:256:u32 --lds 1024
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_mov_b32 m0, -1
  v_and_b32 v4, 0xfc, v6
  ds_write_b32 v4, v0  ; FINDING: init address
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_mov_b32 m0, -1
  v_lshlrev_b32 v6, 2, v0
  v_and_b32 v4, 0xfc, v6
  ds_write_b32 v4, v0
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor mended
.include "metadata.inc"

; The result of a square root is used at once. GPU: gfx1101
; RUN: --grid 32 --block 32 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  v_mov_b32 v4, 4.0
  v_sqrt_f32 v4, v4
  v_mul_f32 v5, v4, v4  ; FINDING: wait hazard
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_mov_b32 v4, 4.0
  v_sqrt_f32 v4, v4
  s_waitcnt_depctr 0xfff
  v_mul_f32 v5, v4, v4
  s_endpgm
descriptor mended
.include "metadata.inc"

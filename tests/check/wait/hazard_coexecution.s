; A source of a square root is overwritten at once. GPU: gfx1250
; RUN: --grid 32 --block 32 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  v_mov_b32 v4, 4.0
  v_sqrt_f32 v5, v4
  v_mov_b32 v4, 1  ; FINDING: wait missing-nop
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_mov_b32 v4, 4.0
  v_sqrt_f32 v5, v4
  v_nop
  v_mov_b32 v4, 1
  s_endpgm
descriptor mended
.include "metadata.inc"

; Vector instructions go on beside a matrix: one reads what that is still to write, one writes what it still reads. GPU: gfx1250
; RUN: --grid 32 --block 32 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.set VGPRS, 64
.include "kernel.inc"
.macro body name, nops
  kernel \name
\name:
  v_wmma_f32_16x16x32_f16 v[8:15], v[16:23], v[24:31], v[8:15]
  s_nop 7
  .rept \nops
  v_nop
  .endr
.endm
body wrong, 3
  v_mov_b32 v16, v0  ; FINDING: wait missing-nop
  v_mov_b32 v1, v2
  v_wmma_f32_16x16x32_f16 v[40:47], v[16:23], v[24:31], v[40:47]
  v_mov_b32 v1, v40  ; FINDING: wait missing-nop
  s_endpgm
descriptor wrong
body mended, 4
  v_mov_b32 v16, v0
  v_wmma_f32_16x16x32_f16 v[40:47], v[16:23], v[24:31], v[40:47]
  v_mov_b32 v1, v2
  v_mov_b32 v3, v2
  v_nop
  v_nop
  v_mov_b32 v1, v40
  s_endpgm
descriptor mended
.include "metadata.inc"

; A matrix is multiplied as soon as it is computed. GPU: gfx1100
; RUN: --grid 32 --block 32 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.set VGPRS, 40
.include "kernel.inc"
kernel wrong
wrong:
  v_wmma_f32_16x16x16_f16 v[8:15], v[16:23], v[24:31], 0
  v_wmma_f32_16x16x16_f16 v[32:39], v[8:15], v[24:31], 0  ; FINDING: wait missing-nop
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_wmma_f32_16x16x16_f16 v[8:15], v[16:23], v[24:31], 0
  v_nop
  v_wmma_f32_16x16x16_f16 v[32:39], v[8:15], v[24:31], 0
  s_endpgm
descriptor mended
.include "metadata.inc"

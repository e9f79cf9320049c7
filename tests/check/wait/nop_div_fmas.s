; A division by steps uses VCC one wait state too early. GPU: gfx906
; RUN: --grid 64 --block 64 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  v_mov_b32 v1, 1.0
  v_div_scale_f32 v2, vcc, v1, v1, v1
  s_nop 2
  v_div_fmas_f32 v3, v1, v2, v1  ; FINDING: wait missing-nop
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_mov_b32 v1, 1.0
  v_div_scale_f32 v2, vcc, v1, v1, v1
  s_nop 3
  v_div_fmas_f32 v3, v1, v2, v1
  s_endpgm
descriptor mended
.include "metadata.inc"

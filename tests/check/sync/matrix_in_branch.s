; A matrix is multiplied where some lanes of the wave are elsewhere. GPU: gfx1201
; RUN: --grid 32 --block 32 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.set VGPRS, 32
.include "kernel.inc"
kernel wrong
wrong:
  v_cmp_lt_u32 vcc_lo, 7, v0
  s_and_saveexec_b32 s4, vcc_lo
  v_wmma_f32_16x16x16_f16 v[8:15], v[16:19], v[20:23], v[8:15]  ; FINDING: sync divergent-operation
  s_or_b32 exec_lo, exec_lo, s4
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_cmp_lt_u32 vcc_lo, 7, v0
  s_and_saveexec_b32 s4, vcc_lo
  v_mov_b32 v1, 1
  s_or_b32 exec_lo, exec_lo, s4
  v_wmma_f32_16x16x16_f16 v[8:15], v[16:19], v[20:23], v[8:15]
  s_endpgm
descriptor mended
.include "metadata.inc"

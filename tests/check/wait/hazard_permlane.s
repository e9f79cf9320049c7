; v_permlane16 follows v_cmpx. GPU: gfx1010
; RUN: --grid 32 --block 32 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  v_mov_b32 v4, 1
  s_mov_b32 s4, 0
  v_cmpx_eq_u32 v4, v4
  v_nop
  v_permlane16_b32 v5, v0, s4, s4  ; FINDING: wait hazard
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_mov_b32 v4, 1
  s_mov_b32 s4, 0
  v_cmpx_eq_u32 v4, v4
  v_mov_b32 v0, v0
  v_permlane16_b32 v5, v0, s4, s4
  s_endpgm
descriptor mended
.include "metadata.inc"

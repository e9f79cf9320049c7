; The second half of a VOPD3 in f64 reads the wave's last VGPR. GPU: gfx1250
; RUN: --grid 32 --block 32 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.set VGPRS, 16
.include "kernel.inc"
kernel wrong
wrong:
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  v_mov_b32 v14, 0
  v_mov_b32 v15, 0
  v_dual_add_f64 v[8:9], v[4:5], v[6:7] :: v_dual_mov_b32 v10, v15  ; FINDING: wait hazard
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  v_mov_b32 v14, 0
  v_mov_b32 v15, 0
  v_dual_add_f64 v[8:9], v[4:5], v[6:7] :: v_dual_mov_b32 v10, v14
  s_endpgm
descriptor mended
.include "metadata.inc"

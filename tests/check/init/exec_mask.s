; Lanes go on as a value says that nobody has written. GPU: gfx1100
; RUN: --grid 32 --block 32 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  v_add_nc_u32 v3, v7, 4
  v_cmp_gt_u32 s4, v3, v0
  s_and_saveexec_b32 s5, s4  ; FINDING: init branch
  v_mov_b32 v1, 1
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_mov_b32 v7, 4
  v_add_nc_u32 v3, v7, 4
  v_cmp_gt_u32 s4, v3, v0
  s_and_saveexec_b32 s5, s4
  v_mov_b32 v1, 1
  s_endpgm
descriptor mended
.include "metadata.inc"

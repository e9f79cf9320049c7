; A branch on a scalar register that nobody has written. GPU: gfx900
; RUN: --grid 64 --block 64 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_cmp_gt_u32 s20, 5
  s_cbranch_scc1 wrong_end  ; FINDING: init branch
  s_nop 0
wrong_end:
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_mov_b32 s20, 0
  s_cmp_gt_u32 s20, 5
  s_cbranch_scc1 mended_end
  s_nop 0
mended_end:
  s_endpgm
descriptor mended
.include "metadata.inc"

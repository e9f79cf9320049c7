; A scalar that a vector instruction writes is the next one's constant. GPU: gfx942
; RUN: --grid 64 --block 64 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.set ACCUM_OFFSET, 16
.include "kernel.inc"
kernel wrong
wrong:
  v_and_b32 v0, 0x3ff, v0
  v_cmp_gt_u32 s[4:5], 7, v0
  v_cndmask_b32 v1, 0, 1, s[4:5]  ; FINDING: wait missing-nop
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_and_b32 v0, 0x3ff, v0
  v_cmp_gt_u32 s[4:5], 7, v0
  s_nop 1
  v_cndmask_b32 v1, 0, 1, s[4:5]
  s_endpgm
descriptor mended
.include "metadata.inc"

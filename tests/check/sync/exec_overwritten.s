; Some lanes come to a barrier after which EXEC is written again, so that nothing else reads what it was. GPU: gfx1030
; RUN: --grid 64 --block 64 --arg buf:256:u32 --lds 1024
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  v_cmp_gt_u32 vcc_lo, 20, v0
  s_and_saveexec_b32 s8, vcc_lo
  s_barrier  ; FINDING: sync divergent-barrier
  s_mov_b32 exec_lo, s8
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_cmp_gt_u32 vcc_lo, 20, v0
  s_barrier
  s_and_saveexec_b32 s8, vcc_lo
  s_mov_b32 exec_lo, s8
  s_endpgm
descriptor mended
.include "metadata.inc"

; A lane is read that EXEC kept from being written. GPU: gfx1201
; RUN: --grid 32 --block 32 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_mov_b32 exec_lo, 0xf
  v_mov_b32 v3, 7
  s_mov_b32 exec_lo, -1
  v_readlane_b32 s4, v3, 9
  s_cmp_eq_u32 s4, 7
  s_cbranch_scc1 wrong_end  ; FINDING: init branch
  s_nop 0
wrong_end:
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_mov_b32 exec_lo, 0xf
  v_mov_b32 v3, 7
  s_mov_b32 exec_lo, -1
  v_readlane_b32 s4, v3, 2
  s_cmp_eq_u32 s4, 7
  s_cbranch_scc1 mended_end
  s_nop 0
mended_end:
  s_endpgm
descriptor mended
.include "metadata.inc"

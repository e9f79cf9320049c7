; A comparison of a vector register that nobody has written decides a branch. GPU: gfx1030
; RUN: --grid 32 --block 32 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  v_cmp_lt_u32 vcc_lo, 5, v5
  s_cbranch_vccnz wrong_end  ; FINDING: init branch
  s_nop 0
wrong_end:
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_lshlrev_b32 v5, 2, v0
  v_cmp_lt_u32 vcc_lo, 5, v5
  s_cbranch_vccnz mended_end
  s_nop 0
mended_end:
  s_endpgm
descriptor mended
.include "metadata.inc"

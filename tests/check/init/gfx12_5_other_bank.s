; A register of the second bank decides a branch, where only the one of the first bank was written. GPU: gfx1250
; RUN: --grid 32 --block 32 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.set VGPRS, 300
.include "kernel.inc"
kernel wrong
wrong:
  v_lshlrev_b32 v5, 2, v0
  s_set_vgpr_msb 0x4
  v_cmp_lt_u32 vcc_lo, 5, v5
  s_set_vgpr_msb 0x0
  s_cbranch_vccnz wrong_end  ; FINDING: init branch
  s_nop 0
wrong_end:
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_set_vgpr_msb 0x40
  v_lshlrev_b32 v5, 2, v0
  s_set_vgpr_msb 0x4
  v_cmp_lt_u32 vcc_lo, 5, v5
  s_set_vgpr_msb 0x0
  s_cbranch_vccnz mended_end
  s_nop 0
mended_end:
  s_endpgm
descriptor mended
.include "metadata.inc"

; s_set_vgpr_msb follows s_setreg of MODE. GPU: gfx1250
; RUN: --grid 32 --block 32 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0
  s_set_vgpr_msb 1  ; FINDING: wait missing-nop
  s_set_vgpr_msb 0
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0
  s_nop 0
  s_set_vgpr_msb 1
  s_set_vgpr_msb 0
  s_endpgm
descriptor mended
.include "metadata.inc"

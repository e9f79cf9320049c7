; A hardware register is set twice in a row. GPU: gfx803
; RUN: --grid 64 --block 64 --arg buf:256:u32 --lds 1024
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 3
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 3  ; FINDING: wait missing-nop
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 3
  s_nop 1
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 3
  s_endpgm
descriptor mended
.include "metadata.inc"

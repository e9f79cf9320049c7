; MODE is read back right after it was set. GPU: gfx803
; RUN: --grid 64 --block 64 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5
  s_getreg_b32 s4, hwreg(HW_REG_MODE, 0, 4)  ; FINDING: wait missing-nop
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5
  s_nop 1
  s_getreg_b32 s4, hwreg(HW_REG_MODE, 0, 4)
  s_endpgm
descriptor mended
.include "metadata.inc"

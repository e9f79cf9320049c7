; A lane is chosen by a scalar that a vector instruction has just written. GPU: gfx90a
; RUN: --grid 64 --block 64 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.set ACCUM_OFFSET, 16
.include "kernel.inc"
kernel wrong
wrong:
  v_and_b32 v0, 0x3ff, v0
  v_readfirstlane_b32 s4, v0
  s_nop 1
  v_readlane_b32 s5, v0, s4  ; FINDING: wait missing-nop
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_and_b32 v0, 0x3ff, v0
  v_readfirstlane_b32 s4, v0
  s_nop 3
  v_readlane_b32 s5, v0, s4
  s_endpgm
descriptor mended
.include "metadata.inc"

; A scalar load past the kernel's arguments. GPU: gfx900
; RUN: --grid 64 --block 64 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_load_dwordx2 s[4:5], s[0:1], 0x20  ; FINDING: memory arguments-out-of-bounds
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor mended
.include "metadata.inc"

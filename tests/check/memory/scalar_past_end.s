; Scalar loads have the bounds of the buffer, too. GPU: gfx900
; RUN: --grid 64 --block 64 --arg buf:10:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_load_dwordx4 s[8:11], s[4:5], 0x20  ; FINDING: memory out-of-bounds
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_load_dwordx2 s[8:9], s[4:5], 0x20
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor mended
.include "metadata.inc"

; A scalar load leaves the lowest two bits of its address out. GPU: gfx900
; RUN: --grid 64 --block 64 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_add_u32 s4, s4, 2
  s_addc_u32 s5, s5, 0
  s_load_dword s8, s[4:5], 0x0  ; FINDING: memory misaligned
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_add_u32 s4, s4, 4
  s_addc_u32 s5, s5, 0
  s_load_dword s8, s[4:5], 0x0
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor mended
.include "metadata.inc"

; An SGPR that a load takes its address from is overwritten at once. GPU: gfx1010
; RUN: --grid 32 --block 32 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  s_mov_b32 s4, 0  ; FINDING: wait hazard
  s_waitcnt vmcnt(0)
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  s_waitcnt_depctr 0xffe3
  s_mov_b32 s4, 0
  s_waitcnt vmcnt(0)
  s_endpgm
descriptor mended
.include "metadata.inc"

; A base address comes from a vector register at the last moment. GPU: gfx908
; RUN: --grid 64 --block 64 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s4
  v_lshlrev_b32 v1, 2, v0
  v_readfirstlane_b32 s4, v2
  global_store_dword v1, v0, s[4:5]  ; FINDING: wait missing-nop
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s4
  v_lshlrev_b32 v1, 2, v0
  v_readfirstlane_b32 s4, v2
  s_nop 4
  global_store_dword v1, v0, s[4:5]
  s_endpgm
descriptor mended
.include "metadata.inc"

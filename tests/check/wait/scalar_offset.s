; A scalar offset has just been written by the vector ALU, on a GPU of the second generation. GPU: gfx700
; RUN: --grid 64 --block 64 --arg buf:256:u32 --lds 1024
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_mov_b32 s6, 1024
  s_mov_b32 s7, 0x000ff000
  v_mov_b32 v1, 0
  v_mov_b32 v2, 0
  s_waitcnt lgkmcnt(0)
  v_readfirstlane_b32 s8, v2
  buffer_load_dword v3, v1, s[4:7], s8 offen  ; FINDING: wait missing-nop
  s_waitcnt vmcnt(0)
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_mov_b32 s6, 1024
  s_mov_b32 s7, 0x000ff000
  v_mov_b32 v1, 0
  v_mov_b32 v2, 0
  s_waitcnt lgkmcnt(0)
  v_readfirstlane_b32 s8, v2
  s_nop 4
  buffer_load_dword v3, v1, s[4:7], s8 offen
  s_waitcnt vmcnt(0)
  s_endpgm
descriptor mended
.include "metadata.inc"

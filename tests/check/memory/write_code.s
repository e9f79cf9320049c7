; A kernel that writes to its own code. GPU: gfx900
; RUN: --grid 1 --block 1 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_getpc_b64 s[4:5]
  v_mov_b32 v1, s4
  v_mov_b32 v2, s5
  v_mov_b32 v3, 0xbf800000
  global_store_dword v[1:2], v3, off offset:128  ; FINDING: memory read-only
  s_waitcnt vmcnt(0)
  s_endpgm
  .fill 64, 4, 0xbf800000
descriptor wrong
kernel mended
mended:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v1, s4
  v_mov_b32 v2, s5
  global_store_dword v[1:2], v3, off offset:128
  s_waitcnt vmcnt(0)
  s_endpgm
descriptor mended
.include "metadata.inc"

; A load is waited for by vmcnt(1), but a flat one that came after it may be done first. GPU: gfx900
; RUN: --grid 64 --block 64 --arg buf:256:u32 --lds 1024
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v4, s4
  v_mov_b32 v5, s5
  global_load_dword v2, v1, s[4:5]
  flat_load_dword v3, v[4:5]
  s_waitcnt vmcnt(1)
  v_add_u32 v6, 1, v2  ; FINDING: wait missing-wait
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v4, s4
  v_mov_b32 v5, s5
  global_load_dword v2, v1, s[4:5]
  flat_load_dword v3, v[4:5]
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_add_u32 v6, 1, v2
  s_endpgm
descriptor mended
.include "metadata.inc"

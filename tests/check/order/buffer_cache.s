; A load by a buffer finds what the vector cache has.
; GPU: gfx900
; RUN: --grid 2048 --block 64 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
.macro body invalidate
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 42
  s_mov_b32 s10, 0x400
  s_mov_b32 s11, 0x00027000
  s_waitcnt lgkmcnt(0)
  s_mov_b64 s[8:9], s[4:5]
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Lconsume\@
  buffer_store_dword v2, off, s[8:11], 0
  s_waitcnt vmcnt(0)
  global_store_dword v1, v2, s[4:5] offset:256 glc
  s_endpgm
.Lconsume\@:
  s_sleep 1
  global_load_dword v3, v1, s[4:5] offset:256 glc
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s6, v3
  s_nop 4
  s_cmp_eq_u32 s6, 0
  s_cbranch_scc1 .Lconsume\@
  \invalidate
.endm
kernel wrong
wrong:
  body "s_nop 0"
  buffer_load_dword v3, off, s[8:11], 0  ; FINDING: order missing-acquire
  s_waitcnt vmcnt(0)
  s_endpgm
descriptor wrong
kernel mended
mended:
  body buffer_wbinvl1
  buffer_load_dword v3, off, s[8:11], 0
  s_waitcnt vmcnt(0)
  s_endpgm
descriptor mended
.include "metadata.inc"

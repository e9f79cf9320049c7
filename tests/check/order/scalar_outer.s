; The cache of scalar loads takes old data from the vector cache behind it.
; GPU: gfx1030
; RUN: --grid 2048 --block 64 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
.macro body first, second
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 42
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Lconsume\@
  global_store_dword v1, v2, s[4:5]
  s_waitcnt_vscnt null, 0x0
  global_store_dword v1, v2, s[4:5] offset:256 glc
  s_endpgm
.Lconsume\@:
  s_sleep 1
  global_load_dword v3, v1, s[4:5] offset:256 glc dlc
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s6, v3
  s_cmp_eq_u32 s6, 0
  s_cbranch_scc1 .Lconsume\@
  \first
  \second
.endm
kernel wrong
wrong:
  body "s_nop 0", s_dcache_inv
  s_load_dword s7, s[4:5], 0x0  ; FINDING: order missing-acquire
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor wrong
kernel mended
mended:
  body buffer_gl1_inv, s_dcache_inv
  s_load_dword s7, s[4:5], 0x0
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor mended
.include "metadata.inc"

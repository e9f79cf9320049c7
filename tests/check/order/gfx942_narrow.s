; An invalidation at the work-group's scope leaves caches alone that other work-groups' stores go past.
; GPU: gfx942
; RUN: --grid 2048 --block 64 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.set ACCUM_OFFSET, 16
.include "kernel.inc"
.macro body scope
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 42
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Lconsume\@
  global_store_dword v1, v2, s[4:5]
  buffer_wbl2 sc1
  s_waitcnt vmcnt(0)
  global_store_dword v1, v2, s[4:5] offset:256 sc1
  s_endpgm
.Lconsume\@:
  s_sleep 1
  global_load_dword v3, v1, s[4:5] offset:256 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s6, v3
  s_cmp_eq_u32 s6, 0
  s_cbranch_scc1 .Lconsume\@
  buffer_inv \scope
.endm
kernel wrong
wrong:
  body sc0
  global_load_dword v3, v1, s[4:5]  ; FINDING: order missing-acquire
  s_waitcnt vmcnt(0)
  s_endpgm
descriptor wrong
kernel mended
mended:
  body sc1
  global_load_dword v3, v1, s[4:5]
  s_waitcnt vmcnt(0)
  s_endpgm
descriptor mended
.include "metadata.inc"

; The wait before the flag is for loads: stores have a counter of their own.
; GPU: gfx1200
; RUN: --grid 1024 --block 32 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
.macro body wait
  s_load_b64 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 42
  s_wait_kmcnt 0x0
  s_cmp_lg_u32 ttmp9, 0
  s_cbranch_scc1 .Lconsume\@
  global_store_b32 v1, v2, s[4:5]
  \wait 0x0
  global_store_b32 v1, v2, s[4:5] offset:256 scope:SCOPE_DEV
  s_endpgm
.Lconsume\@:
  s_sleep 1
  global_load_b32 v3, v1, s[4:5] offset:256 scope:SCOPE_DEV
  s_wait_loadcnt 0x0
  v_readfirstlane_b32 s6, v3
  s_cmp_eq_u32 s6, 0
  s_cbranch_scc1 .Lconsume\@
  global_inv scope:SCOPE_DEV
  s_wait_loadcnt 0x0
.endm
kernel wrong
wrong:
  body s_wait_loadcnt
  global_load_b32 v3, v1, s[4:5]  ; FINDING: order missing-release
  s_wait_loadcnt 0x0
  s_endpgm
descriptor wrong
kernel mended
mended:
  body s_wait_storecnt
  global_load_b32 v3, v1, s[4:5]
  s_wait_loadcnt 0x0
  s_endpgm
descriptor mended
.include "metadata.inc"

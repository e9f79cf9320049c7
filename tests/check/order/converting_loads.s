; Loads that fill half a register, or convert from the format of a buffer or an image, find what the vector cache has.
; GPU: gfx900
; RUN: --grid 4096 --block 64 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
.macro body invalidate
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, -1
  v_mov_b32 v4, 48
  v_mov_b32 v5, 0
  s_waitcnt lgkmcnt(0)
  s_mov_b64 s[8:9], s[4:5]          ; a buffer of one unsigned number each
  s_mov_b32 s10, 0x400
  s_mov_b32 s11, 0x24fac
  s_lshr_b64 s[16:17], s[4:5], 8    ; an image of 64 of them
  s_or_b32 s17, s17, 0x10400000
  s_mov_b32 s18, 63
  s_mov_b32 s19, 0x90000fac
  s_mov_b32 s20, 0x7e000
  s_mov_b32 s21, 0
  s_mov_b64 s[22:23], 0
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Lconsume\@
  global_store_dword v1, v2, s[4:5]
  global_store_dword v1, v2, s[4:5] offset:64
  buffer_store_dword v2, off, s[8:11], 0 offset:128
  image_store v2, v[4:5], s[16:23] dmask:0x1 unorm
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
  global_load_short_d16_hi v3, v1, s[4:5]  ; FINDING: order missing-acquire
  tbuffer_load_format_x v6, off, s[8:11], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_UINT] offset:64  ; FINDING: order missing-acquire
  buffer_load_format_xy v[8:9], off, s[8:11], 0 offset:128  ; FINDING: order missing-acquire
  image_load v7, v[4:5], s[16:23] dmask:0x1 unorm  ; FINDING: order missing-acquire
  s_waitcnt vmcnt(0)
  s_endpgm
descriptor wrong
kernel mended
mended:
  body buffer_wbinvl1
  global_load_short_d16_hi v3, v1, s[4:5]
  tbuffer_load_format_x v6, off, s[8:11], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_UINT] offset:64
  buffer_load_format_xy v[8:9], off, s[8:11], 0 offset:128
  image_load v7, v[4:5], s[16:23] dmask:0x1 unorm
  s_waitcnt vmcnt(0)
  s_endpgm
descriptor mended
.include "metadata.inc"

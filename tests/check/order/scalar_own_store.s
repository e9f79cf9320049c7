; A wave reads by a scalar load what it has stored itself.
; GPU: gfx1201
; RUN: --grid 1024 --block 32 --arg buf:1K:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
.macro body wait, invalidate
  s_load_b64 s[4:5], s[0:1], 0x0
  s_lshl_b32 s6, ttmp9, 6
  v_mov_b32 v1, s6
  v_mov_b32 v2, 42
  s_wait_kmcnt 0x0
  global_store_b32 v1, v2, s[4:5]
  \wait 0x0
  \invalidate
.endm
kernel wrong
wrong:
  body s_wait_storecnt, "s_nop 0"
  s_load_b32 s7, s[4:5], s6 offset:0x0  ; FINDING: order missing-acquire
  s_wait_kmcnt 0x0
  s_endpgm
descriptor wrong
kernel mended
mended:
  body s_wait_storecnt, s_dcache_inv
  s_load_b32 s7, s[4:5], s6 offset:0x0
  s_wait_kmcnt 0x0
  s_endpgm
descriptor mended
.include "metadata.inc"

; What nobody has written is stored, and loaded again from the same buffer. GPU: gfx1100
; RUN: --grid 64 --block 64 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_store_b32 v1, v9, s[4:5]
  s_waitcnt_vscnt null, 0x0
  global_load_b32 v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_cmp_eq_u32 vcc_lo, 1, v2
  s_cbranch_vccz wrong_end  ; FINDING: init branch
  s_nop 0
wrong_end:
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v9, 1
  s_waitcnt lgkmcnt(0)
  global_store_b32 v1, v9, s[4:5]
  s_waitcnt_vscnt null, 0x0
  global_load_b32 v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_cmp_eq_u32 vcc_lo, 1, v2
  s_cbranch_vccz mended_end
  s_nop 0
mended_end:
  s_endpgm
descriptor mended
.include "metadata.inc"

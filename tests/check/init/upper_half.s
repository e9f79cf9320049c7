; A load fills the lower half of a register, and the upper decides. GPU: gfx900
; RUN: --grid 64 --block 64 --arg buf:256:u32 --lds 1024
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 1, v0
  ds_write_b16 v1, v0
  ds_read_u16_d16 v2, v1
  s_waitcnt lgkmcnt(0)
  v_lshrrev_b32 v3, 16, v2
  v_cmp_eq_u32 vcc, 0, v3
  s_cbranch_vccz wrong_end  ; FINDING: init branch
  s_nop 0
wrong_end:
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 1, v0
  ds_write_b16 v1, v0
  ds_read_u16_d16 v2, v1
  s_waitcnt lgkmcnt(0)
  v_and_b32 v3, 0xffff, v2
  v_cmp_eq_u32 vcc, 0, v3
  s_cbranch_vccz mended_end
  s_nop 0
mended_end:
  s_endpgm
descriptor mended
.include "metadata.inc"

; What nobody has written in LDS decides a branch, by way of a scalar. GPU: gfx942
; RUN: --grid 64 --block 64 --arg buf:256:u32 --lds 1024
.set SCRATCH_BYTES, 0
.set ACCUM_OFFSET, 16
.include "kernel.inc"
kernel wrong
wrong:
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  ds_read_b32 v2, v1 offset:256
  s_waitcnt lgkmcnt(0)
  v_readfirstlane_b32 s4, v2
  s_cmp_eq_u32 s4, 7
  s_cbranch_scc1 wrong_end  ; FINDING: init branch
  s_nop 0
wrong_end:
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  ds_write_b32 v1, v0 offset:256
  ds_read_b32 v2, v1 offset:256
  s_waitcnt lgkmcnt(0)
  v_readfirstlane_b32 s4, v2
  s_cmp_eq_u32 s4, 7
  s_cbranch_scc1 mended_end
  s_nop 0
mended_end:
  s_endpgm
descriptor mended
.include "metadata.inc"

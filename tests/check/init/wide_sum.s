; The upper half of an address' index is used, which nobody has written before it was added. GPU: gfx90a
; RUN: --grid 64 --block 64 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.set ACCUM_OFFSET, 16
.include "kernel.inc"
kernel wrong
wrong:
  v_mov_b32 v4, 5
  v_mad_u64_u32 v[2:3], s[4:5], v0, v4, v[4:5]
  s_branch wrong_use
wrong_use:
  v_cmp_lt_u32 vcc, 7, v3
  s_cbranch_vccnz wrong_end  ; FINDING: init branch
  s_nop 0
wrong_end:
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_mov_b32 v4, 5
  v_mad_u64_u32 v[2:3], s[4:5], v0, v4, v[4:5]
  s_branch mended_use
mended_use:
  v_cmp_lt_u32 vcc, 7, v2
  s_cbranch_vccnz mended_end
  s_nop 0
mended_end:
  s_endpgm
descriptor mended
.include "metadata.inc"

; Waves branch on the carry of a sum of 64 bits, whose upper half nobody has written. GPU: gfx1030
; RUN: --grid 64 --block 64 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  v_mov_b32 v4, 5
  v_mad_u64_u32 v[2:3], s4, v0, v4, v[4:5]
  v_mad_u64_u32 v[6:7], s6, v0, v4, v[2:3]
  s_branch wrong_use
wrong_use:
  s_and_b32 vcc_lo, exec_lo, s6
  s_cbranch_vccnz wrong_end  ; FINDING: init branch
  s_nop 0
wrong_end:
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_mov_b32 v4, 5
  v_mov_b32 v5, 0
  v_mad_u64_u32 v[2:3], s4, v0, v4, v[4:5]
  v_mad_u64_u32 v[6:7], s6, v0, v4, v[2:3]
  s_branch mended_use
mended_use:
  s_and_b32 vcc_lo, exec_lo, s6
  s_cbranch_vccnz mended_end
  s_nop 0
mended_end:
  s_endpgm
descriptor mended
.include "metadata.inc"

; The upper half of a register is still to be loaded: the lower half is there, and the upper one is not. GPU: gfx1100
; RUN: --grid 32 --block 32 --arg buf:256:u32=ramp
.set SCRATCH_BYTES, 0
.include "kernel.inc"
.macro body name
  kernel \name
\name:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v2, 0
  s_waitcnt lgkmcnt(0)
  global_load_d16_hi_b16 v2, v1, s[4:5]
  v_cvt_f32_f16 v3, v2.l
.endm
body wrong
  v_cvt_f32_f16 v4, v2.h  ; FINDING: wait missing-wait
  s_waitcnt vmcnt(0)
  s_endpgm
descriptor wrong
body mended
  v_mov_b16 v2.l, 1.0
  s_waitcnt vmcnt(0)
  v_cvt_f32_f16 v4, v2.h
  s_endpgm
descriptor mended
.include "metadata.inc"

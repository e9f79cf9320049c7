; lgkmcnt counts to 15: with 15 younger accesses of LDS under way the first one is done, with 14 it need not be. GPU: gfx90a
; RUN: --grid 64 --block 64 --arg buf:256:u32=ramp --lds 4096
.set SCRATCH_BYTES, 0
.set VGPRS, 32
.set ACCUM_OFFSET, 32
.include "kernel.inc"
.macro body name, younger
  kernel \name
\name:
  v_lshlrev_b32 v1, 2, v0
  ds_read_b32 v2, v1
  .rept \younger
  ds_read_b32 v4, v1 offset:256
  .endr
.endm
body wrong, 14
  v_mov_b32 v3, v2  ; FINDING: wait missing-wait
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor wrong
body mended, 15
  v_mov_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor mended
.include "metadata.inc"

; Two waves store to the same place in LDS: other values, and the same ones. GPU: gfx1030
; RUN: --grid 64 --block 64 --arg buf:256:u32 --lds 1024
.set SCRATCH_BYTES, 0
.include "kernel.inc"
.macro body name, second
  kernel \name
\name:
  v_and_b32 v0, 0x3ff, v0
  v_and_b32 v1, 31, v0
  v_lshlrev_b32 v1, 2, v1
  v_lshrrev_b32 v4, 5, v0
  v_mov_b32 v2, 7
  v_mov_b32 v3, 8
  ds_write_b16 v1, v2 offset:512
  ds_write2_b32 v1, v2, \second offset0:0 offset1:64
.endm
body wrong, v4  ; FINDING: race lds
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor wrong
body mended, v3
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor mended
.include "metadata.inc"

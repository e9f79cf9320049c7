; DPP reads what was written too lately. GPU: gfx900
; RUN: --grid 64 --block 64 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  v_mov_b32 v1, v0
  v_mov_b32 v2, v1 row_shr:1  ; FINDING: wait missing-nop
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_mov_b32 v1, v0
  s_nop 1
  v_mov_b32 v2, v1 row_shr:1
  s_endpgm
descriptor mended
.include "metadata.inc"

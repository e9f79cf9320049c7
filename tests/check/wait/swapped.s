; Rows are swapped that have just been written. GPU: gfx950
; RUN: --grid 64 --block 64 --arg buf:256:u32 --lds 1024
.set SCRATCH_BYTES, 0
.set ACCUM_OFFSET, 16
.include "kernel.inc"
kernel wrong
wrong:
  v_mov_b32 v2, v0
  v_mov_b32 v3, v0
  v_permlane32_swap_b32 v2, v3  ; FINDING: wait missing-nop
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_mov_b32 v2, v0
  v_mov_b32 v3, v0
  s_nop 1
  v_permlane32_swap_b32 v2, v3
  s_endpgm
descriptor mended
.include "metadata.inc"

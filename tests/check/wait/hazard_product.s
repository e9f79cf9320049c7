; v_mad_u64_u32 writes a register of its sources. GPU: gfx1100
; RUN: --grid 32 --block 32 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  v_mov_b32 v4, 3
  v_mov_b32 v5, 5
  v_mov_b32 v6, 7
  v_mov_b32 v7, 0
  v_mad_u64_u32 v[4:5], null, v4, v5, v[6:7]  ; FINDING: wait hazard
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_mov_b32 v4, 3
  v_mov_b32 v5, 5
  v_mov_b32 v6, 7
  v_mov_b32 v7, 0
  v_mad_u64_u32 v[8:9], null, v4, v5, v[6:7]
  s_endpgm
descriptor mended
.include "metadata.inc"

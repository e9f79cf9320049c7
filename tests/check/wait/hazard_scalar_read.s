; An SGPR that a vector instruction has read is written and read. GPU: gfx1201
; RUN: --grid 32 --block 32 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_mov_b32 s4, 1
  v_mov_b32 v4, s4
  s_mov_b32 s4, 2
  s_mov_b32 s5, s4  ; FINDING: wait hazard
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_mov_b32 s4, 1
  v_mov_b32 v4, s4
  s_mov_b32 s4, 2
  s_wait_alu 0xfffe
  s_mov_b32 s5, s4
  s_endpgm
descriptor mended
.include "metadata.inc"

; Two waves arrive at a named barrier that none has initialized. GPU: gfx1250
; RUN: --grid 64 --block 64 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_barrier_signal 2  ; FINDING: sync named-barrier
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_readfirstlane_b32 s4, v0
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 .Larrive
  s_mov_b32 m0, 0x20002
  s_barrier_init m0
.Larrive:
  s_barrier_signal -1
  s_barrier_wait -1
  s_barrier_join 2
  s_barrier_signal -1
  s_barrier_wait -1
  s_barrier_signal 2
  s_barrier_wait 2
  s_endpgm
descriptor mended
.include "metadata.inc"

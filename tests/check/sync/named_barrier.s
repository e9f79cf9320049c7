; A wave initializes a named barrier that expects no arrival. GPU: gfx1250
; RUN: --grid 32 --block 32 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_mov_b32 m0, 3  ; barrier 3, without a count
  s_barrier_init m0  ; FINDING: sync named-barrier
  s_barrier_join 3
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_mov_b32 m0, 0x10003
  s_barrier_init m0
  s_barrier_join 3
  s_barrier_signal 3
  s_barrier_wait 3
  s_barrier_leave
  s_endpgm
descriptor mended
.include "metadata.inc"

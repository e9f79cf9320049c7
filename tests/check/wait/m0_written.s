; A message is sent by M0, which has just been written. GPU: gfx906
; RUN: --grid 64 --block 64 --arg buf:256:u32 --lds 1024
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_mov_b32 m0, 0
  s_sendmsg sendmsg(MSG_INTERRUPT)  ; FINDING: wait missing-nop
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_mov_b32 m0, 0
  s_nop 0
  s_sendmsg sendmsg(MSG_INTERRUPT)
  s_endpgm
descriptor mended
.include "metadata.inc"

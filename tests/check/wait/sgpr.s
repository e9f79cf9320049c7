; An SGPR is used that waves have not got: the kernel asks for 32. GPU: gfx906
; RUN: --grid 64 --block 64 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_mov_b32 s31, 5
  s_mov_b64 s[60:61], 5  ; FINDING: wait register-out-of-bounds
  s_add_u32 s2, s60, s31
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_mov_b32 s31, 5
  s_mov_b64 s[20:21], 5
  s_add_u32 s2, s20, s31
  s_mov_b64 vcc, exec
  s_endpgm
descriptor mended
.include "metadata.inc"

; An AGPR is used that waves have not got: the kernel asks for 16 VGPRs, so that there are 16 AGPRs. GPU: gfx908
; RUN: --grid 64 --block 64 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  v_accvgpr_write_b32 a60, v0  ; FINDING: wait register-out-of-bounds
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_accvgpr_write_b32 a15, v0
  s_endpgm
descriptor mended
.include "metadata.inc"

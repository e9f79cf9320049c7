; A VGPR is used that waves have not got: the kernel asks for 16. GPU: gfx1201
; RUN: --grid 64 --block 64 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  v_mov_b32 v60, 5  ; FINDING: wait register-out-of-bounds
  v_add_nc_u32 v2, v60, v0
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_mov_b32 v6, 5
  v_add_nc_u32 v2, v6, v0
  s_endpgm
descriptor mended
.include "metadata.inc"

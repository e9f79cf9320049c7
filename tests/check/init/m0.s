; LDS is accessed without m0, which says where it ends until GFX8. GPU: gfx803
; RUN: --grid 64 --block 64 --arg buf:256:u32 --lds 1024
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  v_lshlrev_b32 v1, 2, v0
  ds_write_b32 v1, v0  ; FINDING: init address
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_lshlrev_b32 v1, 2, v0
  s_mov_b32 m0, -1
  ds_write_b32 v1, v0
  s_endpgm
descriptor mended
.include "metadata.inc"

; Until GFX8, 8 bytes in LDS have to be aligned to 8. GPU: gfx803
; RUN: --grid 64 --block 64 --arg buf:64:u32 --lds 1024
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_mov_b32 m0, -1
  v_lshlrev_b32 v1, 3, v0
  ds_write_b64 v1, v[2:3] offset:4  ; FINDING: memory misaligned
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_mov_b32 m0, -1
  v_lshlrev_b32 v1, 3, v0
  ds_write_b64 v1, v[2:3] offset:8
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor mended
.include "metadata.inc"

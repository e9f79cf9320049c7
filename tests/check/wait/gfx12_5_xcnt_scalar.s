; The pointer to arguments is written over while one of two loads may still need it. GPU: gfx1250
; RUN: --grid 32 --block 32 --arg buf:256:u32=ramp --lds 4096
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_load_b64 s[4:5], s[0:1], 0x0
  s_load_b64 s[6:7], s[0:1], 0x0
  s_wait_xcnt 0x1
  s_mov_b32 s0, 0  ; FINDING: wait still-read
  s_wait_kmcnt 0x0
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_load_b64 s[4:5], s[0:1], 0x0
  s_load_b64 s[6:7], s[0:1], 0x0
  s_wait_xcnt 0x0
  s_mov_b32 s0, 0
  s_wait_kmcnt 0x0
  s_load_b64 s[6:7], s[4:5], 0x0
  v_mov_b32 v1, 0
  global_store_b32 v1, v0, s[4:5]
  s_wait_xcnt 0x0
  s_mov_b32 s4, 0
  s_wait_kmcnt 0x0
  s_endpgm
descriptor mended
.include "metadata.inc"

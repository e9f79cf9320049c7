; Registers are written that stores still need, should their pages be missing. GPU: gfx1250
; RUN: --grid 32 --block 32 --arg buf:256:u32=ramp --lds 4096
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_wait_kmcnt 0x0
  global_store_b32 v1, v0, s[4:5]
  v_mov_b32 v0, 7  ; FINDING: wait still-read
  s_wait_xcnt 0x0
  global_store_b32 v1, v0, s[4:5] offset:128
  s_add_co_u32 s4, s4, 0x100  ; FINDING: wait still-read
  s_wait_xcnt 0x0
  v_mov_b32 v2, 3
  global_store_b32 v1, v0, s[4:5]
  global_store_b32 v1, v2, s[4:5] offset:128
  s_wait_xcnt 0x1
  v_mov_b32 v0, 5
  v_mov_b32 v2, 9  ; FINDING: wait still-read
  s_mov_b32 exec_lo, 1  ; FINDING: wait still-read
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_wait_kmcnt 0x0
  global_store_b32 v1, v0, s[4:5]
  s_wait_xcnt 0x0
  v_mov_b32 v0, 7
  global_store_b32 v1, v0, s[4:5] offset:128
  s_wait_storecnt 0x0
  s_add_co_u32 s4, s4, 0x100
  v_mov_b32 v2, 3
  global_store_b32 v1, v0, s[4:5]
  global_store_b32 v1, v2, s[4:5] offset:128
  s_wait_xcnt 0x1
  v_mov_b32 v0, 5
  global_load_b32 v1, v1, s[4:5]
  s_wait_xcnt 0x0
  v_mov_b32 v2, 9
  s_mov_b32 exec_lo, 1
  s_endpgm
descriptor mended
.include "metadata.inc"

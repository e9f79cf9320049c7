; LDS is written while a tensor's copy may still read it. GPU: gfx1250
; RUN: --grid 32 --block 32 --arg buf:256:u32=ramp --lds 4096
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_wait_kmcnt 0x0
  s_mov_b32 s8, 1
  s_mov_b32 s9, 0
  s_mov_b32 s10, s4
  s_or_b32 s11, s5, 0x80000000
  s_mov_b32 s12, 0x20000
  s_mov_b32 s13, 0x100000
  s_mov_b32 s14, 0x20000
  s_mov_b32 s15, 0x100000
  s_mov_b32 s16, 2
  s_mov_b32 s17, 16
  s_mov_b64 s[18:19], 0
  tensor_store_from_lds s[8:11], s[12:19]
  s_wait_storecnt 0x0
  ds_store_b32 v1, v0  ; FINDING: wait still-read
  s_wait_dscnt 0x0
  s_wait_tensorcnt 0x0
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_wait_kmcnt 0x0
  s_mov_b32 s8, 1
  s_mov_b32 s9, 0
  s_mov_b32 s10, s4
  s_or_b32 s11, s5, 0x80000000
  s_mov_b32 s12, 0x20000
  s_mov_b32 s13, 0x100000
  s_mov_b32 s14, 0x20000
  s_mov_b32 s15, 0x100000
  s_mov_b32 s16, 2
  s_mov_b32 s17, 16
  s_mov_b64 s[18:19], 0
  tensor_store_from_lds s[8:11], s[12:19]
  ds_store_b32 v1, v0 offset:128
  s_wait_tensorcnt 0x0
  ds_store_b32 v1, v0
  s_wait_dscnt 0x0
  s_endpgm
descriptor mended
.include "metadata.inc"

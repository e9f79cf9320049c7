; A buffer resource with more bytes than the buffer has: the GPU's own bounds do not help. GPU: gfx900
; RUN: --grid 64 --block 64 --arg buf:60:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
.macro store records
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_mov_b32 s6, \records
  s_mov_b32 s7, 0x00024fac
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
.endm
kernel wrong
wrong:
  store 256
  buffer_store_dword v0, v1, s[4:7], 0 offen  ; FINDING: memory out-of-bounds
  s_endpgm
descriptor wrong
kernel mended
mended:
  store 240
  buffer_store_dword v0, v1, s[4:7], 0 offen
  s_endpgm
descriptor mended
.include "metadata.inc"

; A load of LDS is waited for by lgkmcnt(1), but a scalar one that came after it may be done first. GPU: gfx900
; RUN: --grid 64 --block 64 --arg buf:256:u32 --lds 1024
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v2, v1
  s_load_dword s4, s[0:1], 0x0
  s_waitcnt lgkmcnt(1)
  v_add_u32 v3, 1, v2  ; FINDING: wait missing-wait
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v2, v1
  ds_read_b32 v4, v1
  s_load_dword s4, s[0:1], 0x0
  s_waitcnt lgkmcnt(1)
  v_add_u32 v3, 1, v2
  s_waitcnt lgkmcnt(0)
  s_endpgm
descriptor mended
.include "metadata.inc"

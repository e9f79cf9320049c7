; LDS is read before a load has brought there what it loads. GPU: gfx942
; RUN: --grid 64 --block 64 --arg buf:256:u32 --lds 1024
.set SCRATCH_BYTES, 0
.set ACCUM_OFFSET, 16
.include "kernel.inc"
.macro body
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_mov_b32 m0, 0
  s_waitcnt lgkmcnt(0)
  global_load_lds_dword v1, s[4:5]
  global_load_dword v2, v1, s[4:5] offset:256
.endm
kernel wrong
wrong:
  body
  s_waitcnt vmcnt(2)
  ds_read_b32 v3, v1  ; FINDING: wait missing-wait
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_endpgm
descriptor wrong
kernel mended
mended:
  body
  s_waitcnt vmcnt(1)
  ds_read_b32 v3, v1
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_endpgm
descriptor mended
.include "metadata.inc"

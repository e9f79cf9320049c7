; Both halves of a register are loaded without a wait between, which is in order from LDS alone. GPU: gfx1030
; RUN: --grid 32 --block 32 --arg buf:256:u32=ramp --lds 4096
.set SCRATCH_BYTES, 0
.include "kernel.inc"
.macro body name
  kernel \name
\name:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
.endm
body wrong
  global_load_ushort v2, v1, s[4:5]
  ds_read_u16_d16_hi v2, v1  ; FINDING: wait overwritten
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_endpgm
descriptor wrong
body mended
  ds_read_u16 v2, v1
  ds_read_u16_d16_hi v2, v1 offset:256
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v3, v2
  s_endpgm
descriptor mended
.include "metadata.inc"

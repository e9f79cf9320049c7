; LDS is read behind what the copy of a tensor has filled, whose tile has 32 elements. GPU: gfx1250
; RUN: --grid 32 --block 32 --arg buf:256:u32=ramp --lds 4096
.set SCRATCH_BYTES, 0
.include "kernel.inc"
.macro body name, offset
  kernel \name
\name:
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
  tensor_load_to_lds s[8:11], s[12:19]
  s_wait_tensorcnt 0x0
  ds_load_b32 v2, v1 offset:\offset
  s_wait_dscnt 0x0
  v_cmp_lt_u32 vcc_lo, 5, v2
.endm
body wrong, 2048
  s_cbranch_vccnz wrong_end  ; FINDING: init branch
  s_nop 0
wrong_end:
  s_endpgm
descriptor wrong
body mended, 0
  s_cbranch_vccnz mended_end
  s_nop 0
mended_end:
  s_endpgm
descriptor mended
.include "metadata.inc"

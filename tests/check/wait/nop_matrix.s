; A matrix is stored before it is there, and what it is added to is overwritten meanwhile. GPU: gfx942
; RUN: --grid 64 --block 64 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.set VGPRS, 32
.set ACCUM_OFFSET, 32
.include "kernel.inc"
.macro body name, nop
  kernel \name
\name:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
  s_nop 4
  v_mfma_f32_16x16x16_f16 v[4:7], v[12:13], v[14:15], v[8:11]
  s_nop \nop
.endm
body wrong, 1
  v_mov_b32 v8, v0  ; FINDING: wait missing-nop
  s_nop 2
  global_store_dword v0, v4, s[4:5]  ; FINDING: wait missing-nop
  s_endpgm
descriptor wrong
body mended, 2
  v_mov_b32 v8, v0
  s_nop 2
  global_store_dword v0, v4, s[4:5]
  s_endpgm
descriptor mended
.include "metadata.inc"

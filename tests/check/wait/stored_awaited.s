; What a store of four dwords reads may be overwritten after two wait states, or once the store has been waited for. GPU: gfx942
; RUN: --grid 64 --block 64 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.set ACCUM_OFFSET, 16
.include "kernel.inc"
.macro body name
  kernel \name
\name:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
  s_nop 4
  global_store_dwordx4 v0, v[4:7], s[4:5] sc1
.endm
body wrong
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v5, v0  ; FINDING: wait missing-nop
  s_endpgm
descriptor wrong
body mended
  s_waitcnt vmcnt(0)
  v_mov_b32 v5, v0
  s_endpgm
descriptor mended
.include "metadata.inc"

; A register is read of which a part has just been written. GPU: gfx942
; RUN: --grid 64 --block 64 --arg buf:256:u32 --lds 1024
.set SCRATCH_BYTES, 0
.set ACCUM_OFFSET, 16
.include "kernel.inc"
kernel wrong
wrong:
  v_mov_b32 v2, 0
  v_mov_b32_sdwa v2, v0 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0
  v_add_u32 v3, v2, v0  ; FINDING: wait missing-nop
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_mov_b32 v2, 0
  v_mov_b32_sdwa v2, v0 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0
  s_nop 0
  v_add_u32 v3, v2, v0
  s_endpgm
descriptor mended
.include "metadata.inc"

; A carry comes of what nobody has written. GPU: gfx906
; RUN: --grid 64 --block 64 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  v_mov_b32 v4, -1
  v_add_co_u32 v3, vcc, v4, v9
  s_cbranch_vccnz wrong_end  ; FINDING: init branch
  s_nop 0
wrong_end:
  s_endpgm
descriptor wrong
kernel mended
mended:
  v_mov_b32 v4, -1
  v_mov_b32 v9, 1
  v_add_co_u32 v3, vcc, v4, v9
  s_cbranch_vccnz mended_end
  s_nop 0
mended_end:
  s_endpgm
descriptor mended
.include "metadata.inc"

; A lane mask is overwritten and read. GPU: gfx1100
; RUN: --grid 64 --block 64 --arg buf:64:u32
.set SCRATCH_BYTES, 0
.set WAVE64, 1
.include "kernel.inc"
kernel wrong
wrong:
  s_mov_b64 vcc, -1
  v_div_fmas_f32 v1, v0, v0, v0
  s_mov_b64 vcc, 0
  v_div_fmas_f32 v2, v0, v0, v0  ; FINDING: wait hazard
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_mov_b64 vcc, -1
  v_div_fmas_f32 v1, v0, v0, v0
  s_mov_b64 vcc, 0
  s_waitcnt_depctr 0xfffe
  v_div_fmas_f32 v2, v0, v0, v0
  s_endpgm
descriptor mended
.include "metadata.inc"

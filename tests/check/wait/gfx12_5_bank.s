; A register of the second bank is read while a load is still to fill it. GPU: gfx1250
; RUN: --grid 32 --block 32 --arg buf:256:u32=ramp --lds 4096
.set SCRATCH_BYTES, 0
.set VGPRS, 300
.include "kernel.inc"
kernel wrong
wrong:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_wait_kmcnt 0x0
  s_set_vgpr_msb 0x40
  global_load_b32 v2, v1, s[4:5]
  s_set_vgpr_msb 0x0
  v_mov_b32 v3, v2
  s_set_vgpr_msb 0x1
  v_mov_b32 v3, v2  ; FINDING: wait missing-wait
  s_set_vgpr_msb 0x0
  s_wait_loadcnt 0x0
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_wait_kmcnt 0x0
  s_set_vgpr_msb 0x40
  global_load_b32 v2, v1, s[4:5]
  s_set_vgpr_msb 0x0
  v_mov_b32 v3, v2
  s_wait_loadcnt 0x0
  s_set_vgpr_msb 0x1
  v_mov_b32 v3, v2
  s_set_vgpr_msb 0x0
  s_endpgm
descriptor mended
.include "metadata.inc"

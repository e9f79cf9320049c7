; An atomic on memory that returns nothing adds what nobody has written. GPU: gfx90a
; RUN: --grid 64 --block 64 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.set ACCUM_OFFSET, 16
.include "kernel.inc"
kernel wrong
wrong:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_atomic_add v1, v9, s[4:5]  ; FINDING: init atomic
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v9, 1
  s_waitcnt lgkmcnt(0)
  global_atomic_add v1, v9, s[4:5]
  s_endpgm
descriptor mended
.include "metadata.inc"

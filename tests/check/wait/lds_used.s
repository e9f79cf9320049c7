; What comes from another lane by LDS is used at once. GPU: gfx1100
; RUN: --grid 32 --block 32 --arg buf:256:u32
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  ds_bpermute_b32 v2, v1, v0
  v_add_nc_u32 v3, v2, v0  ; FINDING: wait missing-wait
  s_waitcnt lgkmcnt(0)
  global_store_b32 v1, v3, s[4:5]
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  ds_bpermute_b32 v2, v1, v0
  s_waitcnt lgkmcnt(0)
  v_add_nc_u32 v3, v2, v0
  global_store_b32 v1, v3, s[4:5]
  s_endpgm
descriptor mended
.include "metadata.inc"

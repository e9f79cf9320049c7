; A flat address in the aperture of LDS, past what the work-group has. GPU: gfx900
; RUN: --grid 64 --block 64 --arg buf:64:u32 --lds 256
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_mov_b64 s[4:5], src_shared_base
  v_mov_b32 v2, s5
  v_lshlrev_b32 v1, 2, v0
  v_add_u32 v1, 4, v1
  flat_store_dword v[1:2], v0  ; FINDING: memory lds-out-of-bounds
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_mov_b64 s[4:5], src_shared_base
  v_mov_b32 v2, s5
  v_lshlrev_b32 v1, 2, v0
  flat_store_dword v[1:2], v0
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_endpgm
descriptor mended
.include "metadata.inc"

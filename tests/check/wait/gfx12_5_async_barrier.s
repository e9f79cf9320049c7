; A copy to LDS arrives at a barrier there, and what it brings is read without a look at that. GPU: gfx1250
; RUN: --grid 32 --block 32 --arg buf:256:u32=ramp --lds 4096
.set SCRATCH_BYTES, 0
.include "kernel.inc"
kernel wrong
wrong:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_wait_kmcnt 0x0
  v_dual_mov_b32 v4, 0 :: v_dual_mov_b32 v5, 0
  v_mov_b32 v6, 0
  s_mov_b32 s6, exec_lo
  s_mov_b32 exec_lo, 1
  ds_store_b64 v6, v[4:5] offset:1024
  s_wait_dscnt 0x0
  s_mov_b32 exec_lo, s6
  global_load_async_to_lds_b32 v1, v1, s[4:5]
  s_wait_xcnt 0x0
  s_mov_b32 exec_lo, 1
  s_wait_alu 0xffe3
  ds_atomic_async_barrier_arrive_b64 v6 offset:1024
  s_wait_alu 0xffe3
  s_mov_b32 exec_lo, s6
  ds_load_b32 v2, v1  ; FINDING: wait missing-wait
  s_wait_dscnt 0x0
  s_endpgm
descriptor wrong
kernel mended
mended:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_wait_kmcnt 0x0
  v_dual_mov_b32 v4, 0 :: v_dual_mov_b32 v5, 0
  v_mov_b32 v6, 0
  s_mov_b32 s6, exec_lo
  s_mov_b32 exec_lo, 1
  ds_store_b64 v6, v[4:5] offset:1024
  s_wait_dscnt 0x0
  s_mov_b32 exec_lo, s6
  global_load_async_to_lds_b32 v1, v1, s[4:5]
  s_wait_xcnt 0x0
  s_mov_b32 exec_lo, 1
  s_wait_alu 0xffe3
  ds_atomic_async_barrier_arrive_b64 v6 offset:1024
  s_wait_alu 0xffe3
  s_mov_b32 exec_lo, s6
.Lwait:
  ds_load_b64 v[8:9], v6 offset:1024
  s_wait_dscnt 0x0
  v_readfirstlane_b32 s7, v8
  s_lshr_b32 s7, s7, 16
  s_cmp_eq_u32 s7, 0
  s_cbranch_scc1 .Lwait
  ds_load_b32 v2, v1
  s_wait_dscnt 0x0
  s_endpgm
descriptor mended
.include "metadata.inc"

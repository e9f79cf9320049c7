  s_mov_b32 s0, 2
again:
  v_add_nc_u32_e32 v0, v0, v1
  s_sub_i32 s0, s0, 1
  s_cmp_lg_u32 s0, 0
  s_cbranch_scc1 again

v_add_f32 v0, v1, v2 glc
v_add_f32_e32 v0, v1, s2
v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, v2
v_addf32 v0, v1, v2

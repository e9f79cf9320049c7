.catalyst_target "tahiti", 32
.catalyst_driver "driver 923.1"
.catalyst_options "-O3"
.catalyst_global 2
	.long 1, 2, 3, 4
.catalyst_kernel add
.catalyst_header
	.fill 20, 1, 0
	.byte 1, 0, 0, 0
.catalyst_metadata
	.ascii ";ARGSTART:__OpenCL_add_kernel\n"
	.ascii ";version:3:1:104\n"
	.ascii ";memory:hwlocal:64\n"
	.ascii ";pointer:data:i32:1:1:0:uav:10:4:RW:0:0\n"
	.ascii ";value:n:i32:1:1:16\n"
	.ascii ";ARGEND:__OpenCL_add_kernel\n"
.catalyst_note ATI_UAV
	.long 10, 4, 0, 5
.catalyst_user_data PTR_UAV_TABLE, 0, 2, 2
.catalyst_user_data IMM_CONST_BUFFER, 0, 4, 4
.catalyst_user_data IMM_CONST_BUFFER, 1, 8, 4
.catalyst_vgprs 3
.catalyst_sgprs 24
.catalyst_lds 64
.catalyst_dimensions 1
.catalyst_float_mode 0xc0
.catalyst_text
	s_buffer_load_dword s0, s[8:11], 0x0
	s_buffer_load_dword s1, s[8:11], 0x4
	s_load_dwordx4 s[16:19], s[2:3], 0x50
	s_buffer_load_dword s13, s[4:7], 0x4
	s_waitcnt lgkmcnt(0)
	s_mul_i32 s13, s13, s12
	v_add_i32_e32 v0, vcc, s13, v0
	v_lshlrev_b32_e32 v1, 2, v0
	v_add_i32_e32 v1, vcc, s0, v1
	buffer_load_dword v2, v1, s[16:19], 0 offen
	s_waitcnt vmcnt(0)
	v_add_i32_e32 v2, vcc, s1, v2
	buffer_store_dword v2, v1, s[16:19], 0 offen
	s_endpgm

.catalyst_target "gfx803", 64, "OpenCL 2.0"
.catalyst_driver "AMD-COMP-LIB-v0.8"
.catalyst_options "-cl-std=CL2.0 \"x\""
.catalyst_read_only_data
	.long 1, 2, 3
.catalyst_kernel add
.catalyst_argument n, "int", int32
.catalyst_argument v, "float3", float32x3
.catalyst_argument data, "int*", pointer, global, restrict
.catalyst_argument i, "image2d_t", image, read_only, 3
.catalyst_argument s, "sampler_t", sampler, 2
.catalyst_argument t, "T", structure, 24
.catalyst_argument q, "queue_t", queue
.catalyst_argument l, "int*", pointer, local, volatile
.catalyst_relocation 4, lo, .hsadata_readonly_agent, 4
.catalyst_work_group_size 8, 4, 2
.catalyst_features usesetup, useargs
.catalyst_vgprs 4
.catalyst_sgprs 20
.catalyst_lds 64
.catalyst_scratch 16
.catalyst_float_mode 0xc0
.catalyst_text
	s_mov_b32 s20, 0x0
	s_endpgm
.catalyst_kernel other
.catalyst_text
	.amd_kernel_code_t
		enable_sgpr_private_segment_buffer = 1
		user_sgpr_count = 4
	.end_amd_kernel_code_t
	s_branch later
later:
	s_endpgm

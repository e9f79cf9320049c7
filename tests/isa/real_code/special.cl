// What only builtins reach, compiled for each processor that has it by real_code_test.cpp; the code is read, not run.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

typedef float float16v __attribute__((ext_vector_type(16)));
typedef half half4v __attribute__((ext_vector_type(4)));

kernel void lanes(global int* a, global ulong* b) {
  const int i = get_global_id(0);
  int x = a[i];
  x += __builtin_amdgcn_ds_bpermute(i << 2, x);
  x += __builtin_amdgcn_ds_swizzle(x, 0x401F);
  x += __builtin_amdgcn_update_dpp(x, a[i + 1], 0x111, 0xF, 0xF, 0);
  x += __builtin_amdgcn_mov_dpp(x, 0x1B, 0xF, 0xF, 1);
  x += __builtin_amdgcn_readfirstlane(x) + __builtin_amdgcn_readlane(x, 3);
  x += __builtin_amdgcn_mbcnt_hi(1, __builtin_amdgcn_mbcnt_lo(~0u, 0));
#if defined(__GFX11__) || defined(__GFX12__)
  b[i] = __builtin_amdgcn_uicmp(x, 3, 32) + __builtin_amdgcn_s_sendmsg_rtnl(131) + __builtin_amdgcn_read_exec();
#else
  b[i] = __builtin_amdgcn_uicmp(x, 3, 32) + __builtin_amdgcn_s_memtime() + __builtin_amdgcn_read_exec();
#endif
  a[i] = x;
}

kernel void system(global int* a) {
  __builtin_amdgcn_s_sleep(3);
  __builtin_amdgcn_s_setprio(1);
  __builtin_amdgcn_s_sendmsg(1, 0);
  a[0] = __builtin_amdgcn_s_getreg(0xF801);
#ifdef __gfx1250__
  __builtin_amdgcn_s_wait_asynccnt(1);
  __builtin_amdgcn_s_wait_tensorcnt(2);
#else
  __builtin_amdgcn_s_waitcnt(0x0F70);
#endif
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
  if (a[1] == 3) __builtin_trap();
  a[2] = __builtin_amdgcn_perm(a[1], a[3], 0x03020100) + __builtin_amdgcn_sad_u8(a[1], a[2], 5) +
         __builtin_amdgcn_alignbit(a[3], a[4], a[5]) + __builtin_amdgcn_ubfe(a[4], 3, 7);
}

kernel void graphics(global float* a, global half2* h) {
  const int i = get_global_id(0);
  a[i] = __builtin_amdgcn_fmed3f(a[i], 0.0f, 1.0f) + __builtin_amdgcn_cubema(a[i], a[i + 1], a[i + 2]) +
         __builtin_amdgcn_rcpf(a[i + 1]) + __builtin_amdgcn_fractf(a[i]) + __builtin_amdgcn_frexp_mantf(a[i]);
  h[i] = __builtin_amdgcn_cvt_pkrtz(a[i], a[i + 1]);
}

#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)
kernel void matrix(global float16v* a, global float4* b, global half4v* h) {
  const int i = get_global_id(0);
  a[i] = __builtin_amdgcn_mfma_f32_32x32x8f16(h[i], h[i + 1], a[i], 0, 0, 0);
  b[i] = __builtin_amdgcn_mfma_f32_16x16x4f32(b[i].x, b[i].y, b[i], 1, 2, 3);
}
#endif

#ifdef __gfx950__
typedef int int8v __attribute__((ext_vector_type(8)));
typedef float float4v __attribute__((ext_vector_type(4)));
kernel void scaled_matrix(global int8v* a, global float4v* b, global float16v* c, global int* scale) {
  const int i = get_global_id(0);
  b[i] = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a[i], a[i + 1], b[i], 0, 1, 1, scale[i], 2, scale[i + 1]);
  c[i] = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(a[i], a[i + 2], c[i], 2, 4, 3, scale[i], 0, scale[i + 1]);
}
#endif

#ifdef __gfx1250__
typedef int int4v __attribute__((ext_vector_type(4)));
typedef int int8v __attribute__((ext_vector_type(8)));
typedef int int16v __attribute__((ext_vector_type(16)));
typedef float float8v __attribute__((ext_vector_type(8)));
kernel void scaled_matrix(global int16v* a, global float8v* c, global int* scale) {
  const int i = get_global_id(0);
  c[i] = __builtin_amdgcn_wmma_scale_f32_16x16x128_f8f6f4(1, a[i], 2, a[i + 1], 0, c[i], 1, 0, scale[i], 0, 2,
                                                          scale[i + 1], 0, 1);
}
kernel void tensor(global int4v* a, global int8v* b) {
  __builtin_amdgcn_tensor_load_to_lds(a[0], b[0], a[1], a[2], 0);
}
#endif

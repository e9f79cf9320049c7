// The two workloads by which another simulator of AMD's GPUs measures itself, as far as it describes them: 512
// work-groups of one wave of 32, each of which multiplies matrices, or loads, computes and stores.
// Work-items are asked for by the compiler's own functions, as in matrix_kernels.cl.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

typedef float floats8 __attribute__((ext_vector_type(8)));
typedef half halves8 __attribute__((ext_vector_type(8)));
typedef half halves16 __attribute__((ext_vector_type(16)));

#ifdef __GFX12__
typedef halves8 Fragment;
#define WMMA __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12
#else
typedef halves16 Fragment;
#define WMMA __builtin_amdgcn_wmma_f32_16x16x16_f16_w32
#endif

/// Four independent chains of products, each of two matrices of its own; of each round one product of each chain.
__attribute__((reqd_work_group_size(32, 1, 1))) kernel void matrix_chains(global const Fragment* restrict a,
                                                                          global const Fragment* restrict b,
                                                                          global floats8* restrict c, uint rounds) {
  const uint lane = __builtin_amdgcn_workitem_id_x(), group = __builtin_amdgcn_workgroup_id_x();
  Fragment rows[4], columns[4];
  floats8 sums[4] = {0, 0, 0, 0};
  for (uint i = 0; i < 4; ++i) {
    rows[i] = a[i * 32 + lane];
    columns[i] = b[i * 32 + lane];
  }
  for (uint round = 0; round < rounds; ++round) {
    for (uint i = 0; i < 4; ++i) sums[i] = WMMA(rows[i], columns[i], sums[i]);
  }
  for (uint i = 0; i < 4; ++i) c[(group * 4 + i) * 32 + lane] = sums[i];
}

/// Each round loads, computes and stores, twice, and every access is to be made.
__attribute__((reqd_work_group_size(32, 1, 1))) kernel void volatile_memory(global volatile uint* a,
                                                                            global volatile uint* b, uint rounds) {
  const uint place = __builtin_amdgcn_workgroup_id_x() * 32 + __builtin_amdgcn_workitem_id_x();
  for (uint round = 0; round < rounds; ++round) {
    uint x = a[place] * 1664525 + 1013904223;
    x ^= x >> 13;
    b[place] = x;
    a[place] = b[place] * 5 + x + round;
  }
}

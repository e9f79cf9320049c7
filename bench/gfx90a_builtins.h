// The OpenCL functions that kernels.cl calls, for gfx90a: clang declares them (opencl-c.h) but there is no library of
// them here. Each is what the compiler's own builtins give.
#pragma once

#define BUILTIN __attribute__((overloadable, always_inline, const))

BUILTIN size_t get_local_id(uint dimension) {
  return dimension == 0   ? __builtin_amdgcn_workitem_id_x()
         : dimension == 1 ? __builtin_amdgcn_workitem_id_y()
                          : __builtin_amdgcn_workitem_id_z();
}
BUILTIN size_t get_group_id(uint dimension) {
  return dimension == 0   ? __builtin_amdgcn_workgroup_id_x()
         : dimension == 1 ? __builtin_amdgcn_workgroup_id_y()
                          : __builtin_amdgcn_workgroup_id_z();
}
BUILTIN size_t get_local_size(uint dimension) {
  return dimension == 0   ? __builtin_amdgcn_workgroup_size_x()
         : dimension == 1 ? __builtin_amdgcn_workgroup_size_y()
                          : __builtin_amdgcn_workgroup_size_z();
}
BUILTIN size_t get_global_size(uint dimension) {
  return dimension == 0   ? __builtin_amdgcn_grid_size_x()
         : dimension == 1 ? __builtin_amdgcn_grid_size_y()
                          : __builtin_amdgcn_grid_size_z();
}
BUILTIN size_t get_global_id(uint dimension) {
  return get_group_id(dimension) * get_local_size(dimension) + get_local_id(dimension);
}

BUILTIN float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
BUILTIN float rsqrt(float x) { return __builtin_amdgcn_rsqf(x); }

#undef BUILTIN
#define BUILTIN __attribute__((overloadable, always_inline))

BUILTIN void barrier(cl_mem_fence_flags flags) {
  (void)flags;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
BUILTIN uint atomic_inc(volatile __local uint* address) {
  return __opencl_atomic_fetch_add((volatile __local atomic_uint*)address, 1u, memory_order_relaxed,
                                   memory_scope_work_group);
}
BUILTIN uint atomic_add(volatile __global uint* address, uint value) {
  return __opencl_atomic_fetch_add((volatile __global atomic_uint*)address, value, memory_order_relaxed,
                                   memory_scope_device);
}

#undef BUILTIN

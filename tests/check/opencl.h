// Common parts of the wrong kernels in OpenCL C: the few functions that they need, so that they link no device
// library. `atoll launch` runs the kernels `wrong` and `mended`.
#pragma OPENCL EXTENSION cl_khr_global_int32_base_atomics : enable

static inline uint local_id(void) { return __builtin_amdgcn_workitem_id_x(); }
static inline uint group_id(void) { return __builtin_amdgcn_workgroup_id_x(); }
static inline uint global_id(uint group_size) { return group_id() * group_size + local_id(); }
static inline void work_group_barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
static inline uint atomic_increment(volatile global uint* place) {
  return __scoped_atomic_fetch_add(place, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

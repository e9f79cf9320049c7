// OpenCL C: atomics of every operation, width and scope, on global and local memory. Work-groups are of 128 work-items.
// What the lanes get back depends on their order; what is stored here does not. The words in `out` that are shared lie
// after those of the work-items, at `shared`, and are 0 in the beginning.

#define GROUP 128
#define ITEMS (GROUP * 3)

typedef unsigned long uint64;

#define ITEM                                                                                            \
  const uint local_id = __builtin_amdgcn_workitem_id_x(), group = __builtin_amdgcn_workgroup_id_x(), \
             item = group * GROUP + local_id;                                                           \
  volatile __global uint* shared = out + ITEMS * 4

#define KERNEL(name)                                                              \
  __kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void name(__global const uint* in, __global uint* out)

#define ON(space, type, pointer) ((volatile space type*)(pointer))
#define DEVICE __OPENCL_MEMORY_SCOPE_DEVICE
#define SYSTEM __OPENCL_MEMORY_SCOPE_ALL_SVM_DEVICES
#define OF_GROUP __OPENCL_MEMORY_SCOPE_WORK_GROUP
#define OF_WAVE __OPENCL_MEMORY_SCOPE_SUB_GROUP

static void synchronize(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/// Each operation of 32 bits on a word that all share, and on one that few do.
KERNEL(global_atomics) {
  ITEM;
  const uint value = in[item];
  __opencl_atomic_fetch_add(ON(__global, atomic_uint, shared), value, __ATOMIC_RELAXED, DEVICE);
  __opencl_atomic_fetch_sub(ON(__global, atomic_uint, shared + 1), value, __ATOMIC_ACQ_REL, DEVICE);
  __opencl_atomic_fetch_xor(ON(__global, atomic_uint, shared + 2), value, __ATOMIC_SEQ_CST, DEVICE);
  __opencl_atomic_fetch_or(ON(__global, atomic_uint, shared + 3), value & in[item + 1] & in[item + 2] & in[item + 3],
                           __ATOMIC_RELEASE, DEVICE);
  __opencl_atomic_fetch_min(ON(__global, atomic_int, shared + 4), (int)value, __ATOMIC_RELAXED, DEVICE);
  __opencl_atomic_fetch_max(ON(__global, atomic_int, shared + 5), (int)value, __ATOMIC_RELAXED, DEVICE);
  __opencl_atomic_fetch_max(ON(__global, atomic_uint, shared + 6), value, __ATOMIC_RELAXED, DEVICE);
  __opencl_atomic_fetch_min(ON(__global, atomic_uint, shared + 7), value, __ATOMIC_RELAXED, DEVICE);  // stays 0
  __opencl_atomic_fetch_add(ON(__global, atomic_uint, shared + 8 + item % 5), value >> 3, __ATOMIC_ACQUIRE, DEVICE);
  const uint old = __opencl_atomic_fetch_add(ON(__global, atomic_uint, shared + 13), 1u, __ATOMIC_RELAXED, DEVICE);
  // Each number is had by one, so the sum of their squares is known.
  __opencl_atomic_fetch_add(ON(__global, atomic_uint, shared + 14), old * old, __ATOMIC_RELAXED, DEVICE);
  out[item * 4] = __opencl_atomic_fetch_and(ON(__global, atomic_uint, out + item * 4 + 1), 0u, __ATOMIC_RELAXED, DEVICE);
  out[item * 4 + 2] = __opencl_atomic_exchange(ON(__global, atomic_uint, out + item * 4 + 1), value, __ATOMIC_RELAXED,
                                               DEVICE) + 5;
}

/// 64-bit atomics that change both halves.
KERNEL(global_atomics_64) {
  ITEM;
  volatile __global uint64* words = (volatile __global uint64*)shared;
  const uint64 value = (uint64)in[item] << 32 | in[item + 1];
  __opencl_atomic_fetch_add(ON(__global, atomic_ulong, words), value, __ATOMIC_RELAXED, DEVICE);
  __opencl_atomic_fetch_sub(ON(__global, atomic_ulong, words + 1), value, __ATOMIC_SEQ_CST, SYSTEM);
  __opencl_atomic_fetch_xor(ON(__global, atomic_ulong, words + 2), value, __ATOMIC_RELAXED, DEVICE);
  __opencl_atomic_fetch_or(ON(__global, atomic_ulong, words + 3), value & value << 7 & value >> 9, __ATOMIC_RELAXED,
                           DEVICE);
  __opencl_atomic_fetch_min(ON(__global, atomic_long, words + 4), (long)value, __ATOMIC_RELAXED, DEVICE);
  __opencl_atomic_fetch_max(ON(__global, atomic_long, words + 5), (long)value, __ATOMIC_RELAXED, DEVICE);
  __opencl_atomic_fetch_max(ON(__global, atomic_ulong, words + 6), value, __ATOMIC_RELAXED, DEVICE);
  uint64 seen = __opencl_atomic_load(ON(__global, atomic_ulong, words + 7), __ATOMIC_RELAXED, DEVICE);
  while (!__opencl_atomic_compare_exchange_strong(ON(__global, atomic_ulong, words + 7), &seen, seen * 3 + 0x100000001,
                                                  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED, DEVICE)) {
  }
  volatile __global atomic_ulong* own = ON(__global, atomic_ulong, out + item * 4);
  __opencl_atomic_store(own, value, __ATOMIC_RELEASE, DEVICE);
  const uint64 before = __opencl_atomic_fetch_and(own, value << 3, __ATOMIC_RELAXED, DEVICE);
  out[item * 4 + 2] = (uint)(before ^ before >> 32);
}

/// As above at each scope and order: fences, cache flushes and waits differ, results do not.
#define AT(place, order, scope)                                                                                   \
  __opencl_atomic_fetch_add(ON(__global, atomic_uint, shared + place), value, order, scope);                      \
  __opencl_atomic_fetch_max(ON(__global, atomic_uint, shared + place + 1), value, order, scope);                  \
  sum += __opencl_atomic_load(ON(__global, atomic_uint, own), __ATOMIC_RELAXED, scope);                           \
  __opencl_atomic_store(ON(__global, atomic_uint, own), sum, __ATOMIC_RELAXED, scope)
KERNEL(scopes) {
  ITEM;
  const uint value = in[item + 5] >> 4;
  volatile __global uint* own = out + item * 4 + 1;
  uint sum = item;
  AT(0, __ATOMIC_RELAXED, DEVICE);
  AT(2, __ATOMIC_ACQUIRE, DEVICE);
  AT(4, __ATOMIC_RELEASE, DEVICE);
  AT(6, __ATOMIC_ACQ_REL, SYSTEM);
  AT(8, __ATOMIC_SEQ_CST, SYSTEM);
  AT(10 + group * 2, __ATOMIC_ACQ_REL, OF_GROUP);
  AT(16 + group * 2, __ATOMIC_SEQ_CST, OF_GROUP);
  AT(22 + item / 32 * 2, __ATOMIC_ACQ_REL, OF_WAVE);
  out[item * 4] = sum;
}

/// On local memory, in both widths.
KERNEL(local_atomics) {
  ITEM;
  __local uint words[12];
  __local uint64 wide[6];
  if (local_id < 12) words[local_id] = local_id == 3 ? ~0u : 0;
  if (local_id < 6) wide[local_id] = 0;
  synchronize();
  const uint value = in[item];
  const uint64 value64 = (uint64)value << 32 | in[item + 1];
  __opencl_atomic_fetch_add(ON(__local, atomic_uint, words), value, __ATOMIC_RELAXED, OF_GROUP);
  __opencl_atomic_fetch_sub(ON(__local, atomic_uint, words + 1), value, __ATOMIC_RELAXED, OF_GROUP);
  __opencl_atomic_fetch_or(ON(__local, atomic_uint, words + 2), 1u << value % 32, __ATOMIC_RELAXED, OF_GROUP);
  __opencl_atomic_fetch_and(ON(__local, atomic_uint, words + 3), ~(1u << value % 32), __ATOMIC_RELAXED, OF_GROUP);
  __opencl_atomic_fetch_xor(ON(__local, atomic_uint, words + 4), value, __ATOMIC_SEQ_CST, OF_GROUP);
  __opencl_atomic_fetch_min(ON(__local, atomic_int, words + 5), (int)value, __ATOMIC_RELAXED, OF_GROUP);
  __opencl_atomic_fetch_max(ON(__local, atomic_int, words + 6), (int)value, __ATOMIC_RELAXED, OF_GROUP);
  __opencl_atomic_fetch_max(ON(__local, atomic_uint, words + 7), value, __ATOMIC_RELAXED, OF_GROUP);
  uint seen = words[8];
  while (!__opencl_atomic_compare_exchange_weak(ON(__local, atomic_uint, words + 8), &seen, seen * 5 + 3, __ATOMIC_ACQ_REL,
                                                __ATOMIC_RELAXED, OF_GROUP)) {
  }
  const uint ticket = __opencl_atomic_fetch_add(ON(__local, atomic_uint, words + 9), 3u, __ATOMIC_RELAXED, OF_GROUP);
  __opencl_atomic_fetch_add(ON(__local, atomic_uint, words + 10), ticket * ticket, __ATOMIC_RELAXED, OF_GROUP);
  __opencl_atomic_fetch_add(ON(__local, atomic_ulong, wide), value64, __ATOMIC_RELAXED, OF_GROUP);
  __opencl_atomic_fetch_xor(ON(__local, atomic_ulong, wide + 1), value64, __ATOMIC_RELAXED, OF_GROUP);
  __opencl_atomic_fetch_min(ON(__local, atomic_long, wide + 2), (long)value64, __ATOMIC_RELAXED, OF_GROUP);
  __opencl_atomic_fetch_max(ON(__local, atomic_ulong, wide + 3), value64, __ATOMIC_RELAXED, OF_GROUP);
  synchronize();
  out[item * 4] = words[local_id % 12];
  out[item * 4 + 1] = (uint)wide[local_id % 6];
  out[item * 4 + 2] = (uint)(wide[local_id % 6] >> 32);
}

/// Sums of floats that are whole numbers and so exact in every order: by instructions or by loops, as the GPU has them.
KERNEL(float_atomics) {
  ITEM;
  __local float sum;
  __local double wide_sum;
  if (local_id == 0) sum = 0, wide_sum = 0;
  synchronize();
  const float value = (float)(in[item] % 1000);
  const double wide_value = (double)(int)in[item];
  __opencl_atomic_fetch_add(ON(__local, atomic_float, &sum), value, __ATOMIC_RELAXED, OF_GROUP);
  __opencl_atomic_fetch_add(ON(__local, atomic_double, &wide_sum), wide_value, __ATOMIC_RELAXED, OF_GROUP);
  __opencl_atomic_fetch_add(ON(__global, atomic_float, shared), value, __ATOMIC_RELAXED, DEVICE);
  __opencl_atomic_fetch_add(ON(__global, atomic_double, shared + 2), wide_value, __ATOMIC_RELAXED, DEVICE);
#if __clang_major__ >= 18
  __opencl_atomic_fetch_max(ON(__global, atomic_float, shared + 4), value, __ATOMIC_RELAXED, DEVICE);
  __opencl_atomic_fetch_min(ON(__global, atomic_double, shared + 6), wide_value, __ATOMIC_RELAXED, DEVICE);
#else  // by their bits, which of numbers that are not negative are in the same order; of negative ones in the other
  __opencl_atomic_fetch_max(ON(__global, atomic_uint, shared + 4), __builtin_astype(value, uint), __ATOMIC_RELAXED,
                            DEVICE);
  if (wide_value < 0) {
    __opencl_atomic_fetch_max(ON(__global, atomic_ulong, shared + 6), __builtin_astype(wide_value, uint64),
                              __ATOMIC_RELAXED, DEVICE);
  }
#endif
  synchronize();
  const uint64 bits = __builtin_astype(wide_sum, uint64);
  out[item * 4] = __builtin_astype(sum, uint);
  out[item * 4 + 1] = (uint)bits;
  out[item * 4 + 2] = (uint)(bits >> 32);
}

/// The last work-group to arrive sums up what all have written: release and acquire between work-groups.
KERNEL(last_group) {
  ITEM;
  __local uint is_last;
  out[item * 4 + 1] = in[item] * 3;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  synchronize();
  if (local_id == 0) {
    is_last = __opencl_atomic_fetch_add(ON(__global, atomic_uint, shared), 1u, __ATOMIC_ACQ_REL, DEVICE) == 2;
  }
  synchronize();
  if (is_last == 0) return;
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  uint sum = 0;
  for (uint i = local_id; i < ITEMS; i += GROUP) sum += out[i * 4 + 1];
  __opencl_atomic_fetch_add(ON(__global, atomic_uint, shared + 1), sum, __ATOMIC_RELAXED, DEVICE);
}

/// A list into which all push, and from which its first lane reads all again.
KERNEL(linked_list) {
  ITEM;
  __local uint head, next[GROUP];
  if (local_id == 0) head = ~0u;
  synchronize();
  if (in[item] % 3 != 0) {
    uint seen = __opencl_atomic_load(ON(__local, atomic_uint, &head), __ATOMIC_RELAXED, OF_GROUP);
    do {
      next[local_id] = seen;
    } while (!__opencl_atomic_compare_exchange_strong(ON(__local, atomic_uint, &head), &seen, local_id, __ATOMIC_RELEASE,
                                                      __ATOMIC_RELAXED, OF_GROUP));
  }
  synchronize();
  if (local_id != 0) return;
  uint count = 0, sum = 0;
  for (uint at = head; at != ~0u && count < 1000; at = next[at]) {
    ++count;
    sum += in[group * GROUP + at];
  }
  out[item * 4] = count;
  out[item * 4 + 1] = sum;
}

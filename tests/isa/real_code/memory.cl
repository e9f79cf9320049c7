// Memory of every kind, compiled for each processor by real_code_test.cpp; the code is read, not run.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

typedef struct {
  int values[40];
} Big;

__attribute__((noinline)) int callee(Big big, int index, private int* out) {
  *out = big.values[index & 31] + index;
  return big.values[(index + 1) & 31];
}

kernel void scratch(global int* a, const int n) {
  Big big;
  for (int i = 0; i < 40; ++i) big.values[i] = a[i * n];
  int more;
  const int result = callee(big, a[0], &more);
  a[get_global_id(0)] = result + more + big.values[a[1] & 31];
}

kernel void local_memory(global int* a, local int* l, local long2* m, global long2* b) {
  local uchar bytes[256];
  const int i = get_local_id(0);
  l[i] = a[get_global_id(0)];
  bytes[i & 255] = (uchar)a[i];
  m[i] = b[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = l[i ^ 1] + l[i + 64] + bytes[(i + 7) & 255] + atomic_add(&l[3], i) + atomic_cmpxchg(&l[4], 1, i);
  b[i] = m[i ^ 3];
}

kernel void sizes(global char* a, global short4* b, global int3* c, global float8* d, global double2* e,
                  constant float16* f, constant uint* g) {
  const int i = get_global_id(0);
  a[i] = a[i * 3 + 1];
  a[i + 9000000] = a[i - 5000];
  b[i] = b[i + 1].wxyz;
  vstore3(vload3(i, (global int*)c), i + 1, (global int*)c);
  d[i] = d[i + 2] * f[g[0]].lo + f[g[1]].hi;
  e[i] = e[-i];
}

kernel void atomics(global int* a, global uint* b, volatile global long* c, global float* f, const int which, local int* l) {
  int* g = which ? (int*)a : (int*)l;
  const int i = get_global_id(0);
  atomic_add(a + 1, i);
  b[i] = atomic_max(b + 2, (uint)i) + atomic_xchg(b + 3, 7u) + atomic_inc(b + 4) + atomic_or(b + 5, 1u);
  atom_add(c, (long)i);
  c[i] = atom_cmpxchg(c + 1, 3L, (long)i);
  atomic_xchg(f, 1.0f);
  atomic_fetch_sub_explicit((volatile global atomic_int*)a, 3, memory_order_acq_rel, memory_scope_device);
  g[i] = atomic_load_explicit((volatile global atomic_int*)a, memory_order_seq_cst, memory_scope_all_svm_devices);
}

// What GFX6 and GFX7 have, without pointers to any memory: buffers of three kinds, LDS, private arrays, control flow,
// atomics and interpolation.

kernel void sizes(global char* a, global short4* b, global int3* c, global float8* d, global double2* e,
                  constant ulong* f, global uchar16* g) {
  const uint i = get_global_id(0);
  a[i] = a[i + 1] - a[i + 4000];
  b[i] = b[i + 1] * b[i + 7].wzyx;
  c[i] = c[i + 2] ^ c[i + 3];
  d[i] = d[i + 1] + (float8)(f[i & 7], f[1], f[2], f[3], f[4], f[5], f[6], f[300]);
  e[i] = e[i + 1] * e[i + 2];
  g[i] = g[i + 1] + g[i + 2];
}

kernel void shared(global int* a, global long* q) {
  local int l[256];
  local long w[64];
  local uchar bytes[256];
  const uint i = get_local_id(0);
  l[i & 255] = a[i];
  w[i & 63] = q[i];
  bytes[i & 255] = i;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[i] = l[(i ^ 1) & 255] + l[(i + 64) & 255] + bytes[(i + 7) & 255] + atomic_add(&l[3], i) + atomic_cmpxchg(&l[4], 1, i);
  q[i] = w[(i + 1) & 63] + w[(i + 2) & 63];
}

kernel void atomics(global int* a, global uint* b, global float* f) {
  const uint i = get_global_id(0);
  atomic_add(a + 1, i);
  b[i] = atomic_max(b + 2, (uint)i) + atomic_xchg(b + 3, 7u) + atomic_inc(b + 4) + atomic_or(b + 5, 1u);
  a[i] = atomic_cmpxchg(a + 6, 3, (int)i) + atomic_min(a + 7, (int)i) + atomic_sub(a + 8, 5);
  atomic_xchg(f, 1.0f);
  mem_fence(CLK_GLOBAL_MEM_FENCE);
}

kernel void control(global int* a, int n) {
  const int i = get_global_id(0);
  int stack[32];
  for (int k = 0; k < 32; ++k) stack[k] = a[k + i];
  int sum = 0;
  for (int k = 0; k < n; ++k) {
    if (a[k] > 3) {
      sum += stack[a[k] & 31];
    } else if (a[k] == 1) {
      break;
    }
    switch (a[k + 1]) {
      case 0: sum ^= 7; break;
      case 1: sum *= i; break;
      case 5: sum = sum << (i & 31); break;
      case 9: sum = popcount(sum) + clz(sum); break;
      default: sum = rotate(sum, i) + mul24(sum, i) + mad_hi(sum, i, k); break;
    }
    stack[sum & 31] = k;
  }
  a[i] = sum + stack[i & 31];
}

kernel void special(global float* a, global uint* u, global ulong* q) {
  const uint i = get_global_id(0);
  a[i] = __builtin_amdgcn_rcpf(a[i]) + __builtin_amdgcn_rsqf(a[i + 1]) + __builtin_amdgcn_sinf(a[i + 2]) +
         __builtin_amdgcn_ldexpf(a[i + 3], i) + __builtin_amdgcn_frexp_mantf(a[i + 4]) +
         __builtin_amdgcn_fmed3f(a[i + 5], 1.0f, 2.0f) + __builtin_amdgcn_cubeid(a[i], a[i + 1], a[i + 2]);
  u[i] = __builtin_amdgcn_sad_u8(u[i], u[i + 1], u[i + 2]) + __builtin_amdgcn_ubfe(u[i + 3], 3, 5) +
         __builtin_amdgcn_alignbit(u[i + 4], u[i + 5], u[i + 6]) + __builtin_amdgcn_readfirstlane(u[i + 7]) +
         __builtin_amdgcn_readlane(u[i + 8], 7) + __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)) +
         __builtin_amdgcn_ds_swizzle(u[i + 9], 0x8055);
  q[i] = __builtin_amdgcn_s_memtime() + __builtin_amdgcn_uicmp(u[i], 3, 32);
  __builtin_amdgcn_s_sleep(3);
  __builtin_amdgcn_s_sendmsg(1, 0);
}

kernel void graphics(global float* a) {
  const uint i = get_global_id(0);
  const float p = __builtin_amdgcn_interp_p1(a[i], 1, 2, i);
  a[i] = __builtin_amdgcn_interp_p2(p, a[i + 1], 1, 2, i) + __builtin_amdgcn_interp_mov(2, 0, 3, i);
}

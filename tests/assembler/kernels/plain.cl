// A kernel for every processor from GFX6 on: addresses of one address space each, no lanes of others.
#define count 64
constant float weights[4] = {0.5f, 0.25f, 0.125f, 2.0f};

static float weighted(float value, int i) { return value * weights[i & 3] + 1.0f; }

kernel void smooth(global const float* in, global float* out, int n, double scale) {
  local float tile[count];
  const int i = __builtin_amdgcn_workgroup_id_x() * count + __builtin_amdgcn_workitem_id_x();
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    tile[i & (count - 1)] = in[(i + k) & 1023];
    __builtin_amdgcn_s_barrier();
    sum += weighted(tile[(i + 1) & (count - 1)], k);
    if (sum > 1e6f) sum = sum / 3.0f;
  }
  out[i] = (float)(sum * scale);
}

kernel void mixed(global ulong* sums, global const short* in, global int* counters) {
  const int i = __builtin_amdgcn_workitem_id_x();
  ulong x = (ulong)in[i] * in[i + 1] + (sums[i] >> (in[i] & 63));
  x = x % 1000003ul + (uint)__builtin_clz((int)x | 1) + __builtin_popcountll(x);
  __atomic_fetch_add(counters + (x & 7), (int)x, __ATOMIC_RELAXED);
  sums[i] = x;
}

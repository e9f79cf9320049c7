// OpenCL C: work-groups with barriers and local memory, vectors, address spaces. Work-groups are of 128 work-items, so of
// two waves or four.

#define GROUP 128

typedef unsigned long uint64;

#define ITEM                                                                                            \
  const uint local_id = __builtin_amdgcn_workitem_id_x(), group = __builtin_amdgcn_workgroup_id_x(), \
             item = group * GROUP + local_id

#define KERNEL(name)                                                              \
  __kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void name(__global const uint* in, __global uint* out)

static void synchronize(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/// A tree of sums and of maxima.
KERNEL(group_reduction) {
  ITEM;
  __local uint sums[GROUP];
  __local int maxima[GROUP];
  sums[local_id] = in[item];
  maxima[local_id] = (int)in[item + 1];
  synchronize();
  for (uint half_size = GROUP / 2; half_size > 0; half_size /= 2) {
    if (local_id < half_size) {
      sums[local_id] += sums[local_id + half_size];
      const int other = maxima[local_id + half_size];
      if (other > maxima[local_id]) maxima[local_id] = other;
    }
    synchronize();
  }
  out[item * 4] = sums[0];
  out[item * 4 + 1] = (uint)maxima[0];
}

/// Sums of all before, in numbers of 64 bits.
KERNEL(group_scan) {
  ITEM;
  __local uint64 sums[2][GROUP];
  sums[0][local_id] = (uint64)in[item] << 20 | local_id;
  uint from = 0;
  for (uint distance = 1; distance < GROUP; distance *= 2) {
    synchronize();
    const uint64 own = sums[from][local_id];
    sums[1 - from][local_id] = local_id >= distance ? own + sums[from][local_id - distance] : own;
    from = 1 - from;
  }
  synchronize();
  const uint64 before = local_id == 0 ? 0 : sums[from][local_id - 1];
  out[item * 4] = (uint)before;
  out[item * 4 + 1] = (uint)(before >> 32);
}

/// A tile turned, of bytes and of vectors.
KERNEL(group_transpose) {
  ITEM;
  __local uchar bytes[8][17];
  __local uint4 tile[16][9];
  const uint x = local_id % 8, y = local_id / 8;
  bytes[x][y] = (uchar)in[item];
  tile[y][x] = (uint4)(in[item], in[item + 1], in[item + 2], local_id);
  synchronize();
  const uint other_x = local_id / 16, other_y = local_id % 16;
  const uint4 turned = tile[other_y][other_x].wzyx;
  out[item * 4] = turned.x + bytes[local_id % 8][local_id / 8] * 1000u;
  out[item * 4 + 1] = turned.y ^ bytes[other_x][other_y];
  out[item * 4 + 2] = turned.z;
  out[item * 4 + 3] = turned.w;
}

/// Counts by atomics on local memory.
KERNEL(group_histogram) {
  ITEM;
  __local uint counts[32];
  if (local_id < 32) counts[local_id] = 0;
  synchronize();
  for (uint i = 0; i < 5; ++i) {
    __opencl_atomic_fetch_add((__local atomic_uint*)&counts[in[item + i * 7] % 32], 1u, __ATOMIC_RELAXED,
                              __OPENCL_MEMORY_SCOPE_WORK_GROUP);
  }
  synchronize();
  out[item * 4] = counts[local_id % 32];
}

/// Bitonic: exchanges at every distance.
KERNEL(group_sort) {
  ITEM;
  __local uint keys[GROUP];
  __local ushort places[GROUP];
  keys[local_id] = in[item];
  places[local_id] = (ushort)local_id;
  synchronize();
  for (uint size = 2; size <= GROUP; size *= 2) {
    for (uint distance = size / 2; distance > 0; distance /= 2) {
      const uint partner = local_id ^ distance;
      if (partner > local_id) {
        const bool ascending = (local_id & size) == 0;
        if ((keys[local_id] > keys[partner]) == ascending) {
          const uint key = keys[local_id];
          keys[local_id] = keys[partner];
          keys[partner] = key;
          const ushort place = places[local_id];
          places[local_id] = places[partner];
          places[partner] = place;
        }
      }
      synchronize();
    }
  }
  out[item * 4] = keys[local_id];
  out[item * 4 + 1] = places[local_id];
}

__constant uint scales[4] = {3, 5, 7, 11};

static uint __attribute__((noinline)) sum_of(const uint* values, uint count) {
  uint sum = 0;
  for (uint i = 0; i < count; ++i) sum = sum * 3 + values[i];
  return sum;
}

/// Generic pointers to each address space, chosen by the work-item.
KERNEL(group_generic_pointers) {
  ITEM;
  __local uint shared[GROUP + 4];
  uint own[4];
  for (uint i = 0; i < 4; ++i) own[i] = in[item + i] ^ i;
  shared[local_id] = in[item + 9];
  if (local_id < 4) shared[GROUP + local_id] = local_id;
  synchronize();
  const uint* pointers[3] = {(const uint*)own, (const uint*)(shared + local_id), (const uint*)(in + item)};
  const uint* pointer = pointers[in[item] % 3];
  out[item * 4] = sum_of(pointer, 4);
  out[item * 4 + 1] = sum_of(pointers[in[item + 1] % 3] + 1, 3) * scales[in[item + 2] % 4];
  const bool is_local = __builtin_amdgcn_is_shared((const __attribute__((address_space(0))) void*)pointer);
  const bool is_private = __builtin_amdgcn_is_private((const __attribute__((address_space(0))) void*)pointer);
  out[item * 4 + 2] = (is_local ? 1u : 0u) | (is_private ? 2u : 0u);
}

/// Vectors: swizzles, comparisons as masks, selection, conversion by element.
KERNEL(vectors) {
  ITEM;
  const uint4 a = (uint4)(in[item], in[item + 1], in[item + 2], in[item + 3]);
  const int4 b = __builtin_astype(a.yzwx, int4);
  uint8 c;
  c.even = a.wxyz;
  c.odd = a + 1;
  const int4 mask = __builtin_astype(a, int4) > b;
  const int4 chosen = mask ? b : __builtin_astype(a, int4) / 3;
  const float4 d = __builtin_convertvector(b >> 8, float4) * 0.5f;
  const uchar4 e = __builtin_convertvector(a >> 5, uchar4);
  const short8 f = __builtin_astype(a, short8) * (short8)3;
  const uint4 g = __builtin_astype(f, uint4) ^ c.s0246 ^ c.s7531 ^ __builtin_astype(chosen, uint4) ^
                  __builtin_astype(d, uint4) ^ __builtin_convertvector(e, uint4) << (a & 7u);
  out[item * 4] = g.x;
  out[item * 4 + 1] = g.y;
  out[item * 4 + 2] = g.z;
  out[item * 4 + 3] = g.w ^ (uint)mask.x;
}

/// Sums over neighbours with a rim: reads of local memory at any place, in doubles and halves.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
KERNEL(group_stencil) {
  ITEM;
  __local double wide[GROUP + 2];
  __local half narrow[GROUP + 2];
  wide[local_id + 1] = (double)(int)in[item] * 0.125;
  narrow[local_id + 1] = (half)(float)(in[item] % 512);
  if (local_id == 0) {
    wide[0] = wide[GROUP + 1] = 1.5;
    narrow[0] = narrow[GROUP + 1] = (half)2.5f;
  }
  for (uint step = 0; step < 3; ++step) {
    synchronize();
    const double next = wide[local_id] * 0.25 + wide[local_id + 1] * 0.5 + wide[local_id + 2] * 0.25;
    const half following = narrow[local_id] - narrow[local_id + 2] + narrow[local_id + 1];
    synchronize();
    wide[local_id + 1] = next;
    narrow[local_id + 1] = following * (half)0.5f;
  }
  const uint64 bits = __builtin_astype(wide[local_id + 1], uint64);
  out[item * 4] = (uint)bits;
  out[item * 4 + 1] = (uint)(bits >> 32);
  out[item * 4 + 2] = __builtin_astype(narrow[local_id + 1], ushort);
}

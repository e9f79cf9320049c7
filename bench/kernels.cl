// The kernels of the comparison with pocl. pocl compiles this file for the host; clang compiles it for GPUs with AMD's
// device library, as any OpenCL program for them. Every sum of products is written as fma, so that both have the same
// operations to do.
#pragma OPENCL FP_CONTRACT OFF

// y = a * x + y
__kernel void saxpy(float a, __global const float* x, __global float* y) {
  const size_t i = get_global_id(0);
  y[i] = fma(a, x[i], y[i]);
}

// C = A * B for square matrices, in tiles of 16 by 16.
#define TILE 16
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void sgemm(__global const float* a,
                                                                         __global const float* b, __global float* c,
                                                                         int size) {
  __local float tile_a[TILE][TILE], tile_b[TILE][TILE];
  const int x = get_local_id(0), y = get_local_id(1);
  const int row = get_group_id(1) * TILE + y, column = get_group_id(0) * TILE + x;
  float sum = 0;
  for (int start = 0; start < size; start += TILE) {
    tile_a[y][x] = a[row * size + start + x];
    tile_b[y][x] = b[(start + y) * size + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) sum = fma(tile_a[y][k], tile_b[k][x], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * size + column] = sum;
}

// The acceleration of each body by all others; the mass is in w.
__kernel void nbody(__global const float4* bodies, __global float4* accelerations, int count) {
  const size_t i = get_global_id(0);
  const float4 self = bodies[i];
  float x = 0, y = 0, z = 0;
  for (int j = 0; j < count; ++j) {
    const float4 other = bodies[j];
    const float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
    const float squared = fma(dx, dx, fma(dy, dy, fma(dz, dz, 0.01f)));
    const float inverse = native_rsqrt(squared);
    const float pull = other.w * inverse * inverse * inverse;
    x = fma(dx, pull, x);
    y = fma(dy, pull, y);
    z = fma(dz, pull, z);
  }
  accelerations[i] = (float4)(x, y, z, 0);
}

// Steps until a point leaves the circle of radius 2.
__kernel void mandelbrot(__global int* steps, int width, int limit) {
  const int column = get_global_id(0), row = get_global_id(1);
  const float c_real = fma((float)column, 3.0f / 512, -2.25f);
  const float c_imaginary = fma((float)row, 2.5f / 512, -1.25f);
  float real = 0, imaginary = 0;
  int n = 0;
  while (n < limit && fma(real, real, imaginary * imaginary) < 4.0f) {
    const float next = fma(real, real, fma(-imaginary, imaginary, c_real));
    imaginary = fma(2 * real, imaginary, c_imaginary);
    real = next;
    ++n;
  }
  steps[row * width + column] = n;
}

// Rounds of multiplying, rotating and adding on 32-bit integers.
__kernel void hash(__global const uint* in, __global uint* out, int rounds) {
  const size_t i = get_global_id(0);
  uint value = in[i], state = 0x9e3779b9u;
  for (int round = 0; round < rounds; ++round) {
    value = value * 0xcc9e2d51u;
    value = (value << 15) | (value >> 17);
    state ^= value * 0x1b873593u;
    state = (state << 13) | (state >> 19);
    state = state * 5 + 0xe6546b64u;
    value += state;
  }
  out[i] = state;
}

// How often each byte occurs: counted in local memory, added up in global memory.
__kernel void histogram(__global const uint* words, __global uint* bins, int count) {
  __local uint local_bins[256];
  for (uint bin = get_local_id(0); bin < 256; bin += get_local_size(0)) local_bins[bin] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < count; i += get_global_size(0)) {
    const uint word = words[i];
    atomic_inc(&local_bins[word & 0xff]);
    atomic_inc(&local_bins[(word >> 8) & 0xff]);
    atomic_inc(&local_bins[(word >> 16) & 0xff]);
    atomic_inc(&local_bins[word >> 24]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint bin = get_local_id(0); bin < 256; bin += get_local_size(0)) atomic_add(&bins[bin], local_bins[bin]);
}

// Each work-group transforms 1,024 complex numbers in local memory: bit reversal, then ten stages of butterflies
// (Cooley and Tukey 1965). Twiddles are exp(-2 pi i k / 1024) for k below 512.
#define POINTS 1024
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void fft(__global const float2* in, __global float2* out,
                                                                   __global const float2* twiddles) {
  __local float2 data[POINTS];
  const uint start = get_group_id(0) * POINTS;
  for (uint i = get_local_id(0); i < POINTS; i += 256) {
    uint reversed = 0;
    for (uint bit = 0; bit < 10; ++bit) reversed |= ((i >> bit) & 1) << (9 - bit);
    data[reversed] = in[start + i];
  }
  for (uint half_size = 1; half_size < POINTS; half_size *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = get_local_id(0); j < POINTS / 2; j += 256) {
      const uint k = j & (half_size - 1), low = 2 * (j - k) + k, high = low + half_size;
      const float2 w = twiddles[k * (POINTS / 2 / half_size)], a = data[low], b = data[high];
      const float2 product = (float2)(fma(w.x, b.x, -w.y * b.y), fma(w.x, b.y, w.y * b.x));
      data[low] = a + product;
      data[high] = a - product;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < POINTS; i += 256) out[start + i] = data[i];
}

// Each work-group makes the running sums of 1,024 numbers: four of each work-item, then those of the work-items' totals
// in local memory (Hillis and Steele 1986).
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void scan(__global const uint4* in, __global uint4* out) {
  __local uint totals[2][256];
  const uint lane = get_local_id(0), i = get_global_id(0);
  uint4 own = in[i];
  own.y += own.x;
  own.z += own.y;
  own.w += own.z;
  uint current = 0;
  totals[0][lane] = own.w;
  for (uint offset = 1; offset < 256; offset *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    totals[1 - current][lane] = totals[current][lane] + (lane >= offset ? totals[current][lane - offset] : 0);
    current = 1 - current;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = own + (lane > 0 ? totals[current][lane - 1] : 0);
}

// Each work-group sorts 1,024 keys in local memory (Batcher 1968).
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void bitonic_sort(__global const uint* in,
                                                                            __global uint* out) {
  __local uint keys[POINTS];
  const uint start = get_group_id(0) * POINTS;
  for (uint i = get_local_id(0); i < POINTS; i += 256) keys[i] = in[start + i];
  for (uint run = 2; run <= POINTS; run *= 2) {
    for (uint distance = run / 2; distance > 0; distance /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      for (uint j = get_local_id(0); j < POINTS / 2; j += 256) {
        const uint low = 2 * j - (j & (distance - 1)), high = low + distance;
        const uint a = keys[low], b = keys[high];
        const bool ascending = (low & run) == 0;
        keys[low] = (a > b) == ascending ? b : a;
        keys[high] = (a > b) == ascending ? a : b;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < POINTS; i += 256) out[start + i] = keys[i];
}

// One step of heat flow on a square; its edge stays as it is.
__kernel void stencil(__global const float* in, __global float* out, int width) {
  const int column = get_global_id(0), row = get_global_id(1), i = row * width + column;
  const bool edge = column == 0 || row == 0 || column == width - 1 || row == width - 1;
  out[i] = edge ? in[i] : fma(0.2f, in[i - width] + in[i - 1] + in[i + 1] + in[i + width] - 4 * in[i], in[i]);
}

// European options, a call and a put for each price (Black and Scholes 1973).
__kernel void black_scholes(__global const double* prices, __global double2* options, double strike, double years,
                            double rate, double volatility) {
  const size_t i = get_global_id(0);
  const double price = prices[i], deviation = volatility * sqrt(years);
  const double d1 = (log(price / strike) + fma(0.5 * volatility, volatility, rate) * years) / deviation;
  const double d2 = d1 - deviation;
  const double discounted = strike * exp(-rate * years);
  // The normal distribution as a polynomial (Abramowitz and Stegun 26.2.17).
  double below[2];
  for (int j = 0; j < 2; ++j) {
    const double d = j == 0 ? d1 : d2;
    const double k = 1 / fma(0.2316419, fabs(d), 1.0);
    double sum = fma(1.330274429, k, -1.821255978);
    sum = fma(sum, k, 1.781477937);
    sum = fma(sum, k, -0.356563782);
    sum = fma(sum, k, 0.319381530);
    const double tail = 0.39894228040143268 * exp(-0.5 * d * d) * sum * k;
    below[j] = d < 0 ? tail : 1 - tail;
  }
  const double call = fma(price, below[0], -discounted * below[1]);
  options[i] = (double2)(call, call + discounted - price);
}

// The SHA-256 compression of one block of sixteen words for each work-item (FIPS 180-4, 6.2.2).
__constant uint sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint rotate_right(uint value, uint count) { return rotate(value, 32 - count); }

__kernel void sha256(__global const uint* messages, __global uint* digests, uint count) {
  const uint start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const uint message = get_global_id(0);
  uint w[16], a[8];
#pragma unroll
  for (int i = 0; i < 16; ++i) w[i] = messages[i * count + message];
#pragma unroll
  for (int i = 0; i < 8; ++i) a[i] = start[i];
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    if (i >= 16) {
      const uint w2 = w[(i - 2) & 15], w15 = w[(i - 15) & 15];
      w[i & 15] += (rotate_right(w2, 17) ^ rotate_right(w2, 19) ^ (w2 >> 10)) + w[(i - 7) & 15] +
                   (rotate_right(w15, 7) ^ rotate_right(w15, 18) ^ (w15 >> 3));
    }
    const uint e = a[4];
    const uint t1 = a[7] + (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25)) +
                    ((e & a[5]) ^ (~e & a[6])) + sha256_k[i] + w[i & 15];
    const uint t2 = (rotate_right(a[0], 2) ^ rotate_right(a[0], 13) ^ rotate_right(a[0], 22)) +
                    ((a[0] & a[1]) ^ (a[0] & a[2]) ^ (a[1] & a[2]));
    a[7] = a[6];
    a[6] = a[5];
    a[5] = e;
    a[4] = a[3] + t1;
    a[3] = a[2];
    a[2] = a[1];
    a[1] = a[0];
    a[0] = t1 + t2;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) digests[i * count + message] = start[i] + a[i];
}

__kernel void empty(void) {}

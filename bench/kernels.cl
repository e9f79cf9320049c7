// The kernels of the comparison with pocl. pocl compiles this file for the host; clang compiles it for gfx90a together
// with gfx90a_builtins.h. Every sum of products is written as fma, so that both have the same operations to do.
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
    const float inverse = rsqrt(squared);
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

__kernel void empty(void) {}

// The n-body simulation of the README: 100 steps of 8,192 bodies. It prints how far their centre of mass has moved.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <utility>
#include <vector>

constexpr int bodies = 8192, steps = 100;
constexpr float time_step = 0.01F, softening = 0.01F;

// Positions are x, y, z and mass of a body; velocities x, y, z and nothing.
__global__ void step(const float* positions, float* next, float* velocities, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const float x = positions[4 * i], y = positions[4 * i + 1], z = positions[4 * i + 2];
  float ax = 0, ay = 0, az = 0;
  for (int j = 0; j < count; j++) {
    const float dx = positions[4 * j] - x, dy = positions[4 * j + 1] - y, dz = positions[4 * j + 2] - z;
    const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
    const float pull = positions[4 * j + 3] * inverse * inverse * inverse;
    ax += pull * dx;
    ay += pull * dy;
    az += pull * dz;
  }
  const float a[3] = {ax, ay, az};
  for (int k = 0; k < 3; k++) {
    velocities[4 * i + k] += time_step * a[k];
    next[4 * i + k] = positions[4 * i + k] + time_step * velocities[4 * i + k];
  }
  next[4 * i + 3] = positions[4 * i + 3];
}

double centre_x(const std::vector<float>& positions) {
  double sum = 0;
  for (int i = 0; i < bodies; i++) sum += positions[4 * i];
  return sum / bodies;
}

int main() {
  std::vector<float> positions(4 * bodies);
  unsigned state = 1;
  const auto random = [&] {
    state = state * 1664525U + 1013904223U;
    return static_cast<float>(state >> 8) / static_cast<float>(1 << 24);
  };
  for (int i = 0; i < bodies; i++) {
    for (int k = 0; k < 3; k++) positions[4 * i + k] = random();
    positions[4 * i + 3] = 1.0F / bodies;
  }
  const double before = centre_x(positions);
  const size_t bytes = positions.size() * sizeof(float);
  float *from = nullptr, *to = nullptr, *velocities = nullptr;
  if (hipMalloc(&from, bytes) != hipSuccess || hipMalloc(&to, bytes) != hipSuccess ||
      hipMalloc(&velocities, bytes) != hipSuccess || hipMemset(velocities, 0, bytes) != hipSuccess ||
      hipMemcpy(from, positions.data(), bytes, hipMemcpyHostToDevice) != hipSuccess)
    return 1;
  for (int i = 0; i < steps; i++) {
    step<<<bodies / 256, 256>>>(from, to, velocities, bodies);
    std::swap(from, to);
  }
  if (hipMemcpy(positions.data(), from, bytes, hipMemcpyDeviceToHost) != hipSuccess) return 1;
  std::printf("centre of mass moved by %.1e\n", centre_x(positions) - before);
}

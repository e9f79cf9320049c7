// Tiled matrix multiplication: tiles in static and dynamic LDS, barriers between the steps, sizes that are no multiple
// of the tile. Elements are small integers, so that every order of summing gives the same result.
#include "check.h"

namespace {

constexpr int kTile = 16;

template <typename T>
__global__ void multiply_static(const T* a, const T* b, T* c, int rows, int inner, int columns) {
  __shared__ T tile_a[kTile][kTile], tile_b[kTile][kTile + 1];
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int row = static_cast<int>(blockIdx.y) * kTile + ty, column = static_cast<int>(blockIdx.x) * kTile + tx;
  T sum = 0;
  for (int start = 0; start < inner; start += kTile) {
    tile_a[ty][tx] = row < rows && start + tx < inner ? a[row * inner + start + tx] : T(0);
    tile_b[ty][tx] = start + ty < inner && column < columns ? b[(start + ty) * columns + column] : T(0);
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += tile_a[ty][k] * tile_b[k][tx];
    __syncthreads();
  }
  if (row < rows && column < columns) c[row * columns + column] = sum;
}

// The tile size is a launch parameter here, and both tiles lie in one dynamic allocation.
__global__ void multiply_dynamic(const float* a, const float* b, float* c, int size) {
  extern __shared__ float tiles[];
  const int tile = static_cast<int>(blockDim.x);
  float* tile_a = tiles;
  float* tile_b = tiles + tile * tile;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int row = static_cast<int>(blockIdx.y) * tile + ty, column = static_cast<int>(blockIdx.x) * tile + tx;
  float sum = 0;
  for (int start = 0; start < size; start += tile) {
    tile_a[ty * tile + tx] = a[row * size + start + tx];
    tile_b[ty * tile + tx] = b[(start + ty) * size + column];
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum += tile_a[ty * tile + k] * tile_b[k * tile + tx];
    __syncthreads();
  }
  c[row * size + column] = sum;
}

template <typename T>
std::vector<T> matrix(int rows, int columns, int seed) {
  std::vector<T> values(rows * columns);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>((i * 31 + seed) % 17) - T(8);
  return values;
}

template <typename T>
std::vector<T> product(const std::vector<T>& a, const std::vector<T>& b, int rows, int inner, int columns) {
  std::vector<T> c(rows * columns, T(0));
  for (int i = 0; i < rows; ++i) {
    for (int k = 0; k < inner; ++k) {
      for (int j = 0; j < columns; ++j) c[i * columns + j] += a[i * inner + k] * b[k * columns + j];
    }
  }
  return c;
}

template <typename T>
void check_static(const char* what, int rows, int inner, int columns) {
  const std::vector<T> a = matrix<T>(rows, inner, 3), b = matrix<T>(inner, columns, 5);
  const check::Device<T> device_a(a), device_b(b), device_c(rows * columns);
  multiply_static<T><<<dim3((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile), dim3(kTile, kTile)>>>(
      device_a.get(), device_b.get(), device_c.get(), rows, inner, columns);
  check::finish();
  check::equal(what, device_c.read(), product(a, b, rows, inner, columns));
}

}  // namespace

int main() {
  check_static<float>("float 64x64x64", 64, 64, 64);
  check_static<float>("float 50x37x71", 50, 37, 71);
  check_static<double>("double 33x65x17", 33, 65, 17);
  check_static<int>("int 48x20x31", 48, 20, 31);

  for (const int tile : {4, 8, 16, 32}) {
    constexpr int size = 64;
    const std::vector<float> a = matrix<float>(size, size, 1), b = matrix<float>(size, size, 2);
    const check::Device<float> device_a(a), device_b(b), device_c(size * size);
    multiply_dynamic<<<dim3(size / tile, size / tile), dim3(tile, tile), 2 * tile * tile * sizeof(float)>>>(
        device_a.get(), device_b.get(), device_c.get(), size);
    check::finish();
    check::equal("dynamic", device_c.read(), product(a, b, size, size, size));
  }
  return check::result();
}

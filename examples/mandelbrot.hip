// An ordinary HIP program: nothing in it knows of Atoll. It draws the Mandelbrot set on the GPU, counts the iterations
// in LDS, and checks both against the host.
//
//     hipcc --offload-arch=gfx1030 --offload-arch=gfx90a -O2 mandelbrot.hip -o mandelbrot
//     atoll run --gpu gfx90a --stats -- ./mandelbrot
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP(call)                                                                     \
  do {                                                                                \
    const hipError_t status = (call);                                                 \
    if (status != hipSuccess) {                                                       \
      std::fprintf(stderr, "mandelbrot: %s: %s\n", #call, hipGetErrorString(status)); \
      std::exit(1);                                                                   \
    }                                                                                 \
  } while (false)

namespace {

constexpr int kWidth = 78, kHeight = 27, kLimit = 100;

// How many steps z = z * z + c takes to leave the circle of radius 2. Products and sums are rounded one by one, so that
// host and GPU agree to the last bit.
__host__ __device__ inline int steps(int x, int y) {
#pragma clang fp contract(off)
  const float c_real = -2.2f + static_cast<float>(x) * (3.2f / kWidth);
  const float c_imaginary = -1.2f + static_cast<float>(y) * (2.4f / kHeight);
  float real = 0, imaginary = 0;
  int n = 0;
  while (n < kLimit && real * real + imaginary * imaginary < 4) {
    const float next = real * real - imaginary * imaginary + c_real;
    imaginary = 2 * real * imaginary + c_imaginary;
    real = next;
    ++n;
  }
  return n;
}

__global__ void mandelbrot(int* picture) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x < kWidth && y < kHeight) picture[y * kWidth + x] = steps(x, y);
}

// Each work-group counts into LDS and adds its counts to the total once.
__global__ void histogram(const int* picture, int* bins) {
  __shared__ int local[kLimit + 1];
  for (unsigned bin = threadIdx.x; bin <= kLimit; bin += blockDim.x) local[bin] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < kWidth * kHeight; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[picture[i]], 1);
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin <= kLimit; bin += blockDim.x) atomicAdd(&bins[bin], local[bin]);
}

}  // namespace

int main() {
  hipDeviceProp_t properties;
  HIP(hipGetDeviceProperties(&properties, 0));
  std::printf("GPU: %s (%s), %d compute units\n", properties.name, properties.gcnArchName,
              properties.multiProcessorCount);

  int *device_picture = nullptr, *device_bins = nullptr;
  HIP(hipMalloc(&device_picture, sizeof(int) * kWidth * kHeight));
  HIP(hipMalloc(&device_bins, sizeof(int) * (kLimit + 1)));
  HIP(hipMemset(device_bins, 0, sizeof(int) * (kLimit + 1)));
  mandelbrot<<<dim3((kWidth + 15) / 16, (kHeight + 15) / 16), dim3(16, 16)>>>(device_picture);
  histogram<<<4, 256>>>(device_picture, device_bins);
  HIP(hipGetLastError());
  std::vector<int> picture(kWidth * kHeight), bins(kLimit + 1), expected(kLimit + 1, 0);
  HIP(hipMemcpy(picture.data(), device_picture, sizeof(int) * picture.size(), hipMemcpyDeviceToHost));
  HIP(hipMemcpy(bins.data(), device_bins, sizeof(int) * bins.size(), hipMemcpyDeviceToHost));
  HIP(hipFree(device_picture));
  HIP(hipFree(device_bins));

  int wrong = 0;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const int n = picture[y * kWidth + x];
      std::putchar(n == kLimit ? '#' : n > 20 ? '+' : n > 9 ? '-' : n > 5 ? '.' : ' ');
      wrong += n != steps(x, y);
      ++expected[steps(x, y)];
    }
    std::putchar('\n');
  }
  for (int n = 0; n <= kLimit; ++n) wrong += bins[n] != expected[n];
  std::printf("%d of %d points never leave; %d differences from the host\n", bins[kLimit], kWidth * kHeight, wrong);
  return wrong == 0 ? 0 : 1;
}

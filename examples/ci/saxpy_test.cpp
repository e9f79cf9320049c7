// y = a x + y on the GPU, against the host: saxpy_test COUNT
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void check(hipError_t error, const char* what) {
  if (error == hipSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, hipGetErrorString(error));
  std::exit(1);
}
#define CHECK(call) check(call, #call)

__global__ void saxpy(int count, float a, const float* x, float* y) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) y[i] = a * x[i] + y[i];
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
  std::vector<float> x(count), y(count), result(count);
  for (int i = 0; i < count; i++) {  // small integers: exact, with a fused multiplication and without
    x[i] = static_cast<float>(i % 1000);
    y[i] = static_cast<float>(i % 7);
  }
  float *gpu_x = nullptr, *gpu_y = nullptr;
  const size_t bytes = x.size() * sizeof(float);
  CHECK(hipMalloc(&gpu_x, bytes));
  CHECK(hipMalloc(&gpu_y, bytes));
  CHECK(hipMemcpy(gpu_x, x.data(), bytes, hipMemcpyHostToDevice));
  CHECK(hipMemcpy(gpu_y, y.data(), bytes, hipMemcpyHostToDevice));
  saxpy<<<(count + 255) / 256, 256>>>(count, 2.0f, gpu_x, gpu_y);
  CHECK(hipGetLastError());
  CHECK(hipMemcpy(result.data(), gpu_y, bytes, hipMemcpyDeviceToHost));
  CHECK(hipFree(gpu_x));
  CHECK(hipFree(gpu_y));

  int wrong = 0;
  for (int i = 0; i < count; i++) wrong += result[i] != 2.0f * x[i] + y[i];
  hipDeviceProp_t properties;
  CHECK(hipGetDeviceProperties(&properties, 0));
  std::printf("%s: %d of %d are wrong\n", properties.gcnArchName, wrong, count);
  return wrong == 0 ? 0 : 1;
}

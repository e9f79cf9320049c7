// Variables of the device: __device__, __constant__ and managed ones, initialized, written and read by symbol from the
// host, found by address, shared between kernels, and pointing at each other.
#include "check.h"

__device__ int counter = 5;
__device__ float table[64] = {1.5f, 2.5f, 3.5f};
__device__ double zeros[1000];
__constant__ int coefficients[8] = {3, 1, 4, 1, 5, 9, 2, 6};
struct Settings {
  double scale;
  char name[8];
};
__constant__ Settings settings = {0.25, "atoll"};
__device__ float* table_end = table + 64;  // needs a relocation
__managed__ int managed_value = 11;

namespace {

__global__ void read_all(double* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = i < 8 ? coefficients[i] * settings.scale : table[i % 64];
  if (i == 8) out[i] = counter;
  if (i == 9) out[i] = settings.name[4];
  if (i == 10) out[i] = static_cast<double>(table_end - table);
  if (i == 11) out[i] = zeros[999];
  if (i == 12) out[i] = managed_value;
}

__global__ void count() { atomicAdd(&counter, 1); }

__global__ void change() {
  table[threadIdx.x] *= 2;
  if (threadIdx.x == 0) ++managed_value;
}

std::vector<double> read() {
  const check::Device<double> out(16);
  read_all<<<1, 16>>>(out.get());
  check::finish();
  return out.read();
}

}  // namespace

int main() {
  check::equal("initial values", read(), {0.75, 0.25, 1, 0.25, 1.25, 2.25, 0.5, 1.5, 5, 'l', 64, 0, 11, 0, 0, 0});

  const int new_coefficients[8] = {10, 20, 30, 40, 50, 60, 70, 80};
  HIP(hipMemcpyToSymbol(HIP_SYMBOL(coefficients), new_coefficients, sizeof new_coefficients));
  const double scale = 2;
  HIP(hipMemcpyToSymbol(HIP_SYMBOL(settings), &scale, sizeof scale));
  const float some[2] = {7.25f, 8.25f};
  HIP(hipMemcpyToSymbol(HIP_SYMBOL(table), some, sizeof some, 14 * sizeof(float)));
  managed_value = 100;
  count<<<3, 64>>>();
  check::equal("written by symbol", read(),
               {20, 40, 60, 80, 100, 120, 140, 160, 5 + 3 * 64, 'l', 64, 0, 100, 0, 7.25, 8.25});

  change<<<1, 64>>>();
  float back[64] = {};
  HIP(hipMemcpyFromSymbol(back, HIP_SYMBOL(table), sizeof back));
  check::equal("read by symbol", std::vector<float>(back, back + 16),
               {3, 5, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 14.5, 16.5});
  EXPECT(managed_value == 101);

  void* address = nullptr;
  size_t size = 0;
  HIP(hipGetSymbolAddress(&address, HIP_SYMBOL(counter)));
  HIP(hipGetSymbolSize(&size, HIP_SYMBOL(zeros)));
  EXPECT(size == sizeof(double) * 1000);
  const int value = 77;
  HIP(hipMemcpy(address, &value, sizeof value, hipMemcpyHostToDevice));
  int got = 0;
  HIP(hipMemcpyFromSymbol(&got, HIP_SYMBOL(counter), sizeof got));
  check::equal("by address", got, 77);
  return check::result();
}

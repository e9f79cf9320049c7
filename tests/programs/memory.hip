// Kinds of memory besides plain device memory: managed, pinned, mapped, registered; and what the runtime says of a
// pointer and of the device's memory.
#include "check.h"

namespace {

constexpr int kCount = 3000;

__global__ void add(int* values, int amount) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kCount) values[i] += amount;
}

void launch(int* values, int amount) {
  add<<<(kCount + 255) / 256, 256>>>(values, amount);
  check::finish();
}

std::vector<int> ramp(int start) {
  std::vector<int> values(kCount);
  for (int i = 0; i < kCount; ++i) values[i] = start + i;
  return values;
}

// What HIP 6 calls `type` was `memoryType` before.
template <typename Attributes>
hipMemoryType kind(const Attributes& attributes) {
#if HIP_VERSION >= 60000000
  return attributes.type;
#else
  return attributes.memoryType;
#endif
}

void check_managed() {
  int* values = nullptr;
  HIP(hipMallocManaged(&values, kCount * sizeof(int)));
  for (int i = 0; i < kCount; ++i) values[i] = i;
  launch(values, 10);
  for (int i = 0; i < kCount; ++i) values[i] += 5;  // host and device take turns
  launch(values, 100);
  check::equal("managed", std::vector<int>(values, values + kCount), ramp(115));
  HIP(hipFree(values));
}

void check_pinned() {
  int* values = nullptr;
  HIP(hipHostMalloc(&values, kCount * sizeof(int), hipHostMallocMapped));
  for (int i = 0; i < kCount; ++i) values[i] = i;
  int* on_device = nullptr;
  HIP(hipHostGetDevicePointer(reinterpret_cast<void**>(&on_device), values, 0));
  launch(on_device, 20);
  check::equal("pinned", std::vector<int>(values, values + kCount), ramp(20));

  hipPointerAttribute_t attributes{};
  HIP(hipPointerGetAttributes(&attributes, values));
  EXPECT(kind(attributes) == hipMemoryTypeHost);
  EXPECT(attributes.devicePointer == on_device);
  unsigned flags = 0;
  HIP(hipHostGetFlags(&flags, values));
  EXPECT((flags & hipHostMallocMapped) != 0);
  HIP(hipHostFree(values));
}

// Memory of the program's own, told to the device afterwards.
void check_registered() {
  std::vector<int> values = ramp(0);
  HIP(hipHostRegister(values.data(), kCount * sizeof(int), hipHostRegisterMapped));
  int* on_device = nullptr;
  HIP(hipHostGetDevicePointer(reinterpret_cast<void**>(&on_device), values.data(), 0));
  launch(on_device, 30);
  check::equal("registered", values, ramp(30));

  const check::Device<int> device(kCount);
  HIP(hipMemcpyAsync(device.get(), values.data(), kCount * sizeof(int), hipMemcpyHostToDevice, nullptr));
  HIP(hipDeviceSynchronize());
  check::equal("copied from registered", device.read(), ramp(30));
  HIP(hipHostUnregister(values.data()));
  EXPECT(hipHostUnregister(values.data()) != hipSuccess);
  (void)hipGetLastError();
}

void check_attributes() {
  const check::Device<int> device(kCount);
  hipPointerAttribute_t attributes{};
  HIP(hipPointerGetAttributes(&attributes, device.get() + 100));
  EXPECT(kind(attributes) == hipMemoryTypeDevice);
  EXPECT(attributes.device == 0);
  hipDeviceptr_t base = nullptr;
  size_t size = 0;
  HIP(hipMemGetAddressRange(&base, &size, reinterpret_cast<hipDeviceptr_t>(device.get() + 100)));
  EXPECT(base == device.get());
  EXPECT(size == kCount * sizeof(int));
  int on_stack = 0;
#if HIP_VERSION >= 60000000
  HIP(hipPointerGetAttributes(&attributes, &on_stack));
  EXPECT(attributes.type == hipMemoryTypeUnregistered);
#else
  EXPECT(hipPointerGetAttributes(&attributes, &on_stack) == hipErrorInvalidValue);
#endif
  (void)hipGetLastError();
}

void check_free_memory() {
  size_t before = 0, during = 0, after = 0, total = 0;
  constexpr size_t large = 64u << 20;
  HIP(hipMemGetInfo(&before, &total));
  EXPECT(before > 0 && before <= total);
  void* memory = nullptr;
  HIP(hipMalloc(&memory, large));
  HIP(hipMemGetInfo(&during, &total));
  HIP(hipFree(memory));
  HIP(hipMemGetInfo(&after, &total));
  EXPECT(before - during >= large);
  EXPECT(after >= during + large);
}

// The device's own heap.
__global__ void allocate(int** places, int* results) {
  const int i = static_cast<int>(threadIdx.x);
  places[i] = static_cast<int*>(malloc(8 * sizeof(int)));
  if (places[i] != nullptr) {
    for (int k = 0; k < 8; ++k) places[i][k] = i * k;
  }
  __syncthreads();
  int* neighbour = places[(i + 1) % 64];
  results[i] = neighbour != nullptr ? neighbour[7] : -1;
  __syncthreads();
  free(places[i]);
}

void check_device_heap() {
  const check::Device<int*> places(64);
  const check::Device<int> results(64);
  allocate<<<1, 64>>>(places.get(), results.get());
  check::finish();
  std::vector<int> want(64);
  for (int i = 0; i < 64; ++i) want[i] = (i + 1) % 64 * 7;
  check::equal("malloc on the device", results.read(), want);
}

// The host sees what a running kernel writes, and the other way round: fine-grained memory.
__global__ void answer(volatile int* question, volatile int* reply) {
  while (*question == 0) {
  }
  *reply = *question * 2;
  __threadfence_system();
}

void check_conversation() {
  int* shared = nullptr;
  HIP(hipHostMalloc(&shared, 2 * sizeof(int), hipHostMallocCoherent));
  shared[0] = shared[1] = 0;
  answer<<<1, 1>>>(shared, shared + 1);
  HIP(hipGetLastError());
  EXPECT(hipStreamQuery(nullptr) == hipErrorNotReady);
  __atomic_store_n(&shared[0], 21, __ATOMIC_SEQ_CST);
  HIP(hipDeviceSynchronize());
  EXPECT(shared[1] == 42);
  HIP(hipHostFree(shared));
}

}  // namespace

int main() {
  check_managed();
  check_pinned();
  check_registered();
  check_attributes();
  check_free_memory();
  check_device_heap();
  check_conversation();
  return check::result();
}

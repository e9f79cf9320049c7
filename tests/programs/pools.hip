// Memory in the order of a stream: hipMallocAsync and hipFreeAsync, pools with their attributes, access and limits, and
// memory of a pool that is shared through a descriptor.
#include "check.h"

#include <unistd.h>

namespace {

constexpr int kCount = 10'000;
constexpr size_t kBytes = kCount * sizeof(int);

__global__ void fill(int* values, int start) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kCount) values[i] = start + i;
}

void expect_ramp(const char* what, const int* device, int start) {
  std::vector<int> values(kCount), want(kCount);
  HIP(hipMemcpy(values.data(), device, kBytes, hipMemcpyDeviceToHost));
  for (int i = 0; i < kCount; ++i) want[i] = start + i;
  check::equal(what, values, want);
}

uint64_t attribute(hipMemPool_t pool, hipMemPoolAttr which) {
  uint64_t value = 0;
  HIP(hipMemPoolGetAttribute(pool, which, &value));
  return value;
}

void check_stream_order() {
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  std::vector<int> values(kCount), want(kCount);
  for (int round = 0; round < 20; ++round) {
    int *first = nullptr, *second = nullptr;
    HIP(hipMallocAsync(reinterpret_cast<void**>(&first), kBytes, stream));
    HIP(hipMallocAsync(reinterpret_cast<void**>(&second), kBytes, stream));
    EXPECT(first != second);
    fill<<<(kCount + 255) / 256, 256, 0, stream>>>(first, round);
    HIP(hipMemcpyAsync(second, first, kBytes, hipMemcpyDeviceToDevice, stream));
    HIP(hipFreeAsync(first, stream));
    HIP(hipMemcpyAsync(values.data(), second, kBytes, hipMemcpyDeviceToHost, stream));
    HIP(hipFreeAsync(second, stream));
    HIP(hipStreamSynchronize(stream));
    for (int i = 0; i < kCount; ++i) want[i] = round + i;
    check::equal("in stream order", values, want);
  }
  HIP(hipStreamDestroy(stream));
}

// What is freed stays with the default pool up to its release threshold, and is given out again.
void check_default_pool() {
  int supported = 0;
  HIP(hipDeviceGetAttribute(&supported, hipDeviceAttributeMemoryPoolsSupported, 0));
  EXPECT(supported == 1);
  hipMemPool_t pool = nullptr, current = nullptr;
  HIP(hipDeviceGetDefaultMemPool(&pool, 0));
  HIP(hipDeviceGetMemPool(&current, 0));
  EXPECT(pool == current);
  uint64_t threshold = UINT64_MAX;
  HIP(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold));
  EXPECT(attribute(pool, hipMemPoolAttrReleaseThreshold) == UINT64_MAX);
  const uint64_t used = attribute(pool, hipMemPoolAttrUsedMemCurrent);
  void* memory = nullptr;
  HIP(hipMallocAsync(&memory, 1 << 20, nullptr));
  HIP(hipStreamSynchronize(nullptr));
  EXPECT(attribute(pool, hipMemPoolAttrUsedMemCurrent) == used + (1 << 20));
  EXPECT(attribute(pool, hipMemPoolAttrUsedMemHigh) >= used + (1 << 20));
  HIP(hipFreeAsync(memory, nullptr));
  HIP(hipStreamSynchronize(nullptr));
  EXPECT(attribute(pool, hipMemPoolAttrUsedMemCurrent) == used);
  EXPECT(attribute(pool, hipMemPoolAttrReservedMemCurrent) >= used + (1 << 20));
  HIP(hipMemPoolTrimTo(pool, 0));
  EXPECT(attribute(pool, hipMemPoolAttrReservedMemCurrent) < used + (1 << 20));
}

hipMemPoolProps device_pool(hipMemAllocationHandleType handles) {
  hipMemPoolProps properties{};
  properties.allocType = hipMemAllocationTypePinned;
  properties.handleTypes = handles;
  properties.location.type = hipMemLocationTypeDevice;
  properties.location.id = 0;
  return properties;
}

void check_own_pool() {
  const hipMemPoolProps properties = device_pool(hipMemHandleTypeNone);
  hipMemPool_t pool = nullptr;
  HIP(hipMemPoolCreate(&pool, &properties));
  hipMemAccessDesc access{};
  access.location = properties.location;
  access.flags = hipMemAccessFlagsProtReadWrite;
  HIP(hipMemPoolSetAccess(pool, &access, 1));
  hipMemAccessFlags flags{};
  hipMemLocation location = properties.location;
  HIP(hipMemPoolGetAccess(&flags, pool, &location));
  EXPECT(flags == hipMemAccessFlagsProtReadWrite);

  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  int* values = nullptr;
  HIP(hipMallocFromPoolAsync(reinterpret_cast<void**>(&values), kBytes, pool, stream));
  fill<<<(kCount + 255) / 256, 256, 0, stream>>>(values, 70);
  HIP(hipStreamSynchronize(stream));
  expect_ramp("a pool of its own", values, 70);
  HIP(hipFreeAsync(values, stream));
  HIP(hipStreamSynchronize(stream));

  HIP(hipDeviceSetMemPool(0, pool));
  hipMemPool_t current = nullptr;
  HIP(hipDeviceGetMemPool(&current, 0));
  EXPECT(current == pool);
  HIP(hipMallocAsync(reinterpret_cast<void**>(&values), kBytes, stream));
  EXPECT(attribute(pool, hipMemPoolAttrUsedMemCurrent) >= kBytes);
  fill<<<(kCount + 255) / 256, 256, 0, stream>>>(values, 80);
  HIP(hipStreamSynchronize(stream));
  expect_ramp("the device's pool", values, 80);
  HIP(hipFreeAsync(values, stream));
  HIP(hipStreamSynchronize(stream));
  HIP(hipDeviceGetDefaultMemPool(&current, 0));
  HIP(hipDeviceSetMemPool(0, current));
  HIP(hipStreamDestroy(stream));
  HIP(hipMemPoolDestroy(pool));
}

// The same process imports what it exported: a second address of the same memory.
void check_sharing() {
  const hipMemPoolProps properties = device_pool(hipMemHandleTypePosixFileDescriptor);
  hipMemPool_t pool = nullptr, imported = nullptr;
  HIP(hipMemPoolCreate(&pool, &properties));
  int* values = nullptr;
  HIP(hipMallocFromPoolAsync(reinterpret_cast<void**>(&values), kBytes, pool, nullptr));
  fill<<<(kCount + 255) / 256, 256>>>(values, 90);
  check::finish();
  int descriptor = -1;
  HIP(hipMemPoolExportToShareableHandle(&descriptor, pool, hipMemHandleTypePosixFileDescriptor, 0));
  EXPECT(descriptor >= 0);
  hipMemPoolPtrExportData data{};
  HIP(hipMemPoolExportPointer(&data, values));
  HIP(hipMemPoolImportFromShareableHandle(&imported, reinterpret_cast<void*>(static_cast<intptr_t>(descriptor)),
                                          hipMemHandleTypePosixFileDescriptor, 0));
  int* again = nullptr;
  HIP(hipMemPoolImportPointer(reinterpret_cast<void**>(&again), imported, &data));
  expect_ramp("imported memory", again, 90);
  fill<<<(kCount + 255) / 256, 256>>>(again, 100);
  check::finish();
  expect_ramp("written through the second address", values, 100);
  HIP(hipFreeAsync(again, nullptr));
  HIP(hipFreeAsync(values, nullptr));
  HIP(hipStreamSynchronize(nullptr));
  HIP(hipMemPoolDestroy(imported));
  HIP(hipMemPoolDestroy(pool));
  (void)close(descriptor);
}

}  // namespace

int main() {
  check_stream_order();
  check_default_pool();
  check_own_pool();
  check_sharing();
  return check::result();
}

// What a program asks of a device before it uses it: attributes, limits, occupancy, attributes of functions and
// pointers, peers, priorities, compute-unit masks, cooperative launches of several devices.
#include "check.h"

#include <hip/hip_ext.h>

namespace {

__global__ __launch_bounds__(256) void plain(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 7; }

__global__ void with_shared(int* out) {
  __shared__ int words[4096];
  words[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
}

__global__ void with_dynamic(int* out) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x] = 2 * static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = dynamic[(threadIdx.x + 1) % blockDim.x];
}

int attribute(hipDeviceAttribute_t which) {
  int value = -1;
  HIP(hipDeviceGetAttribute(&value, which, 0));
  return value;
}

// The attributes say the same as the properties.
void check_attributes() {
  hipDeviceProp_t properties;
  HIP(hipGetDeviceProperties(&properties, 0));
  EXPECT(attribute(hipDeviceAttributeWarpSize) == properties.warpSize);
  EXPECT(attribute(hipDeviceAttributeMultiprocessorCount) == properties.multiProcessorCount);
  EXPECT(attribute(hipDeviceAttributeMaxThreadsPerBlock) == properties.maxThreadsPerBlock);
  EXPECT(attribute(hipDeviceAttributeMaxSharedMemoryPerBlock) == static_cast<int>(properties.sharedMemPerBlock));
  EXPECT(attribute(hipDeviceAttributeClockRate) == properties.clockRate);
  EXPECT(attribute(hipDeviceAttributeMemoryClockRate) == properties.memoryClockRate);
  EXPECT(attribute(hipDeviceAttributeMemoryBusWidth) == properties.memoryBusWidth);
  EXPECT(attribute(hipDeviceAttributeComputeCapabilityMajor) == properties.major);
  EXPECT(attribute(hipDeviceAttributePciBusId) == properties.pciBusID);
  EXPECT(attribute(hipDeviceAttributePciDeviceId) == properties.pciDeviceID);
  EXPECT(attribute(hipDeviceAttributeMaxThreadsPerMultiProcessor) == properties.maxThreadsPerMultiProcessor);
  EXPECT(attribute(hipDeviceAttributeL2CacheSize) == properties.l2CacheSize);
  EXPECT(attribute(hipDeviceAttributeIntegrated) == 0);
#if HIP_VERSION >= 50700000
  EXPECT(attribute(hipDeviceAttributeUnifiedAddressing) == 1);
  EXPECT(attribute(hipDeviceAttributeWallClockRate) > 0);
#endif
  EXPECT(properties.memoryClockRate > 0 && properties.memoryBusWidth > 0 && properties.l2CacheSize > 0);

  char bus[32] = {};
  HIP(hipDeviceGetPCIBusId(bus, sizeof bus, 0));
  int device = -1;
  HIP(hipDeviceGetByPCIBusId(&device, bus));
  EXPECT(device == 0);
  char name[256] = {};
  HIP(hipDeviceGetName(name, sizeof name, 0));
  EXPECT(std::strcmp(name, properties.name) == 0);
  size_t total = 0;
  HIP(hipDeviceTotalMem(&total, 0));
  EXPECT(total == properties.totalGlobalMem);
  hipUUID uuid{};
  HIP(hipDeviceGetUuid(&uuid, 0));
  const std::string bytes(uuid.bytes, sizeof uuid.bytes);
  EXPECT(bytes.find_first_not_of('\0') != std::string::npos);
  EXPECT(hipDeviceGetAttribute(&device, hipDeviceAttributeWarpSize, 1) == hipErrorInvalidDevice);
  EXPECT(hipSetDevice(1) == hipErrorInvalidDevice);
  (void)hipGetLastError();
}

void check_limits() {
  size_t heap = 0;
  HIP(hipDeviceGetLimit(&heap, hipLimitMallocHeapSize));
  EXPECT(heap > 0);
#if HIP_VERSION >= 50700000
  HIP(hipDeviceSetLimit(hipLimitStackSize, 4096));
  size_t stack = 0;
  HIP(hipDeviceGetLimit(&stack, hipLimitStackSize));
  EXPECT(stack >= 4096);
#endif
  EXPECT(hipDeviceGetLimit(&heap, static_cast<hipLimit_t>(1000)) != hipSuccess);
  (void)hipGetLastError();
}

void check_functions() {
  hipFuncAttributes attributes{};
  HIP(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(with_shared)));
  EXPECT(attributes.sharedSizeBytes == 4096 * sizeof(int));
  EXPECT(attributes.numRegs > 0);
  EXPECT(attributes.maxThreadsPerBlock == 1024);
  HIP(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(plain)));
  EXPECT(attributes.sharedSizeBytes == 0);
  EXPECT(attributes.maxThreadsPerBlock == 256);
  HIP(hipFuncSetCacheConfig(reinterpret_cast<const void*>(plain), hipFuncCachePreferShared));
  HIP(hipFuncSetAttribute(reinterpret_cast<const void*>(with_dynamic), hipFuncAttributeMaxDynamicSharedMemorySize,
                          65536));
}

void check_occupancy() {
  const int threads = attribute(hipDeviceAttributeMaxThreadsPerMultiProcessor);
  int blocks = 0;
  HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 256, 0));
  EXPECT(blocks >= 1 && blocks * 256 <= threads);
  // 16 KiB of 64: four work-groups at a time.
  HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_shared, 64, 0));
  EXPECT(blocks == 4);
  HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_dynamic, 64, 32768));
  EXPECT(blocks == 2);
  int grid = 0, block = 0;
  HIP(hipOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 0));
  EXPECT(block > 0 && block <= 1024 && block % 64 == 0);
  EXPECT(grid >= attribute(hipDeviceAttributeMultiprocessorCount));

  const check::Device<int> out(64);
  with_shared<<<1, 64>>>(out.get());
  check::finish();
  std::vector<int> want(64);
  for (int i = 0; i < 64; ++i) want[i] = 63 - i;
  check::equal("shared", out.read(), want);
  with_dynamic<<<1, 64, 32768>>>(out.get());
  check::finish();
  for (int i = 0; i < 64; ++i) want[i] = 2 * ((i + 1) % 64);
  check::equal("dynamic", out.read(), want);
}

void check_peers() {
  int devices = 0;
  HIP(hipGetDeviceCount(&devices));
  for (int peer = 0; peer < devices; ++peer) {
    int possible = -1;
    HIP(hipDeviceCanAccessPeer(&possible, 0, peer));
    EXPECT(possible == (peer == 0 ? 0 : 1));
  }
  EXPECT(hipDeviceEnablePeerAccess(devices, 0) != hipSuccess);
  (void)hipGetLastError();
  // A copy between peers is a copy where both are the same device.
  std::vector<int> values(1000);
  for (int i = 0; i < 1000; ++i) values[i] = 3 * i;
  const check::Device<int> from(values), to(1000);
  HIP(hipMemcpyPeer(to.get(), 0, from.get(), 0, 4000));
  check::equal("between peers", to.read(), values);
}

void check_pointers() {
  const check::Device<int> device(1000);
  const auto middle = reinterpret_cast<hipDeviceptr_t>(device.get() + 500);
  hipMemoryType type{};
  HIP(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, middle));
  EXPECT(type == hipMemoryTypeDevice);
  hipDeviceptr_t start = nullptr;
  size_t size = 0;
  HIP(hipPointerGetAttribute(&start, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, middle));
  HIP(hipPointerGetAttribute(&size, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, middle));
  EXPECT(start == device.get() && size == 4000);
  int ordinal = -1;
  hipPointer_attribute both[] = {HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, HIP_POINTER_ATTRIBUTE_RANGE_SIZE};
  void* results[] = {&ordinal, &size};
  HIP(hipDrvPointerGetAttributes(2, both, results, middle));
  EXPECT(ordinal == 0 && size == 4000);
}

void check_streams() {
  int least = 0, greatest = 0;
  HIP(hipDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(greatest <= 0 && least >= greatest);
  const check::Device<int> out(256);
  for (int priority = greatest; priority <= least; ++priority) {
    hipStream_t stream;
    HIP(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, priority));
    int got = 1000;
    HIP(hipStreamGetPriority(stream, &got));
    EXPECT(got == priority);
    unsigned flags = 0;
    HIP(hipStreamGetFlags(stream, &flags));
    EXPECT(flags == hipStreamNonBlocking);
    HIP(hipMemsetAsync(out.get(), 0, 1024, stream));
    plain<<<1, 256, 0, stream>>>(out.get());
    HIP(hipStreamSynchronize(stream));
    check::equal("a stream with a priority", out.read(), std::vector<int>(256, 7));
    HIP(hipStreamDestroy(stream));
  }
  const uint32_t mask[] = {0xf};
  hipStream_t stream;
  HIP(hipExtStreamCreateWithCUMask(&stream, 1, mask));
  uint32_t got[16] = {};  // a bit for each compute unit
  HIP(hipExtStreamGetCUMask(stream, 16, got));
  EXPECT(got[0] == 0xf);
  HIP(hipMemsetAsync(out.get(), 0, 1024, stream));
  plain<<<1, 256, 0, stream>>>(out.get());
  HIP(hipStreamSynchronize(stream));
  check::equal("a stream of four compute units", out.read(), std::vector<int>(256, 7));
  HIP(hipStreamDestroy(stream));
}

// A launch that says when it began and ended.
void check_timed_launch() {
  const check::Device<int> out(256);
  int* pointer = out.get();
  void* arguments[] = {&pointer};
  hipEvent_t start, stop;
  HIP(hipEventCreate(&start));
  HIP(hipEventCreate(&stop));
  HIP(hipExtLaunchKernel(reinterpret_cast<const void*>(plain), dim3(1), dim3(256), arguments, 0, nullptr, start, stop,
                         0));
  HIP(hipEventSynchronize(stop));
  float milliseconds = -1;
  HIP(hipEventElapsedTime(&milliseconds, start, stop));
  EXPECT(milliseconds > 0 && milliseconds < 60'000);
  check::equal("a timed launch", out.read(), std::vector<int>(256, 7));
  HIP(hipEventDestroy(start));
  HIP(hipEventDestroy(stop));
}

}  // namespace

int main() {
  check_attributes();
  check_limits();
  check_functions();
  check_occupancy();
  check_peers();
  check_pointers();
  check_streams();
  check_timed_launch();
  return check::result();
}

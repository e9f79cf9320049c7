// What the runtime says of the GPU fits the GPU that was asked for: `properties gfx90a` expects that processor.
#include "check.h"

namespace {

/// A clock of constant frequency.
__device__ uint64_t real_time() {
#if defined(__GFX11__) || defined(__GFX12__)
  return __builtin_amdgcn_s_sendmsg_rtnl(0x83);  // GET_REALTIME
#else
  return __builtin_amdgcn_s_memrealtime();
#endif
}

__global__ void see(int* wave_size, uint64_t* clocks) {
  *wave_size = warpSize;
  clocks[0] = static_cast<uint64_t>(clock64());
  clocks[1] = real_time();
  for (int i = 0; i < 1000; ++i) __builtin_amdgcn_s_sleep(1);
  clocks[2] = static_cast<uint64_t>(clock64());
  clocks[3] = real_time();
}

}  // namespace

int main(int argc, char** argv) {
  int devices = 0;
  HIP(hipGetDeviceCount(&devices));
  EXPECT(devices == 1);
  hipDeviceProp_t properties;
  HIP(hipGetDeviceProperties(&properties, 0));
  std::printf("%s (%s): %d compute units, %zu bytes of memory, %zu bytes of LDS, %d registers\n", properties.name,
              properties.gcnArchName, properties.multiProcessorCount, properties.totalGlobalMem,
              properties.sharedMemPerBlock, properties.regsPerBlock);
  if (argc > 1) EXPECT(std::string(properties.gcnArchName).rfind(argv[1], 0) == 0);
  // "gfx90a:sramecc+": 9, 0, a
  const std::string name = properties.gcnArchName, processor = name.substr(0, name.find(':'));
  const int major = std::stoi(processor.substr(3, processor.size() - 5));
  const int wave = major < 10 ? 64 : 32;
  EXPECT(properties.warpSize == wave);
  EXPECT(properties.maxThreadsPerBlock == 1024);
  EXPECT(properties.sharedMemPerBlock == 65536);
  EXPECT(properties.multiProcessorCount > 0);
  EXPECT(properties.clockRate > 0);
  EXPECT(properties.totalGlobalMem >= (size_t{1} << 28));
  EXPECT(properties.major == major);
  EXPECT(properties.minor == processor[processor.size() - 2] - '0');
  EXPECT(properties.concurrentKernels == 1);

  const check::Device<int> wave_size(1);
  const check::Device<uint64_t> clocks(4);
  see<<<1, 1>>>(wave_size.get(), clocks.get());
  check::finish();
  check::equal("warpSize", wave_size.read(), {wave});
  const std::vector<uint64_t> times = clocks.read();
  if (major != 11) EXPECT(times[2] > times[0]);  // GFX11 counts cycles in 20 bits, which soon begin again
  EXPECT(times[3] > times[1]);
  return check::result();
}

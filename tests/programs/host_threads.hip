// Two host threads launch, copy and synchronize at once, each in its own stream.
#include <thread>

#include "check.h"

namespace {

constexpr int kCount = 2048, kRounds = 100;

__global__ void step(uint32_t* values, uint32_t key) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  values[i] = values[i] * 1664525u + key;
}

void work(uint32_t key, std::vector<uint32_t>* result) {
  hipStream_t stream;
  HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  uint32_t* device = nullptr;
  HIP(hipMalloc(&device, kCount * sizeof(uint32_t)));
  std::vector<uint32_t> values(kCount, key);
  HIP(hipMemcpyAsync(device, values.data(), kCount * sizeof(uint32_t), hipMemcpyHostToDevice, stream));
  for (int round = 0; round < kRounds; ++round) {
    step<<<kCount / 256, 256, 0, stream>>>(device, key);
    if (round % 10 == 0) HIP(hipStreamSynchronize(stream));
  }
  HIP(hipGetLastError());
  HIP(hipMemcpyAsync(values.data(), device, kCount * sizeof(uint32_t), hipMemcpyDeviceToHost, stream));
  HIP(hipStreamSynchronize(stream));
  HIP(hipFree(device));
  HIP(hipStreamDestroy(stream));
  *result = values;
}

}  // namespace

int main() {
  std::vector<uint32_t> results[2];
  std::thread first(work, 12345u, &results[0]), second(work, 67890u, &results[1]);
  first.join();
  second.join();
  for (const uint32_t key : {12345u, 67890u}) {
    uint32_t want = key;
    for (int round = 0; round < kRounds; ++round) want = want * 1664525u + key;
    check::equal("host thread", results[key == 67890u], std::vector<uint32_t>(kCount, want));
  }
  return check::result();
}

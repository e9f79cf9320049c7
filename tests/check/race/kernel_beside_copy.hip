// A kernel writes what a copy of another stream has not been waited for to read.
#include "../case.h"

__global__ void fill(int* data) {
  data[threadIdx.x] = 7;  // FINDING EITHER: race copy
}

void run(bool mended) {
  int* data = allocate<int>(64);
  int* host = nullptr;
  HIP(hipHostMalloc(reinterpret_cast<void**>(&host), 64 * sizeof(int)));
  finish();
  hipStream_t first, second;
  HIP(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
  HIP(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
  hipEvent_t copied;
  HIP(hipEventCreate(&copied));
  HIP(hipMemcpyAsync(host, data, 64 * sizeof(int), hipMemcpyDeviceToHost, first));  // FINDING EITHER: race copy
  if (mended) {
    HIP(hipEventRecord(copied, first));
    HIP(hipStreamWaitEvent(second, copied, 0));
  }
  fill<<<1, 64, 0, second>>>(data);
  finish();
  HIP(hipFree(data));
  HIP(hipHostFree(host));
}

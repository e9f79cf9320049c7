// A copy on one stream reads what a kernel on another one has not been waited for to write.
#include <unistd.h>

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
  fill<<<1, 64, 0, first>>>(data);
  usleep(100000);  // the kernel will have ended by then, but nothing says so
  if (mended) HIP(hipStreamSynchronize(first));
  HIP(hipMemcpyAsync(host, data, 64 * sizeof(int), hipMemcpyDeviceToHost, second));  // FINDING EITHER: race copy
  finish();
  HIP(hipFree(data));
  HIP(hipHostFree(host));
}

// A kernel reads what a kernel of another stream writes, and no event makes it wait for that.
#include <unistd.h>

#include "../case.h"

__global__ void write(int* data) {
  data[blockIdx.x * 64 + threadIdx.x] = 1;  // FINDING EITHER: race global
}

__global__ void read(const int* data, int* out) {
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  out[i] = data[i];  // FINDING EITHER: race global
}

void run(bool mended) {
  int *data = allocate<int>(1024), *out = allocate<int>(1024);
  finish();
  hipStream_t first, second;
  HIP(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
  HIP(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
  hipEvent_t written;
  HIP(hipEventCreate(&written));
  write<<<16, 64, 0, first>>>(data);
  usleep(100000);  // the kernel will have ended by then, but nothing says so
  if (mended) {
    HIP(hipEventRecord(written, first));
    HIP(hipStreamWaitEvent(second, written, 0));
  }
  read<<<16, 64, 0, second>>>(data, out);
  finish();
  HIP(hipFree(data));
  HIP(hipFree(out));
}

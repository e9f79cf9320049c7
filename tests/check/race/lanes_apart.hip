// Two kernels of different streams store to the same places: the first lane the value that is there, the others not.
#include "../case.h"

__global__ void number(unsigned* out, unsigned first, bool mended) {
  const unsigned value = threadIdx.x == 0 ? 0 : first + threadIdx.x;
  out[mended ? first + threadIdx.x : threadIdx.x] = value;  // FINDING: race global
}

void run(bool mended) {
  unsigned* out = allocate<unsigned>(128);
  hipStream_t streams[2];
  for (hipStream_t& stream : streams) HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  HIP(hipDeviceSynchronize());
  for (unsigned i = 0; i < 2; ++i) number<<<1, 64, 0, streams[i]>>>(out, 64 * i, mended);
  finish();
  for (hipStream_t stream : streams) HIP(hipStreamDestroy(stream));
  HIP(hipFree(out));
}

// What atomics count in LDS is read before all waves have counted. A load before an atomic is no mistake where the
// atomic is left out if it would change nothing.
#include "../case.h"

__global__ void count(const unsigned* in, unsigned* out, unsigned* most, bool mended) {
  __shared__ unsigned bins[64];
  const unsigned id = threadIdx.x;
  if (id < 64) bins[id] = 0;
  __syncthreads();
  atomicAdd(&bins[in[id] & 63], 1);  // FINDING EITHER: race lds
  if (mended) __syncthreads();
  if (id < 64) out[id] = bins[id];  // FINDING EITHER: race lds
  if (*most < in[id]) atomicMax(most, in[id]);
}

void run(bool mended) {
  unsigned values[256];
  for (unsigned i = 0; i < 256; ++i) values[i] = i + 1;
  unsigned* in = allocate<unsigned>(256);
  HIP(hipMemcpy(in, values, sizeof values, hipMemcpyHostToDevice));
  unsigned* out = allocate<unsigned>(64);
  unsigned* most = allocate<unsigned>(1);
  count<<<1, 256>>>(in, out, most, mended);
  finish();
  HIP(hipFree(in));
  HIP(hipFree(out));
  HIP(hipFree(most));
}

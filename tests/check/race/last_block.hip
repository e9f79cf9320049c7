// The last work-group to arrive adds up the others' results, by a ticket. Without a fence their visibility is not
// guaranteed.
#include "../case.h"

__global__ void sum(unsigned* parts, unsigned* tickets, unsigned* out, bool mended) {
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = blockIdx.x + 1;
  if (mended) __threadfence();
  if (atomicAdd(tickets, 1) != gridDim.x - 1) return;
  if (mended) __threadfence();
  unsigned all = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) all += parts[i];  // FINDING: race global
  *out = all;
}

void run(bool mended) {
  unsigned* parts = allocate<unsigned>(16);
  unsigned* tickets = allocate<unsigned>(1);
  unsigned* out = allocate<unsigned>(1);
  sum<<<16, 64>>>(parts, tickets, out, mended);
  finish();
  HIP(hipFree(parts));
  HIP(hipFree(tickets));
  HIP(hipFree(out));
}

// Three of four bytes are written, and the fourth is read.
#include "unwritten.h"

__global__ void fill(unsigned char* bytes, unsigned count) {
  if (threadIdx.x % 4 < count) bytes[threadIdx.x] = 1;
}

__global__ void choose(const unsigned* words, int* out) {
  if (words[threadIdx.x] >> 24 == 1) atomicAdd(out, 1);  // FINDING: init branch
}

void run(bool mended) {
  unsigned* words = unwritten<unsigned>(64);
  int* out = allocate<int>(1);
  fill<<<1, 256>>>(reinterpret_cast<unsigned char*>(words), mended ? 4 : 3);
  choose<<<1, 64>>>(words, out);
  finish();
  HIP(hipFree(words));
  HIP(hipFree(out));
}

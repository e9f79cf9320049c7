// Waves that store bytes beside each other do not race, and those that store words over them do.
#include "../case.h"

__global__ void fill(unsigned char* bytes, unsigned* words, bool mended) {
  // Each wave has every fourth byte.
  bytes[threadIdx.x % 64 * 4 + threadIdx.x / 64] = static_cast<unsigned char>(threadIdx.x);  // FINDING: race global
  if (!mended && threadIdx.x >= 64) words[threadIdx.x - 64] = 0x12345678;  // FINDING: race global
}

void run(bool mended) {
  unsigned char* bytes = allocate<unsigned char>(1024);
  fill<<<1, 256>>>(bytes, reinterpret_cast<unsigned*>(bytes), mended);
  finish();
  HIP(hipFree(bytes));
}

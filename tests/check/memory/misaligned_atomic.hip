// An atomic on a counter in packed records.
#include "../case.h"

__global__ void count(char* records, int at) {
  atomicAdd(reinterpret_cast<unsigned*>(records + at), 1u);  // FINDING: memory misaligned
}

void run(bool mended) {
  char* records = allocate<char>(64);
  count<<<1, 1>>>(records, mended ? 4 : 5);
  finish();
  HIP(hipFree(records));
}

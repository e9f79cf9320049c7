// An atomic on a counter in packed records.
#include "../case.h"

__global__ void count(char* records, int at) {
  auto* counter = reinterpret_cast<unsigned*>(records + at);
  __atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED);  // FINDING: memory misaligned
}

void run(bool mended) {
  char* records = allocate<char>(64);
  count<<<1, 1>>>(records, mended ? 4 : 5);
  finish();
  HIP(hipFree(records));
}

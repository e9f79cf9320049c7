// A copy writes memory that was freed. HIP takes the address for the host's.
#include "../case.h"

void run(bool mended) {
  int *memory = allocate<int>(1 << 20), host[100] = {};
  if (!mended) HIP(hipFree(memory));
  (void)hipMemcpy(memory, host, sizeof host, hipMemcpyHostToDevice);  // FINDING: memory use-after-free
  if (mended) HIP(hipFree(memory));
}

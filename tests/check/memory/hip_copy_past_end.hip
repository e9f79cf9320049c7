// A copy reads past the end of an allocation. HIP refuses it with an error, at which the program does not look.
#include "../case.h"

void run(bool mended) {
  int* memory = allocate<int>(100);
  int host[200];
  (void)hipMemcpy(host, memory, mended ? 400 : 800, hipMemcpyDeviceToHost);  // FINDING: memory copy-out-of-bounds
  HIP(hipFree(memory));
}

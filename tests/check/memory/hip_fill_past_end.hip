// A fill goes past the end of an allocation. HIP refuses it with an error, at which the program does not look.
#include "../case.h"

void run(bool mended) {
  int* memory = allocate<int>(100);
  (void)hipMemset(memory, 0, mended ? 400 : 404);  // FINDING: memory copy-out-of-bounds
  HIP(hipFree(memory));
}

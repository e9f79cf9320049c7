// Memory is freed twice. HIP refuses the second call with an error, at which the program does not look.
#include "../case.h"

void run(bool mended) {
  int* memory = allocate<int>(100);
  HIP(hipFree(memory));
  if (!mended) (void)hipFree(memory);  // FINDING: memory double-free
}

// Memory is not freed that the program's first call of HIP has allocated, in which HIP allocates for itself, too.
// CHECK: leak
#include "../case.h"

void run(bool mended) {
  void* memory = nullptr;
  HIP(hipMalloc(&memory, 100));  // FINDING: leak not-freed
  if (mended) HIP(hipFree(memory));
}

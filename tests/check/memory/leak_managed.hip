// Managed memory is not freed, which HIP gets from the host by itself.
// CHECK: leak
#include "../case.h"

void run(bool mended) {
  int* values = nullptr;
  HIP(hipMallocManaged(reinterpret_cast<void**>(&values), 64 * sizeof(int)));  // FINDING: leak not-freed
  values[0] = 1;
  if (mended) HIP(hipFree(values));
}

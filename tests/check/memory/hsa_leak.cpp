// CHECK: leak
// Memory that nobody frees.
#include "hsa_case.h"

void run(bool mended) {
  void* memory = nullptr;
  HSA(hsa_amd_memory_pool_allocate(pool(), 100, 0, &memory));  // FINDING: leak not-freed
  if (mended) HSA(hsa_amd_memory_pool_free(memory));
}

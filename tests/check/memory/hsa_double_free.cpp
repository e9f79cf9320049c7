// Memory that is freed twice.
#include "hsa_case.h"

void run(bool mended) {
  void* memory = nullptr;
  HSA(hsa_amd_memory_pool_allocate(pool(), 100, 0, &memory));
  HSA(hsa_amd_memory_pool_free(memory));
  if (!mended) hsa_amd_memory_pool_free(memory);  // FINDING: memory double-free
}

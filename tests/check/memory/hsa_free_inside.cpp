// A pointer into an allocation is freed instead of its begin.
#include "hsa_case.h"

void run(bool mended) {
  void* memory = nullptr;
  HSA(hsa_amd_memory_pool_allocate(pool(), 100, 0, &memory));
  if (!mended) hsa_amd_memory_pool_free(static_cast<char*>(memory) + 16);  // FINDING: memory bad-free
  HSA(hsa_amd_memory_pool_free(memory));
}

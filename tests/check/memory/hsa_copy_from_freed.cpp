// A copy from memory that is free.
#include "hsa_case.h"

void run(bool mended) {
  void* memory = nullptr;
  HSA(hsa_amd_memory_pool_allocate(pool(), 100, 0, &memory));
  static char data[4096];
  if (!mended) HSA(hsa_amd_memory_pool_free(memory));
  HSA(hsa_memory_copy(data, memory, 100));  // FINDING: memory use-after-free
  if (mended) HSA(hsa_amd_memory_pool_free(memory));
}

// A copy of as many bytes as the allocation is rounded up to.
#include "hsa_case.h"

void run(bool mended) {
  void* memory = nullptr;
  HSA(hsa_amd_memory_pool_allocate(pool(), 100, 0, &memory));
  static char data[4096];
  HSA(hsa_memory_copy(memory, data, mended ? 100 : 128));  // FINDING: memory copy-out-of-bounds
  HSA(hsa_amd_memory_pool_free(memory));
}

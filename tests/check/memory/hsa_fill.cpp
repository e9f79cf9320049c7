// A fill by a number of bytes, where the number of words is wanted.
#include "hsa_case.h"

void run(bool mended) {
  void* memory = nullptr;
  HSA(hsa_amd_memory_pool_allocate(pool(), 100, 0, &memory));
  HSA(hsa_amd_memory_fill(memory, 0, mended ? 25 : 100));  // FINDING: memory copy-out-of-bounds
  HSA(hsa_amd_memory_pool_free(memory));
}

// An asynchronous copy between two buffers, the second of which is shorter.
#include "hsa_case.h"

void run(bool mended) {
  void *from = nullptr, *to = nullptr;
  HSA(hsa_amd_memory_pool_allocate(pool(), 1000, 0, &from));
  HSA(hsa_amd_memory_pool_allocate(pool(), mended ? 1000 : 999, 0, &to));
  hsa_signal_t done;
  HSA(hsa_signal_create(1, 0, nullptr, &done));
  HSA(hsa_amd_memory_async_copy(to, gpu(), from, gpu(), 1000, 0, nullptr, done));  // FINDING: memory copy-out-of-bounds
  hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
  HSA(hsa_signal_destroy(done));
  HSA(hsa_amd_memory_pool_free(from));
  HSA(hsa_amd_memory_pool_free(to));
}

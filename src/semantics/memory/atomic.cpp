// semantics: what memory atomics compute, as functions that translated code has copies of (atomic.h).
#include "semantics/memory/atomic.h"

namespace Atoll::semantics {

[[gnu::flatten]] uint32_t atomic_result_32(AtomicOperation operation, uint32_t old, uint32_t data, uint32_t data2,
                                           Denormals denormals) {
  return atomic_result(operation, old, data, data2, denormals);
}

[[gnu::flatten]] uint64_t atomic_result_64(AtomicOperation operation, uint64_t old, uint64_t data, uint64_t data2,
                                           Denormals denormals) {
  return atomic_result(operation, old, data, data2, denormals);
}

}  // namespace Atoll::semantics

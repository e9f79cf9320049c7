// hsa: answers attribute queries, which write to untyped memory of the caller.
#pragma once

#include <hsa/hsa.h>

#include <cstring>
#include <type_traits>

namespace Atoll::hsa {

/// Writes a value of the attribute's documented type; the destination may be unaligned.
template <typename T>
  requires std::is_trivially_copyable_v<T>
hsa_status_t give(void* value, const T& fact) {
  std::memcpy(value, &fact, sizeof fact);
  return HSA_STATUS_SUCCESS;
}

}  // namespace Atoll::hsa

// hsa: answering attribute queries, which write to untyped memory of the caller's.
#pragma once

#include <hsa/hsa.h>

#include <cstring>
#include <type_traits>

namespace Atoll::hsa {

/// Writes a fact of the type that the header gives the attribute; no alignment is taken for granted.
template <typename T>
  requires std::is_trivially_copyable_v<T>
hsa_status_t give(void* value, const T& fact) {
  std::memcpy(value, &fact, sizeof fact);
  return HSA_STATUS_SUCCESS;
}

}  // namespace Atoll::hsa

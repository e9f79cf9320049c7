// hsa: the extensions and their tables of function pointers.
#pragma once

#include <hsa/hsa.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace Atoll::hsa {

struct Extension {
  uint16_t number;   ///< an hsa_extension_t
  const char* name;  ///< HSA_EXTENSION_...
  bool available;    ///< as reported to programs
  uint16_t major, minor;
  const void* table;  ///< null when it has none
  size_t table_bytes;
};

std::span<const Extension> extensions();

}  // namespace Atoll::hsa

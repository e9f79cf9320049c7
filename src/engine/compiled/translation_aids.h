// engine/compiled: aids for finding a wrong translation, by bisection.
//
// ATOLL_COMPILE_LIMIT=ADDRESS leaves instructions from that address on to the interpreter, as LLVM's -opt-bisect-limit
// leaves passes out. The region around the address is cut there. `atoll launch --compare-engines` bisects over the
// limit. Both values are a part of the request, so that the cache keeps such code apart from other code.
#pragma once

#include <cstdint>

#include "support/error.h"

namespace Atoll::engine {

struct TranslationAids {
  static constexpr uint64_t nowhere = UINT64_MAX;
  uint64_t limit = nowhere;    ///< instructions from this PC on are interpreter fallbacks; control flow is translated
  uint64_t swapped = nowhere;  ///< fault injection for tests: this instruction is compiled with its sources swapped

  /// Reads the settings. Their addresses count from where the code object is loaded, as in a disassembly.
  static support::Result<TranslationAids> from_environment();
  /// Returns the same with addresses that count from `base`; those before it become 0.
  TranslationAids relative_to(uint64_t base) const;
  /// Returns the same with `base` added to addresses.
  TranslationAids loaded_at(uint64_t base) const;
};

}  // namespace Atoll::engine

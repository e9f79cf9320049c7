#include "engine/compiled/build_fingerprint.h"

namespace Atoll::engine {

uint64_t build_fingerprint() {
  return
#include "build_fingerprint.inc"
      ;
}

}  // namespace Atoll::engine

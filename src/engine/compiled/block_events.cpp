#include "engine/compiled/block_events.h"

#include "engine/interpreter/observation.h"

namespace Atoll::engine {

void block_begins(Wave* wave, Run* run, uint64_t begin, uint32_t bytes, uint32_t banks) {
  report_path(*wave, *run, {.begin = begin, .end = begin + bytes, .banks = static_cast<uint8_t>(banks)});
}

}  // namespace Atoll::engine

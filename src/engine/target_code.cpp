// engine: decoding for a target (target_code.h).
#include "engine/target_code.h"

#include "isa/decode.h"

namespace Atoll::engine {

support::Result<isa::Instruction> decode(std::span<const uint8_t> code, const target::Target& target) {
  auto instruction = isa::decode(code, *target.processor);
  if (instruction) instruction->clears_other_half = target.d16_loads_clear;
  return instruction;
}

}  // namespace Atoll::engine

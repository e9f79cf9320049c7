// engine/compiled: see definedness.h.
#include "engine/compiled/definedness.h"

#include <bit>
#include <span>

#include "machine/undefined_registers.h"
#include "machine/wave.h"

namespace Atoll::engine {

uint8_t registers_are_defined(const machine::Wave* wave, machine::UndefinedRegisters* undefined,
                              const machine::RegisterUse* uses, uint64_t count) {
  using machine::UndefinedRegisters;
  const uint64_t exec = wave->exec();
  const std::span all(uses, count);
  for (const machine::RegisterUse& use : all) {
    if (use.word >= UndefinedRegisters::row_words) {
      if ((undefined->scalars[use.word - UndefinedRegisters::row_words] & use.reads) != 0) return 0;
      continue;
    }
    if ((undefined->rows[use.word] & use.reads_all) != 0) return 0;
    for (uint64_t rows = undefined->rows[use.word] & use.reads; rows != 0; rows &= rows - 1) {
      if ((undefined->lanes[use.word * 64 + std::countr_zero(rows)] & exec) != 0) return 0;
    }
  }
  for (const machine::RegisterUse& use : all) {
    if (use.word >= UndefinedRegisters::row_words) {
      undefined->scalars[use.word - UndefinedRegisters::row_words] &= ~use.writes;
      continue;
    }
    for (uint64_t rows = undefined->rows[use.word] & use.writes; rows != 0; rows &= rows - 1) {
      const auto number = static_cast<unsigned>(use.word * 64 + std::countr_zero(rows));
      undefined->set_lanes(number, undefined->lanes[number] & ~exec);
    }
  }
  return 1;
}

}  // namespace Atoll::engine

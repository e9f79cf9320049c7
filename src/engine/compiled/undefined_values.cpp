#include "engine/compiled/undefined_values.h"

#include <bit>
#include <span>
#include <vector>

#include "machine/wave/undefined_registers.h"
#include "machine/wave/wave.h"

namespace Atoll::engine {

namespace {

using machine::UndefinedRegisters;
using machine::UpperHalf;

/// What an addend's upper half hands on: its undefined lanes among those that EXEC has, and where they came from.
struct Inherited {
  const UpperHalf* half = nullptr;
  uint64_t lanes = 0;
  uint32_t origin = 0;
};

/// Whether the half can be handed on without a look at each bit.
bool is_simple(const UndefinedRegisters& undefined, const UpperHalf& half, uint64_t exec) {
  return undefined.is_whole[half.addend] != 0 &&
         (half.sum == UpperHalf::none || (undefined.lanes_of(static_cast<unsigned>(half.sum)) & ~exec) == 0);
}

void hand_on(const machine::Wave& wave, UndefinedRegisters& undefined, const Inherited& inherited) {
  if (inherited.half->sum != UpperHalf::none) {
    const auto sum = static_cast<unsigned>(inherited.half->sum);
    undefined.set_lanes(sum, inherited.lanes);
    undefined.is_whole[sum] = 1;
    undefined.origins[sum] = inherited.origin;
  }
  if (inherited.half->carry == UpperHalf::none) return;
  for (unsigned word = 0; word < (wave.is_wave32() ? 1u : 2u); ++word) {
    const auto reg = static_cast<unsigned>(inherited.half->carry) + word;
    const auto bits = static_cast<uint32_t>(inherited.lanes >> (32 * word));
    undefined.set_scalar(reg, bits != 0);
    undefined.scalar_bits[reg] = bits;
    undefined.scalar_origins[reg] = inherited.origin;
  }
}

}  // namespace

uint8_t registers_are_defined(const machine::Wave* wave, machine::UndefinedRegisters* undefined,
                              const machine::RegisterUse* uses, uint64_t count, const machine::UpperHalf* upper_halves,
                              uint64_t upper_half_count) {
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
  std::vector<Inherited> inherited;
  for (const UpperHalf& half : std::span(upper_halves, upper_half_count)) {
    const uint64_t lanes = undefined->lanes_of(static_cast<unsigned>(half.addend)) & exec;
    if (lanes == 0) continue;
    if (!is_simple(*undefined, half, exec)) return 0;
    inherited.push_back({&half, lanes, undefined->origins[half.addend]});
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
  for (const Inherited& each : inherited) hand_on(*wave, *undefined, each);
  return 1;
}

}  // namespace Atoll::engine

// Programs of random instructions (random_instruction.h): straight code, branches forward, loops that are counted or
// that lanes leave, parts of the wave switched off and on again, changes of the floating-point mode, calls, barriers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "target/target.h"

namespace Atoll::test {

struct RandomCode {
  /// Words that make sense only together: an instruction with its address, the parts of a loop around its body.
  /// Without them (s_nop in their place) the rest is a program still.
  using Unit = std::vector<uint32_t>;  // places in `words`

  static constexpr unsigned max_waves = 4;

  std::vector<uint32_t> words;
  std::vector<Unit> units;
  unsigned waves = 1, groups = 1;  ///< of a work-group; work-groups
  bool may_fault = false;          ///< addresses may be bad
  /// Waves follow each other in translated code (machine::WaveBatch). Only what they leave in memory counts, where
  /// the program stores its registers in the end.
  bool is_series = false;
  uint32_t mode = 0x3F0;  ///< MODE that waves begin in: round to nearest, denormals, DX10_CLAMP, IEEE

  /// Returns the same code without these units.
  RandomCode without(std::span<const Unit> units_left_out) const;
  /// The instructions other than s_nop, one a line.
  std::string disassembly(const target::Target& target) const;
};

/// The program of a number. Most have some ten instructions, some hundreds, few thousands: enough to be cut into parts.
RandomCode random_code(const target::Target& target, uint64_t seed);

}  // namespace Atoll::test

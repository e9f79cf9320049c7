// Programs of random instructions (random_instruction.h): straight code, branches forward, counted loops, parts of the
// wave switched off and on again, changes of the floating-point mode, calls.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "target/processor.h"

namespace Atoll::test {

struct RandomCode {
  /// Words that make sense only together: an instruction with its address, the parts of a loop around its body.
  /// Without them (s_nop in their place) the rest is a program still.
  using Unit = std::vector<uint32_t>;  // places in `words`

  std::vector<uint32_t> words;
  std::vector<Unit> units;

  /// The same code without that unit.
  RandomCode without(const Unit& unit) const;
  /// The instructions other than s_nop, one a line.
  std::string disassembly(const target::Processor& processor) const;
};

/// The program of a number. About `length` instructions.
RandomCode random_code(const target::Processor& processor, uint64_t seed, unsigned length);

}  // namespace Atoll::test

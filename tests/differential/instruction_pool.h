// Instructions of a target to make random ones from: of each opcode a few, with all their fields at random.
//
// The decoder says what is an instruction: words are tried whose upper halves are all that there are, so that every
// opcode of every encoding comes up, whatever the generation.
#pragma once

#include <map>
#include <vector>

#include "isa/instruction.h"
#include "target/target.h"

namespace Atoll::test {

class InstructionPool {
 public:
  /// Returns the pool of a target, built on first use.
  static const InstructionPool& of(const target::Target& target);

  /// Instructions with that opcode, other than dual ones; none if the target lacks it.
  const std::vector<isa::Instruction>& with(isa::Opcode opcode) const;
  const std::vector<isa::Instruction>& duals() const { return duals_; }

 private:
  explicit InstructionPool(const target::Target& target);

  std::map<isa::Opcode, std::vector<isa::Instruction>> by_opcode_;
  std::vector<isa::Instruction> duals_;
};

}  // namespace Atoll::test

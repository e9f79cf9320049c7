// codegen: counts uses, and removes from the last instruction to the first.
#include "codegen/dead_code.h"

#include <algorithm>

#include "codegen/instruction_choice.h"
#include "isa/table.h"

namespace Atoll::codegen {

namespace {

/// SCC is no operand: an addition stays where the next one reads its carry.
bool reads_scc(const MachineInstruction& at, target::Generation generation) {
  if (at.pseudo != Pseudo::none) return false;
  const isa::InstructionRow& row = isa::row_on(at.opcode, generation);
  switch (row.computes.operation) {
    case isa::Operation::add_carry:
    case isa::Operation::sub_borrow:
    case isa::Operation::select:
    case isa::Operation::branch:
      return place_of(row) == Place::salu || place_of(row) == Place::other;
    default:
      return false;
  }
}

class DeadCode {
 public:
  explicit DeadCode(MachineFunction& function) : function_(function), uses_(function.registers.size()) {}

  void run() {
    for_each_use([&](const MachineOperand& use) { ++uses_[use.reg]; });
    for (bool changed = true; changed;) {
      changed = false;
      for (MachineBlock& block : function_.blocks) {
        for (size_t i = block.instructions.size(); i-- > 0;) {
          if (!is_dead(block, i)) continue;
          const MachineInstruction& at = block.instructions[i];
          for (size_t j = at.definitions; j < at.operands.size(); ++j)
            if (at.operands[j].is_virtual()) --uses_[at.operands[j].reg];
          block.instructions.erase(block.instructions.begin() + static_cast<ptrdiff_t>(i));
          changed = true;
        }
      }
    }
  }

 private:
  template <typename Use>
  void for_each_use(const Use& use) const {
    for (const MachineBlock& block : function_.blocks)
      for (const MachineInstruction& at : block.instructions)
        for (size_t i = at.definitions; i < at.operands.size(); ++i)
          if (at.operands[i].is_virtual()) use(at.operands[i]);
  }

  bool is_dead(const MachineBlock& block, size_t number) const {
    const MachineInstruction& at = block.instructions[number];
    if (at.definitions == 0) return false;
    for (unsigned i = 0; i < at.definitions; ++i)
      if (!at.operands[i].is_virtual() || uses_[at.operands[i].reg] != 0) return false;
    if (at.pseudo != Pseudo::none) return true;
    const Place place = place_of(isa::row_on(at.opcode, function_.target.processor->generation));
    if (place == Place::valu) return true;
    if (place != Place::salu) return false;
    for (size_t next = number + 1; next < block.instructions.size(); ++next) {
      if (block.instructions[next].pseudo != Pseudo::none) continue;
      return !reads_scc(block.instructions[next], function_.target.processor->generation);
    }
    return true;
  }

  MachineFunction& function_;
  std::vector<unsigned> uses_;
};

}  // namespace

void eliminate_dead_code(MachineFunction& function) { DeadCode(function).run(); }

}  // namespace Atoll::codegen

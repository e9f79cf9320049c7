// Tests: notes that a semantic function is tested (support/tested_instructions.h), for all generations that share it.
#pragma once

#include <tuple>
#include <utility>

#include "semantics/registry.h"
#include "support/tested_instructions.h"

namespace Atoll::semantics::test {

inline void note_function(Atoll::test::TestedBy by, isa::Opcode opcode, target::Generation generation) {
  static thread_local std::tuple<Atoll::test::TestedBy, isa::Opcode, target::Generation> last;
  if (std::exchange(last, {by, opcode, generation}) == std::tuple(by, opcode, generation)) return;
  for (unsigned i = 0; i <= static_cast<unsigned>(target::Generation::gfx12_5); ++i) {
    const auto other = static_cast<target::Generation>(i);
    const bool is_there = isa::row(opcode).opcodes.on(other).opcode != isa::Opcodes::none;
    const bool is_same = vector_function(opcode, other).call == vector_function(opcode, generation).call;
    if (is_there && is_same) Atoll::test::note_tested(by, opcode, other);
  }
}

}  // namespace Atoll::semantics::test

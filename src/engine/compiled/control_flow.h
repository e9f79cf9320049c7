// engine/compiled: GPU machine code translated to host code. compiled_engine.h shows the way through this folder.
//
// This file: the control flow of a piece of code: from one address on, everything that branches lead to, cut into
// basic blocks.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "isa/instruction.h"
#include "support/error.h"
#include "target/processor.h"

namespace Atoll::engine {

struct Located {
  uint64_t pc;
  isa::Instruction instruction;
  uint64_t next() const { return pc + instruction.size; }
  /// Where a branch with a distance goes.
  uint64_t target() const {
    return next() + static_cast<uint64_t>(int64_t{static_cast<int16_t>(instruction.immediate)} * 4);
  }
};

/// Instructions that run one after the other. Behind the last, the wave goes on as that instruction says, or at `end`.
struct Block {
  std::vector<Located> instructions;
  uint64_t end = 0;
};

struct ControlFlow {
  uint64_t root = 0;
  std::map<uint64_t, Block> blocks;  ///< by address
  /// Blocks at which a wave may come in: the root, what follows a place where waves stop or leave, loop heads.
  std::set<uint64_t> entries;
  uint64_t instructions = 0;
};

/// Follows the code from `root`, which together with everything else must lie in [begin, end). The error says what
/// makes this code unfit for translation as a whole.
support::Result<ControlFlow> follow(uint64_t root, uint64_t begin, uint64_t end, const target::Processor& processor);

}  // namespace Atoll::engine

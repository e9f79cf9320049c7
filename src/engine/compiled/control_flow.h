// engine/compiled: the control-flow graph: all basic blocks reachable by branches from one address.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "engine/compiled/code_mode.h"
#include "engine/compiled/instrumentation.h"
#include "engine/compiled/translation_aids.h"
#include "engine/target_code.h"
#include "isa/instruction.h"
#include "support/error.h"
#include "target/target.h"

namespace Atoll::engine {

struct Located {
  uint64_t pc;
  isa::Instruction instruction;
  CodeMode mode;  ///< mode of waves that reach it by control flow
  uint64_t next() const { return pc + instruction.size; }
  /// Returns the target of a branch with an offset.
  uint64_t target() const {
    return next() + static_cast<uint64_t>(int64_t{static_cast<int16_t>(instruction.immediate)} * 4);
  }
};

/// A basic block. After its last instruction the wave continues as that instruction determines, or at `end`.
struct Block {
  std::vector<Located> instructions;
  uint64_t end = 0;
};

struct ControlFlow {
  uint64_t root = 0;
  uint8_t wave_size = 64;  ///< lanes
  CodeMode mode;           ///< mode at the root
  /// register counts of the waves, if the code uses registers beyond them; otherwise default
  RegisterCounts registers;
  std::map<uint64_t, Block> blocks;  ///< by address
  /// Blocks at which waves enter: the root, continuations after stops and exits, and loop headers.
  std::set<uint64_t> entries;
  uint64_t instructions = 0;
  Instrumentation instrumentation;  ///< events that translated code reports
  TranslationAids aids;

  /// Returns whether the translation limit leaves an instruction to the interpreter.
  bool is_past_limit(const Located& at) const { return at.pc >= aids.limit; }
  /// Scalar registers that a lane mask fills.
  unsigned lane_mask_words() const { return wave_size / 32; }

  /// Returns the mode after an instruction. If it is set from registers, it is assumed to return to the root's mode.
  CodeMode mode_after(const Located& at) const;
  /// Returns the mode at the start of a block.
  const CodeMode& mode_before(uint64_t pc) const { return blocks.at(pc).instructions.front().mode; }
};

/// Builds the graph from `root`, where waves have `mode` and `registers`. All reachable code must lie in [begin, end).
/// `instrumentation` selects the events to report. If paths in different modes join, the first one determines the mode.
/// Fails if the code cannot be translated at all.
support::Result<ControlFlow> follow(uint64_t root, const CodeMode& mode, uint64_t begin, uint64_t end,
                                    const target::Target& target, const RegisterCounts& registers = {},
                                    const Instrumentation& instrumentation = {});

}  // namespace Atoll::engine

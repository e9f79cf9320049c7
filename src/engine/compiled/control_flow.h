// engine/compiled: GPU machine code translated to host code. compiled_engine.h shows the way through this folder.
//
// This file: the control flow of a piece of code: from one address on, everything that branches lead to, cut into
// basic blocks.
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
  CodeMode mode;  ///< that waves are in when they come to it by the control flow
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
  uint8_t wave_size = 64;            ///< lanes
  CodeMode mode;                     ///< that waves begin in at the root
  RegisterCounts registers;          ///< that waves have, where the code names others; otherwise not said
  std::map<uint64_t, Block> blocks;  ///< by address
  /// Blocks at which a wave may come in: the root, what follows a place where waves stop or leave, loop heads.
  std::set<uint64_t> entries;
  uint64_t instructions = 0;
  Instrumentation instrumentation;  ///< an observer, who is to be told by the translated code
  TranslationAids aids;

  /// Returns whether the translation limit leaves an instruction to the interpreter.
  bool is_past_limit(const Located& at) const { return at.pc >= aids.limit; }
  /// Scalar registers that a lane mask fills.
  unsigned lane_mask_words() const { return wave_size / 32; }

  /// The mode after an instruction. Where the instruction leaves that to the wave's registers, it is a guess: that the
  /// mode is again what it was at the root.
  CodeMode mode_after(const Located& at) const;
  /// The mode in which waves come to a block.
  const CodeMode& mode_before(uint64_t pc) const { return blocks.at(pc).instructions.front().mode; }
};

/// Follows the code from `root`, where waves are in `mode` and have these registers. It must lie in [begin, end),
/// together with everything that it leads to. `tells`: what the translated code has to tell. Where ways in different
/// modes meet, the code belongs to the one that comes first. The error says what makes this code unfit for translation
/// as a whole.
support::Result<ControlFlow> follow(uint64_t root, const CodeMode& mode, uint64_t begin, uint64_t end,
                                    const target::Target& target, const RegisterCounts& registers = {},
                                    const Instrumentation& instrumentation = {});

}  // namespace Atoll::engine

// engine/compiled: interpreter fallbacks: translated code calls the interpreter's handler for one instruction.
//
// This is used for every instruction without a lowering. The MicroOp is prepared as for the interpreter, but in a
// separate slot that ends the chain; in an observed machine it is the reporting handler.
#pragma once

#include <deque>
#include <memory>

#include "engine/interpreter/code_cache.h"
#include "engine/interpreter/micro_op.h"

namespace Atoll::engine {

class InterpreterFallbacks {
 public:
  explicit InterpreterFallbacks(CodeCache& cache) : cache_(cache), page_(std::make_unique<CodePage>()) {}

  /// Prepares a MicroOp for the instruction at `pc` alone. Its handler sets Run::fallback_completed if the wave
  /// continues after the instruction; otherwise the wave has stopped.
  const MicroOp* prepare(uint64_t pc, const isa::Instruction& instruction);

 private:
  struct Slot {
    OpMetadata origin;
    MicroOp ops[6];  ///< the instruction's words and the end of the chain
  };
  CodeCache& cache_;
  std::unique_ptr<CodePage> page_;  ///< constants
  std::deque<Slot> slots_;
};

}  // namespace Atoll::engine

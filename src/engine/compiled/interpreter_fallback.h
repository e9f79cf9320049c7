// engine/compiled: interpreter fallbacks: one instruction executed by the interpreter's handler, called from translated
// code.
//
// Whatever the translator has no IR for is done this way. The handler is prepared as the interpreter would prepare
// it, but in a slot of its own, after which the chain ends; in a machine that is observed, as one that tells.
#pragma once

#include <deque>
#include <memory>

#include "engine/interpreter/code_cache.h"
#include "engine/interpreter/micro_op.h"

namespace Atoll::engine {

class InterpreterFallbacks {
 public:
  explicit InterpreterFallbacks(CodeCache& cache) : cache_(cache), page_(std::make_unique<CodePage>()) {}

  /// A MicroOp that stands for the instruction at `pc` alone. Calling its handler carries it out; when the wave goes
  /// on after it, Run::fallback_completed is set, otherwise the wave has stopped.
  const MicroOp* prepare(uint64_t pc, const isa::Instruction& instruction);

 private:
  struct Slot {
    OpMetadata origin;
    MicroOp ops[6];  ///< the instruction's words, and the end of the chain after them
  };
  CodeCache& cache_;
  std::unique_ptr<CodePage> page_;  ///< for the constants
  std::deque<Slot> slots_;
};

}  // namespace Atoll::engine

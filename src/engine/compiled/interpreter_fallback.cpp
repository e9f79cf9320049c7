// engine/compiled: interpreter fallbacks (interpreter_fallback.h).
#include "engine/compiled/interpreter_fallback.h"

#include "engine/interpreter/observation.h"

namespace Atoll::engine {

namespace {

void end_of_chain(Wave&, const MicroOp*, Run& run) { run.fallback_completed = true; }

}  // namespace

const MicroOp* InterpreterFallbacks::prepare(uint64_t pc, const isa::Instruction& instruction) {
  Slot& slot = slots_.emplace_back();
  slot.origin = OpMetadata{.pc = pc, .instruction = instruction};
  for (MicroOp& op : slot.ops) {
    op.handler = end_of_chain;
    op.slots = 1;
  }
  MicroOp& op = slot.ops[0];
  op.origin = &slot.origin;
  op.slots = instruction.size / 4;
  machine::Watched watched = cache_.watched();
  watched.instrumentation.paths = false;  // the surrounding code reports its blocks
  op.handler = observe(slot.origin, prepare_op(slot.origin, op, *page_, cache_), watched);
  return &op;
}

}  // namespace Atoll::engine

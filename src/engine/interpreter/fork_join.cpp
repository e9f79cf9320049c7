// engine: s_cbranch_g_fork, s_cbranch_i_fork and s_cbranch_join: branches that keep the lanes which go the other way.
//
// A fork whose lanes disagree runs the smaller part first and keeps the other part's address and lanes in four SGPRs of
// a stack, whose depth is MODE's CSP; a join takes it back until the depth is what it was before the fork.
// Source: ISA guides of GFX9, the pseudo-code of the three.
#include "engine/interpreter/prepare.h"
#include "isa/table.h"

namespace Atoll::engine {

namespace {

constexpr unsigned csp_shift = 29;  ///< in MODE, 3 bits
constexpr unsigned entry_registers = 4;

unsigned depth(const Wave& wave) { return wave.mode >> csp_shift; }
void set_depth(Wave& wave, unsigned depth) { wave.mode = (wave.mode & ~(7u << csp_shift)) | (depth & 7) << csp_shift; }

void push(Wave& wave, uint64_t pc, uint64_t lanes) {
  const unsigned entry = depth(wave) * entry_registers;
  wave.set_scalar64(entry, lanes);
  wave.set_scalar64(entry + 2, pc);
  set_depth(wave, depth(wave) + 1);
}

/// Where a fork goes on.
uint64_t fork(Wave& wave, uint64_t condition, uint64_t target, uint64_t following) {
  const uint64_t exec = wave.exec(), pass = condition & exec, fail = ~condition & exec;
  if (pass == exec) return target;
  if (fail == exec) return following;
  const bool fail_first = __builtin_popcountll(fail) < __builtin_popcountll(pass);
  push(wave, fail_first ? target : following, fail_first ? pass : fail);
  wave.set_exec(fail_first ? fail : pass);
  return fail_first ? following : target;
}

uint64_t join(Wave& wave, uint32_t saved_depth, uint64_t following) {
  if (depth(wave) == (saved_depth & 7)) return following;
  set_depth(wave, depth(wave) - 1);
  const unsigned entry = depth(wave) * entry_registers;
  wave.set_exec(wave.scalar64(entry));
  return wave.scalar64(entry + 2);
}

void fork_or_join(Wave& wave, const MicroOp* op, Run& run) {
  const isa::Instruction& instruction = op->origin->instruction;
  const uint64_t following = op->origin->pc + instruction.size;
  const uint64_t first = scalar_value(wave, instruction.src(0));
  uint64_t next = 0;
  const isa::InstructionRow& row = isa::row_of(instruction);
  if (row.computes.operation == isa::Operation::fork_join) {
    next = join(wave, static_cast<uint32_t>(first), following);
  } else {
    const uint64_t labelled = following + static_cast<int64_t>(static_cast<int16_t>(instruction.immediate)) * 4;
    const uint64_t target = row.has(isa::flag::label) ? labelled : scalar_value(wave, instruction.src(1));
    next = fork(wave, first, target, following);
  }
  next &= ~uint64_t{3};
  if (++run.instructions >= run.limit) [[unlikely]] {
    return stop(wave, machine::WaveState::ready, next);
  }
  op = run.code->find(next);
  [[clang::musttail]] return handler_of(op)(wave, op, run);
}

}  // namespace

Handler prepare_fork_join(Preparation& p) {
  const isa::InstructionRow& row = isa::row_of(p.instruction);
  const bool forks = row.computes.operation == isa::Operation::fork;
  if (!forks && row.computes.operation != isa::Operation::fork_join) return nullptr;
  const unsigned sources = forks && !row.has(isa::flag::label) ? 2 : 1;
  return p.instruction.sources() == sources ? fork_or_join : nullptr;
}

}  // namespace Atoll::engine

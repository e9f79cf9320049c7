// engine: what steers a wave: branches, calls, barriers, waits, traps and messages.
//
// Branches are where a wave that has run long is given back, so that the others get on: every loop has one.
#include <algorithm>

#include <fmt/format.h>

#include "engine/interpreter/prepare.h"
#include "isa/effects.h"
#include "isa/immediate_names.h"
#include "isa/table.h"
#include "machine/clock.h"
#include "machine/observer.h"
#include "machine/queue/signal_watch.h"
#include "machine/wave/barrier.h"
#include "machine/wave/dispatch.h"

namespace Atoll::engine {

namespace {

using isa::Opcode;
using isa::Operation;
using machine::WaveState;

bool always(Wave&, const MicroOp&) { return true; }
bool never(Wave&, const MicroOp&) { return false; }
bool scc0(Wave& wave, const MicroOp&) { return !wave.scc; }
bool scc1(Wave& wave, const MicroOp&) { return wave.scc; }
bool vccz(Wave& wave, const MicroOp&) { return wave.vcc() == 0; }
bool vccnz(Wave& wave, const MicroOp&) { return wave.vcc() != 0; }
bool execz(Wave& wave, const MicroOp&) { return wave.exec() == 0; }
bool execnz(Wave& wave, const MicroOp&) { return wave.exec() != 0; }

/// s_subvector_loop_begin: the first of up to two passes, each with one half of EXEC; the other half waits in the
/// register. Taken: there is nothing to do.
bool begin_subvector_loop(Wave& wave, const MicroOp& op) {
  if (wave.exec() == 0) return true;
  uint32_t &low = wave.scalar[isa::scalar::exec_lo], &high = wave.scalar[isa::scalar::exec_hi];
  uint32_t& waiting = wave.scalar[op.mask_out];
  if (low == 0) {
    waiting = low;
  } else {
    waiting = high;
    high = 0;
  }
  return false;
}

/// s_subvector_loop_end. Taken: the second pass begins.
bool end_subvector_loop(Wave& wave, const MicroOp& op) {
  uint32_t &low = wave.scalar[isa::scalar::exec_lo], &high = wave.scalar[isa::scalar::exec_hi];
  uint32_t& waiting = wave.scalar[op.mask_out];
  if (high != 0) {
    low = waiting;
    return false;
  }
  if (waiting == 0) return false;
  high = waiting;
  waiting = low;
  low = 0;
  return true;
}

template <bool (*Condition)(Wave&, const MicroOp&)>
void branch(Wave& wave, const MicroOp* op, Run& run) {
  const bool taken = Condition(wave, *op);
  if (++run.instructions >= run.limit) [[unlikely]] {
    return stop(wave, WaveState::ready, taken ? op->branch.target_pc : op->branch.next_pc);
  }
  op = taken ? op->branch.target : op + 1;
  [[clang::musttail]] return handler_of(op)(wave, op, run);
}

void call(Wave& wave, const MicroOp* op, Run& run) {
  wave.set_scalar64(op->mask_out, op->branch.next_pc);
  [[clang::musttail]] return branch<always>(wave, op, run);
}

/// s_setpc_b64 and s_swappc_b64: to the address in a register pair.
template <bool link>
void jump(Wave& wave, const MicroOp* op, Run& run) {
  const uint64_t target = wave.scalar64(op->mask_in) & ~uint64_t{3};
  if constexpr (link) wave.set_scalar64(op->mask_out, op->branch.next_pc);
  if (++run.instructions >= run.limit) [[unlikely]] {
    return stop(wave, WaveState::ready, target);
  }
  op = run.code->find(target);
  [[clang::musttail]] return handler_of(op)(wave, op, run);
}

void get_pc(Wave& wave, const MicroOp& op, Run&) { wave.set_scalar64(op.mask_out, op.branch.next_pc); }

void nothing(Wave&, const MicroOp&, Run&) {}

void end_program(Wave& wave, const MicroOp* op, Run& run) {
  ++run.instructions;
  stop(wave, WaveState::ended, op->branch.next_pc);
}

void barrier(Wave& wave, const MicroOp* op, Run& run) {
  ++run.instructions;
  stop(wave, WaveState::at_barrier, op->branch.next_pc);
}

using machine::cluster_barrier, machine::no_barrier, machine::trap_barrier, machine::work_group_barrier;

bool refuse_barrier(Wave& wave, const MicroOp& op, int32_t number) {
  fault(wave, op.origin->pc, machine::Fault::Kind::illegal_instruction,
        number == cluster_barrier
            ? fmt::format("barrier {}: the kernel was not launched in clusters of work-groups", number)
            : fmt::format("there is no barrier {} that the program can use", number));
  return false;
}

/// Returns the named barrier with this number; null if the wave's GPU has none.
machine::WorkGroup::NamedBarrier* named_barrier(const Wave& wave, int32_t number, const Run& run) {
  if (run.code->target().processor->generation < target::Generation::gfx12_5) return nullptr;
  auto& barriers = wave.work_group->named_barriers;
  return number > no_barrier && number < static_cast<int32_t>(barriers.size()) ? &barriers[number] : nullptr;
}

/// Whether that is the barrier of a cluster that the wave is in.
bool is_cluster_barrier(const Wave& wave, int32_t number, const Run& run) {
  return number == cluster_barrier && run.code->target().processor->generation >= target::Generation::gfx12_5 &&
         wave.work_group->cluster != nullptr;
}

/// The barrier that an instruction's source names: a constant, or 5 bits of M0.
int32_t barrier_number(const Wave& wave, const MicroOp& op) {
  const isa::Operand& operand = op.origin->instruction.src(0);
  const auto value = static_cast<int32_t>(scalar_value(wave, operand));
  return operand.kind == isa::OperandKind::constant ? value : value & 0x1F;
}

void report(const Run& run, const Wave& wave, machine::BarrierEvent::Kind kind, int32_t number) {
  if (run.observer != nullptr) run.observer->barrier(wave, {kind, number});
}

/// s_barrier_signal, s_barrier_signal_isfirst
template <bool reports_first>
bool barrier_signal(Wave& wave, const MicroOp& op, Run& run) {
  const int32_t number = barrier_number(wave, op);
  bool is_first = false;
  if (number == work_group_barrier) {
    is_first = machine::arrive_at_barrier(wave);
  } else if (machine::WorkGroup::NamedBarrier* named = named_barrier(wave, number, run)) {
    const bool is_register = op.origin->instruction.src(0).kind != isa::OperandKind::constant;
    is_first = machine::arrive_at_barrier(*named, is_register ? wave.scalar[isa::scalar::m0] >> 16 & 0x7F : 0);
  } else if (is_cluster_barrier(wave, number, run)) {
    report(run, wave, machine::BarrierEvent::Kind::arrives, number);  // first: others may pass it at once
    is_first = wave.work_group->cluster->arrive();
    if constexpr (reports_first) wave.scc = is_first;
    return true;
  } else if (number != no_barrier && number != trap_barrier) {  // the trap handler's means nothing to others
    return refuse_barrier(wave, op, number);
  }
  if (number != no_barrier && number != trap_barrier) report(run, wave, machine::BarrierEvent::Kind::arrives, number);
  if constexpr (reports_first) wave.scc = is_first;
  return true;
}

/// s_barrier_wait: the wave stops even if the barrier is complete, so that the machine chooses which goes on first.
void barrier_wait(Wave& wave, const MicroOp* op, Run& run) {
  ++run.instructions;
  const auto number = static_cast<int16_t>(op->origin->instruction.immediate);
  if (number == work_group_barrier) {
    stop(wave, WaveState::waits_at_barrier, op->branch.next_pc);
  } else if (number == no_barrier || named_barrier(wave, number, run) != nullptr) {
    // Whatever number it has, the wave waits for the barrier that it has joined. It comes back here until that is
    // complete.
    const int32_t joined = wave.named_barrier;
    const bool passes = number == no_barrier || machine::passes_named_barrier(wave);
    if (number != no_barrier && joined != no_barrier) {
      report(run, wave, passes ? machine::BarrierEvent::Kind::passes : machine::BarrierEvent::Kind::waits, joined);
    }
    stop(wave, WaveState::ready, passes ? op->branch.next_pc : op->origin->pc);
  } else if (is_cluster_barrier(wave, number, run)) {
    const bool passes = machine::passes_cluster_barrier(wave);
    report(run, wave, passes ? machine::BarrierEvent::Kind::passes : machine::BarrierEvent::Kind::waits, number);
    stop(wave, WaveState::ready, passes ? op->branch.next_pc : op->origin->pc);
  } else {
    refuse_barrier(wave, *op, number);
  }
}

/// s_get_barrier_state: whether it is there (bit 0), how many waves take part (from bit 4), and have arrived (from 16).
bool get_barrier_state(Wave& wave, const MicroOp& op, Run& run) {
  const int32_t number = barrier_number(wave, op);
  if (const machine::WorkGroup::NamedBarrier* named = named_barrier(wave, number, run)) {
    wave.scalar[op.mask_out] = 1 | named->expected << 4 | named->arrived << 16;
    return true;
  }
  if (is_cluster_barrier(wave, number, run)) {
    const machine::ClusterBarrier::State state = wave.work_group->cluster->state();
    wave.scalar[op.mask_out] = 1 | state.expected << 4 | state.arrived << 16;
    return true;
  }
  if (number != work_group_barrier) return refuse_barrier(wave, op, number);
  const machine::WorkGroup& group = *wave.work_group;
  wave.scalar[op.mask_out] = 1 | group.waves_running << 4 | group.barrier.arrived << 16;
  return true;
}

/// s_barrier_init: as many waves as M0's upper half says are to arrive.
bool barrier_init(Wave& wave, const MicroOp& op, Run& run) {
  const int32_t number = barrier_number(wave, op);
  machine::WorkGroup::NamedBarrier* named = named_barrier(wave, number, run);
  if (named == nullptr) return number == no_barrier || refuse_barrier(wave, op, number);
  machine::initialize_barrier(*named, wave.scalar[isa::scalar::m0] >> 16 & 0x7F);
  report(run, wave, machine::BarrierEvent::Kind::begins, number);
  return true;
}

bool barrier_join(Wave& wave, const MicroOp& op, Run& run) {
  const int32_t number = barrier_number(wave, op);
  if (number != no_barrier && named_barrier(wave, number, run) == nullptr) return refuse_barrier(wave, op, number);
  machine::join_barrier(wave, static_cast<uint32_t>(number));
  if (number != no_barrier) report(run, wave, machine::BarrierEvent::Kind::joins, number);
  return true;
}

/// s_barrier_leave: SCC says whether there was one to leave.
void barrier_leave(Wave& wave, const MicroOp&, Run& run) {
  wave.scc = wave.named_barrier != no_barrier;
  if (wave.scc) report(run, wave, machine::BarrierEvent::Kind::leaves, wave.named_barrier);
  machine::leave_barrier(wave);
}

/// s_alloc_vgpr: resizes the wave's VGPRs in blocks of 32 if permitted; SCC is the success (RDNA4 ISA guide). Retained
/// registers keep their contents.
bool alloc_vgprs(Wave& wave, const MicroOp& op, Run&) {
  const machine::Dispatch* dispatch = wave.work_group->dispatch;
  if (dispatch == nullptr || dispatch->kernel == nullptr || !dispatch->launch.has_dynamic_vgprs) {
    fault(wave, op.origin->pc, machine::Fault::Kind::illegal_instruction,
          "s_alloc_vgpr: the kernel was not compiled for dynamic VGPRs (ENABLE_DYNAMIC_VGPR of its descriptor)");
    return false;
  }
  constexpr uint32_t block = machine::dynamic_vgpr_block;
  const uint32_t asked = scalar_value(wave, op.origin->instruction.src(0)) & 0x1FF;
  wave.scc = asked <= dispatch->launch.max_vgprs;
  if (wave.scc) wave.vgprs = static_cast<uint16_t>(std::max((asked + block - 1) / block * block, block));
  return true;
}

/// s_add_pc_i64: relative to the next instruction.
void add_to_pc(Wave& wave, const MicroOp* op, Run& run) {
  const uint64_t distance = scalar_value(wave, op->origin->instruction.src(0));
  const uint64_t target = (op->branch.next_pc + distance) & ~uint64_t{3};
  if (++run.instructions >= run.limit) [[unlikely]] {
    return stop(wave, WaveState::ready, target);
  }
  op = run.code->find(target);
  [[clang::musttail]] return handler_of(op)(wave, op, run);
}

void shader_cycles(Wave& wave, const MicroOp& op, Run&) { wave.set_scalar64(op.mask_out, machine::now_ns()); }

/// s_sleep is what spinning waves do: the others go first.
void sleep(Wave& wave, const MicroOp* op, Run& run) {
  ++run.instructions;
  stop(wave, WaveState::ready, op->branch.next_pc);
}

/// User guide, "Trap Handler ABI" (code objects V3 and later): 2 is llvm.trap, which ends the dispatch and puts its
/// queue in the error state; 3 is llvm.debugtrap, which goes on when no debugger is there.
bool trap(Wave& wave, const MicroOp& op, Run&) {
  const unsigned id = op.origin->instruction.immediate & 0xFF;
  if (id == 3) return true;
  fault(wave, op.origin->pc, machine::Fault::Kind::abort,
        id == 2 ? "s_trap 2 (the kernel called abort, or a check in it failed)"
                : fmt::format("s_trap {}: no trap handler has this number", id));
  return false;
}

/// s_sethalt: only a debugger could wake a wave that halts.
bool halt(Wave& wave, const MicroOp& op, Run&) {
  if ((op.origin->instruction.immediate & 1) == 0) return true;
  fault(wave, op.origin->pc, machine::Fault::Kind::abort, "s_sethalt 1: the wave halts, and no debugger is there");
  return false;
}

/// s_setkill: as the end of the program, if its bit is set.
void kill(Wave& wave, const MicroOp* op, Run& run) {
  if ((op->origin->instruction.immediate & 1) == 0) {
    [[clang::musttail]] return step<nothing>(wave, op, run);
  }
  [[clang::musttail]] return end_program(wave, op, run);
}

/// The name of a message, without "MSG_"; empty if the GPU has none of that number.
std::string_view name_of_message(uint64_t number, const Run& run) {
  const isa::NamedValue* message =
      isa::find_value(isa::messages(), static_cast<unsigned>(number), run.code->target().processor->generation);
  return message != nullptr ? message->name : std::string_view{};
}

bool refuse_message(Wave& wave, const MicroOp& op, uint64_t number, std::string_view name) {
  fault(wave, op.origin->pc, machine::Fault::Kind::illegal_instruction,
        fmt::format("the message {:#x} ({}) is not implemented", number, name.empty() ? "unknown" : name));
  return false;
}

/// Interrupts the host, which may be waiting for a signal that the kernel has changed. Deallocating VGPRs early has no
/// effect here.
bool send_message(Wave& wave, const MicroOp& op, Run& run) {
  const uint16_t immediate = op.origin->instruction.immediate;
  const std::string_view message = name_of_message(immediate & 0xF, run);
  if (message == "INTERRUPT") {
    constexpr uint32_t event_id_mask = 0xFF;  // what the device library sends of it
    machine::notify_watchers_of_event(wave.scalar[isa::scalar::m0] & event_id_mask);
    return true;
  }
  return message == "DEALLOC_VGPRS" || refuse_message(wave, op, immediate, message);
}

/// s_sendmsg_rtn_b32, s_sendmsg_rtn_b64: messages with an answer. There is no trap handler, so its addresses are 0.
bool send_message_return(Wave& wave, const MicroOp& op, Run& run) {
  const uint64_t number = op.origin->instruction.src(0).value;
  const std::string_view message = name_of_message(number, run);
  uint64_t answer = 0;
  if (message == "RTN_GET_REALTIME") {
    answer = machine::now_ns();
  } else if (message != "RTN_GET_TMA" && message != "RTN_GET_TBA") {
    return refuse_message(wave, op, number, message);
  }
  wave.scalar[op.mask_out] = static_cast<uint32_t>(answer);
  if (op.origin->instruction.dst().words == 2) wave.scalar[op.mask_out + 1] = static_cast<uint32_t>(answer >> 32);
  return true;
}

/// s_code_end pads code that nothing reaches.
bool code_end(Wave& wave, const MicroOp& op, Run&) {
  fault(wave, op.origin->pc, machine::Fault::Kind::illegal_instruction, "s_code_end: the wave ran past its code");
  return false;
}

/// The first scalar register among the sources, for instructions that have only that one.
bool set_source_register(Preparation& p) {
  if (p.instruction.sources() == 0 || p.instruction.src(0).kind != isa::OperandKind::scalar) return false;
  p.op.mask_in = static_cast<uint8_t>(p.instruction.src(0).reg);
  return true;
}

/// Instructions of GFX12.5; GFX12 has the barriers' instructions, but not the barriers.
Handler prepare_gfx12_5(const Preparation& p, Operation operation) {
  if (operation == Operation::allocate_vgprs) return step_or_stop<alloc_vgprs>;  // of GFX12 as well
  if (p.cache.target().processor->generation < target::Generation::gfx12_5) return nullptr;
  switch (operation) {
    case Operation::barrier_init:
      return step_or_stop<barrier_init>;
    case Operation::barrier_join:
      return step_or_stop<barrier_join>;
    case Operation::barrier_leave:
      return step<barrier_leave>;
    case Operation::barrier_wakeup:  // of waves that sleep: none sleeps longer than it has to
      return step<nothing>;
    case Operation::monitor_sleep:  // until memory that the wave monitors may have changed
      return sleep;
    case Operation::jump_relative:
      return add_to_pc;
    case Operation::cycle_counter:
      return step<shader_cycles>;
    default:
      return nullptr;
  }
}

/// Branches to a label, by their condition.
Handler branch_handler(const isa::Control& control) {
  switch (control.condition) {
    case isa::Control::Condition::none:
      return branch<always>;
    case isa::Control::Condition::scc:
      return control.if_zero ? branch<scc0> : branch<scc1>;
    case isa::Control::Condition::vcc:
      return control.if_zero ? branch<vccz> : branch<vccnz>;
    case isa::Control::Condition::exec:
      return control.if_zero ? branch<execz> : branch<execnz>;
    case isa::Control::Condition::debugger:  // no debugger has set its conditions
      return branch<never>;
    case isa::Control::Condition::subvector:
      break;
  }
  return nullptr;
}

}  // namespace

// Memory operations are done when their instruction is: there is nothing to wait for, no cache to write back and no
// priority or performance counter to set.
bool does_nothing(Opcode opcode) { return isa::row(opcode).has(isa::flag::no_state); }

bool orders_memory(Opcode opcode) { return isa::row(opcode).has(isa::flag::cache_control); }

Handler prepare_control(Preparation& p) {
  BranchOp& branch_op = p.op.branch;
  branch_op.next_pc = p.origin.pc + p.instruction.size;
  branch_op.target_pc = branch_op.next_pc + static_cast<int64_t>(static_cast<int16_t>(p.instruction.immediate)) * 4;
  branch_op.target = nullptr;
  if (p.instruction.destinations != 0) p.op.mask_out = static_cast<uint8_t>(p.instruction.dst().reg);
  const auto to_target = [&](Handler handler) {
    branch_op.target = p.cache.find(branch_op.target_pc);
    return handler;
  };

  const isa::InstructionRow& row = isa::row_of(p.instruction);
  const Operation operation = row.computes.operation;
  switch (operation) {
    case Operation::branch:
    case Operation::branch_debug_system:
    case Operation::branch_debug_user:
    case Operation::branch_debug_either:
    case Operation::branch_debug_both:
      return to_target(branch_handler(isa::control_of(p.instruction)));
    case Operation::subvector_begin:
    case Operation::subvector_end:
      p.op.mask_out = static_cast<uint8_t>(p.instruction.operands[0].reg);
      return to_target(operation == Operation::subvector_begin ? branch<begin_subvector_loop>
                                                               : branch<end_subvector_loop>);
    case Operation::call:
      if (row.has(isa::flag::label)) return to_target(call);
      return set_source_register(p) ? jump<true> : nullptr;
    case Operation::jump:
      return set_source_register(p) ? jump<false> : nullptr;
    case Operation::get_pc:
      return step<get_pc>;

    case Operation::end_program:
    case Operation::end_program_saved:
      return end_program;
    case Operation::set_kill:
      return kill;
    case Operation::set_halt:
      return step_or_stop<halt>;
    case Operation::barrier:
      return barrier;
    case Operation::sleep:
      return sleep;
    case Operation::barrier_signal:
      return step_or_stop<barrier_signal<false>>;
    case Operation::barrier_signal_is_first:
      return step_or_stop<barrier_signal<true>>;
    case Operation::barrier_state:
      return step_or_stop<get_barrier_state>;
    case Operation::barrier_wait:
      return barrier_wait;
    case Operation::barrier_init:
    case Operation::barrier_join:
    case Operation::barrier_leave:
    case Operation::barrier_wakeup:
    case Operation::monitor_sleep:
    case Operation::allocate_vgprs:
    case Operation::jump_relative:
    case Operation::cycle_counter:
      return prepare_gfx12_5(p, operation);
    case Operation::trap:
      return step_or_stop<trap>;
    case Operation::code_end:
      return step_or_stop<code_end>;
    case Operation::send_message:
      return step_or_stop<send_message>;
    case Operation::send_message_return:
      return step_or_stop<send_message_return>;

    default:
      return does_nothing(p.instruction.opcode) ? step<nothing> : nullptr;
  }
}

}  // namespace Atoll::engine

// compiler: the translator (translate.h).
//
// Scalar state stays in the Wave: scalar instructions load and store it, and LLVM forwards what it can within a
// block. Vector instructions gather in a region (region.h), which ends where lanes meet; loops whose lanes don't meet
// at all are regions as a whole (loop_region.h). Everything else is one call of the interpreter's handler.
#include "compiler/lowering/translate.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "compiler/analysis/check_intervals.h"
#include "compiler/analysis/liveness.h"
#include "compiler/analysis/loop_region.h"
#include "compiler/analysis/superblocks.h"
#include "compiler/lowering/cross_lane_lowering.h"
#include "compiler/lowering/frame.h"
#include "compiler/lowering/loop_lowering.h"
#include "compiler/lowering/matrix_lowering.h"
#include "compiler/lowering/region.h"
#include "compiler/lowering/semantics_bitcode.h"
#include "compiler/lowering/undefined_value_checks.h"
#include "compiler/lowering/wave_chaining.h"
#include "compiler/memory/access_filter.h"
#include "compiler/memory/guest_bounds.h"
#include "compiler/memory/scalar_memory.h"
#include "engine/interpreter/hardware_register.h"
#include "engine/interpreter/prepare.h"
#include "isa/table.h"
#include "machine/wave/barrier.h"

namespace Atoll::compiler {

namespace {

using engine::Block;
using engine::ControlFlow;
using engine::JitContext;
using engine::Located;
using isa::OperandKind;
using machine::WaveState;

/// Whether s_barrier_signal or s_barrier_wait names the barrier that all waves of the work-group share, by a constant.
bool names_work_group_barrier(const isa::Instruction& instruction) {
  if (isa::row_of(instruction).computes.operation == isa::Operation::barrier_wait) {
    return static_cast<int16_t>(instruction.immediate) == machine::work_group_barrier;
  }
  const isa::Operand& number = instruction.src(0);
  return number.kind == OperandKind::constant && static_cast<int32_t>(number.value) == machine::work_group_barrier;
}

class Translator {
 public:
  Translator(const CodeFacts& code, Operations& operations, Frame& frame, uint64_t first_helper)
      : code_(code),
        flow_(code.flow),
        frame_(frame),
        bounds_(frame),
        lanes_(frame, operations),
        scalars_(frame, operations),
        wave_code_(frame, scalars_),
        matrix_code_(frame, helper_pcs_, first_helper),
        region_(frame, lanes_, scalars_, matrix_code_, code.ordinary_resources),
        odd_(frame, helper_pcs_, first_helper),
        undefined_values_(frame),
        first_helper_(first_helper) {
    frame_.bounds = &bounds_;
    if (flow_.instrumentation.filtered_accesses || flow_.instrumentation.loads) frame_.odd = &odd_;
    if (flow_.instrumentation.loads) odd_.set_records();
    if (flow_.instrumentation.filtered_accesses || flow_.instrumentation.undefined_values) odd_.set_limits_lds();
  }

  void run(Translated& result) {
    // By address, which is about the order in which they are run.
    std::map<uint64_t, std::function<void()>> pieces;
    for (const LoopPlan& loop : code_.loops) pieces[loop.region.entry] = [&] { emit(loop); };
    for (const Superblock& code : code_.superblocks) pieces[code.blocks.front()] = [&] { emit(code); };
    for (const auto& [pc, emit_piece] : pieces) {
      blocks_[pc] = llvm::BasicBlock::Create(frame_.context, "code", frame_.function);
    }
    if (frame_.plans.text != nullptr) dump(*frame_.plans.text);
    enter(result);
    ended_ = llvm::BasicBlock::Create(frame_.context, "ended", frame_.function);
    for (const auto& [pc, emit_piece] : pieces) emit_piece();
    end_wave();
    result.helper_pcs = std::move(helper_pcs_);
  }

 private:
  llvm::IRBuilder<>& ir() { return frame_.ir; }

  /// Goes to the block that the parameter `entry` numbers.
  void enter(Translated& result) {
    auto* start = llvm::BasicBlock::Create(frame_.context, "start", frame_.function, frame_.allocas->getNextNode());
    ir().SetInsertPoint(frame_.allocas);
    ir().CreateBr(start);
    ir().SetInsertPoint(start);
    frame_.vgpr = ir().CreateLoad(frame_.pointer(), frame_.at(frame_.wave, offsetof(Wave, vgpr)));
    frame_.agpr = ir().CreateLoad(frame_.pointer(), frame_.at(frame_.wave, offsetof(Wave, agpr)));
    frame_.code_base = ir().CreateLoad(frame_.i64(), frame_.at(frame_.jit_context, offsetof(JitContext, code_base)));
    auto* choice = ir().CreateSwitch(frame_.function->getArg(2), blocks_.at(flow_.root));
    for (const uint64_t pc : flow_.entries) {
      if (!blocks_.contains(pc)) continue;
      choice->addCase(ir().getInt64(result.entries.size()), blocks_.at(pc));
      result.entries.push_back(pc);
    }
  }

  /// The superblocks that were found.
  void dump(std::string& text) const {
    for (const Superblock& code : code_.superblocks) {
      text += fmt::format("superblock at {:#x}: {} blocks, {} branches removed\n", code.blocks.front(),
                          code.blocks.size(), code.branches.size());
    }
  }

  /// What comes when a wave has ended.
  void end_wave();

  void emit(const LoopPlan& loop);
  void emit(const Superblock& code);
  void emit(const Located& at);
  static bool is_executed(const isa::Instruction& instruction);
  void begin(const CheckInterval& interval, uint64_t pc);
  void end_interval();
  void report_path(const Block& block, size_t at);
  bool emit_control(const Located& at);
  void emit_fallback(const Located& at);
  void emit_condition(const Located& at, const isa::Control& control);
  void emit_arrival(bool reports_first);
  void emit_mode_change(const Located& at);
  void branch(llvm::Value* condition);

  void count() {
    frame_.count();
    frame_.uncounted = 0;
  }
  void set_pc(uint64_t pc) { ir().CreateStore(frame_.guest_address(pc), frame_.at(frame_.wave, offsetof(Wave, pc))); }
  void leave(bool goes_on) {
    const engine::ExitReason how = goes_on ? engine::ExitReason::goes_on : engine::ExitReason::stops;
    ir().CreateRet(ir().getInt8(static_cast<uint8_t>(how)));
  }
  void stop(WaveState state, uint64_t pc) {
    set_pc(pc);
    ir().CreateStore(ir().getInt8(static_cast<uint8_t>(state)), frame_.at(frame_.wave, offsetof(Wave, state)));
    leave(false);
  }
  /// Branches to the block at `pc`, or out of the function if none exists for the mode. Back edges check the budget.
  void go_to(uint64_t from, uint64_t pc);

  const CodeFacts& code_;
  const ControlFlow& flow_;
  Frame& frame_;
  GuestBounds bounds_;
  ValuLowering lanes_;
  SaluLowering scalars_;
  CrossLaneLowering wave_code_;
  std::vector<uint64_t> helper_pcs_;
  MatrixLowering matrix_code_;
  Region region_;
  InlineAccessFilter odd_;
  UndefinedValueChecks undefined_values_;
  std::map<uint64_t, llvm::BasicBlock*> blocks_;
  llvm::BasicBlock* not_taken_ = nullptr;  ///< of the branch that was emitted last
  llvm::BasicBlock* ended_ = nullptr;      ///< where waves go that end, Wave::pc set
  engine::CodeMode mode_;                  ///< after what was emitted last
  bool ends_in_other_mode_ = false;        ///< than waves begin in, somewhere
  uint32_t inert_mode_bits_ = 0;           ///< that are written somewhere; waves begin without them
  const uint64_t first_helper_;
  bool has_fallbacks_ = false;
  bool accesses_are_open_ = false;  ///< of a stretch
};

void Translator::end_wave() {
  ir().SetInsertPoint(ended_);
  const Live& start = code_.liveness.before(flow_.root);
  // What the interpreter's handlers may change beside the registers is not put back. Of large code this may be a part,
  // and is not worth it.
  if (!has_fallbacks_ && !code_.hotness.fast_compile() && WaveChaining::can(start)) {
    VectorSet written;
    for (const auto& [pc, block] : flow_.blocks) {
      for (const Located& at : block.instructions) written |= lane_effects_of(at.instruction).vector_writes;
    }
    auto* done = llvm::BasicBlock::Create(frame_.context, "done", frame_.function);
    auto* begun = llvm::BasicBlock::Create(frame_.context, "begun", frame_.function);
    WaveChaining(frame_, start, written).emit(begun, done);
    ir().SetInsertPoint(begun);
    if (ends_in_other_mode_) frame_.write_mode(flow_.mode);
    if (inert_mode_bits_ != 0) frame_.write_mode_bits(inert_mode_bits_, 0);
    ir().CreateBr(blocks_.at(flow_.root));
    ir().SetInsertPoint(done);
  }
  ir().CreateStore(ir().getInt8(static_cast<uint8_t>(WaveState::ended)), frame_.at(frame_.wave, offsetof(Wave, state)));
  leave(false);
}

void Translator::go_to(uint64_t from, uint64_t pc) {
  const auto found = blocks_.find(pc);
  if (found == blocks_.end() || flow_.mode_before(pc) != mode_) {
    set_pc(pc);
    leave(true);
    return;
  }
  if (pc > from) {
    ir().CreateBr(found->second);
    return;
  }
  llvm::Value* done = ir().CreateLoad(frame_.i64(), frame_.at(frame_.run, offsetof(Run, instructions)));
  llvm::Value* limit = ir().CreateLoad(frame_.i64(), frame_.at(frame_.run, offsetof(Run, limit)));
  auto* enough = llvm::BasicBlock::Create(frame_.context, "enough", frame_.function);
  ir().CreateCondBr(ir().CreateICmpUGE(done, limit), enough, found->second);
  ir().SetInsertPoint(enough);
  stop(WaveState::ready, pc);
}

void Translator::emit(const LoopPlan& plan) {
  const LoopRegion& loop = plan.region;
  ir().SetInsertPoint(blocks_.at(loop.entry));
  LoopLowering(frame_, lanes_, scalars_, flow_, code_.liveness, plan).emit([&](uint64_t exit) {
    mode_ = loop.mode_at(exit, flow_);
    frame_.change_mode(flow_.mode_before(loop.entry), mode_);
    go_to(loop.entry, exit);
  });
}

void Translator::emit(const Superblock& code) {
  const uint64_t start = code.blocks.front();
  ir().SetInsertPoint(blocks_.at(start));
  frame_.uncounted = 0;
  region_.set_hot(code_.hotness.is_hot(start), code_.hotness.versioning(start));
  region_.forget_resources();
  mode_ = flow_.mode_before(start);
  std::vector<Live> live, live_before;  // the region looks at what it came to last
  for (const uint64_t pc : code.blocks) {
    const Block& block = flow_.blocks.at(pc);
    live_before = std::exchange(live, code_.liveness.within(block));
    const auto removed = code.branches.find(pc);
    const size_t emitted = block.instructions.size() - (removed != code.branches.end() ? 1 : 0);
    std::vector<CheckInterval> intervals;
    if (flow_.instrumentation.undefined_values) {
      intervals = check_intervals_of(block, frame_.lane_mask_words(), [&](const isa::Instruction& instruction) {
        return flow_.instrumentation.by_handler(instruction) || !is_executed(instruction);
      });
    }
    auto next = intervals.begin();
    bool must_report = false;
    for (size_t i = 0; i < emitted; ++i) {
      region_.come_to(live[i], live[i + 1]);
      frame_.mode = mode_;
      if (flow_.instrumentation.paths) report_path(block, i);
      if (next != intervals.end() && next->first == i) {
        begin(*next, block.instructions[i].pc);
        must_report = next->must_report;
        ++next;
      }
      if (must_report) {
        emit_fallback(block.instructions[i]);
      } else {
        emit(block.instructions[i]);
      }
      region_.note_writes(lane_effects_of(block.instructions[i].instruction).writes);
    }
    region_.come_to(live[emitted], live.back());
    if (removed == code.branches.end()) continue;
    const Located& branch = block.instructions.back();
    region_.remove_branch(branch.instruction, branch.pc, removed->second.instructions);
    region_.come_to(live.back(), live.back());
    ++frame_.uncounted;
  }
  if (ir().GetInsertBlock()->getTerminator() != nullptr) return;
  region_.end();
  count();
  end_interval();
  const Located& last = flow_.blocks.at(code.blocks.back()).instructions.back();
  go_to(last.pc, last.next());
}

/// Returns whether translated code executes the instruction inline while undefined values are tracked: it must write
/// all lanes of EXEC.
bool Translator::is_executed(const isa::Instruction& instruction) {
  switch (isa::row_of(instruction).computes.operation) {
    case isa::Operation::get_pc:
    case isa::Operation::set_register:
    case isa::Operation::set_rounding:
    case isa::Operation::set_denormals:
    case isa::Operation::set_vgpr_banks:
      return true;
    default:
      break;
  }
  if (isa::control_of(instruction).kind != isa::Control::Kind::next || does_nothing(instruction)) return true;
  const LaneEffects effects = lane_effects_of(instruction);
  if (CrossLaneLowering::takes(instruction)) return effects.vector_writes.none();
  // A value read from an inactive lane is undefined, whatever that lane contains.
  if (instruction.encoding == isa::Encoding::ds && effects.reads_inactive) return false;
  return memory_operands(instruction).has_value() || ValuLowering::takes(instruction) ||
         SaluLowering::takes(instruction) || ScalarMemory::takes(instruction) || MatrixLowering::takes(instruction) ||
         engine::orders_memory(instruction.opcode);
}

void Translator::end_interval() {
  if (accesses_are_open_) undefined_values_.end_accesses();
  accesses_are_open_ = false;
}

/// Reports this and the following instructions of the path unless already done.
void Translator::report_path(const Block& block, size_t at) {
  const auto begins = [&](size_t number) {
    return number == 0 || block.instructions[number].mode.banks != block.instructions[number - 1].mode.banks;
  };
  if (!begins(at)) return;
  size_t end = at + 1;
  while (end < block.instructions.size() && !begins(end)) ++end;
  const uint64_t pc = block.instructions[at].pc, bytes = block.instructions[end - 1].next() - pc;
  region_.end();
  count();
  end_interval();
  set_pc(pc);
  llvm::Value* called =
      ir().CreateLoad(frame_.pointer(), frame_.at(frame_.jit_context, offsetof(JitContext, block_begins)));
  auto* type = llvm::FunctionType::get(
      ir().getVoidTy(), {frame_.pointer(), frame_.pointer(), frame_.i64(), frame_.i32(), frame_.i32()}, false);
  llvm::CallInst* call =
      ir().CreateCall(type, called,
                      {frame_.wave, frame_.run, frame_.guest_address(pc), ir().getInt32(static_cast<uint32_t>(bytes)),
                       ir().getInt32(block.instructions[at].mode.banks)});
  call->addFnAttr(llvm::Attribute::NoUnwind);
}

/// Starts the check interval at `pc`.
void Translator::begin(const CheckInterval& interval, uint64_t pc) {
  region_.end();
  count();
  end_interval();
  accesses_are_open_ = interval.accesses;
  undefined_values_.begin(interval, [&] {
    set_pc(pc);
    ir().CreateRet(ir().getInt8(static_cast<uint8_t>(engine::ExitReason::interpreted)));
  });
}

void Translator::emit(const Located& at) {
  const isa::Instruction& instruction = at.instruction;
  if (flow_.instrumentation.by_handler(instruction)) return emit_fallback(at);
  if (emit_control(at)) return;
  if (does_nothing(instruction)) {
    ++frame_.uncounted;
    return;
  }
  if (flow_.is_past_limit(at)) return emit_fallback(at);
  const bool is_access = memory_operands(instruction).has_value();
  if (is_access || ValuLowering::takes(instruction) || SaluLowering::takes(instruction) ||
      ScalarMemory::takes(instruction) || MatrixLowering::takes(instruction)) {
    region_.add(instruction, at.pc);
    ++frame_.uncounted;
    return;
  }
  if (CrossLaneLowering::takes(instruction)) {
    region_.end();
    wave_code_.emit(instruction);
    ++frame_.uncounted;
    return;
  }
  if (engine::orders_memory(instruction.opcode)) {
    region_.end();
    ++frame_.uncounted;
    return;
  }
  emit_fallback(at);
}

void Translator::emit_fallback(const Located& at) {
  region_.end();
  if (lane_effects_of(at.instruction).vector_writes.none())
    region_.forget_resources();  // s_movreld_b32 writes any register
  llvm::Value* table =
      ir().CreateLoad(frame_.pointer(), frame_.at(frame_.jit_context, offsetof(JitContext, helper_ops)));
  llvm::Value* op = ir().CreateLoad(frame_.pointer(),
                                    frame_.at(table, (first_helper_ + helper_pcs_.size()) * sizeof(engine::MicroOp*)));
  llvm::Value* handler = ir().CreateLoad(frame_.pointer(), frame_.at(op, offsetof(engine::MicroOp, handler)));
  helper_pcs_.push_back(at.pc);
  has_fallbacks_ = true;
  if (frame_.plans.text != nullptr)
    *frame_.plans.text += fmt::format("interpreter fallback at {:#x}: {}\n", at.pc, isa::row_of(at.instruction).name);
  llvm::Value* fallback_completed = frame_.at(frame_.run, offsetof(Run, fallback_completed));
  ir().CreateStore(ir().getInt8(0), fallback_completed);
  auto* type = llvm::FunctionType::get(ir().getVoidTy(), {frame_.pointer(), frame_.pointer(), frame_.pointer()}, false);
  ir().CreateCall(type, handler, {frame_.wave, op, frame_.run});
  auto* stopped = llvm::BasicBlock::Create(frame_.context, "stopped", frame_.function);
  auto* on = llvm::BasicBlock::Create(frame_.context, "on", frame_.function);
  ir().CreateCondBr(ir().CreateICmpNE(ir().CreateLoad(ir().getInt8Ty(), fallback_completed), ir().getInt8(0)), on,
                    stopped);
  ir().SetInsertPoint(stopped);
  frame_.count();
  leave(false);
  ir().SetInsertPoint(on);
}

bool Translator::emit_control(const Located& at) {
  const isa::Instruction& instruction = at.instruction;
  const auto finish = [&] {
    region_.end();
    ++frame_.uncounted;
    count();
  };
  const isa::Control control = isa::control_of(instruction);
  using enum isa::Control::Kind;
  switch (control.kind) {
    case branch:
      finish();
      go_to(at.pc, at.target());
      return true;
    case conditional:
      finish();
      emit_condition(at, control);
      return true;
    case end:
      finish();
      ends_in_other_mode_ |= mode_ != flow_.mode;
      set_pc(at.next());
      ir().CreateBr(ended_);
      return true;
    case call:
    case indirect:
    case indirect_call: {
      const bool by_register = control.kind != call;
      if (by_register && (control.adds_to_pc || instruction.src(0).kind != OperandKind::scalar)) return false;
      finish();
      llvm::Value* target = by_register ? ir().CreateAnd(frame_.scalar64(instruction.src(0).reg), ~uint64_t{3})
                                        : frame_.guest_address(at.target());
      if (instruction.destinations != 0) frame_.set_scalar(instruction.dst().reg, frame_.guest_address(at.next()));
      ir().CreateStore(target, frame_.at(frame_.wave, offsetof(Wave, pc)));
      leave(true);
      return true;
    }
    default:
      break;
  }
  const isa::Operation operation = isa::row_of(instruction).computes.operation;
  switch (operation) {
    case isa::Operation::barrier:
      finish();
      stop(WaveState::at_barrier, at.next());
      return true;
    case isa::Operation::barrier_wait:
      if (!names_work_group_barrier(instruction)) return false;
      finish();
      stop(WaveState::waits_at_barrier, at.next());
      return true;
    case isa::Operation::barrier_signal:
    case isa::Operation::barrier_signal_is_first:
      if (!names_work_group_barrier(instruction)) return false;
      region_.end();
      emit_arrival(operation == isa::Operation::barrier_signal_is_first);
      ++frame_.uncounted;
      return true;
    case isa::Operation::sleep:
      if (instruction.encoding != isa::Encoding::sopp) return false;  // s_sleep_var
      finish();
      stop(WaveState::ready, at.next());
      return true;
    case isa::Operation::get_pc:
      region_.end_before(instruction);
      frame_.set_scalar(instruction.dst().reg, frame_.guest_address(at.next()));
      ++frame_.uncounted;
      return true;
    case isa::Operation::set_register:
    case isa::Operation::set_rounding:
    case isa::Operation::set_denormals:
    case isa::Operation::set_vgpr_banks:
      if (engine::sets_code_mode(instruction)) {
        mode_ = flow_.mode_after(at);
        region_.set_mode(mode_);
        ++frame_.uncounted;
        return true;
      }
      if (const auto bits = engine::inert_mode_bits(instruction)) {
        region_.end();
        frame_.write_mode_bits(bits->mask, bits->value);
        inert_mode_bits_ |= bits->mask;
        mode_ = flow_.mode_after(at);
        region_.set_mode(mode_);
        ++frame_.uncounted;
        return true;
      }
      emit_mode_change(at);
      return true;
    default:
      return false;
  }
}

/// A conditional branch, the region ended.
void Translator::emit_condition(const Located& at, const isa::Control& control) {
  using enum isa::Control::Condition;
  llvm::Value* value = control.condition == scc   ? ir().CreateLoad(ir().getInt8Ty(), frame_.scc_address())
                       : control.condition == vcc ? frame_.lane_mask(isa::scalar::vcc_lo)
                                                  : frame_.exec();
  llvm::Value* nothing = llvm::ConstantInt::get(value->getType(), 0);
  branch(control.if_zero ? ir().CreateICmpEQ(value, nothing) : ir().CreateICmpNE(value, nothing));
  go_to(at.pc, at.target());
  ir().SetInsertPoint(not_taken_);
  go_to(at.pc, at.next());
}

/// What machine::arrive_at_barrier() does.
void Translator::emit_arrival(bool reports_first) {
  using Barrier = machine::WorkGroup::Barrier;
  llvm::Value* group = ir().CreateLoad(frame_.pointer(), frame_.at(frame_.wave, offsetof(Wave, work_group)));
  llvm::Value* running = ir().CreateLoad(frame_.i32(), frame_.at(group, offsetof(machine::WorkGroup, waves_running)));
  llvm::Value* barrier = frame_.at(group, offsetof(machine::WorkGroup, barrier));
  llvm::Value* arrived_at = frame_.at(barrier, offsetof(Barrier, arrived));
  llvm::Value* phase_at = frame_.at(barrier, offsetof(Barrier, phase));
  llvm::Value* arrived = ir().CreateAdd(ir().CreateLoad(frame_.i32(), arrived_at), ir().getInt32(1));
  llvm::Value* is_complete = ir().CreateICmpEQ(arrived, running);
  ir().CreateStore(ir().CreateSelect(is_complete, ir().getInt32(0), arrived), arrived_at);
  llvm::Value* phase = ir().CreateLoad(frame_.i32(), phase_at);
  ir().CreateStore(ir().CreateAdd(phase, ir().CreateZExt(is_complete, frame_.i32())), phase_at);
  if (!reports_first) return;
  llvm::Value* is_first = ir().CreateICmpEQ(arrived, ir().getInt32(1));
  ir().CreateStore(ir().CreateZExt(is_first, ir().getInt8Ty()), frame_.scc_address());
}

/// s_setreg_b32 that writes to the mode what is known at run time only. In another mode than was assumed, the wave
/// leaves.
void Translator::emit_mode_change(const Located& at) {
  count();
  emit_fallback(at);
  mode_ = flow_.mode_after(at);
  branch(frame_.is_in_mode(mode_));
  go_to(at.pc, at.next());
  ir().SetInsertPoint(not_taken_);
  set_pc(at.next());
  leave(true);
}

/// Goes on in a new block if `condition` holds, and else in not_taken_.
void Translator::branch(llvm::Value* condition) {
  auto* taken = llvm::BasicBlock::Create(frame_.context, "taken", frame_.function);
  not_taken_ = llvm::BasicBlock::Create(frame_.context, "not", frame_.function);
  ir().CreateCondBr(condition, taken, not_taken_);
  ir().SetInsertPoint(taken);
}

}  // namespace

struct Translation::Parts {
  Parts(const target::Target& gpu, semantics::HostVectors vectors)
      : target(gpu), level(vectors), semantics(context, vectors), operations(std::in_place, semantics) {
    context.setDiscardValueNames(true);  // nobody reads them
  }

  const target::Target target;
  const semantics::HostVectors level;
  llvm::LLVMContext context;
  SemanticsBitcode semantics;
  std::optional<Operations> operations;
  std::vector<llvm::Function*> functions;
  std::unique_ptr<llvm::Module> module;
};

Translation::Translation(const target::Target& target, semantics::HostVectors level)
    : parts_(std::make_unique<Parts>(target, level)) {}
Translation::~Translation() = default;

Translated Translation::add(const CodeFacts& code, const std::string& name, uint64_t first_helper, PlanReport& plans) {
  llvm::LLVMContext& context = parts_->context;
  auto* pointer = llvm::PointerType::get(context, 0);
  auto* type = llvm::FunctionType::get(llvm::Type::getInt8Ty(context),
                                       {pointer, pointer, llvm::Type::getInt64Ty(context), pointer}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, parts_->semantics.module());
  function->addFnAttr(llvm::Attribute::NoUnwind);
  // Only translated code and its handlers access the wave while it runs.
  function->addParamAttr(0, llvm::Attribute::NoAlias);
  function->addParamAttr(1, llvm::Attribute::NoAlias);
  function->addParamAttr(3, llvm::Attribute::NoAlias);
  function->addParamAttr(3, llvm::Attribute::ReadOnly);
  parts_->functions.push_back(function);
  auto* allocas = llvm::BasicBlock::Create(context, "locals", function);
  Frame frame{.context = context,
              .target = parts_->target,
              .ir = llvm::IRBuilder<>(context),
              .function = function,
              .wave = function->getArg(0),
              .run = function->getArg(1),
              .jit_context = function->getArg(3),
              .vgpr = nullptr,
              .agpr = nullptr,
              .code_base = nullptr,
              .allocas = allocas,
              .mode = code.flow.mode,
              .has_scatters = parts_->level == semantics::HostVectors::avx512,
              .plans = plans};
  Translated result;
  Translator(code, *parts_->operations, frame, first_helper).run(result);
  return result;
}

llvm::Module& Translation::finish() {
  parts_->operations.reset();
  parts_->module = parts_->semantics.take();
  for (llvm::Function* function : parts_->functions) function->setLinkage(llvm::GlobalValue::ExternalLinkage);
  return *parts_->module;
}

}  // namespace Atoll::compiler

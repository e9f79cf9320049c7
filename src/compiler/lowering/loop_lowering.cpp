// compiler: the host code of a loop region (loop_lowering.h).
#include "compiler/lowering/loop_lowering.h"

#include <llvm/IR/MDBuilder.h>

#include "compiler/memory/access_filter.h"
#include "compiler/memory/guest_bounds.h"
#include "compiler/memory/scalar_memory.h"
#include "engine/interpreter/prepare.h"
#include "isa/table.h"

namespace Atoll::compiler {

namespace {

using Lowering = VaryingMasks::Lowering;

/// Instructions between polls of must_stop(): some milliseconds.
constexpr uint64_t instructions_between_polls = 1u << 20;

/// Instructions after which a loop that may be waiting for other waves preempts the wave, in the first chunk, before
/// anything is written. The loop starts again with twice the limit, so a merely long loop completes.
constexpr uint64_t spin_backoff = 1u << 16;
constexpr uint8_t max_patience = 24;

}  // namespace

void LoopLowering::slice_for(const VaryingMasks& here, const VaryingMasks& there, ChunkState& chunk) {
  for (unsigned reg = 0; reg < isa::scalar::count; reg += frame_.lane_mask_words()) {
    if (there.is_varying(reg) && !here.is_varying(reg)) {
      chunk.set_mask(reg, chunk.slice(lane_mask(frame_, chunk, reg)));
    }
  }
  if (there.scc_varies && !here.scc_varies) {
    llvm::Value* is_set = frame_.ir.CreateICmpNE(chunk.scc(), frame_.ir.getInt8(0));
    chunk.set_scc_slice(frame_.ir.CreateSelect(is_set, llvm::Constant::getAllOnesValue(frame_.lanes()),
                                               llvm::Constant::getNullValue(frame_.lanes())));
  }
}

llvm::Value* LoopLowering::is_not_zero(const BlockEnd& end, const VaryingMasks& state, ChunkState& chunk) {
  llvm::IRBuilder<>& ir = frame_.ir;
  const auto any = [&](llvm::Value* slice) {
    return ir.CreateICmpNE(ir.CreateBitCast(slice, frame_.i16()), ir.getInt16(0));
  };
  const unsigned reg = end.on == BlockEnd::On::exec ? isa::scalar::exec_lo : isa::scalar::vcc_lo;
  if (end.on == BlockEnd::On::scc) {
    return state.scc_varies ? any(chunk.scc_slice()) : ir.CreateICmpNE(chunk.scc(), ir.getInt8(0));
  }
  return state.is_varying(reg) ? any(chunk.mask(reg)) : ir.CreateICmpNE(lane_mask(frame_, chunk, reg), ir.getInt64(0));
}

/// An instruction on one chunk. `is_needed`: what its results hold in lanes that EXEC lacks.
void LoopLowering::emit(const engine::Located& at, bool is_needed, VaryingMasks& state, ChunkState& chunk) {
  const isa::Instruction& instruction = at.instruction;
  frame_.mode = at.mode;
  frame_.access_pc = at.pc;
  const Lowering lowering = state.lowering(instruction, /*inside=*/true);
  const bool keep_inactive = (state.exec_written || region_.exec_grows) && is_needed;
  if (lowering == Lowering::memory) {
    memory_.emit(memory_.prepare(instruction, 0, chunk), keep_inactive, chunk);
  } else if (lowering == Lowering::lanes) {
    const auto varying = [&](unsigned reg) { return state.is_varying(reg); };
    const auto emit_one = [&](const isa::Instruction& one) {
      lanes_.emit(lanes_.prepare(one, chunk, varying), keep_inactive, chunk);
    };
    if (const auto halves = DualHalves::of(instruction)) {
      emit_one(halves->first);
      emit_one(halves->second);
    } else {
      emit_one(instruction);
    }
  } else if (lowering == Lowering::on_varying_masks) {
    llvm::Value* whole[2] = {nullptr, nullptr};
    for (unsigned source = 0; source < instruction.sources(); ++source) {
      const isa::Operand& operand = instruction.src(source);
      if (!state.is_varying_source(instruction, operand)) whole[source] = scalars_.value(operand, chunk);
    }
    scalars_.emit_on_varying_masks(instruction, whole, state.scc_varies ? nullptr : chunk.scc(), chunk);
  } else if (ScalarMemory::takes(instruction)) {
    // In a loop that does not wait for others: there, a word must come from the load that stays in its place.
    ScalarMemory(frame_).load(instruction, chunk, /*words_apart=*/!region_.may_wait, /*is_noted=*/true);
  } else {
    scalars_.emit(instruction, chunk);
  }
  state.step(instruction, lowering);
}

/// Emits a poll at the end of an iteration. `count`: instructions of the chunk so far.
void LoopLowering::emit_poll(llvm::Value* count) {
  llvm::IRBuilder<>& ir = frame_.ir;
  auto* poll = llvm::BasicBlock::Create(frame_.context, "poll", frame_.function);
  auto* on = llvm::BasicBlock::Create(frame_.context, "on", frame_.function);
  ir.CreateCondBr(ir.CreateICmpUGE(count, ir.CreateLoad(frame_.i64(), next_poll_)), poll, on,
                  llvm::MDBuilder(frame_.context).createBranchWeights(1, 1u << 20));
  ir.SetInsertPoint(poll);
  ir.CreateStore(ir.CreateAdd(count, ir.getInt64(instructions_between_polls)), next_poll_);
  // What it waits for may be at a wrong address.
  const GuestBounds::Noted noted = frame_.bounds->noted();
  frame_.bounds->check();
  frame_.bounds->set_noted(noted);
  if (given_back_ != nullptr) {
    auto* ask = llvm::BasicBlock::Create(frame_.context, "ask", frame_.function);
    ir.CreateCondBr(ir.CreateICmpUGE(count, waits_), given_back_, ask);
    ir.SetInsertPoint(ask);
  }
  llvm::Value* helper =
      ir.CreateLoad(frame_.pointer(), frame_.at(frame_.jit_context, offsetof(engine::JitContext, must_stop)));
  auto* type = llvm::FunctionType::get(ir.getInt8Ty(), {frame_.pointer()}, false);
  llvm::Value* stop = ir.CreateCall(type, helper, {frame_.wave});
  ir.CreateCondBr(ir.CreateICmpNE(stop, ir.getInt8(0)), stopped_, on);
  ir.SetInsertPoint(on);
}

void LoopLowering::emit_block(uint64_t pc, ChunkState& chunk) {
  llvm::IRBuilder<>& ir = frame_.ir;
  const engine::Block& block = flow_.blocks.at(pc);
  const std::span<const engine::Located> instructions = body_of(block);
  ir.SetInsertPoint(blocks_.at(pc));

  const std::vector<Live> live = liveness_.within(block);

  VaryingMasks state = region_.states.at(pc);
  for (size_t i = 0; i < instructions.size(); ++i) {
    if (changes_no_data(instructions[i].instruction)) continue;
    const bool is_needed = (lane_effects_of(instructions[i].instruction).vector_writes & live[i + 1].inactive).any();
    emit(instructions[i], is_needed, state, chunk);
  }

  llvm::Value* count = ir.CreateAdd(ir.CreateLoad(frame_.i64(), count_), ir.getInt64(block.instructions.size()));
  ir.CreateStore(count, count_);
  const BlockEnd end = *end_of(block);
  for (const uint64_t next : {end.if_zero, end.if_not}) slice_for(state, region_.states.at(next), chunk);
  llvm::Value* not_zero =
      end.if_zero != end.if_not ? is_not_zero(end, state, chunk) : static_cast<llvm::Value*>(ir.getTrue());
  if (end.if_zero <= pc || end.if_not <= pc) emit_poll(count);  // perhaps for ever
  if (end.if_zero == end.if_not) {
    ir.CreateBr(blocks_.at(end.if_zero));
  } else {
    ir.CreateCondBr(not_zero, blocks_.at(end.if_not), blocks_.at(end.if_zero));
  }
}

llvm::BasicBlock* LoopLowering::new_block(const char* name) {
  return llvm::BasicBlock::Create(frame_.context, name, frame_.function);
}

llvm::Value* LoopLowering::new_local(uint64_t value) {
  llvm::Value* made = frame_.local(frame_.i64(), llvm::Align(8));
  frame_.ir.CreateStore(frame_.ir.getInt64(value), made);
  return made;
}

void LoopLowering::emit(const std::function<void(uint64_t exit)>& leave) {
  llvm::IRBuilder<>& ir = frame_.ir;
  ChunkLoop loop(frame_, *frame_.function);
  llvm::BasicBlock* begin = loop.block("begin", loop.lanes);
  llvm::BasicBlock* idle = loop.block("idle", loop.next);
  llvm::BasicBlock* end = loop.block("end", loop.next);

  llvm::Value* exec = frame_.exec();
  make_locals();
  frame_.note_pc(region_.entry);
  llvm::Instruction* once_end = loop.enter(exec);
  choose_chunks(exec, loop, begin, idle);
  ir.SetInsertPoint(begin);
  begin_chunk(exec, loop.first_lane());
  ChunkState chunk(frame_, once_end, ir.CreateBr(loop.lanes), loop.first_lane(), /*branches=*/true);
  if (frame_.odd != nullptr) frame_.odd->set_clock(count_);
  emit_rounds(loop, end, chunk);
  if (frame_.odd != nullptr) frame_.odd->set_clock(nullptr);
  ir.SetInsertPoint(end);
  end_chunk(loop, chunk);
  ir.SetInsertPoint(idle);
  skip_chunk(loop, once_end);
  loop.finish();
  give_back();
  ir.SetInsertPoint(loop.done);
  finish();
  emit_exits(leave);
}

/// For what becomes of the chunks: all of 64 bits.
void LoopLowering::make_locals() {
  llvm::IRBuilder<>& ir = frame_.ir;
  for (const unsigned reg : plan_.results.masks) masks_[reg] = new_local(0);
  if (plan_.results.gathers_scc) gathered_scc_ = new_local(0);
  for (const unsigned reg : plan_.words) words_[reg] = new_local(0);
  if (plan_.keeps_scc) scc_ = new_local(0);
  longest_ = new_local(0);
  way_out_ = new_local(0);
  count_ = frame_.local(frame_.i64(), llvm::Align(8));
  next_poll_ = new_local(instructions_between_polls);
  backoff_address_ = frame_.at(frame_.wave, offsetof(Wave, spin_backoff));
  if (!region_.may_wait) return;
  had_backoff_ = ir.CreateZExt(ir.CreateLoad(ir.getInt8Ty(), backoff_address_), frame_.i64());
  had_backoff_ = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, had_backoff_, ir.getInt64(max_patience));
}

/// Which chunks run the loop.
void LoopLowering::choose_chunks(llvm::Value* exec, const ChunkLoop& loop, llvm::BasicBlock* begin,
                                 llvm::BasicBlock* idle) {
  llvm::IRBuilder<>& ir = frame_.ir;
  if (!region_.skips_inactive_chunks) {
    ir.CreateBr(begin);
    return;
  }
  // One has to run for the scalars' sake, be EXEC zero as a whole.
  llvm::Value* is_idle = ir.CreateICmpEQ(loop.active(), ir.getInt16(0));
  llvm::Value* stands_in = ir.CreateICmpEQ(ir.CreateOr(exec, loop.first_lane()), ir.getInt64(0));
  ir.CreateCondBr(ir.CreateAnd(is_idle, ir.CreateNot(stands_in)), idle, begin);
}

void LoopLowering::begin_chunk(llvm::Value* exec, llvm::Value* first_lane) {
  llvm::IRBuilder<>& ir = frame_.ir;
  ir.CreateStore(ir.getInt64(0), count_);
  llvm::Value* first_poll = ir.getInt64(instructions_between_polls);
  if (region_.may_wait) {
    llvm::Value* before_it = ir.CreateSub(ir.CreateShl(ir.getInt64(1), first_lane), ir.getInt64(1));
    llvm::Value* is_first = ir.CreateICmpEQ(ir.CreateAnd(exec, before_it), ir.getInt64(0));
    waits_ =
        ir.CreateSelect(is_first, ir.CreateShl(ir.getInt64(spin_backoff), had_backoff_), ir.getInt64(~uint64_t{0}));
    first_poll = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, first_poll, waits_);
  }
  ir.CreateStore(first_poll, next_poll_);
}

/// The region's own blocks, and one for each exit, which goes to `end`.
void LoopLowering::emit_rounds(const ChunkLoop& loop, llvm::BasicBlock* end, ChunkState& chunk) {
  llvm::IRBuilder<>& ir = frame_.ir;
  stopped_ = new_block("stopped");
  if (region_.may_wait) given_back_ = new_block("given_back");
  for (const uint64_t pc : region_.blocks) blocks_[pc] = new_block("loop");
  for (const uint64_t pc : region_.exits) blocks_[pc] = new_block("exit");
  ir.SetInsertPoint(loop.lanes);
  frame_.note_chunk(ir.CreateLShr(loop.first_lane(), 4));
  slice_for({}, region_.states.at(region_.entry), chunk);
  ir.CreateBr(blocks_.at(region_.entry));
  for (const uint64_t pc : region_.blocks) emit_block(pc, chunk);
  uint64_t number = 0;
  for (const uint64_t pc : region_.exits) {
    ir.SetInsertPoint(blocks_.at(pc));
    slice_for(region_.states.at(pc), plan_.after, chunk);
    ir.CreateStore(ir.getInt64(number++), way_out_);
    ir.CreateBr(end);
  }
}

/// Keeps what the chunk's registers hold.
void LoopLowering::end_chunk(const ChunkLoop& loop, ChunkState& chunk) {
  llvm::IRBuilder<>& ir = frame_.ir;
  frame_.bounds->check();
  llvm::Value* all = llvm::Constant::getAllOnesValue(frame_.lanes());
  llvm::Value* stored = region_.exec_grows ? all : ir.CreateBitCast(loop.active(), frame_.lanes());
  chunk.write_rows(plan_.results.rows, stored, /*look_for_all=*/false);
  const auto place = [&](llvm::Value* slice, llvm::Value* whole) {
    llvm::Value* placed = ir.CreateShl(chunk.bits(slice), loop.first_lane());
    ir.CreateStore(ir.CreateOr(load(whole), placed), whole);
  };
  for (const auto& [reg, whole] : masks_) place(chunk.mask(reg), whole);
  if (gathered_scc_ != nullptr) place(chunk.scc_slice(), gathered_scc_);
  for (const auto& [reg, kept] : words_) ir.CreateStore(ir.CreateZExt(chunk.word(reg), frame_.i64()), kept);
  if (scc_ != nullptr) ir.CreateStore(ir.CreateZExt(chunk.scc(), frame_.i64()), scc_);
  ir.CreateStore(ir.CreateBinaryIntrinsic(llvm::Intrinsic::umax, load(longest_), load(count_)), longest_);
  ir.CreateBr(loop.next);
}

/// Of a chunk that does not run the loop, masks stay what they were.
void LoopLowering::skip_chunk(const ChunkLoop& loop, llvm::Instruction* once_end) {
  llvm::IRBuilder<>& ir = frame_.ir;
  llvm::Value* its_bits = ir.CreateShl(ir.getInt64(0xFFFF), loop.first_lane());
  for (const auto& [reg, whole] : masks_) {
    if (!region_.kept[reg]) continue;
    llvm::Value* value;
    {
      const llvm::IRBuilder<>::InsertPointGuard guard(ir);
      ir.SetInsertPoint(once_end);
      value = frame_.lane_mask(reg);
    }
    ir.CreateStore(ir.CreateOr(load(whole), ir.CreateAnd(value, its_bits)), whole);
  }
  ir.CreateBr(loop.next);
}

void LoopLowering::add_to_count(llvm::Value* instructions) {
  llvm::Value* address = frame_.at(frame_.run, offsetof(Run, instructions));
  frame_.ir.CreateStore(frame_.ir.CreateAdd(load(address), instructions), address);
}

/// The ends of ways out in the middle of the loop, from which waves come back to its entry.
void LoopLowering::give_back() {
  llvm::IRBuilder<>& ir = frame_.ir;
  const auto leave_function = [&] {
    add_to_count(load(count_));
    llvm::Value* pc = frame_.guest_address(region_.entry);
    ir.CreateStore(pc, frame_.at(frame_.wave, offsetof(Wave, pc)));
    ir.CreateStore(ir.getInt8(static_cast<uint8_t>(machine::WaveState::ready)),
                   frame_.at(frame_.wave, offsetof(Wave, state)));
    frame_.note_chunk(ir.getInt8(engine::no_chunk));
    ir.CreateRet(ir.getInt8(static_cast<uint8_t>(engine::ExitReason::stops)));
  };
  ir.SetInsertPoint(stopped_);
  leave_function();
  if (given_back_ == nullptr) return;
  ir.SetInsertPoint(given_back_);
  llvm::Value* more = ir.CreateTrunc(ir.CreateAdd(had_backoff_, ir.getInt64(1)), ir.getInt8Ty());
  ir.CreateStore(more, backoff_address_);
  leave_function();
}

/// After the last chunk: gives the Wave what the chunks have left.
void LoopLowering::finish() {
  llvm::IRBuilder<>& ir = frame_.ir;
  WaveScalars registers(frame_);
  frame_.note_chunk(ir.getInt8(engine::no_chunk));
  if (region_.may_wait) ir.CreateStore(ir.getInt8(0), backoff_address_);
  for (const auto& [reg, whole] : masks_) set_lane_mask(frame_, registers, reg, load(whole));
  if (gathered_scc_ != nullptr) {
    registers.set_scc(ir.CreateZExt(ir.CreateICmpNE(load(gathered_scc_), ir.getInt64(0)), ir.getInt8Ty()));
  }
  for (const auto& [reg, kept] : words_) registers.set_word(reg, ir.CreateTrunc(load(kept), frame_.i32()));
  if (scc_ != nullptr) registers.set_scc(ir.CreateTrunc(load(scc_), ir.getInt8Ty()));
  add_to_count(load(longest_));
}

void LoopLowering::emit_exits(const std::function<void(uint64_t exit)>& leave) {
  llvm::IRBuilder<>& ir = frame_.ir;
  llvm::BasicBlock* nowhere = new_block("nowhere");
  auto* choice = ir.CreateSwitch(load(way_out_), nowhere);
  uint64_t number = 0;
  for (const uint64_t exit : region_.exits) {
    llvm::BasicBlock* out = new_block("out");
    choice->addCase(ir.getInt64(number++), out);
    ir.SetInsertPoint(out);
    leave(exit);
  }
  ir.SetInsertPoint(nowhere);
  ir.CreateUnreachable();
}

}  // namespace Atoll::compiler

// compiler: the host code of a loop region (loop_lowering.h).
#include "compiler/lowering/loop_lowering.h"

#include <llvm/IR/MDBuilder.h>

#include "compiler/lowering/chunk_loop.h"
#include "engine/prepare.h"
#include "isa/table.h"

namespace Atoll::compiler {

namespace {

using Lowering = VaryingMasks::Lowering;

/// Instructions between two questions whether to go on: some milliseconds.
constexpr uint64_t instructions_between_polls = 1u << 20;

/// Instructions after which a loop that may be waiting for other waves gives the wave back, if that is the first chunk:
/// nothing has been written yet. It begins anew, and has twice as long then, so that it gets through if it is just
/// long.
constexpr uint64_t patience = 1u << 16;
constexpr uint8_t most_patience = 24;

}  // namespace

/// What is at hand while the blocks are emitted.
struct LoopLowering::Body {
  ChunkState& chunk;
  std::map<uint64_t, llvm::BasicBlock*> blocks;  ///< of the region, and one for each exit
  llvm::BasicBlock* stopped;                     ///< in the middle, for good
  llvm::BasicBlock* given_back;                  ///< to begin anew; null: never
  llvm::Value* patience = nullptr;               ///< instructions until then; 64 bits
  llvm::Value *count, *next_poll;                ///< locals, 64 bits: instructions of this chunk
};

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

void LoopLowering::emit_block(const LoopRegion& region, uint64_t pc, Body& body) {
  llvm::IRBuilder<>& ir = frame_.ir;
  ChunkState& chunk = body.chunk;
  const engine::Block& block = flow_.blocks.at(pc);
  const std::span<const engine::Located> instructions = body_of(block);
  ir.SetInsertPoint(body.blocks.at(pc));

  const std::vector<Live> live = liveness_.within(block);

  VaryingMasks state = region.states.at(pc);
  for (size_t i = 0; i < instructions.size(); ++i) {
    const isa::Instruction& instruction = instructions[i].instruction;
    if (changes_no_data(instruction)) continue;
    frame_.mode = instructions[i].mode;
    const Lowering lowering = state.lowering(instruction, /*inside=*/true);
    const bool is_needed = (lane_effects_of(instruction).vector_writes & live[i + 1].inactive).any();
    const bool keep_inactive = (state.exec_written || region.exec_grows) && is_needed;
    if (lowering == Lowering::memory) {
      memory_.emit(memory_.prepare(instruction, 0, chunk), keep_inactive, chunk);
    } else if (lowering == Lowering::lanes) {
      const auto varying = [&](unsigned reg) { return state.is_varying(reg); };
      const auto emit = [&](const isa::Instruction& one) {
        lanes_.emit(lanes_.prepare(one, chunk, varying), keep_inactive, chunk);
      };
      if (const auto halves = DualHalves::of(instruction)) {
        emit(halves->first);
        emit(halves->second);
      } else {
        emit(instruction);
      }
    } else if (lowering == Lowering::on_varying_masks) {
      llvm::Value* whole[2] = {nullptr, nullptr};
      for (unsigned source = 0; source < instruction.sources(); ++source) {
        const isa::Operand& operand = instruction.src(source);
        if (!state.is_varying_source(instruction, operand)) whole[source] = scalars_.value(operand, chunk);
      }
      scalars_.emit_on_varying_masks(instruction, whole, state.scc_varies ? nullptr : chunk.scc(), chunk);
    } else if (SaluLowering::takes_load(instruction)) {
      // In a loop that does not wait for others: there, a word must come from the load that stays in its place.
      scalars_.emit_load(instruction, chunk, /*words_apart=*/!region.may_wait);
    } else {
      scalars_.emit(instruction, chunk);
    }
    state.step(instruction, lowering);
  }

  llvm::Value* count = ir.CreateAdd(ir.CreateLoad(frame_.i64(), body.count), ir.getInt64(block.instructions.size()));
  ir.CreateStore(count, body.count);
  const BlockEnd end = *end_of(block);
  for (const uint64_t next : {end.if_zero, end.if_not}) slice_for(state, region.states.at(next), chunk);
  llvm::Value* not_zero =
      end.if_zero != end.if_not ? is_not_zero(end, state, chunk) : static_cast<llvm::Value*>(ir.getTrue());
  if (end.if_zero <= pc || end.if_not <= pc) {  // perhaps for ever
    auto* poll = llvm::BasicBlock::Create(frame_.context, "poll", frame_.function);
    auto* on = llvm::BasicBlock::Create(frame_.context, "on", frame_.function);
    ir.CreateCondBr(ir.CreateICmpUGE(count, ir.CreateLoad(frame_.i64(), body.next_poll)), poll, on,
                    llvm::MDBuilder(frame_.context).createBranchWeights(1, 1u << 20));
    ir.SetInsertPoint(poll);
    ir.CreateStore(ir.CreateAdd(count, ir.getInt64(instructions_between_polls)), body.next_poll);
    if (body.given_back != nullptr) {
      auto* ask = llvm::BasicBlock::Create(frame_.context, "ask", frame_.function);
      ir.CreateCondBr(ir.CreateICmpUGE(count, body.patience), body.given_back, ask);
      ir.SetInsertPoint(ask);
    }
    llvm::Value* helper =
        ir.CreateLoad(frame_.pointer(), frame_.at(frame_.jit_context, offsetof(engine::JitContext, must_stop)));
    auto* type = llvm::FunctionType::get(ir.getInt8Ty(), {frame_.pointer()}, false);
    llvm::Value* stop = ir.CreateCall(type, helper, {frame_.wave});
    ir.CreateCondBr(ir.CreateICmpNE(stop, ir.getInt8(0)), body.stopped, on);
    ir.SetInsertPoint(on);
  }
  if (end.if_zero == end.if_not) {
    ir.CreateBr(body.blocks.at(end.if_zero));
  } else {
    ir.CreateCondBr(not_zero, body.blocks.at(end.if_not), body.blocks.at(end.if_zero));
  }
}

void LoopLowering::emit(const LoopRegion& region, const std::function<void(uint64_t exit)>& leave) {
  llvm::IRBuilder<>& ir = frame_.ir;
  const auto new_block = [&](const char* name) {
    return llvm::BasicBlock::Create(frame_.context, name, frame_.function);
  };
  const auto new_local = [&](uint64_t value) {
    llvm::Value* made = frame_.local(frame_.i64(), llvm::Align(8));
    ir.CreateStore(ir.getInt64(value), made);
    return made;
  };
  const auto load = [&](llvm::Value* from) { return ir.CreateLoad(frame_.i64(), from); };

  // What is needed after the region, and varying there.
  Live live;
  VaryingMasks after = region.states.at(*region.exits.begin());
  for (const uint64_t exit : region.exits) {
    live |= liveness_.before(exit);
    after.join(region.states.at(exit));
  }
  ScalarSet written;
  for (const uint64_t pc : region.blocks) {
    for (const engine::Located& at : flow_.blocks.at(pc).instructions)
      written |= lane_effects_of(at.instruction).writes;
  }

  ChunkLoop loop(frame_, *frame_.function);
  llvm::BasicBlock* begin = loop.block("begin", loop.lanes);
  llvm::BasicBlock* idle = loop.block("idle", loop.next);
  llvm::BasicBlock* end = loop.block("end", loop.next);

  llvm::Value* exec = frame_.exec();
  std::map<unsigned, llvm::Value*> masks;  // gathered
  for (unsigned reg = 0; reg < isa::scalar::count; reg += frame_.lane_mask_words()) {
    const bool needed = has_mask(live.scalars, reg, frame_.lane_mask_words());
    if (after.is_varying(reg) && needed) masks[reg] = new_local(0);
  }
  llvm::Value* gathered_scc = after.scc_varies && live.scalars[scc_number] ? new_local(0) : nullptr;
  std::map<unsigned, llvm::Value*> words;  // as the last chunk leaves them
  for (unsigned reg = 0; reg < isa::scalar::count; ++reg) {
    if (live.scalars[reg] && written[reg] && !after.is_varying(reg)) words[reg] = new_local(0);
  }
  const bool has_scc = live.scalars[scc_number] && written[scc_number] && !after.scc_varies;
  llvm::Value* scc = has_scc ? new_local(0) : nullptr;
  llvm::Value* longest = new_local(0);
  llvm::Value* way_out = new_local(0);
  llvm::Value* count = frame_.local(frame_.i64(), llvm::Align(8));
  llvm::Value* next_poll = new_local(instructions_between_polls);
  llvm::Value* patience_address = frame_.at(frame_.wave, offsetof(Wave, patience));
  llvm::Value* had_patience = nullptr;
  if (region.may_wait) {
    had_patience = ir.CreateZExt(ir.CreateLoad(ir.getInt8Ty(), patience_address), frame_.i64());
    had_patience = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, had_patience, ir.getInt64(most_patience));
  }
  frame_.note_pc(region.entry);
  llvm::Instruction* once_end = loop.enter(exec);
  llvm::Value *first_lane = loop.first_lane(), *active = loop.active();
  if (region.skips_inactive_chunks) {
    // One has to run for the scalars' sake, be EXEC zero as a whole.
    llvm::Value* is_idle = ir.CreateICmpEQ(active, ir.getInt16(0));
    llvm::Value* stands_in = ir.CreateICmpEQ(ir.CreateOr(exec, first_lane), ir.getInt64(0));
    ir.CreateCondBr(ir.CreateAnd(is_idle, ir.CreateNot(stands_in)), idle, begin);
  } else {
    ir.CreateBr(begin);
  }

  ir.SetInsertPoint(begin);
  ir.CreateStore(ir.getInt64(0), count);
  llvm::Value* first_poll = ir.getInt64(instructions_between_polls);
  llvm::Value* waits = nullptr;
  if (region.may_wait) {
    llvm::Value* before_it = ir.CreateSub(ir.CreateShl(ir.getInt64(1), first_lane), ir.getInt64(1));
    llvm::Value* is_first = ir.CreateICmpEQ(ir.CreateAnd(exec, before_it), ir.getInt64(0));
    waits = ir.CreateSelect(is_first, ir.CreateShl(ir.getInt64(patience), had_patience), ir.getInt64(~uint64_t{0}));
    first_poll = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, first_poll, waits);
  }
  ir.CreateStore(first_poll, next_poll);
  ChunkState chunk(frame_, once_end, ir.CreateBr(loop.lanes), first_lane, /*branches=*/true);

  Body body{.chunk = chunk,
            .blocks = {},
            .stopped = new_block("stopped"),
            .given_back = region.may_wait ? new_block("given_back") : nullptr,
            .patience = waits,
            .count = count,
            .next_poll = next_poll};
  for (const uint64_t pc : region.blocks) body.blocks[pc] = new_block("loop");
  for (const uint64_t pc : region.exits) body.blocks[pc] = new_block("exit");
  ir.SetInsertPoint(loop.lanes);
  frame_.note_chunk(ir.CreateLShr(first_lane, 4));
  slice_for({}, region.states.at(region.entry), chunk);
  ir.CreateBr(body.blocks.at(region.entry));
  for (const uint64_t pc : region.blocks) emit_block(region, pc, body);
  uint64_t number = 0;
  for (const uint64_t pc : region.exits) {
    ir.SetInsertPoint(body.blocks.at(pc));
    slice_for(region.states.at(pc), after, chunk);
    ir.CreateStore(ir.getInt64(number++), way_out);
    ir.CreateBr(end);
  }

  ir.SetInsertPoint(end);
  llvm::Value* all = llvm::Constant::getAllOnesValue(frame_.lanes());
  llvm::Value* stored = region.exec_grows ? all : ir.CreateBitCast(active, frame_.lanes());
  chunk.write_rows(live.active | live.inactive, stored, /*look_for_all=*/false);
  const auto place = [&](llvm::Value* slice, llvm::Value* whole) {
    llvm::Value* placed = ir.CreateShl(chunk.bits(slice), first_lane);
    ir.CreateStore(ir.CreateOr(load(whole), placed), whole);
  };
  for (const auto& [reg, whole] : masks) place(chunk.mask(reg), whole);
  if (gathered_scc != nullptr) place(chunk.scc_slice(), gathered_scc);
  for (const auto& [reg, kept] : words) ir.CreateStore(ir.CreateZExt(chunk.word(reg), frame_.i64()), kept);
  if (has_scc) ir.CreateStore(ir.CreateZExt(chunk.scc(), frame_.i64()), scc);
  ir.CreateStore(ir.CreateBinaryIntrinsic(llvm::Intrinsic::umax, load(longest), load(count)), longest);
  ir.CreateBr(loop.next);

  ir.SetInsertPoint(idle);
  llvm::Value* its_bits = ir.CreateShl(ir.getInt64(0xFFFF), first_lane);
  for (const auto& [reg, whole] : masks) {
    if (!region.kept[reg]) continue;
    llvm::Value* value;
    {
      const llvm::IRBuilder<>::InsertPointGuard guard(ir);
      ir.SetInsertPoint(once_end);
      value = frame_.lane_mask(reg);
    }
    ir.CreateStore(ir.CreateOr(load(whole), ir.CreateAnd(value, its_bits)), whole);
  }
  ir.CreateBr(loop.next);
  loop.finish();

  WaveScalars registers(frame_);
  const auto add_to_count = [&](llvm::Value* instructions) {
    llvm::Value* address = frame_.at(frame_.run, offsetof(Run, instructions));
    ir.CreateStore(ir.CreateAdd(load(address), instructions), address);
  };
  const auto give_back = [&] {
    add_to_count(load(count));
    llvm::Value* pc = frame_.guest_address(region.entry);
    ir.CreateStore(pc, frame_.at(frame_.wave, offsetof(Wave, pc)));
    ir.CreateStore(ir.getInt8(static_cast<uint8_t>(machine::WaveState::ready)),
                   frame_.at(frame_.wave, offsetof(Wave, state)));
    frame_.note_chunk(ir.getInt8(engine::no_chunk));
    ir.CreateRet(ir.getInt8(static_cast<uint8_t>(engine::ExitReason::stops)));
  };
  ir.SetInsertPoint(body.stopped);
  give_back();
  if (region.may_wait) {
    ir.SetInsertPoint(body.given_back);
    llvm::Value* more = ir.CreateTrunc(ir.CreateAdd(had_patience, ir.getInt64(1)), ir.getInt8Ty());
    ir.CreateStore(more, patience_address);
    give_back();
  }

  ir.SetInsertPoint(loop.done);
  frame_.note_chunk(ir.getInt8(engine::no_chunk));
  if (region.may_wait) ir.CreateStore(ir.getInt8(0), patience_address);
  for (const auto& [reg, whole] : masks) set_lane_mask(frame_, registers, reg, load(whole));
  if (gathered_scc != nullptr) {
    registers.set_scc(ir.CreateZExt(ir.CreateICmpNE(load(gathered_scc), ir.getInt64(0)), ir.getInt8Ty()));
  }
  for (const auto& [reg, kept] : words) registers.set_word(reg, ir.CreateTrunc(load(kept), frame_.i32()));
  if (has_scc) registers.set_scc(ir.CreateTrunc(load(scc), ir.getInt8Ty()));
  add_to_count(load(longest));
  llvm::BasicBlock* nowhere = new_block("nowhere");
  auto* choice = ir.CreateSwitch(load(way_out), nowhere);
  number = 0;
  for (const uint64_t exit : region.exits) {
    llvm::BasicBlock* out = new_block("out");
    choice->addCase(ir.getInt64(number++), out);
    ir.SetInsertPoint(out);
    leave(exit);
  }
  ir.SetInsertPoint(nowhere);
  ir.CreateUnreachable();
}

}  // namespace Atoll::compiler

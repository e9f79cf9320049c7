// compiler: waves that begin where others have ended (wave_chaining.h).
#include "compiler/lowering/wave_chaining.h"

#include "machine/engine.h"

namespace Atoll::compiler {

namespace {

using machine::FirstRows;
using machine::WaveBatch;

/// Rows that are worth being cleared for each wave.
constexpr unsigned max_cleared_rows = 16;

}  // namespace

bool WaveChaining::can(const Live& start) {
  const VectorSet rows = start.active | start.inactive;
  return (rows >> FirstRows::count).count() <= max_cleared_rows;
}

void WaveChaining::begin_wave(llvm::Value* series, llvm::Value* waves_left, llvm::Value* index) {
  llvm::IRBuilder<>& ir = frame_.ir;
  const auto field = [&](size_t offset, llvm::Type* type) { return ir.CreateLoad(type, frame_.at(series, offset)); };
  const auto copy = [&](llvm::Type* type, llvm::Value* from, llvm::Value* to, llvm::Align align) {
    ir.CreateAlignedStore(ir.CreateAlignedLoad(type, from, align), to, align);
  };
  llvm::Value* left = ir.CreateSub(waves_left, ir.getInt32(1));
  ir.CreateStore(left, frame_.at(series, offsetof(WaveBatch, waves_left)));
  ir.CreateStore(index, frame_.at(frame_.wave, offsetof(Wave, index)));

  llvm::Value* exec =
      ir.CreateSelect(ir.CreateICmpEQ(left, ir.getInt32(0)), field(offsetof(WaveBatch, last_exec), frame_.i64()),
                      field(offsetof(WaveBatch, exec), frame_.i64()));
  frame_.set_lane_mask(isa::scalar::exec_lo, exec);
  const auto is_restored = [&](unsigned reg) { return start_.scalars[reg] && !is_exec(reg, frame_.lane_mask_words()); };
  llvm::Value* scalars = field(offsetof(WaveBatch, scalars), frame_.pointer());
  for (unsigned reg = 0; reg < isa::scalar::count;) {
    unsigned count = 0;  // some that lie side by side
    while (reg + count < isa::scalar::count && is_restored(reg + count)) ++count;
    while (!llvm::isPowerOf2_32(count) && count != 0) --count;
    if (count > semantics::chunk_lanes) count = semantics::chunk_lanes;
    if (count == 0) {
      ++reg;
      continue;
    }
    llvm::Type* words = llvm::FixedVectorType::get(frame_.i32(), count);
    copy(words, frame_.at(scalars, reg * sizeof(uint32_t)), frame_.scalar_address(reg), llvm::Align(4));
    reg += count;
  }
  if (frame_.target.processor->architected_work_group_ids && start_.scalars[machine::wave_number_register]) {
    frame_.set_scalar(machine::wave_number_register, ir.CreateShl(index, machine::wave_number_shift));
  }
  if (start_.scalars[scc_number]) ir.CreateStore(ir.getInt8(0), frame_.scc_address());

  llvm::Value* all_first = field(offsetof(WaveBatch, first_rows), frame_.pointer());
  llvm::Type* first_rows = llvm::ArrayType::get(ir.getInt8Ty(), sizeof(FirstRows));
  llvm::Value* first = ir.CreateInBoundsGEP(first_rows, all_first, ir.CreateZExt(index, frame_.i64()));
  const VectorSet live = start_.active | start_.inactive;
  for (unsigned key = 0; key < live.size(); ++key) {
    const bool may_have_ids = key < FirstRows::count;
    if (!live[key] || (!may_have_ids && !rows_written_[key])) continue;
    llvm::Value* row = frame_.row_address(key);
    for (unsigned lane = 0; lane < frame_.wave_size(); lane += semantics::chunk_lanes) {
      llvm::Value* to = frame_.at(row, lane * sizeof(uint32_t));
      if (may_have_ids) {
        copy(frame_.chunk(), frame_.at(first, key * sizeof(Row) + lane * sizeof(uint32_t)), to, llvm::Align(4));
      } else {
        ir.CreateAlignedStore(llvm::Constant::getNullValue(frame_.chunk()), to, llvm::Align(64));
      }
    }
  }
}

void WaveChaining::emit(llvm::BasicBlock* begin, llvm::BasicBlock* done) {
  llvm::IRBuilder<>& ir = frame_.ir;
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(frame_.context, name, frame_.function); };
  llvm::BasicBlock* have_series = block("have_series");
  llvm::BasicBlock* have_time = block("have_time");
  llvm::BasicBlock* group = block("next_work_group");
  llvm::BasicBlock* first = block("first_wave");
  llvm::BasicBlock* further = block("further_wave");
  llvm::BasicBlock* next = block("next_wave");
  const auto run_field = [&](size_t offset, llvm::Type* type) {
    return ir.CreateLoad(type, frame_.at(frame_.run, offset));
  };
  llvm::Value* series = run_field(offsetof(Run, series), frame_.pointer());
  ir.CreateCondBr(ir.CreateIsNull(series), done, have_series);

  // One that takes as long as those before must not be interrupted half-way: only a wave that runs alone can be.
  ir.SetInsertPoint(have_series);
  llvm::Value* half = ir.CreateLShr(run_field(offsetof(Run, limit), frame_.i64()), 1);
  ir.CreateCondBr(ir.CreateICmpULT(run_field(offsetof(Run, instructions), frame_.i64()), half), have_time, done);

  ir.SetInsertPoint(have_time);
  const auto load_waves_left = [&] {
    return ir.CreateLoad(frame_.i32(), frame_.at(series, offsetof(WaveBatch, waves_left)));
  };
  llvm::Value* left = load_waves_left();
  ir.CreateCondBr(ir.CreateICmpEQ(left, ir.getInt32(0)), group, further);

  ir.SetInsertPoint(group);
  llvm::Value* begin_group = ir.CreateLoad(frame_.pointer(), frame_.at(series, offsetof(WaveBatch, begin_work_group)));
  auto* type = llvm::FunctionType::get(frame_.i1(), {frame_.pointer()}, false);
  llvm::CallInst* call = ir.CreateCall(type, begin_group, {series});
  call->addRetAttr(llvm::Attribute::ZExt);
  ir.CreateCondBr(call, first, done);

  ir.SetInsertPoint(first);
  llvm::Value* all = load_waves_left();
  ir.CreateBr(next);

  ir.SetInsertPoint(further);
  llvm::Value* index = ir.CreateLoad(frame_.i32(), frame_.at(frame_.wave, offsetof(Wave, index)));
  llvm::Value* following = ir.CreateAdd(index, ir.getInt32(1));
  ir.CreateBr(next);

  ir.SetInsertPoint(next);
  const auto either = [&](llvm::Value* of_first, llvm::Value* of_further) {
    llvm::PHINode* value = ir.CreatePHI(frame_.i32(), 2);
    value->addIncoming(of_first, first);
    value->addIncoming(of_further, further);
    return value;
  };
  llvm::Value* waves_left = either(all, left);
  begin_wave(series, waves_left, either(ir.getInt32(0), following));
  ir.CreateBr(begin);
}

}  // namespace Atoll::compiler

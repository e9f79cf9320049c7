// compiler: instructions on the wave as a whole (cross_lane_lowering.h).
#include "compiler/lowering/cross_lane_lowering.h"

#include <llvm/IR/Intrinsics.h>

#include "engine/interpreter/hardware_register.h"
#include "engine/interpreter/prepare.h"
#include "isa/table.h"
#include "machine/wave/dispatch.h"

namespace Atoll::compiler {

using engine::constant_value;
using engine::JitContext;
using isa::OperandKind;

namespace {

bool takes_lane_read(const isa::Instruction& instruction) {
  if (instruction.src(0).kind != OperandKind::vgpr || instruction.dst().kind != OperandKind::scalar) return false;
  return (instruction.dst().reg & ~1u) != isa::scalar::exec_lo && instruction.dst().reg != isa::scalar::null;
}

bool takes_lane_write(const isa::Instruction& instruction) {
  if (instruction.dst().kind != OperandKind::vgpr) return false;
  for (unsigned i = 0; i < 2; ++i) {
    const isa::Operand& source = instruction.src(i);
    if (source.kind != OperandKind::scalar && !constant_value(source)) return false;
  }
  return true;
}

}  // namespace

bool CrossLaneLowering::takes(const isa::Instruction& instruction) {
  if (instruction.extension != isa::Extension::none || !engine::registers_exist(instruction)) return false;
  switch (isa::row_of(instruction).computes.operation) {
    case isa::Operation::read_first_lane:
    case isa::Operation::read_lane:
      return takes_lane_read(instruction);
    case isa::Operation::write_lane:
      return takes_lane_write(instruction);
    case isa::Operation::append:
    case isa::Operation::consume:
      return !instruction.gds && instruction.destinations == 1 && engine::is_row(instruction.dst());
    case isa::Operation::cycle_counter:
    case isa::Operation::real_time_counter:
      if (instruction.encoding != isa::Encoding::smem) return false;
      return instruction.dst().kind == OperandKind::scalar && instruction.dst().words == 2;
    case isa::Operation::get_register:
      return instruction.dst().kind == OperandKind::scalar && engine::has_hardware_register(instruction.immediate);
    default:
      return false;
  }
}

void CrossLaneLowering::emit(const isa::Instruction& instruction) {
  llvm::IRBuilder<>& ir = frame_.ir;
  switch (isa::row_of(instruction).computes.operation) {
    case isa::Operation::write_lane:
      return write_lane(instruction);
    case isa::Operation::append:
    case isa::Operation::consume:
      return count_lanes(instruction);
    case isa::Operation::cycle_counter:
    case isa::Operation::real_time_counter:
      return frame_.set_scalar(instruction.dst().reg, call_engine(offsetof(JitContext, now), frame_.i64(), {}));
    case isa::Operation::get_register:
      return frame_.set_scalar(instruction.dst().reg, call_engine(offsetof(JitContext, hardware_register), frame_.i32(),
                                                                  {frame_.wave, ir.getInt16(instruction.immediate)}));
    default:
      return read_lane(instruction);
  }
}

llvm::Value* CrossLaneLowering::call_engine(size_t function, llvm::Type* result,
                                            llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::SmallVector<llvm::Type*, 2> parameters;
  for (llvm::Value* argument : arguments) parameters.push_back(argument->getType());
  llvm::Value* address = frame_.ir.CreateLoad(frame_.pointer(), frame_.at(frame_.jit_context, function));
  llvm::CallInst* call = frame_.ir.CreateCall(llvm::FunctionType::get(result, parameters, false), address, arguments);
  for (unsigned i = 0; i < parameters.size(); ++i) {
    if (parameters[i]->isIntegerTy()) call->addParamAttr(i, llvm::Attribute::ZExt);
  }
  return call;
}

/// v_readfirstlane_b32 and v_readlane_b32 of a VGPR.
void CrossLaneLowering::read_lane(const isa::Instruction& instruction) {
  llvm::IRBuilder<>& ir = frame_.ir;
  llvm::Value* lane;
  if (isa::row_of(instruction).computes.operation == isa::Operation::read_first_lane) {
    // Without an active lane, lane 0: the bit above stands in for none below 64 and the remainder makes it 0.
    lane = ir.CreateAnd(ir.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, frame_.exec(), ir.getFalse()),
                        frame_.wave_size() - 1);
  } else {
    WaveScalars registers(frame_);
    lane = ir.CreateAnd(scalars_.value(instruction.src(1), registers), frame_.wave_size() - 1);
  }
  llvm::Value* row = frame_.at(frame_.vgpr, instruction.src(0).reg * sizeof(Row));
  frame_.set_scalar(instruction.dst().reg, ir.CreateLoad(frame_.i32(), ir.CreateInBoundsGEP(frame_.i32(), row, lane)));
}

/// v_writelane_b32 of a VGPR.
void CrossLaneLowering::write_lane(const isa::Instruction& instruction) {
  llvm::IRBuilder<>& ir = frame_.ir;
  WaveScalars registers(frame_);
  llvm::Value* value = ir.CreateTrunc(scalars_.value(instruction.src(0), registers), frame_.i32());
  llvm::Value* lane = ir.CreateAnd(scalars_.value(instruction.src(1), registers), frame_.wave_size() - 1);
  llvm::Value* row = frame_.at(frame_.vgpr, instruction.dst().reg * sizeof(Row));
  ir.CreateStore(value, ir.CreateInBoundsGEP(frame_.i32(), row, lane));
}

/// ds_append and ds_consume: one word of LDS counts active lanes, all of which get what it was; 0 outside LDS.
void CrossLaneLowering::count_lanes(const isa::Instruction& instruction) {
  llvm::IRBuilder<>& ir = frame_.ir;
  llvm::Value* exec = frame_.exec();
  llvm::Value* group = ir.CreateLoad(frame_.pointer(), frame_.at(frame_.wave, offsetof(Wave, work_group)));
  llvm::Value* lds = ir.CreateLoad(frame_.pointer(), frame_.at(group, offsetof(machine::WorkGroup, lds)));
  llvm::Value* bytes = ir.CreateLoad(frame_.i32(), frame_.at(group, offsetof(machine::WorkGroup, lds_bytes)));
  llvm::Value* offset = ir.CreateZExt(ir.CreateAnd(frame_.scalar32(isa::scalar::m0), 0xFFFF), frame_.i64());
  offset = ir.CreateAdd(offset, ir.getInt64(static_cast<uint32_t>(instruction.offset)));
  llvm::Value* end = ir.CreateAdd(offset, ir.getInt64(4));
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(frame_.context, name, frame_.function); };
  llvm::BasicBlock *before = ir.GetInsertBlock(), *inside = block("inside"), *counted = block("counted");
  ir.CreateCondBr(ir.CreateICmpULE(end, ir.CreateZExt(bytes, frame_.i64())), inside, counted);

  ir.SetInsertPoint(inside);
  llvm::Value* place = ir.CreateGEP(ir.getInt8Ty(), lds, offset);
  llvm::Value* there = ir.CreateAlignedLoad(frame_.i32(), place, unaligned);
  llvm::Value* lanes = ir.CreateTrunc(ir.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, exec), frame_.i32());
  const bool append = isa::row_of(instruction).computes.operation == isa::Operation::append;
  ir.CreateAlignedStore(append ? ir.CreateAdd(there, lanes) : ir.CreateSub(there, lanes), place, unaligned);
  ir.CreateBr(counted);

  ir.SetInsertPoint(counted);
  llvm::PHINode* old = ir.CreatePHI(frame_.i32(), 2);
  old->addIncoming(ir.getInt32(0), before);
  old->addIncoming(there, inside);
  const isa::Operand& result = instruction.dst();
  llvm::Value* rows = result.kind == OperandKind::agpr ? frame_.agpr : frame_.vgpr;
  llvm::Value* all = ir.CreateVectorSplat(semantics::chunk_lanes, old);
  for (unsigned lane = 0; lane < frame_.wave_size(); lane += semantics::chunk_lanes) {
    llvm::Value* active = ir.CreateBitCast(ir.CreateTrunc(ir.CreateLShr(exec, lane), frame_.i16()), frame_.lanes());
    ir.CreateMaskedStore(all, frame_.at(rows, result.reg * sizeof(Row) + lane * 4), row_align, active);
  }
}

}  // namespace Atoll::compiler

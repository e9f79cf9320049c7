#include "compiler/memory/access_filter.h"

#include <cassert>

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/ModRef.h>

#include "compiler/memory/lane_access.h"
#include "engine/compiled/compiled_run.h"

namespace Atoll::compiler {

using engine::CompiledRun;
using engine::FilteredAccessKind;
using engine::LoadRecord;
using engine::LoadRecords;
using engine::PassedFilter;
using semantics::chunk_lanes;

llvm::Value* InlineAccessFilter::misaligned(llvm::Value* addresses, unsigned alignment) {
  llvm::Value* low = ir().CreateTrunc(addresses, frame_.chunk());
  return ir().CreateICmpNE(ir().CreateAnd(low, splat(ir().getInt32(alignment - 1))),
                           llvm::Constant::getNullValue(frame_.chunk()));
}

uint8_t InlineAccessFilter::range_number(bool writes) {
  constexpr unsigned pairs = PassedFilter::ranges / 2;
  return static_cast<uint8_t>(ranges_++ % pairs * 2 + (writes ? 1 : 0));
}

InlineAccessFilter::Range InlineAccessFilter::range(uint8_t number, uint64_t bytes) {
  const size_t at =
      offsetof(CompiledRun, ordinary) + offsetof(PassedFilter, memory) + number * sizeof(PassedFilter::Range);
  llvm::Value* begin = ir().CreateLoad(frame_.i64(), frame_.at(frame_.run, at + offsetof(PassedFilter::Range, begin)));
  llvm::Value* size = ir().CreateLoad(frame_.i64(), frame_.at(frame_.run, at + offsetof(PassedFilter::Range, size)));
  return {begin, ir().CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, size, ir().getInt64(bytes - 1))};
}

/// Returns the number of the instruction among the helper calls.
uint64_t InlineAccessFilter::helper() {
  const auto [at, is_new] = helpers_.try_emplace(frame_.access_pc, first_helper_ + helper_pcs_.size());
  if (is_new) helper_pcs_.push_back(frame_.access_pc);
  return at->second;
}

llvm::Value* InlineAccessFilter::record(uint64_t offset, uint32_t number) {
  llvm::Value* loads = ir().CreateLoad(frame_.pointer(), frame_.at(frame_.run, offsetof(CompiledRun, loads)));
  return frame_.at(loads, offsetof(LoadRecords, of) + number * sizeof(LoadRecord) + offset);
}

/// Adds a record for the loop, and in the loop the chunk's lanes to it.
uint32_t InlineAccessFilter::add_record(FilteredAccessKind kind, uint32_t flags, const Lanes& lanes) {
  kind.element = element_;
  const uint32_t number = record_count_++;
  assert(number < LoadRecords::max);
  {
    const llvm::IRBuilderBase::InsertPointGuard guard(ir());
    ir().SetInsertPoint(loop_);
    const uint64_t what = static_cast<uint32_t>(helper()) | flags | uint64_t{kind.bits()} << 32;
    ir().CreateStore(ir().getInt64(what), record(offsetof(LoadRecord, op), number));
    ir().CreateStore(ir().getInt64(0), record(offsetof(LoadRecord, lanes), number));
  }
  constexpr unsigned bytes_of_mask = chunk_lanes / 8;
  llvm::Value* place = ir().CreateUDiv(lanes.first_lane, ir().getInt32(chunk_lanes / bytes_of_mask));
  ir().CreateAlignedStore(ir().CreateBitCast(lanes.active, frame_.i16()),
                          ir().CreateInBoundsGEP(ir().getInt8Ty(), record(offsetof(LoadRecord, lanes), number),
                                                 ir().CreateZExt(place, frame_.i64())),
                          llvm::Align(bytes_of_mask));
  return number;
}

void InlineAccessFilter::record_lanes(FilteredAccessKind kind, llvm::Value* addresses, const Lanes& lanes) {
  const uint32_t number = add_record(kind, 0, lanes);
  llvm::Value* place = ir().CreateInBoundsGEP(frame_.i64(), record(offsetof(LoadRecord, addresses), number),
                                              ir().CreateZExt(lanes.first_lane, frame_.i64()));
  ir().CreateAlignedStore(addresses, place, row_align);
}

void InlineAccessFilter::record_even(unsigned bytes, bool is_lds, llvm::Value* address, int64_t stride,
                                     const Lanes& lanes) {
  const FilteredAccessKind kind{.space = is_lds ? Space::lds : Space::global, .bytes = static_cast<uint8_t>(bytes)};
  const uint32_t number = add_record(kind, LoadRecord::even, lanes);
  {
    const llvm::IRBuilderBase::InsertPointGuard guard(ir());
    ir().SetInsertPoint(loop_);
    ir().CreateStore(ir().getInt64(static_cast<uint64_t>(stride)), record(offsetof(LoadRecord, stride), number));
  }
  llvm::Value* distance =
      ir().CreateMul(ir().CreateZExt(lanes.first_lane, frame_.i64()), ir().getInt64(static_cast<uint64_t>(stride)));
  ir().CreateStore(ir().CreateSub(address, distance), record(offsetof(LoadRecord, begin), number));
}

void InlineAccessFilter::report_records() {
  if (record_count_ == 0) return;
  {
    const llvm::IRBuilderBase::InsertPointGuard guard(ir());
    ir().SetInsertPoint(loop_);
    llvm::Value* loads = ir().CreateLoad(frame_.pointer(), frame_.at(frame_.run, offsetof(CompiledRun, loads)));
    ir().CreateStore(ir().getInt32(record_count_), frame_.at(loads, offsetof(LoadRecords, count)));
  }
  record_count_ = 0;
  llvm::Value* called =
      ir().CreateLoad(frame_.pointer(), frame_.at(frame_.jit_context, offsetof(engine::JitContext, report_loads)));
  auto* type = llvm::FunctionType::get(ir().getVoidTy(), {frame_.pointer(), frame_.pointer()}, false);
  ir().CreateCall(type, called, {frame_.wave, frame_.run})->addFnAttr(llvm::Attribute::NoUnwind);
}

void InlineAccessFilter::report_scalar(FilteredAccessKind kind, llvm::Value* address) {
  llvm::Type* pointer = frame_.pointer();
  llvm::Value* ops = ir().CreateLoad(pointer, frame_.at(frame_.jit_context, offsetof(engine::JitContext, helper_ops)));
  llvm::Value* op = ir().CreateLoad(pointer, frame_.at(ops, helper() * sizeof(engine::MicroOp*)));
  llvm::Value* called =
      ir().CreateLoad(pointer, frame_.at(frame_.jit_context, offsetof(engine::JitContext, report_scalar_load)));
  auto* type =
      llvm::FunctionType::get(ir().getVoidTy(), {pointer, pointer, pointer, frame_.i64(), frame_.i32()}, false);
  ir().CreateCall(type, called, {frame_.wave, frame_.run, op, address, ir().getInt32(kind.bits())})
      ->addFnAttr(llvm::Attribute::NoUnwind);
}

void InlineAccessFilter::look_at_memory(const Element& element, bool is_flat, llvm::Value* addresses,
                                        const Lanes& lanes) {
  if (records_) {
    return record_lanes({.space = is_flat ? Space::flat : Space::global, .bytes = static_cast<uint8_t>(element.bytes)},
                        addresses, lanes);
  }
  const uint8_t number = range_number(element.writes);
  const Range known = range(number, element.bytes);
  llvm::Value* odd = ir().CreateICmpUGE(ir().CreateSub(addresses, splat(known.begin)), splat(known.starts));
  if (element.alignment > 1) odd = ir().CreateOr(odd, misaligned(addresses, element.alignment));
  const FilteredAccessKind kind{
      .space = is_flat ? Space::flat : Space::global, .bytes = static_cast<uint8_t>(element.bytes), .range = number};
  report(any(ir().CreateAnd(odd, lanes.active)), kind, lanes, [&] { return addresses; });
}

/// All lanes of the chunk are looked at, be they active or not: the engine only sees active ones.
void InlineAccessFilter::look_at_even(const Element& element, llvm::Value* address, int64_t stride,
                                      const Lanes& lanes) {
  const uint8_t number = range_number(element.writes);
  const int64_t distance = stride * int64_t{chunk_lanes - 1};
  const Range known = range(number, element.bytes + static_cast<uint64_t>(std::abs(distance)));
  llvm::Value* first = distance < 0 ? ir().CreateAdd(address, ir().getInt64(static_cast<uint64_t>(distance))) : address;
  llvm::Value* is_odd = ir().CreateICmpUGE(ir().CreateSub(first, known.begin), known.starts);
  const FilteredAccessKind kind{.space = Space::global, .bytes = static_cast<uint8_t>(element.bytes), .range = number};
  report(is_odd, kind, lanes, [&] {
    uint64_t steps[chunk_lanes];
    for (unsigned lane = 0; lane < chunk_lanes; ++lane) steps[lane] = static_cast<uint64_t>(stride * int64_t{lane});
    return ir().CreateAdd(splat(address),
                          llvm::ConstantDataVector::get(frame_.context, llvm::ArrayRef<uint64_t>(steps)));
  });
}

void InlineAccessFilter::look_at_lds(const Element& element, llvm::Value* places, llvm::Value* starts,
                                     const Lanes& lanes) {
  if (records_) {
    return record_lanes({.space = Space::lds, .bytes = static_cast<uint8_t>(element.bytes)}, extended(places), lanes);
  }
  if (limits_lds_) {
    const size_t limit = offsetof(CompiledRun, ordinary) + offsetof(PassedFilter, lds_bytes);
    llvm::Value* bytes = ir().CreateLoad(frame_.i32(), frame_.at(frame_.run, limit));
    llvm::Value* last = ir().CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, bytes, ir().getInt32(element.bytes - 1));
    starts = ir().CreateBinaryIntrinsic(llvm::Intrinsic::umin, starts, last);
  }
  llvm::Value* odd = ir().CreateICmpUGE(places, splat(starts));
  if (element.alignment > 1) odd = ir().CreateOr(odd, misaligned(places, element.alignment));
  report(any(ir().CreateAnd(odd, lanes.active)), {.space = Space::lds, .bytes = static_cast<uint8_t>(element.bytes)},
         lanes, [&] { return extended(places); });
}

void InlineAccessFilter::look_at_scratch(const Element& element, llvm::Value* places, const Lanes& lanes) {
  const bool by_lane = places->getType()->isVectorTy();
  const auto addresses = [&] { return extended(by_lane ? places : splat(places)); };
  if (records_) {
    return record_lanes({.space = Space::scratch, .bytes = static_cast<uint8_t>(element.bytes)}, addresses(), lanes);
  }
  llvm::Value* size = ir().CreateLoad(
      frame_.i64(), frame_.at(frame_.run, offsetof(CompiledRun, ordinary) + offsetof(PassedFilter, scratch_bytes)));
  llvm::Value* starts = ir().CreateTrunc(
      ir().CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, size, ir().getInt64(element.bytes - 1)), frame_.i32());
  llvm::Value* is_odd = by_lane ? any(ir().CreateAnd(ir().CreateICmpUGE(places, splat(starts)), lanes.active))
                                : ir().CreateICmpUGE(places, starts);
  report(is_odd, {.space = Space::scratch, .bytes = static_cast<uint8_t>(element.bytes)}, lanes, addresses);
}

void InlineAccessFilter::look_at_scalar(unsigned bytes, llvm::Value* address) {
  set_element(0);
  if (records_) {
    return report_scalar({.space = Space::scalar, .bytes = static_cast<uint8_t>(bytes)}, address);
  }
  const uint64_t dropped = bytes < 4 ? 0 : 3;
  const uint8_t number = range_number(/*writes=*/false);
  const Range known = range(number, bytes);
  llvm::Value* is_misaligned = ir().CreateICmpNE(ir().CreateAnd(address, dropped), ir().getInt64(0));
  llvm::Value* rounded = ir().CreateAnd(address, ~dropped);
  llvm::Value* is_outside = ir().CreateICmpUGE(ir().CreateSub(rounded, known.begin), known.starts);
  const Lanes wave{.active = llvm::ConstantInt::getBool(frame_.lanes(), true), .first_lane = ir().getInt32(0)};
  FilteredAccessKind kind{.space = Space::scalar, .bytes = static_cast<uint8_t>(bytes), .range = number};
  report(ir().CreateAnd(is_outside, ir().CreateNot(is_misaligned)), kind, wave, [&] { return splat(rounded); });
  if (dropped == 0) return;
  kind.drops_bits = true;
  report(is_misaligned, kind, wave, [&] { return splat(rounded); });
}

template <typename MakeAddresses>
void InlineAccessFilter::report(llvm::Value* is_odd, FilteredAccessKind kind, const Lanes& lanes,
                                const MakeAddresses& addresses) {
  kind.element = element_;
  const uint64_t number = helper();
  llvm::Function* in = ir().GetInsertBlock()->getParent();
  auto* odd = llvm::BasicBlock::Create(frame_.context, "odd", in);
  auto* ordinary = llvm::BasicBlock::Create(frame_.context, "ordinary", in);
  ir().CreateCondBr(is_odd, odd, ordinary, llvm::MDBuilder(frame_.context).createBranchWeights(1, 1u << 16));
  ir().SetInsertPoint(odd);
  // A scalar access is lane 0's.
  llvm::Value* active = kind.space == Space::scalar ? static_cast<llvm::Value*>(ir().getInt16(1))
                                                    : ir().CreateBitCast(lanes.active, frame_.i16());
  llvm::Value* time =
      clock_ != nullptr ? static_cast<llvm::Value*>(ir().CreateLoad(frame_.i64(), clock_)) : ir().getInt64(0);
  // Two integers in one where they fit: six at most are passed in registers (`sparing`).
  llvm::Value* number_and_active = ir().CreateOr(ir().getInt64(number << 16), ir().CreateZExt(active, frame_.i64()));
  llvm::Value* kind_and_lane =
      ir().CreateOr(ir().getInt64(uint64_t{kind.bits()} << 32), ir().CreateZExt(lanes.first_lane, frame_.i64()));
  ir().CreateCall(reporter(),
                  {frame_.wave, frame_.run, frame_.jit_context, number_and_active, addresses(), kind_and_lane, time})
      ->setCallingConv(sparing);
  ir().CreateBr(ordinary);
  ir().SetInsertPoint(ordinary);
}

/// A function that calls the engine.
llvm::Function* InlineAccessFilter::reporter() {
  llvm::Module& module = *frame_.function->getParent();
  constexpr const char* name = "report_filtered_access";
  if (llvm::Function* made = module.getFunction(name)) return made;
  llvm::Type* pointer = frame_.pointer();
  auto* addresses = llvm::FixedVectorType::get(frame_.i64(), chunk_lanes);
  auto* type = llvm::FunctionType::get(
      ir().getVoidTy(), {pointer, pointer, pointer, frame_.i64(), addresses, frame_.i64(), frame_.i64()}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::Cold);
  function->addFnAttr("frame-pointer", "all");  // as the other shared functions have it
  function->setCallingConv(sparing);
  // It reads what the code does not write, and writes nothing that the code reads but Run::ordinary.
  function->setMemoryEffects(llvm::MemoryEffects::inaccessibleOrArgMemOnly());
  function->addParamAttr(0, llvm::Attribute::ReadOnly);
  function->addParamAttr(2, llvm::Attribute::ReadOnly);
  const llvm::IRBuilderBase::InsertPointGuard guard(ir());
  ir().SetInsertPoint(llvm::BasicBlock::Create(frame_.context, "", function));
  llvm::Value *wave = function->getArg(0), *run = function->getArg(1), *jit_context = function->getArg(2);
  auto* local = ir().CreateAlloca(addresses);
  local->setAlignment(row_align);
  ir().CreateAlignedStore(function->getArg(4), local, row_align);
  llvm::Value* ops = ir().CreateLoad(pointer, frame_.at(jit_context, offsetof(engine::JitContext, helper_ops)));
  llvm::Value* op =
      ir().CreateLoad(pointer, ir().CreateInBoundsGEP(pointer, ops, ir().CreateLShr(function->getArg(3), 16)));
  llvm::Value* called = ir().CreateLoad(pointer, frame_.at(jit_context, offsetof(engine::JitContext, filtered_access)));
  llvm::Value* active = ir().CreateZExt(ir().CreateTrunc(function->getArg(3), frame_.i16()), frame_.i32());
  auto* engine_type = llvm::FunctionType::get(
      ir().getVoidTy(), {pointer, pointer, pointer, pointer, frame_.i32(), frame_.i32(), frame_.i32(), frame_.i64()},
      false);
  ir().CreateCall(engine_type, called,
                  {wave, run, op, local, active, ir().CreateTrunc(function->getArg(5), frame_.i32()),
                   ir().CreateTrunc(ir().CreateLShr(function->getArg(5), 32), frame_.i32()), function->getArg(6)});
  ir().CreateRetVoid();
  return function;
}

}  // namespace Atoll::compiler

// compiler: atomics on LDS of one chunk of lanes (lds_memory.h).
//
// LDS belongs to a work-group, which has one host thread at a time: an atomic there is a load, what it computes
// (semantics/memory/atomic.h), and a store, for one lane after the other. Where all lanes are active and inside, as in
// most code, that is written out for each; otherwise a loop over the lanes does it.
#include "compiler/memory/lds_memory.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <fmt/format.h>

#include "compiler/lowering/phi.h"

namespace Atoll::compiler {

using semantics::AtomicOperation;
using semantics::chunk_lanes;
using semantics::MemoryAccess;

namespace {

/// Code of several modes may stand in one module.
AtomicKind kind_in(const semantics::FloatMode& mode, const MemoryAccess& access) {
  AtomicKind kind{.operation = access.operation, .bytes = access.bytes};
  if (semantics::is_floating_point(access.operation)) {
    kind.denormals = semantics::lds_atomic_denormals(access.operation, access.bytes, mode);
  }
  return kind;
}

/// Of a function that all atomics share that do the same.
std::string shared_name(std::string_view what, semantics::AccessNumber number, const semantics::FloatMode& mode,
                        bool yields) {
  const AtomicKind kind = kind_in(mode, semantics::memory_access(number));
  return fmt::format("{}_{}_{}{}", what, static_cast<unsigned>(number), static_cast<unsigned>(kind.denormals),
                     yields ? "" : "_only");
}

}  // namespace

bool LdsMemory::does_in_place(const MemoryAccess& access) {
  // The host may lack conversions of halves.
  return access.operation != AtomicOperation::packed_add_f16 && access.operation != AtomicOperation::packed_add_bf16;
}

/// Carries out one lane's at `address` (64 bits), with operands as wide as the atomic. The old value.
llvm::Value* LdsMemory::one_lds_atomic(const MemoryAccess& access, llvm::Value* address, llvm::Value* data,
                                       llvm::Value* data2) {
  llvm::Value* place = ir().CreateIntToPtr(address, frame_.pointer());
  llvm::Value* old = ir().CreateAlignedLoad(data->getType(), place, unaligned);
  ir().CreateAlignedStore(
      context_.operations.atomic(kind_in(frame_.mode.floats, access)).emit(ir(), {old, data, data2})[0], place,
      unaligned);
  return old;
}

/// A function that does an atomic for lanes of which some are not active or not inside. Its parameters are as those of
/// call_lds_atomic(); it returns the results.
llvm::Function* LdsMemory::lds_atomic_in_turn(semantics::AccessNumber number, bool yields, unsigned rows) {
  const MemoryAccess& access = semantics::memory_access(number);
  llvm::Module& module = *frame_.function->getParent();
  const std::string name = shared_name("lds_atomic_in_turn", number, frame_.mode.floats, yields);
  if (llvm::Function* made = module.getFunction(name)) return made;
  const unsigned words = access.words();
  llvm::SmallVector<llvm::Type*, 8> parameters{frame_.i64(), frame_.chunk(), frame_.i16()};
  parameters.append(rows, frame_.chunk());
  llvm::SmallVector<llvm::Type*, 2> results(yields ? words : 0, frame_.chunk());
  llvm::Function* function = new_function(name, llvm::StructType::get(frame_.context, results), parameters);
  const llvm::IRBuilderBase::InsertPointGuard guard(ir());
  ir().SetInsertPoint(llvm::BasicBlock::Create(frame_.context, "", function));
  const auto in_memory = [&](llvm::Value* row) {
    auto* memory = ir().CreateAlloca(frame_.chunk());
    memory->setAlignment(row_align);
    ir().CreateAlignedStore(row, memory, row_align);
    return memory;
  };
  llvm::Value* places = in_memory(function->getArg(1));
  llvm::SmallVector<llvm::Value*, 4> data, old_rows;
  for (unsigned row = 0; row < rows; ++row) data.push_back(in_memory(function->getArg(3 + row)));
  for (unsigned row = 0; row < results.size(); ++row) {
    old_rows.push_back(in_memory(llvm::Constant::getNullValue(frame_.chunk())));
  }
  visit_lanes(function->getArg(2), [&](llvm::Value* lane) {
    const auto word = [&](llvm::Value* row) { return ir().CreateInBoundsGEP(frame_.i32(), row, lane); };
    const auto operand = [&](unsigned number) -> llvm::Value* {
      llvm::Value* low = ir().CreateLoad(frame_.i32(), word(data[number * words]));
      if (words == 1) return low;
      return joined(low, ir().CreateLoad(frame_.i32(), word(data[number * words + 1])));
    };
    llvm::Value* offset = ir().CreateZExt(ir().CreateLoad(frame_.i32(), word(places)), frame_.i64());
    llvm::Value* first = operand(0);
    llvm::Value* second = rows > words ? operand(1) : llvm::PoisonValue::get(first->getType());
    llvm::Value* old = one_lds_atomic(access, ir().CreateAdd(function->getArg(0), offset), first, second);
    for (unsigned i = 0; i < old_rows.size(); ++i) ir().CreateStore(word_of(old, i), word(old_rows[i]));
  });
  llvm::Value* whole = llvm::PoisonValue::get(function->getReturnType());
  for (unsigned i = 0; i < old_rows.size(); ++i) {
    llvm::Value* row = ir().CreateAlignedLoad(frame_.chunk(), old_rows[i], row_align);
    whole = ir().CreateInsertValue(whole, row, i);
  }
  ir().CreateRet(whole);
  return function;
}

/// Stores a chunk's words to memory, to reload them one by one. Reloading a word has lower latency than extracting it
/// from a vector register. With late addresses the host's memory-disambiguation predictor speculates that earlier
/// stores do not alias; a misprediction replays the load. On Zen 4, counting bytes took ten times as long.
llvm::Value* LdsMemory::in_host_memory(llvm::Value* chunk) {
  llvm::BasicBlock& entry = ir().GetInsertBlock()->getParent()->getEntryBlock();
  auto* memory = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(frame_.chunk());
  memory->setAlignment(row_align);
  ir().CreateAlignedStore(chunk, memory, row_align);
  return memory;
}

/// `rows`: the operands' words. Lanes that are not inside yield 0.
LaneAccess::Words LdsMemory::lds_atomic(semantics::AccessNumber number, bool yields, const Addresses& at,
                                        llvm::Value* active, llvm::ArrayRef<llvm::Value*> rows) {
  const MemoryAccess& access = semantics::memory_access(number);
  const unsigned words = access.words();
  llvm::Value* offsets = places(at);
  active = inside(at, active);
  PhiBuilder ways(frame_, yields ? words : 0);
  llvm::BasicBlock* whole = block("all");
  llvm::BasicBlock* some = block("in_turn");
  ir().CreateCondBr(all(active), whole, some, llvm::MDBuilder(frame_.context).createBranchWeights(16, 1));

  ir().SetInsertPoint(whole);
  llvm::Value* kept_offsets = in_host_memory(offsets);
  Words old_rows{};
  for (unsigned i = 0; i < words; ++i) old_rows[i] = llvm::PoisonValue::get(frame_.chunk());
  for (unsigned lane = 0; lane < chunk_lanes; ++lane) {
    const auto operand = [&](unsigned number) -> llvm::Value* {
      llvm::Value* low = ir().CreateExtractElement(rows[number * words], lane);
      return words == 1 ? low : joined(low, ir().CreateExtractElement(rows[number * words + 1], lane));
    };
    llvm::Value* from = ir().CreateConstInBoundsGEP1_32(frame_.i32(), kept_offsets, lane);
    llvm::Value* offset = ir().CreateAlignedLoad(frame_.i32(), from, llvm::Align(4), /*isVolatile=*/true);
    offset = ir().CreateZExt(offset, frame_.i64());
    llvm::Value* first = operand(0);
    llvm::Value* second = rows.size() > words ? operand(1) : llvm::PoisonValue::get(first->getType());
    llvm::Value* old = one_lds_atomic(access, ir().CreateAdd(at.base, offset), first, second);
    for (unsigned i = 0; yields && i < words; ++i) {
      old_rows[i] = ir().CreateInsertElement(old_rows[i], word_of(old, i), lane);
    }
  }
  ways.add_incoming(old_rows);

  ir().SetInsertPoint(some);
  llvm::SmallVector<llvm::Value*, 8> arguments{at.base, offsets, bits(active)};
  arguments.append(rows.begin(), rows.end());
  const auto rows_given = static_cast<unsigned>(rows.size());
  llvm::Value* result = ir().CreateCall(lds_atomic_in_turn(number, yields, rows_given), arguments);
  Words some_rows{};
  for (unsigned i = 0; yields && i < words; ++i) some_rows[i] = ir().CreateExtractValue(result, i);
  ways.add_incoming(some_rows);
  return ways.join();
}

/// The same in a function that all such atomics share.
LaneAccess::Words LdsMemory::call_lds_atomic(semantics::AccessNumber number, bool yields, const Addresses& at,
                                             llvm::Value* active, llvm::ArrayRef<llvm::Value*> rows) {
  const unsigned words = yields ? semantics::memory_access(number).words() : 0;
  auto* result = llvm::StructType::get(
      frame_.context, llvm::SmallVector<llvm::Type*, 2>(words, static_cast<llvm::Type*>(frame_.chunk())));
  const std::string name = shared_name("lds_atomic", number, frame_.mode.floats, yields);
  llvm::Value* done = call_shared(name, at, active, rows, result,
                                  [&](const Addresses& there, llvm::Value* lanes, llvm::Argument* next) {
                                    llvm::SmallVector<llvm::Value*, 4> given;
                                    for (size_t i = 0; i < rows.size(); ++i) given.push_back(next++);
                                    const Words old = lds_atomic(number, yields, there, lanes, given);
                                    llvm::Value* whole = llvm::PoisonValue::get(result);
                                    for (unsigned i = 0; i < words; ++i)
                                      whole = ir().CreateInsertValue(whole, old[i], i);
                                    ir().CreateRet(whole);
                                  });
  Words old{};
  for (unsigned i = 0; i < words; ++i) old[i] = ir().CreateExtractValue(done, i);
  return old;
}

}  // namespace Atoll::compiler

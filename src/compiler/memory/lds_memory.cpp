// compiler: loads and stores of one chunk of lanes in LDS (lds_memory.h).
#include "compiler/memory/lds_memory.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "compiler/lowering/chunk_loop.h"

namespace Atoll::compiler {

using semantics::MemoryAccess;

LaneAccess::Addresses LdsMemory::addresses(const PreparedAccess& prepared, unsigned element, ChunkState& chunk) {
  Addresses at;
  at.low = chunk.row(row_key(*prepared.operands.address, 0));
  at.offset = static_cast<uint32_t>(prepared.offset(element));
  at.base = lds_base();
  at.starts = lds_starts(prepared);
  return at;
}

void LdsMemory::look_at(const PreparedAccess& prepared, unsigned element, ChunkState& chunk) {
  InlineAccessFilter::Element looked_at = element_of(prepared);
  looked_at.alignment = has_to_be_aligned() ? std::bit_ceil(looked_at.bytes) : 1;
  lds_base();
  frame_.odd->look_at_lds(looked_at, places(addresses(prepared, element, chunk)), starts(lds_bytes_, looked_at.bytes),
                          {chunk.exec(), chunk.first_lane()});
}

/// Whether misaligned accesses are mistakes.
bool LdsMemory::has_to_be_aligned() const { return frame_.target.processor->generation < target::Generation::gfx9; }

LaneAccess::Words LdsMemory::load(const PreparedAccess& prepared, unsigned element, llvm::Value* old,
                                  ChunkState& chunk) {
  const Addresses at = addresses(prepared, element, chunk);
  return load_lanes(semantics::memory_access(*prepared.instruction), at, chunk.exec(), old);
}

void LdsMemory::store(const PreparedAccess& prepared, const Words& data, ChunkState& chunk) {
  const Addresses at = addresses(prepared, prepared.element, chunk);
  store_lanes(semantics::memory_access(*prepared.instruction), at, chunk.exec(), data);
}

LaneAccess::Words LdsMemory::atomic(const PreparedAccess& prepared, bool yields, llvm::ArrayRef<llvm::Value*> data,
                                    ChunkState& chunk) {
  const semantics::AccessNumber number = semantics::access_number(*prepared.instruction);
  Addresses at = addresses(prepared, 0, chunk);
  if (does_in_place(semantics::memory_access(number))) {
    return context_.is_hot ? lds_atomic(number, yields, at, chunk.exec(), data)
                           : call_lds_atomic(number, yields, at, chunk.exec(), data);
  }
  at.base = ir().getInt64(0);
  return call_engine(number, engine::AddressSpace::lds, wide(at), data, chunk.exec(), chunk, yields);
}

llvm::Value* LdsMemory::lds_base() {
  if (lds_base_ == nullptr) {
    llvm::IRBuilder<> entry(frame_.allocas->getTerminator());
    const auto load = [&](llvm::Value* base, size_t offset, llvm::Type* type) {
      return entry.CreateLoad(type, entry.CreateConstInBoundsGEP1_64(entry.getInt8Ty(), base, offset));
    };
    llvm::Value* group = load(frame_.wave, offsetof(Wave, work_group), frame_.pointer());
    lds_base_ = entry.CreatePtrToInt(load(group, offsetof(machine::WorkGroup, lds), frame_.pointer()), frame_.i64());
    lds_bytes_ = load(group, offsetof(machine::WorkGroup, lds_bytes), frame_.i32());
  }
  return lds_base_;
}

/// The first place, from which on an element would not lie inside of LDS as a whole: 32 bits.
llvm::Value* LdsMemory::lds_starts(const PreparedAccess& prepared) {
  lds_base();
  llvm::Value* end = lds_bytes_;
  if (prepared.lds_limit != nullptr) {
    end = ir().CreateBinaryIntrinsic(llvm::Intrinsic::umin, end, prepared.lds_limit);
  }
  return starts(end, semantics::memory_access(*prepared.instruction).bytes);
}

llvm::Value* LdsMemory::starts(llvm::Value* end, unsigned bytes) {
  return ir().CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, ir().CreateAdd(end, ir().getInt32(1)),
                                    ir().getInt32(bytes));
}

llvm::Value* LdsMemory::is_inside(const PreparedAccess& prepared, llvm::Value* low, int64_t stride) {
  int64_t last = prepared.offset(prepared.element);
  for (unsigned element = 1; element < prepared.elements(); ++element) {
    last = std::max(last, prepared.offset(element));
  }
  last += int64_t{frame_.wave_size() - 1} * stride;
  llvm::Value* starts = lds_starts(prepared);
  llvm::Value* place = ir().CreateAdd(ir().CreateZExt(low, frame_.i64()), ir().getInt64(static_cast<uint64_t>(last)));
  return ir().CreateICmpULT(place, ir().CreateZExt(starts, frame_.i64()));
}

bool LdsMemory::can_for_wave(const isa::Instruction& instruction, const MemoryOperands& operands) {
  return operands.space == MemorySpace::lds && operands.is_store &&
         semantics::memory_access(instruction).half == semantics::MemoryAccess::Half::none;
}

void LdsMemory::emit_for_wave(const PreparedAccess& prepared, llvm::Value* exec, llvm::Value* address,
                              llvm::ArrayRef<llvm::Value*> data) {
  const unsigned bytes = semantics::memory_access(*prepared.instruction).bytes;
  const int64_t offset = prepared.offset(prepared.element);
  // One vector of the rows' addresses: six integers at most are passed in registers (`sparing`).
  llvm::Value* rows =
      llvm::PoisonValue::get(llvm::FixedVectorType::get(frame_.pointer(), static_cast<unsigned>(data.size())));
  for (const auto [word, row] : llvm::enumerate(data)) rows = ir().CreateInsertElement(rows, row, word);
  const std::array<llvm::Value*, 6> arguments{
      lds_base(), ir().getInt32(static_cast<uint32_t>(offset)), lds_starts(prepared), exec, address, rows};
  const std::string name = fmt::format("store_wave_{}", bytes);
  llvm::Function* function = frame_.function->getParent()->getFunction(name);
  if (function == nullptr) {
    llvm::SmallVector<llvm::Type*, 8> parameters;
    for (llvm::Value* argument : arguments) parameters.push_back(argument->getType());
    function = new_sparing(name, ir().getVoidTy(), parameters);
    emit_store_of_wave(*function, bytes);
  }
  call_sparing(function, arguments);
}

/// The body of such a function, a loop over the chunks.
void LdsMemory::emit_store_of_wave(llvm::Function& function, unsigned bytes) {
  const llvm::IRBuilderBase::InsertPointGuard guard(ir());
  llvm::BasicBlock* begin = llvm::BasicBlock::Create(frame_.context, "begin", &function);
  ChunkLoop loop(frame_, function);
  llvm::Argument *base = function.getArg(0), *offset = function.getArg(1), *starts = function.getArg(2),
                 *exec = function.getArg(3), *address = function.getArg(4);
  ir().SetInsertPoint(begin);
  Words rows{};
  for (unsigned word = 0; word < (bytes + 3) / 4; ++word) {
    rows[word] = ir().CreateExtractElement(function.getArg(5), word);
  }
  loop.enter(exec);
  loop.skip_inactive(loop.lanes);

  ir().SetInsertPoint(loop.lanes);
  const auto words_of = [&](llvm::Value* row) {
    llvm::Value* words = ir().CreateInBoundsGEP(frame_.i32(), row, loop.first_lane());
    return ir().CreateAlignedLoad(frame_.chunk(), words, llvm::Align(64));
  };
  Addresses at;
  at.base = base;
  at.low = ir().CreateAdd(words_of(address), splat(offset));
  at.starts = starts;
  Words stored{};
  for (unsigned word = 0; word < (bytes + 3) / 4; ++word) stored[word] = words_of(rows[word]);
  store_in_place(bytes, at, ir().CreateBitCast(loop.active(), frame_.lanes()), stored, /*in_bounds=*/true);
  ir().CreateBr(loop.next);
  loop.finish();
  ir().CreateRetVoid();
}

}  // namespace Atoll::compiler

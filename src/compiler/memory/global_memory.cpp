// compiler: loads, stores and atomics of one chunk of lanes in memory, by global and flat addresses (global_memory.h).
#include "compiler/memory/global_memory.h"

#include <llvm/IR/MDBuilder.h>

#include "compiler/lowering/phi.h"
#include "compiler/memory/guest_bounds.h"

namespace Atoll::compiler {

using engine::AddressSpace;
using semantics::MemoryAccess;

LaneAccess::Addresses GlobalMemory::addresses(const PreparedAccess& prepared, unsigned element, ChunkState& chunk) {
  const isa::Operand& address = *prepared.operands.address;
  if (prepared.operands.offset_scale != 0) return signed_addresses(prepared, element, chunk);
  Addresses at;
  at.low = chunk.row(row_key(address, 0));
  at.base = ir().getInt64(static_cast<uint64_t>(prepared.offset(element)));
  if (prepared.scalar_base != nullptr) {
    at.base = ir().CreateAdd(prepared.scalar_base, at.base);
  } else {
    at.high = chunk.row(row_key(address, 1));
  }
  return at;
}

/// Addresses with signed offsets from a scalar base, 64 bits each because scaled offsets exceed 32 bits. The upper half
/// of a flat address selects its space (may_be_elsewhere), so the base is then added per lane.
LaneAccess::Addresses GlobalMemory::signed_addresses(const PreparedAccess& prepared, unsigned element,
                                                     ChunkState& chunk) {
  const MemoryOperands& operands = prepared.operands;
  llvm::Value* base =
      ir().CreateAdd(prepared.scalar_base, ir().getInt64(static_cast<uint64_t>(prepared.offset(element))));
  llvm::Value* offsets = ir().CreateSExt(chunk.row(row_key(*operands.address, 0)), lanes_of(frame_.i64()));
  offsets = ir().CreateMul(offsets, splat(ir().getInt64(operands.offset_scale)));
  if (operands.space == MemorySpace::flat) {
    offsets = ir().CreateAdd(offsets, splat(base));
    base = ir().getInt64(0);
  }
  Addresses at;
  at.base = base;
  at.low = ir().CreateTrunc(offsets, lanes_of(frame_.i32()));
  at.high = ir().CreateTrunc(ir().CreateLShr(offsets, splat(ir().getInt64(32))), lanes_of(frame_.i32()));
  return at;
}

void GlobalMemory::look_at(const PreparedAccess& prepared, unsigned element, ChunkState& chunk) {
  frame_.odd->look_at_memory(element_of(prepared), prepared.operands.space == MemorySpace::flat,
                             wide(addresses(prepared, element, chunk)), {chunk.exec(), chunk.first_lane()});
}

LaneAccess::Words GlobalMemory::load(const PreparedAccess& prepared, unsigned element, llvm::Value* old,
                                     ChunkState& chunk) {
  if (prepared.operands.space == MemorySpace::flat) return load_flat(prepared, old, chunk);
  const Addresses at = addresses(prepared, element, chunk);
  return load_lanes(semantics::memory_access(*prepared.instruction), at, chunk.exec(), old);
}

void GlobalMemory::store(const PreparedAccess& prepared, const Words& data, ChunkState& chunk) {
  if (prepared.operands.space == MemorySpace::flat) return store_flat(prepared, data, chunk);
  const Addresses at = addresses(prepared, prepared.element, chunk);
  store_lanes(semantics::memory_access(*prepared.instruction), at, chunk.exec(), data);
}

LaneAccess::Words GlobalMemory::atomic(const PreparedAccess& prepared, bool yields, llvm::ArrayRef<llvm::Value*> data,
                                       ChunkState& chunk) {
  const bool is_flat = prepared.operands.space == MemorySpace::flat;
  const Addresses at = addresses(prepared, 0, chunk);
  return call_engine(semantics::access_number(*prepared.instruction),
                     is_flat ? AddressSpace::flat : AddressSpace::global, wide(at), data, chunk.exec(), chunk, yields);
}

/// Whether an active lane's address may not be of memory that the GPU may touch: it is in an aperture, mostly.
llvm::Value* GlobalMemory::may_be_elsewhere(const Addresses& at, llvm::Value* active) {
  llvm::Value* outside = frame_.bounds->are_outside(at.high, /*or_in_aperture=*/true);
  return ir().CreateICmpNE(bits(ir().CreateAnd(outside, active)), ir().getInt16(0));
}

LaneAccess::Words GlobalMemory::load_flat(const PreparedAccess& prepared, llvm::Value* old, ChunkState& chunk) {
  const semantics::AccessNumber number = semantics::access_number(*prepared.instruction);
  const MemoryAccess& access = semantics::memory_access(number);
  const Addresses at = addresses(prepared, 0, chunk);
  llvm::Value* active = chunk.exec();
  PhiBuilder ways(frame_, access.words());
  llvm::BasicBlock* aperture = block("aperture");
  llvm::BasicBlock* memory = block("memory");
  ir().CreateCondBr(may_be_elsewhere(at, active), aperture, memory,
                    llvm::MDBuilder(frame_.context).createBranchWeights(1, 4));
  ir().SetInsertPoint(aperture);
  ways.add_incoming(call_engine(number, AddressSpace::flat, wide(at), loaded_before(access, old), active, chunk));
  ir().SetInsertPoint(memory);
  ways.add_incoming(load_lanes(access, at, active, old, /*in_bounds=*/true));
  return ways.join();
}

void GlobalMemory::store_flat(const PreparedAccess& prepared, const Words& data, ChunkState& chunk) {
  const semantics::AccessNumber number = semantics::access_number(*prepared.instruction);
  const MemoryAccess& access = semantics::memory_access(number);
  const Addresses at = addresses(prepared, 0, chunk);
  llvm::Value* active = chunk.exec();
  PhiBuilder ways(frame_, 0);
  llvm::BasicBlock* aperture = block("aperture");
  llvm::BasicBlock* memory = block("memory");
  ir().CreateCondBr(may_be_elsewhere(at, active), aperture, memory,
                    llvm::MDBuilder(frame_.context).createBranchWeights(1, 4));
  ir().SetInsertPoint(aperture);
  call_engine(number, AddressSpace::flat, wide(at), llvm::ArrayRef(data).take_front(access.words()), active, chunk);
  ways.add_incoming({});
  ir().SetInsertPoint(memory);
  store_lanes(access, at, active, data, /*in_bounds=*/true);
  ways.add_incoming({});
  ways.join();
}

}  // namespace Atoll::compiler

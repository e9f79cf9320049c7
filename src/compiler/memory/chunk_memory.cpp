// compiler: loads, stores and atomics of one chunk of lanes, in whatever memory (chunk_memory.h).
#include "compiler/memory/chunk_memory.h"

#include "compiler/llvm/unused_loads.h"
#include "compiler/memory/guest_bounds.h"
#include "engine/memory/lds_limit.h"

namespace Atoll::compiler {

using semantics::MemoryAccess;

SpaceMemory& ChunkMemory::memory(MemorySpace space) {
  switch (space) {
    case MemorySpace::lds:
      return lds_;
    case MemorySpace::scratch:
      return scratch_;
    case MemorySpace::buffer:
      return buffer_;
    case MemorySpace::global:
    case MemorySpace::flat:
      break;
  }
  return global_;
}

ChunkMemory::Prepared ChunkMemory::prepare(const isa::Instruction& instruction, unsigned element,
                                           ScalarRegisters& registers) {
  Prepared prepared{.instruction = &instruction, .operands = *memory_operands(instruction), .element = element};
  if (const isa::Operand* base = prepared.operands.scalar_base) {
    prepared.scalar_base = base->words == 2 ? registers.pair(base->reg) : registers.word(base->reg);
  }
  if (prepared.operands.space == MemorySpace::lds && engine::lds_limit_in_m0(*frame_.target.processor)) {
    prepared.lds_limit = ir().CreateAnd(registers.word(isa::scalar::m0), engine::lds_limit_bits);
  }
  return prepared;
}

bool ChunkMemory::prefers_stride(const MemoryAccess& access, int64_t stride) {
  if (stride == access.bytes) return true;
  return access.kind == MemoryAccess::Kind::load && (stride == 0 || (stride == 4 && access.bytes % 4 == 0));
}

bool ChunkMemory::needs_all_lanes(int64_t stride) { return stride != 0 && stride != 4; }

llvm::Value* ChunkMemory::first_address(const Prepared& prepared, llvm::Value* low, llvm::Value* high) {
  const unsigned scale = prepared.operands.offset_scale;
  llvm::Value* address = scale != 0 ? ir().CreateMul(ir().CreateSExt(low, frame_.i64()), ir().getInt64(scale))
                                    : ir().CreateZExt(low, frame_.i64());
  if (high != nullptr) {
    address = ir().CreateOr(address, ir().CreateShl(ir().CreateZExt(high, frame_.i64()), 32));
  }
  if (prepared.scalar_base != nullptr) address = ir().CreateAdd(address, prepared.scalar_base);
  if (prepared.operands.space == MemorySpace::lds) address = ir().CreateAdd(address, lds_.lds_base());
  const int64_t offset = prepared.offset(prepared.element);
  return ir().CreateAdd(address, ir().getInt64(static_cast<uint64_t>(offset)));
}

llvm::Value* ChunkMemory::base_offset(const Prepared& prepared) {
  const MemoryOperands& operands = prepared.operands;
  if (operands.is_atomic) return nullptr;  // the engine looks at all addresses
  if (operands.space == MemorySpace::buffer) return buffer_.base_offset(prepared);
  const bool has_base =
      operands.space == MemorySpace::global && prepared.scalar_base != nullptr && operands.offset_scale == 0;
  return has_base ? frame_.bounds->offset(prepared.scalar_base) : nullptr;
}

void ChunkMemory::emit(const Prepared& prepared, bool keep_inactive, ChunkState& chunk, const Strided* strided) {
  if (frame_.odd != nullptr) look_at(prepared, chunk, strided);
  if (prepared.operands.is_atomic) return emit_atomic(prepared, keep_inactive, chunk);
  if (prepared.operands.is_store) return emit_store(prepared, chunk, strided);
  emit_load(prepared, keep_inactive, chunk, strided);
}

void ChunkMemory::look_at(const Prepared& prepared, ChunkState& chunk, const Strided* strided) {
  const MemoryOperands& operands = prepared.operands;
  if (strided != nullptr && frame_.odd->records()) return record_even(prepared, chunk, *strided);
  // The whole wave's have been found to be inside (is_inside).
  if (strided != nullptr && operands.space == MemorySpace::lds && !lds_.has_to_be_aligned() &&
      !frame_.odd->limits_lds())
    return;
  for (unsigned element = 0; element < prepared.elements(); ++element) {
    frame_.odd->set_element(operands.is_store ? prepared.element : element);
    if (strided != nullptr && outside_apertures(operands.space) == MemorySpace::global) {
      llvm::Value* address = ir().CreatePtrToInt(even_address(prepared, element, chunk, *strided), frame_.i64());
      const MemoryAccess& access = semantics::memory_access(*prepared.instruction);
      frame_.odd->look_at_even({.bytes = access.bytes, .writes = operands.stores()}, address, strided->stride,
                               {chunk.exec(), chunk.first_lane()});
    } else {
      memory(operands.space).look_at(prepared, operands.is_store ? prepared.element : element, chunk);
    }
  }
}

void ChunkMemory::record_even(const Prepared& prepared, ChunkState& chunk, const Strided& strided) {
  const MemoryAccess& access = semantics::memory_access(*prepared.instruction);
  const MemorySpace space = outside_apertures(prepared.operands.space);
  for (unsigned element = 0; element < access.elements; ++element) {
    frame_.odd->set_element(element);
    llvm::Value* address = ir().CreatePtrToInt(even_address(prepared, element, chunk, strided), frame_.i64());
    if (space == MemorySpace::lds) address = ir().CreateSub(address, lds_.lds_base());
    frame_.odd->record_even(access.bytes, space == MemorySpace::lds, address, strided.stride,
                            {chunk.exec(), chunk.first_lane()});
  }
}

/// Of the chunk's first lane.
llvm::Value* ChunkMemory::even_address(const Prepared& prepared, unsigned element, ChunkState& chunk,
                                       const Strided& strided) {
  llvm::Value* lanes = ir().CreateMul(chunk.first_lane64(), ir().getInt64(static_cast<uint64_t>(strided.stride)));
  llvm::Value* distance = ir().getInt64(static_cast<uint64_t>(prepared.distance(element)));
  llvm::Value* address = ir().CreateAdd(ir().CreateAdd(strided.address, distance), lanes);
  return ir().CreateIntToPtr(address, frame_.pointer());
}

void ChunkMemory::emit_store(const Prepared& prepared, ChunkState& chunk, const Strided* strided) {
  const MemoryOperands& operands = prepared.operands;
  const MemoryAccess& access = semantics::memory_access(*prepared.instruction);
  llvm::Value* active = chunk.exec();
  Words data{};
  const isa::Operand& source = *operands.data[prepared.element];
  for (unsigned word = 0; word < access.words(); ++word) data[word] = chunk.row(row_key(source, word));
  SpaceMemory& memory = this->memory(operands.space);
  // What has been loaded may be wrong. Stores to addresses that are not known look at these at the same time.
  const bool is_global = outside_apertures(operands.space) == MemorySpace::global;
  if (is_global && (strided != nullptr || operands.space == MemorySpace::flat)) frame_.bounds->check();
  if (strided == nullptr) return memory.store(prepared, data, chunk);
  const bool fetch_ahead = is_global && !strided->is_fetched;
  memory.store_even(access, fetch_ahead, even_address(prepared, 0, chunk, *strided), active, data);
}

void ChunkMemory::emit_load(const Prepared& prepared, bool keep_inactive, ChunkState& chunk, const Strided* strided) {
  const MemoryOperands& operands = prepared.operands;
  const MemoryAccess& access = semantics::memory_access(*prepared.instruction);
  const unsigned words = access.words();
  llvm::Value* active = chunk.exec();
  const isa::Operand& result = *operands.result;
  SpaceMemory& memory = this->memory(operands.space);
  Words loaded[2]{};
  for (unsigned element = 0; element < access.elements; ++element) {
    llvm::Value* old = access.keeps_half() ? chunk.row(row_key(result, 0)) : nullptr;
    if (strided == nullptr) {
      loaded[element] = memory.load(prepared, element, old, chunk);
      continue;
    }
    llvm::Value* address = even_address(prepared, element, chunk, *strided);
    loaded[element] = memory.load_even(access, outside_apertures(operands.space), address, strided->stride, active);
    loaded[element][0] = memory.place_half(access, loaded[element][0], old);
  }
  if (operands.space != MemorySpace::lds) note_loaded(ir(), llvm::ArrayRef(loaded[0]).take_front(words));
  for (unsigned i = 0; i < access.elements * words; ++i) {
    llvm::Value* value = loaded[i / words][i % words];
    if (keep_inactive) chunk.set_active_lanes(row_key(result, i), value);
    if (!keep_inactive) chunk.set_row(row_key(result, i), value);
  }
}

void ChunkMemory::emit_atomic(const Prepared& prepared, bool keep_inactive, ChunkState& chunk) {
  const MemoryOperands& operands = prepared.operands;
  const MemoryAccess& access = semantics::memory_access(*prepared.instruction);
  const unsigned words = access.words();
  llvm::SmallVector<llvm::Value*, 4> data;
  for (unsigned i = 0; i < (semantics::has_two_operands(access.operation) ? 2u : 1u); ++i) {
    // The second operand has a register of its own, or is after the first.
    const isa::Operand& operand = operands.data[1] != nullptr ? *operands.data[i] : *operands.data[0];
    const unsigned first = operands.data[1] != nullptr ? 0 : i * words;
    for (unsigned word = 0; word < words; ++word) data.push_back(chunk.row(row_key(operand, first + word)));
  }
  const bool yields = operands.result != nullptr;
  if (operands.space != MemorySpace::lds) frame_.bounds->check();
  const Words old = memory(operands.space).atomic(prepared, yields, data, chunk);
  if (!yields) return;
  for (unsigned word = 0; word < words; ++word) {
    const unsigned key = row_key(*operands.result, word);
    if (keep_inactive) chunk.set_active_lanes(key, old[word]);
    if (!keep_inactive) chunk.set_row(key, old[word]);
  }
}

}  // namespace Atoll::compiler

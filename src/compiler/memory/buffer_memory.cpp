// compiler: loads, stores and atomics of one chunk of lanes in buffers (buffer_memory.h).
#include "compiler/memory/buffer_memory.h"

#include <llvm/IR/MDBuilder.h>

#include "compiler/lowering/phi.h"
#include "compiler/memory/guest_bounds.h"
#include "compiler/memory/raw_buffers.h"
#include "engine/interpreter/prepare.h"
#include "engine/memory/buffer_resource.h"

namespace Atoll::compiler {

using engine::AddressSpace;
using semantics::chunk_lanes;
using semantics::MemoryAccess;

/// What a resource says (engine::BufferResource).
BufferMemory::Described BufferMemory::described(unsigned resource, bool has_index, ScalarRegisters& registers) {
  llvm::Value* word1 = registers.word(resource + 1);
  const auto field = [&](llvm::Value* word, uint32_t mask, unsigned shift) {
    return ir().CreateLShr(ir().CreateAnd(word, ir().getInt32(mask)), shift);
  };
  if (frame_.target.processor->generation < target::Generation::gfx12_5) {
    using engine::BufferResource;
    return {.base = joined(registers.word(resource), ir().CreateAnd(word1, ir().getInt32(0xFFFF))),
            .end = registers.word(resource + 2),
            .stride = has_index ? field(word1, BufferResource::stride_field, 16) : nullptr};
  }
  using Layout = engine::BufferResource::Gfx12_5;
  llvm::Value* word3 = registers.word(resource + 3);
  const auto wide = [&](llvm::Value* word) { return ir().CreateZExt(word, frame_.i64()); };
  llvm::Value* size = wide(ir().CreateLShr(word1, 32 - Layout::lower_size_bits));
  size = ir().CreateOr(size, ir().CreateShl(wide(registers.word(resource + 2)), Layout::lower_size_bits));
  size = ir().CreateOr(size, ir().CreateShl(wide(field(word3, Layout::upper_size_field, 0)),
                                            Layout::lower_size_bits + Layout::middle_size_bits));
  size = ir().CreateBinaryIntrinsic(llvm::Intrinsic::umin, size, ir().getInt64(UINT32_MAX));
  return {.base = joined(registers.word(resource), ir().CreateAnd(word1, ir().getInt32(Layout::upper_base_field))),
          .end = ir().CreateTrunc(size, frame_.i32()),
          .stride = has_index ? field(word3, Layout::stride_field, Layout::stride_shift) : nullptr};
}

PreparedAccess BufferMemory::prepare_in_buffer(const isa::Instruction& instruction, const MemoryOperands& operands,
                                               ScalarRegisters& registers) {
  const unsigned resource = operands.resource->reg;
  PreparedAccess prepared{.instruction = &instruction, .operands = operands};
  llvm::Value* offset = nullptr;
  if (const auto value = engine::constant_value(*operands.resource_offset)) {
    offset = ir().getInt32(static_cast<uint32_t>(*value));
  } else {
    offset = registers.word(operands.resource_offset->reg);
  }
  const Described buffer = described(resource, operands.has_index, registers);
  prepared.scalar_base = ir().CreateAdd(buffer.base, ir().CreateZExt(offset, frame_.i64()));
  prepared.buffer_end = buffer.end;
  prepared.buffer_stride = buffer.stride;
  if (!counts_records(operands)) {
    prepared.buffer_end = ir().CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, prepared.buffer_end, offset);
  }
  return prepared;
}

llvm::Value* BufferMemory::base_offset(const PreparedAccess& prepared) {
  if (has_wide_offsets(prepared.operands) || counts_records(prepared.operands)) return nullptr;
  llvm::Value* is_empty = ir().CreateICmpEQ(prepared.buffer_end, ir().getInt32(0));
  return ir().CreateSelect(is_empty, ir().getInt64(0), frame_.bounds->offset(prepared.scalar_base));
}

/// Whether the buffer's size is in records: not on GFX8, if it is not swizzled.
bool BufferMemory::counts_records(const MemoryOperands& operands) const {
  return operands.has_index && !engine::BufferResource::counts_bytes(*frame_.target.processor);
}

/// An element's distance from the buffer's begin, or the largest number if it is larger: 16 x i32.
llvm::Value* BufferMemory::distance(const PreparedAccess& prepared, ChunkState& chunk) {
  const isa::Instruction& instruction = *prepared.instruction;
  const MemoryOperands& operands = prepared.operands;
  // A sum that does not fit is outside of any buffer, as is the largest one that does.
  const auto add = [&](llvm::Value* a, llvm::Value* b) {
    return ir().CreateBinaryIntrinsic(llvm::Intrinsic::uadd_sat, a, b);
  };
  llvm::Value* distance = splat(ir().getInt32(static_cast<uint32_t>(instruction.offset)));
  if (operands.address == nullptr) return distance;
  if (!operands.has_index) return lane_offset(instruction, chunk.row(row_key(*operands.address, 0)));
  llvm::Type* wide = lanes_of(frame_.i64());
  llvm::Value* index = ir().CreateZExt(chunk.row(row_key(*operands.address, 0)), wide);
  llvm::Value* record = ir().CreateMul(index, ir().CreateZExt(splat(prepared.buffer_stride), wide));
  llvm::Value* largest = splat(ir().getInt64(UINT32_MAX));
  record = ir().CreateTrunc(ir().CreateBinaryIntrinsic(llvm::Intrinsic::umin, record, largest), frame_.chunk());
  if (instruction.offen) distance = lane_offset(instruction, chunk.row(row_key(*operands.address, 1)));
  return add(record, distance);
}

/// A lane's offset plus the instruction's: 16 x i32. Where the sum does not wrap around, one that does not fit is the
/// largest number.
llvm::Value* BufferMemory::lane_offset(const isa::Instruction& instruction, llvm::Value* offset) {
  llvm::Value* own = splat(ir().getInt32(static_cast<uint32_t>(instruction.offset)));
  if (target::has_wrapping_buffer_offsets(*frame_.target.processor)) return ir().CreateAdd(offset, own);
  return ir().CreateBinaryIntrinsic(llvm::Intrinsic::uadd_sat, offset, own);
}

BufferMemory::InBuffer BufferMemory::in_buffer(const PreparedAccess& prepared, ChunkState& chunk) {
  const isa::Instruction& instruction = *prepared.instruction;
  const MemoryOperands& operands = prepared.operands;
  const MemoryAccess& access = semantics::memory_access(instruction);
  InBuffer place;
  if (has_wide_offsets(operands)) {
    place.at = {.base = ir().CreateAdd(prepared.scalar_base, ir().getInt64(static_cast<uint32_t>(instruction.offset))),
                .low = chunk.row(row_key(*operands.address, 0)),
                .high = chunk.row(row_key(*operands.address, 1))};
    place.inside = chunk.exec();
    return place;
  }
  if (!counts_records(operands)) {
    place.offset = distance(prepared, chunk);
    place.at = {.base = prepared.scalar_base, .low = place.offset};
    place.inside = ir().CreateAnd(chunk.exec(), is_before_end(prepared, place.offset, access.bytes));
    return place;
  }
  llvm::Type* wide = lanes_of(frame_.i64());
  llvm::Value* index = chunk.row(row_key(*operands.address, 0));
  llvm::Value* stride = ir().CreateZExt(splat(prepared.buffer_stride), wide);
  llvm::Value* address = ir().CreateMul(ir().CreateZExt(index, wide), stride);
  llvm::Value* own = splat(ir().getInt64(static_cast<uint32_t>(instruction.offset)));
  if (instruction.offen) {
    llvm::Value* offset = chunk.row(row_key(*operands.address, 1));
    own = target::has_wrapping_buffer_offsets(*frame_.target.processor)
              ? ir().CreateZExt(lane_offset(instruction, offset), wide)
              : ir().CreateAdd(own, ir().CreateZExt(offset, wide));
  }
  address = ir().CreateAdd(ir().CreateAdd(address, own), splat(prepared.scalar_base));
  place.at = {.base = ir().getInt64(0),
              .low = ir().CreateTrunc(address, frame_.chunk()),
              .high = ir().CreateTrunc(ir().CreateLShr(address, splat(ir().getInt64(32))), frame_.chunk())};
  place.inside = ir().CreateAnd(chunk.exec(), ir().CreateICmpULT(index, splat(prepared.buffer_end)));
  return place;
}

/// Returns the lanes whose access of that many bytes is in bounds of a raw buffer. On GFX10 only the first byte counts.
llvm::Value* BufferMemory::is_before_end(const PreparedAccess& prepared, llvm::Value* offset, unsigned bytes) {
  if (frame_.target.processor->buffer_resources == target::BufferResources::gfx10) bytes = 1;
  llvm::Value* starts =
      ir().CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, prepared.buffer_end, ir().getInt32(bytes - 1));
  return ir().CreateICmpULT(offset, splat(starts));
}

/// Active lanes of whose element only some dwords are inside; null: that cannot be.
llvm::Value* BufferMemory::cut_off(const PreparedAccess& prepared, const InBuffer& place, ChunkState& chunk) {
  if (place.offset == nullptr || semantics::memory_access(*prepared.instruction).bytes <= 4) return nullptr;
  llvm::Value* begins = ir().CreateAnd(chunk.exec(), is_before_end(prepared, place.offset, 4));
  return ir().CreateAnd(begins, ir().CreateNot(place.inside));
}

/// Of lanes whose element is inside in part, that part.
void BufferMemory::look_at(const PreparedAccess& prepared, unsigned /*element*/, ChunkState& chunk) {
  const InBuffer place = in_buffer(prepared, chunk);
  InlineAccessFilter::Element element = element_of(prepared);
  llvm::Value* addresses = wide(place.at);
  frame_.odd->look_at_memory(element, /*is_flat=*/false, addresses, {place.inside, chunk.first_lane()});
  llvm::Value* cut = cut_off(prepared, place, chunk);
  if (cut == nullptr) return;
  llvm::BasicBlock *in_part = block("in_part"), *on = block("on");
  ir().CreateCondBr(ir().CreateICmpNE(bits(cut), ir().getInt16(0)), in_part, on,
                    llvm::MDBuilder(frame_.context).createBranchWeights(1, 16));
  ir().SetInsertPoint(in_part);
  const unsigned words = element.bytes / 4;
  for (unsigned inside = 1; inside < words; ++inside) {
    element.bytes = inside * 4;
    llvm::Value* more = is_before_end(prepared, place.offset, element.bytes + 4);
    llvm::Value* these = ir().CreateAnd(cut, is_before_end(prepared, place.offset, element.bytes));
    these = ir().CreateAnd(these, ir().CreateNot(more));
    frame_.odd->look_at_memory(element, /*is_flat=*/false, addresses, {these, chunk.first_lane()});
  }
  ir().CreateBr(on);
  ir().SetInsertPoint(on);
}

LaneAccess::Words BufferMemory::load(const PreparedAccess& prepared, unsigned /*element*/, llvm::Value* old,
                                     ChunkState& chunk) {
  const MemoryAccess& access = semantics::memory_access(*prepared.instruction);
  const InBuffer place = in_buffer(prepared, chunk);
  llvm::Value* zeros = llvm::Constant::getNullValue(frame_.chunk());
  if (!context_.is_hot) note_lanes(place.at, place.inside);
  Words words = context_.is_hot ? load_in_place(access, place.at, place.inside, /*in_bounds=*/false)
                                : call_load(access, place.at, place.inside);
  for (unsigned word = 0; word < access.words(); ++word) {
    words[word] = ir().CreateSelect(place.inside, words[word], zeros);
  }
  if (llvm::Value* cut = cut_off(prepared, place, chunk)) {
    PhiBuilder ways(frame_, access.words());
    llvm::BasicBlock *in_part = block("in_part"), *whole = block("whole");
    ir().CreateCondBr(ir().CreateICmpNE(bits(cut), ir().getInt16(0)), in_part, whole,
                      llvm::MDBuilder(frame_.context).createBranchWeights(1, 16));
    ir().SetInsertPoint(in_part);
    Words parts{};
    const Scattered at = scattered(place.at);
    for (unsigned word = 0; word < access.words(); ++word) {
      llvm::Value* there = ir().CreateAnd(cut, is_before_end(prepared, place.offset, word * 4 + 4));
      parts[word] = ir().CreateSelect(there, load_dwords(after(at, word * 4), there), words[word]);
    }
    ways.add_incoming(parts);
    ir().SetInsertPoint(whole);
    ways.add_incoming(words);
    words = ways.join();
  }
  words[0] = place_half(access, words[0], old);
  return words;
}

void BufferMemory::store(const PreparedAccess& prepared, const Words& data, ChunkState& chunk) {
  const MemoryAccess& access = semantics::memory_access(*prepared.instruction);
  const InBuffer place = in_buffer(prepared, chunk);
  llvm::Value* cut = cut_off(prepared, place, chunk);
  if (cut == nullptr) return store_lanes(access, place.at, place.inside, data);
  note_base(place.at, ir().CreateOr(place.inside, cut));
  frame_.bounds->check();
  PhiBuilder ways(frame_, 0);
  llvm::BasicBlock *in_part = block("in_part"), *whole = block("whole");
  ir().CreateCondBr(ir().CreateICmpNE(bits(cut), ir().getInt16(0)), in_part, whole,
                    llvm::MDBuilder(frame_.context).createBranchWeights(1, 16));
  ir().SetInsertPoint(in_part);
  store_dwords_inside(prepared, place, ir().CreateOr(place.inside, cut), data);
  ways.add_incoming({});
  ir().SetInsertPoint(whole);
  store_lanes(access, place.at, place.inside, data, /*in_bounds=*/true);
  ways.add_incoming({});
  ways.join();
}

/// Lane after lane, as the last one to store to a place wins; of `lanes`, the first dword is inside.
void BufferMemory::store_dwords_inside(const PreparedAccess& prepared, const InBuffer& place, llvm::Value* lanes,
                                       const Words& data) {
  const unsigned words = semantics::memory_access(*prepared.instruction).words();
  const auto in_memory = [&](llvm::Value* values) {
    llvm::Value* memory = frame_.local(values->getType(), llvm::Align(64));
    ir().CreateAlignedStore(values, memory, llvm::Align(64));
    return memory;
  };
  llvm::Value *offsets = in_memory(place.offset), *addresses = in_memory(wide(place.at));
  llvm::SmallVector<llvm::Value*, 4> rows;
  for (unsigned word = 0; word < words; ++word) rows.push_back(in_memory(data[word]));
  visit_lanes(bits(lanes), [&](llvm::Value* lane) {
    const auto element = [&](llvm::Type* type, llvm::Value* values) {
      return ir().CreateLoad(type, ir().CreateInBoundsGEP(type, values, lane));
    };
    llvm::Value* room = ir().CreateSub(prepared.buffer_end, element(frame_.i32(), offsets));
    llvm::Value* to = ir().CreateIntToPtr(element(frame_.i64(), addresses), frame_.pointer());
    llvm::BasicBlock* stored = block("stored");
    for (unsigned word = 0; word < words; ++word) {
      ir().CreateAlignedStore(element(frame_.i32(), rows[word]), frame_.at(to, word * 4), unaligned);
      if (word + 1 == words) break;
      llvm::BasicBlock* next = block("next_dword");
      ir().CreateCondBr(ir().CreateICmpUGE(room, ir().getInt32(word * 4 + 8)), next, stored);
      ir().SetInsertPoint(next);
    }
    ir().CreateBr(stored);
    ir().SetInsertPoint(stored);
  });
}

LaneAccess::Words BufferMemory::atomic(const PreparedAccess& prepared, bool yields, llvm::ArrayRef<llvm::Value*> data,
                                       ChunkState& chunk) {
  const semantics::AccessNumber number = semantics::access_number(*prepared.instruction);
  const InBuffer place = in_buffer(prepared, chunk);
  Words old = call_engine(number, AddressSpace::global, wide(place.at), data, place.inside, chunk, yields);
  for (unsigned word = 0; yields && word < semantics::memory_access(number).words(); ++word) {
    old[word] = ir().CreateSelect(place.inside, old[word], llvm::Constant::getNullValue(frame_.chunk()));
  }
  return old;
}

}  // namespace Atoll::compiler

// compiler: buffers other than scratch.
//
// Without an index, an element is at the offsets' sum, and inside if it ends where the buffer does or before; of one of
// several dwords, those are accessed that are inside. With an index, it is in a record, and inside if there is such a
// record; on GFX8, if it ends where the buffer does or before. Lanes with 64-bit offsets are anywhere. What is outside
// reads as 0 and is not written (engine/memory/buffer.cpp says where that comes from).
#pragma once

#include "compiler/memory/space_memory.h"

namespace Atoll::compiler {

class BufferMemory final : public SpaceMemory {
 public:
  using SpaceMemory::SpaceMemory;

  /// An access of a buffer that is plain (RawBuffers).
  PreparedAccess prepare_in_buffer(const isa::Instruction& instruction, const MemoryOperands& operands,
                                   ScalarRegisters& registers);

  /// How far the buffer's begin is from that of what the GPU may touch, if that tells whether the access is right; 0 of
  /// an empty buffer, which nothing is accessed in. Null: it does not tell.
  llvm::Value* base_offset(const PreparedAccess& prepared);
  void look_at(const PreparedAccess& prepared, unsigned element, ChunkState& chunk) override;
  Words load(const PreparedAccess& prepared, unsigned element, llvm::Value* old, ChunkState& chunk) override;
  void store(const PreparedAccess& prepared, const Words& data, ChunkState& chunk) override;
  Words atomic(const PreparedAccess& prepared, bool yields, llvm::ArrayRef<llvm::Value*> data,
               ChunkState& chunk) override;

 private:
  struct InBuffer {
    Addresses at;
    llvm::Value* inside = nullptr;  ///< active lanes whose elements are in the buffer as a whole
    llvm::Value* offset = nullptr;  ///< from Prepared::scalar_base: 16 x i32; null if the size is in records
  };
  struct Described {
    llvm::Value* base = nullptr;  ///< 64 bits
    llvm::Value* end = nullptr;   ///< the size in bytes, or records
    llvm::Value* stride = nullptr;
  };
  Described described(unsigned resource, bool has_index, ScalarRegisters& registers);
  bool counts_records(const MemoryOperands& operands) const;
  llvm::Value* lane_offset(const isa::Instruction& instruction, llvm::Value* offset);
  llvm::Value* distance(const PreparedAccess& prepared, ChunkState& chunk);
  InBuffer in_buffer(const PreparedAccess& prepared, ChunkState& chunk);
  llvm::Value* is_before_end(const PreparedAccess& prepared, llvm::Value* offset, unsigned bytes);
  llvm::Value* cut_off(const PreparedAccess& prepared, const InBuffer& place, ChunkState& chunk);
  void store_dwords_inside(const PreparedAccess& prepared, const InBuffer& place, llvm::Value* lanes,
                           const Words& data);
};

}  // namespace Atoll::compiler

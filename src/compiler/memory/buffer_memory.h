// compiler: buffers other than scratch.
//
// Without an index, an element is at the sum of the offsets, and in bounds if it ends inside the buffer; of elements
// with several dwords, the dwords in bounds are accessed. With an index, it is in bounds if the record exists; on GFX8,
// if it ends inside the buffer. Lanes with 64-bit offsets are unbounded. Out-of-bounds reads return 0, writes are
// dropped (sources: engine/memory/buffer.cpp).
#pragma once

#include "compiler/memory/space_memory.h"

namespace Atoll::compiler {

class BufferMemory final : public SpaceMemory {
 public:
  using SpaceMemory::SpaceMemory;

  /// Prepares an access of a plain buffer (RawBuffers).
  PreparedAccess prepare_in_buffer(const isa::Instruction& instruction, const MemoryOperands& operands,
                                   ScalarRegisters& registers);

  /// Returns the distance of the buffer's base from the accessible range, if that determines whether the access is
  /// valid; 0 for an empty buffer. Null: it does not.
  llvm::Value* base_offset(const PreparedAccess& prepared);
  void look_at(const PreparedAccess& prepared, unsigned element, ChunkState& chunk) override;
  Words load(const PreparedAccess& prepared, unsigned element, llvm::Value* old, ChunkState& chunk) override;
  void store(const PreparedAccess& prepared, const Words& data, ChunkState& chunk) override;
  Words atomic(const PreparedAccess& prepared, bool yields, llvm::ArrayRef<llvm::Value*> data,
               ChunkState& chunk) override;

 private:
  struct InBuffer {
    Addresses at;
    llvm::Value* inside = nullptr;  ///< active lanes whose elements are completely in bounds
    llvm::Value* offset = nullptr;  ///< relative to Prepared::scalar_base: 16 x i32; null if the size is in records
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

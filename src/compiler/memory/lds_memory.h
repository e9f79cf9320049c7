// compiler: LDS.
//
// It belongs to a work-group, which has one host thread at a time: so atomics are made in place (lds_atomic.cpp). Where
// an element does not lie inside as a whole, it reads as 0 and is not written.
#pragma once

#include "compiler/memory/space_memory.h"

namespace Atoll::compiler {

class LdsMemory final : public SpaceMemory {
 public:
  using SpaceMemory::SpaceMemory;

  void look_at(const PreparedAccess& prepared, unsigned element, ChunkState& chunk) override;
  Words load(const PreparedAccess& prepared, unsigned element, llvm::Value* old, ChunkState& chunk) override;
  void store(const PreparedAccess& prepared, const Words& data, ChunkState& chunk) override;
  Words atomic(const PreparedAccess& prepared, bool yields, llvm::ArrayRef<llvm::Value*> data,
               ChunkState& chunk) override;

  bool has_to_be_aligned() const;
  /// Where the work-group's LDS begins, 64 bits.
  llvm::Value* lds_base();
  /// Whether all lanes' elements are inside, if lane 0's address is `low` and the others follow in that distance.
  llvm::Value* is_inside(const PreparedAccess& prepared, llvm::Value* low, int64_t stride);

  /// Whether a store can be executed for the whole wave by emit_for_wave().
  static bool can_for_wave(const isa::Instruction& instruction, const MemoryOperands& operands);
  /// A call of a function that all such stores share: in the lanes of `exec` (64 bits), with what whole rows in memory
  /// hold.
  void emit_for_wave(const PreparedAccess& prepared, llvm::Value* exec, llvm::Value* address,
                     llvm::ArrayRef<llvm::Value*> data);

 private:
  Addresses addresses(const PreparedAccess& prepared, unsigned element, ChunkState& chunk);
  llvm::Value* lds_starts(const PreparedAccess& prepared);
  llvm::Value* starts(llvm::Value* end, unsigned bytes);
  void emit_store_of_wave(llvm::Function& function, unsigned bytes);

  static bool does_in_place(const semantics::MemoryAccess& access);
  Words lds_atomic(semantics::AccessNumber number, bool yields, const Addresses& at, llvm::Value* active,
                   llvm::ArrayRef<llvm::Value*> rows);
  Words call_lds_atomic(semantics::AccessNumber number, bool yields, const Addresses& at, llvm::Value* active,
                        llvm::ArrayRef<llvm::Value*> rows);
  llvm::Value* in_host_memory(llvm::Value* chunk);
  llvm::Function* lds_atomic_in_turn(semantics::AccessNumber number, bool yields, unsigned rows);
  llvm::Value* one_lds_atomic(const semantics::MemoryAccess& access, llvm::Value* address, llvm::Value* data,
                              llvm::Value* data2);

  llvm::Value* lds_bytes_ = nullptr;
  llvm::Value* lds_base_ = nullptr;
};

}  // namespace Atoll::compiler

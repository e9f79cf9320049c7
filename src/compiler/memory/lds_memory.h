// compiler: LDS.
//
// A work-group runs on one host thread at a time, so atomics on LDS are ordinary operations (lds_atomic.cpp). Elements
// that are not completely in bounds read as 0 and are not written.
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
  /// Returns the begin of the work-group's LDS, i64.
  llvm::Value* lds_base();
  /// Returns whether all lanes' elements are in bounds for lane 0's address `low` and this stride.
  llvm::Value* is_inside(const PreparedAccess& prepared, llvm::Value* low, int64_t stride);

  /// Returns whether emit_for_wave() can execute a store for the whole wave.
  static bool can_for_wave(const isa::Instruction& instruction, const MemoryOperands& operands);
  /// Calls a function shared by all such stores, for the lanes of `exec` (i64) and rows in memory.
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

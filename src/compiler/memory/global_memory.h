// compiler: memory at global and flat addresses. Flat ones may also be in LDS or scratch.
//
// A flat address is nearly always in memory, which a check of the upper halves shows. The engine executes the other
// cases.
#pragma once

#include "compiler/memory/space_memory.h"

namespace Atoll::compiler {

class GlobalMemory final : public SpaceMemory {
 public:
  using SpaceMemory::SpaceMemory;

  void look_at(const PreparedAccess& prepared, unsigned element, ChunkState& chunk) override;
  Words load(const PreparedAccess& prepared, unsigned element, llvm::Value* old, ChunkState& chunk) override;
  void store(const PreparedAccess& prepared, const Words& data, ChunkState& chunk) override;
  Words atomic(const PreparedAccess& prepared, bool yields, llvm::ArrayRef<llvm::Value*> data,
               ChunkState& chunk) override;

 private:
  Addresses addresses(const PreparedAccess& prepared, unsigned element, ChunkState& chunk);
  Addresses signed_addresses(const PreparedAccess& prepared, unsigned element, ChunkState& chunk);
  llvm::Value* may_be_elsewhere(const Addresses& at, llvm::Value* active);
  Words load_flat(const PreparedAccess& prepared, llvm::Value* old, ChunkState& chunk);
  void store_flat(const PreparedAccess& prepared, const Words& data, ChunkState& chunk);
};

}  // namespace Atoll::compiler

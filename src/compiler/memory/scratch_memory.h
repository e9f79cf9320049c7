// compiler: scratch, by its own instructions or as a buffer (scratch_buffers.h).
//
// Scratch is swizzled: dword n of all lanes is contiguous (engine/memory/global_memory.cpp). Lanes with the same
// private address, as for spilled registers and local variables, therefore access adjacent dwords. The engine executes
// other cases.
#pragma once

#include <map>

#include "compiler/memory/space_memory.h"

namespace Atoll::compiler {

class ScratchMemory final : public SpaceMemory {
 public:
  using SpaceMemory::SpaceMemory;

  /// Prepares an access of scratch through a buffer, with its ScratchBuffers.
  static PreparedAccess prepare_on_stack(const isa::Instruction& instruction, llvm::Value* base);

  void look_at(const PreparedAccess& prepared, unsigned element, ChunkState& chunk) override;
  Words load(const PreparedAccess& prepared, unsigned element, llvm::Value* old, ChunkState& chunk) override;
  void store(const PreparedAccess& prepared, const Words& data, ChunkState& chunk) override;
  Words atomic(const PreparedAccess& prepared, bool yields, llvm::ArrayRef<llvm::Value*> data,
               ChunkState& chunk) override;

 private:
  template <typename Finish>
  void access_scratch(const EngineAccess& at, llvm::Value* scratch, llvm::Value* size,
                      llvm::ArrayRef<llvm::Value*> data, Finish finish);
  Words access_scratch(const PreparedAccess& prepared, llvm::ArrayRef<llvm::Value*> data, ChunkState& chunk);
  llvm::Value* places(const PreparedAccess& prepared, ChunkState& chunk);
  Done call_access_scratch(const EngineAccess& at, llvm::ArrayRef<llvm::Value*> data);
  llvm::Value* replaced_part(const semantics::MemoryAccess& access, llvm::Value* dwords, llvm::Value* value,
                             llvm::Value* shift);
  llvm::Value* loaded_part(const semantics::MemoryAccess& access, llvm::Value* dwords, llvm::Value* old,
                           llvm::Value* shift);
  llvm::Value* of_wave(size_t offset, llvm::Type* type);

  std::map<size_t, llvm::Value*> of_wave_;
};

}  // namespace Atoll::compiler

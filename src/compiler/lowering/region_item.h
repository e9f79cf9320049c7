// compiler: what a region consists of.
#pragma once

#include "compiler/analysis/affine_addresses.h"
#include "compiler/lowering/valu_lowering.h"
#include "compiler/memory/chunk_memory.h"

namespace Atoll::compiler {

/// A vector instruction, a load or store, an operation on the slices of lane masks, a matrix instruction, or a branch
/// that is left out.
struct RegionItem {
  const isa::Instruction* instruction = nullptr;
  uint64_t pc = 0;
  engine::CodeMode mode;  ///< that the wave is in
  ValuLowering::Prepared lanes;
  std::optional<ChunkMemory::Prepared> access;
  llvm::Value* whole[2] = {nullptr, nullptr};
  llvm::Value* scc = nullptr;
  bool is_vector = false;
  bool is_matrix = false;                  ///< of the whole wave, after the loop
  std::optional<unsigned> removed_branch;  ///< its number in the region
  bool exec_written = false;               ///< in the region before it
  bool is_deferred = false;                ///< a store of the whole wave, after the loop
  bool inactive_needed = false;            ///< what its results hold in lanes outside EXEC
  // Of an access whose lanes are the same distance from each other if the region begins with what AffineAddresses
  // guesses:
  std::optional<AffineAddresses::Form> address;
  int64_t stride = 0;
};

}  // namespace Atoll::compiler

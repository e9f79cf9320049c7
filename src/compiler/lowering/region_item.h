// compiler: the items of a region.
#pragma once

#include "compiler/analysis/affine_addresses.h"
#include "compiler/lowering/valu_lowering.h"
#include "compiler/memory/chunk_memory.h"

namespace Atoll::compiler {

/// A vector instruction, a load or store, an operation on mask slices, a matrix instruction, or a removed branch.
struct RegionItem {
  const isa::Instruction* instruction = nullptr;
  uint64_t pc = 0;
  engine::CodeMode mode;  ///< mode of the wave
  ValuLowering::Prepared lanes;
  std::optional<ChunkMemory::Prepared> access;
  llvm::Value* whole[2] = {nullptr, nullptr};
  llvm::Value* scc = nullptr;
  bool is_vector = false;
  bool is_matrix = false;                  ///< executed for the whole wave after the loop
  std::optional<unsigned> removed_branch;  ///< its index in the region
  bool exec_written = false;               ///< in the region before it
  bool is_deferred = false;                ///< a store executed for the whole wave after the loop
  bool inactive_needed = false;            ///< the results' inactive lanes are live
  // For an access that is strided if the region's entry rows are as AffineAddresses assumes:
  std::optional<AffineAddresses::Form> address;
  int64_t stride = 0;
};

}  // namespace Atoll::compiler

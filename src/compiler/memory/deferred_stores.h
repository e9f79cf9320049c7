// compiler: stores that a region executes after its loop for the whole wave (region.h).
//
// After the loop, a store's operands are in the wave's rows if the region does not change them after the store; the
// others are copied.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "compiler/lowering/region_item.h"

namespace Atoll::compiler {

class DeferredStores {
 public:
  /// Selects the deferred stores of `items`. `exec`: at the region's entry. The insertion point is before the loop.
  DeferredStores(Frame& frame, ChunkMemory& memory, std::span<const RegionItem> items, llvm::Value* exec);

  /// Called in the loop at the store's position.
  void come_to(const RegionItem& item, ChunkState& chunk);
  /// Returns rows that must be stored to the wave at the end of the loop.
  const VectorSet& rows() const { return rows_; }
  /// Emits the stores after the loop.
  void emit();

 private:
  struct Store {
    llvm::Value* exec;                ///< i64; if `has_own_exec`, an alloca
    bool has_own_exec;                ///< the region has changed EXEC before
    std::vector<llvm::Value*> words;  ///< rows in memory: the address and the data
  };

  /// Returns the rows that a store reads, by row_key(): the address first.
  static std::vector<unsigned> keys_of(const RegionItem& item);

  Frame& frame_;
  ChunkMemory& memory_;
  std::map<const RegionItem*, Store> stores_;
  std::vector<const RegionItem*> order_;
  std::map<unsigned, const RegionItem*> last_writes_;
  VectorSet rows_;
};

}  // namespace Atoll::compiler

// compiler: stores that a region executes after its loop, for the whole wave (region.h).
//
// After the loop, what a store needs is in rows of the wave: those that the region leaves as they are when it comes to
// the store, or copies of the others.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "compiler/lowering/region_item.h"

namespace Atoll::compiler {

class DeferredStores {
 public:
  /// Those of `items` that are deferred. `exec`: with which the region begins. The builder stands before the loop.
  DeferredStores(Frame& frame, ChunkMemory& memory, std::span<const RegionItem> items, llvm::Value* exec);

  /// Within the loop, where the item has its place.
  void come_to(const RegionItem& item, ChunkState& chunk);
  /// Rows that must be written to the wave at the loop's end.
  const VectorSet& rows() const { return rows_; }
  /// After the loop.
  void emit();

 private:
  struct Store {
    llvm::Value* exec;                ///< 64 bits; of `has_own_exec`, a local with them
    bool has_own_exec;                ///< the region has changed EXEC before
    std::vector<llvm::Value*> words;  ///< rows in memory: the address and the data
  };

  /// The rows that a store reads, by row_key(): the address first.
  static std::vector<unsigned> keys_of(const RegionItem& item);

  Frame& frame_;
  ChunkMemory& memory_;
  std::map<const RegionItem*, Store> stores_;
  std::vector<const RegionItem*> order_;
  std::map<unsigned, const RegionItem*> last_writes_;
  VectorSet rows_;
};

}  // namespace Atoll::compiler

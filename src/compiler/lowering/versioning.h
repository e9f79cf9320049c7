// compiler: loop versioning: the run-time check that selects the version of a region.
//
// AffineAddresses expresses addresses in terms of the rows at the region's entry, assuming certain strides. This code
// checks those rows once per region, and computes the addresses of lane 0. If the assumptions hold, the region needs no
// further checks of lanes' addresses, and mostly computes none.
#pragma once

#include <span>

#include "compiler/lowering/region_item.h"

namespace Atoll::compiler {

class VersionGuard {
 public:
  VersionGuard(Frame& frame, ValuLowering& lanes, ChunkMemory& memory, const AffineAddresses& strides,
               std::span<const RegionItem> items);

  /// Returns whether the check costs less than it saves, and two versions do not take too much compile time.
  bool is_worth_it() const;
  /// Returns whether a region of that many instructions, excluding address computations, is short enough.
  static bool is_short(size_t items, size_t accesses);

  /// Emits the check; returns i1. `store`: the only access from some item on, which must not change what others load
  /// for later lanes; null: none.
  llvm::Value* emit(const RegionItem* store);

  /// Returns the strided form of an access, valid if the check succeeds; null if unknown.
  const ChunkMemory::Strided* strided(size_t item) const;

 private:
  int64_t last_lane() const { return frame_.wave_size() - 1; }
  void find_slice();
  /// Executes the slice for lane 0 and records its relevant words.
  void compute_first_lane();
  void require(llvm::Value* condition);
  void require(const AffineAddresses::Condition& condition);
  void require_stride_of_row(unsigned key);
  void require_order(const RegionItem& load, const ChunkMemory::Strided& from, const RegionItem& store,
                     const ChunkMemory::Strided& to);

  /// Regions with more instructions per access gain little.
  static constexpr size_t max_items_of_an_access = 8;

  Frame& frame_;
  ValuLowering& lanes_;
  ChunkMemory& memory_;
  const AffineAddresses& strides_;
  std::span<const RegionItem> items_;
  VectorSet rows_;           ///< rows to check
  std::vector<bool> slice_;  ///< items that addresses depend on
  size_t accesses_ = 0;
  /// Distinct forms: accesses that differ only in their immediate offsets share a check.
  std::vector<const AffineAddresses::Form*> addresses_;
  std::map<std::pair<std::optional<size_t>, unsigned>, llvm::Value*>
      first_words_;  ///< by AffineAddresses::Word's place
  std::map<size_t, ChunkMemory::Strided> strided_;
  llvm::Value* outcome_ = nullptr;
};

}  // namespace Atoll::compiler

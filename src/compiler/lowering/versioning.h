// compiler: loop versioning: the run-time check of what a region begins with, on which it depends how its accesses are
// done.
//
// AffineAddresses says how addresses depend on the rows that the region begins with, if these have certain strides.
// Here the wave's rows are looked at, once for the region; and for lane 0, what makes its addresses is executed. If all
// is as it should be, the region needs no further look at any lane's address, and mostly computes none.
#pragma once

#include <span>

#include "compiler/lowering/region_item.h"

namespace Atoll::compiler {

class VersionGuard {
 public:
  VersionGuard(Frame& frame, ValuLowering& lanes, ChunkMemory& memory, const AffineAddresses& strides,
               std::span<const RegionItem> items);

  /// Whether looking costs less than it saves, and two forms of the region not too much of the host compiler's time.
  bool is_worth_it() const;
  /// Of a region of so many instructions, not counting those that compute addresses.
  static bool is_short(size_t items, size_t accesses);

  /// Emits the look; its outcome (1 bit). `store`: an item from which on there is only this one access, which must not
  /// change what the others load for later lanes; null: none.
  llvm::Value* emit(const RegionItem* store);

  /// Where the lanes' elements are, if the look finds all as it should be. Null: of this access nothing is known.
  const ChunkMemory::Strided* strided(size_t item) const;

 private:
  int64_t last_lane() const { return frame_.wave_size() - 1; }
  void find_slice();
  /// Carries the slice out for the first lanes, and notes the words of lane 0 that matter.
  void compute_first_lane();
  void require(llvm::Value* condition);
  void require(const AffineAddresses::Condition& condition);
  void require_stride_of_row(unsigned key);
  void require_order(const RegionItem& load, const ChunkMemory::Strided& from, const RegionItem& store,
                     const ChunkMemory::Strided& to);

  /// A region that does more between its accesses gains little.
  static constexpr size_t max_items_of_an_access = 8;

  Frame& frame_;
  ValuLowering& lanes_;
  ChunkMemory& memory_;
  const AffineAddresses& strides_;
  std::span<const RegionItem> items_;
  VectorSet rows_;           ///< that are looked at
  std::vector<bool> slice_;  ///< items that addresses depend on
  size_t accesses_ = 0;
  /// Different ones: accesses that differ in what the instruction adds would look at the lanes only once, too.
  std::vector<const AffineAddresses::Form*> addresses_;
  std::map<std::pair<std::optional<size_t>, unsigned>, llvm::Value*>
      first_words_;  ///< by AffineAddresses::Word's place
  std::map<size_t, ChunkMemory::Strided> strided_;
  llvm::Value* outcome_ = nullptr;
};

}  // namespace Atoll::compiler

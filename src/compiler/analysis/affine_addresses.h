// compiler: affine address analysis: which rows have the form base + stride * lane.
//
// Most addresses are affine in the lane, but code computes them per lane, in 32-bit halves with carries.
// AffineAddresses follows a region's instructions and expresses each row, and each 64-bit pair of rows, in terms of the
// rows at the region's entry. If those are affine (lane 0's value plus the lane times a stride guessed from the
// accesses), lane 0's address determines all lanes' addresses. A run-time check of those rows, once per wave, decides
// (versioning.h).
//
// Only strides are tracked. Lane 0's value is computed by the instructions themselves, so their semantics is not
// repeated here, only their effect on differences between lanes. 32- and 64-bit arithmetic modulo 2^32 or 2^64 commutes
// with these. Where a number is widened or bits are extracted, no lane may wrap around: this is a Condition, which is
// also checked.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "compiler/analysis/liveness.h"
#include "compiler/lowering/valu_lowering.h"
#include "compiler/memory/chunk_memory.h"

namespace Atoll::compiler {

class AffineAddresses {
 public:
  struct Word;
  /// No wrap-around: lane 0's low `bits` plus stride * lane fits in `bits` (unsigned, or signed if `is_signed`).
  struct Condition {
    const Word* word;
    unsigned bits;
    bool is_signed;
    friend bool operator==(const Condition&, const Condition&) = default;
  };
  /// A number as a function of the lane.
  struct Form {
    std::map<unsigned, uint64_t> multiples;  ///< its growth per unit of a row's stride, by row_key()
    VectorSet rows;                          ///< rows at the region's entry that it depends on
    VectorSet level;                         ///< those that must be uniform
    std::vector<Condition> conditions;
    friend bool operator==(const Form&, const Form&) = default;
  };
  /// The value of a row from some instruction on, or from the region's entry.
  struct Word {
    Form form;
    std::optional<size_t> item;  ///< index of the instruction; null: the region's entry, or not a row
    unsigned key = 0;
    std::optional<uint32_t> constant;
  };

  /// Handles the vector instruction with that index.
  void take(const ValuLowering::Prepared& prepared, size_t item);
  /// Marks registers as unknown.
  void forget(const LaneEffects& effects);

  /// Returns an access's address without its immediate offset; null: unknown.
  std::optional<Form> address(const ChunkMemory::Prepared& access);
  /// Assigns strides to unassigned rows so that the access has a stride that ChunkMemory supports; null: impossible.
  std::optional<int64_t> settle(const Form& form, const semantics::MemoryAccess& access);

  /// Returns the stride of a form from the assigned strides.
  int64_t stride(const Form& form) const;
  int64_t stride_of_row(unsigned key) const;

 private:
  /// A row's value as a word, and as the upper half of a 64-bit number.
  struct Content {
    const Word* word = nullptr;      ///< null: nothing is known
    std::optional<Form> pair = {};   ///< of the number
    const Word* pair_low = nullptr;  ///< the lower half
  };
  /// The carry of an addition, or borrow of a subtraction.
  struct Carry {
    const Word *a, *b, *result;
    bool subtracts;
    unsigned lane_mask_words;  ///< number of registers in a lane mask
  };
  struct Results;
  class Follower;

  const Word* new_word(Form form, std::optional<size_t> item = {}, unsigned key = 0);
  Content& content(unsigned key);
  Content source(const ValuLowering::Prepared& prepared, unsigned number, unsigned word);
  std::optional<Form> pair(const Content& low, const Content& high);
  std::optional<Form> pair_source(const ValuLowering::Prepared& prepared, unsigned number);
  Results results_of(const ValuLowering::Prepared& prepared, size_t item);

  std::deque<Word> words_;
  std::map<unsigned, Content> rows_;
  std::map<unsigned, Carry> carries_;  ///< by the first register of the mask
  std::map<unsigned, int64_t> strides_;
  VectorSet level_;
};

}  // namespace Atoll::compiler

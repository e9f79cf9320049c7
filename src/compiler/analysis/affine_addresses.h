// compiler: which rows grow by the same from each lane to the next.
//
// Addresses are mostly base + stride * lane, but code computes them for each lane, in 32-bit halves with carries
// between them. AffineAddresses follows a region's instructions and finds out how each row, and each pair of rows that
// is a 64-bit number, depends on the rows that the region begins with. If those are what they are taken to be (a number
// of lane 0, plus the lane times a stride that is guessed from the accesses), lane 0's address tells all lanes'. A look
// at those rows, once for the wave, says whether they are (versioning.h).
//
// Only strides are followed. What lane 0 has is computed by the instructions themselves, so what they do is not written
// down here again; only what they do to differences between lanes. Arithmetic of 32 and 64 bits commutes with these as
// long as it is executed modulo 2^32 or 2^64. Where a number is made wider, or bits of it are taken, none of its
// lanes may have executed of it: a Condition, to be looked at, too.
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
  /// The lowest `bits` of lane 0's word, plus the stride for each lane, stay within as many bits: of a number without a
  /// sign, or with one.
  struct Condition {
    const Word* word;
    unsigned bits;
    bool is_signed;
    friend bool operator==(const Condition&, const Condition&) = default;
  };
  /// How a number depends on the lane.
  struct Form {
    std::map<unsigned, uint64_t> multiples;  ///< how much it grows for each 1 of a row's stride, by row_key()
    VectorSet rows;                          ///< that it depends on, as they are where the region begins
    VectorSet level;                         ///< of those, that must be the same in all lanes
    std::vector<Condition> conditions;
    friend bool operator==(const Form&, const Form&) = default;
  };
  /// What a row holds from some instruction on, or from the region's beginning.
  struct Word {
    Form form;
    std::optional<size_t> item;  ///< the instruction's number; null: the region's beginning, or no row at all
    unsigned key = 0;
    std::optional<uint32_t> constant;
  };

  /// A vector instruction with that number.
  void take(const ValuLowering::Prepared& prepared, size_t item);
  /// Registers that get values of which nothing is known.
  void forget(const LaneEffects& effects);

  /// The address of an access without what the instruction adds itself; null where nothing is known.
  std::optional<Form> address(const ChunkMemory::Prepared& access);
  /// Settles the strides of rows not yet settled so that the access has one that ChunkMemory likes; null: it cannot be.
  std::optional<int64_t> settle(const Form& form, const semantics::MemoryAccess& access);

  /// By what the strides of its rows are settled to be.
  int64_t stride(const Form& form) const;
  int64_t stride_of_row(unsigned key) const;

 private:
  /// What a row holds, as a word and as the upper half of a 64-bit number.
  struct Content {
    const Word* word = nullptr;      ///< null: nothing is known
    std::optional<Form> pair = {};   ///< of the number
    const Word* pair_low = nullptr;  ///< whose lower half this is
  };
  /// That an addition carries, or a subtraction borrows.
  struct Carry {
    const Word *a, *b, *result;
    bool subtracts;
    unsigned lane_mask_words;  ///< registers that the carry's mask fills
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

// compiler: accesses in a machine that is observed by one who wants the odd ones (engine/compiled/filtered_access.h).
//
// Before each access of a chunk of lanes stands a look at whether it is ordinary: a comparison with the limits of LDS
// or scratch, or with a range of memory that is known for the place in the code. What is not goes to the engine, by a
// function that all share.
//
// For an observer of all accesses, loads are recorded instead (engine/compiled/load_records.h): each look becomes a
// record, which the code after the loop over the chunks reports.
#pragma once

#include <map>
#include <vector>

#include "compiler/lowering/frame.h"
#include "engine/compiled/filtered_access.h"
#include "engine/compiled/load_records.h"

namespace Atoll::compiler {

class InlineAccessFilter {
 public:
  /// `helper_pcs`: of the helper calls of the function that is being made, which are numbered from `first_helper`.
  InlineAccessFilter(Frame& frame, std::vector<uint64_t>& helper_pcs, uint64_t first_helper)
      : frame_(frame), helper_pcs_(helper_pcs), first_helper_(first_helper) {}
  InlineAccessFilter(const InlineAccessFilter&) = delete;
  InlineAccessFilter& operator=(const InlineAccessFilter&) = delete;

  /// Within a loop that a chunk runs as a whole: where its instructions so far are counted, 64 bits; null: in none.
  void set_clock(llvm::Value* address) { clock_ = address; }

  // Recorded loads:
  void set_records() { records_ = true; }
  bool records() const { return records_; }
  /// Begins a loop over the chunks; what is prepared once goes before `loop`.
  void begin_records(llvm::Instruction* loop) {
    loop_ = loop;
    record_count_ = 0;
  }
  /// Reports the records of the loop that the builder stands behind.
  void report_records();

  /// Of an instruction with several, which element is looked at.
  void set_element(unsigned element) { element_ = static_cast<uint8_t>(element); }

  /// The lanes of a chunk that access.
  struct Lanes {
    llvm::Value* active = nullptr;      ///< lanes
    llvm::Value* first_lane = nullptr;  ///< 32 bits
  };
  /// What they access: an element for each.
  struct Element {
    unsigned bytes = 0;
    unsigned alignment = 1;  ///< without which it is odd; a power of two
    bool writes = false;
  };

  /// In memory, at addresses of 64 bits; flat ones may be elsewhere.
  void look_at_memory(const Element& element, bool is_flat, llvm::Value* addresses, const Lanes& lanes);
  /// The same where they are the same distance from each other; `address`: the chunk's first lane's, 64 bits.
  void look_at_even(const Element& element, llvm::Value* address, int64_t stride, const Lanes& lanes);
  /// Records elements that are `stride` apart, of which the chunk's first lane's is at `address` (64 bits).
  void record_even(unsigned bytes, bool is_lds, llvm::Value* address, int64_t stride, const Lanes& lanes);
  /// Whether ordinary accesses to LDS are not just those that are inside (PassedFilter::lds_bytes).
  void set_limits_lds() { limits_lds_ = true; }
  bool limits_lds() const { return limits_lds_; }
  /// In LDS: elements at places (32 bits) from `starts` on are not inside.
  void look_at_lds(const Element& element, llvm::Value* places, llvm::Value* starts, const Lanes& lanes);
  /// In the lanes' scratch, at places of 32 bits, one for all or one for each.
  void look_at_scratch(const Element& element, llvm::Value* places, const Lanes& lanes);
  /// Of the wave, by scalar memory, at that address before it is rounded down to dwords, as that of whole dwords is.
  void look_at_scalar(unsigned bytes, llvm::Value* address);

 private:
  using Space = engine::FilteredAccessKind::Space;
  struct Range {
    llvm::Value *begin, *starts;  ///< elements that begin from begin + starts on are not inside
  };

  llvm::IRBuilder<>& ir() { return frame_.ir; }
  llvm::Value* splat(llvm::Value* value) { return ir().CreateVectorSplat(semantics::chunk_lanes, value); }
  llvm::Value* any(llvm::Value* lanes) {
    return ir().CreateICmpNE(ir().CreateBitCast(lanes, frame_.i16()), ir().getInt16(0));
  }
  /// Places of 32 bits as addresses.
  llvm::Value* extended(llvm::Value* places) {
    return ir().CreateZExt(places, llvm::FixedVectorType::get(frame_.i64(), semantics::chunk_lanes));
  }
  /// Lanes whose addresses are not aligned.
  llvm::Value* misaligned(llvm::Value* addresses, unsigned alignment);
  uint8_t range_number(bool writes);
  Range range(uint8_t number, uint64_t bytes);
  /// Where `is_odd` (an i1), has the engine look at the access: at `addresses()`, 16 x i64.
  template <typename MakeAddresses>
  void report(llvm::Value* is_odd, engine::FilteredAccessKind kind, const Lanes& lanes, const MakeAddresses& addresses);
  llvm::Function* reporter();
  uint64_t helper();
  llvm::Value* record(uint64_t offset, uint32_t number);
  uint32_t add_record(engine::FilteredAccessKind kind, uint32_t flags, const Lanes& lanes);
  void record_lanes(engine::FilteredAccessKind kind, llvm::Value* addresses, const Lanes& lanes);
  void report_scalar(engine::FilteredAccessKind kind, llvm::Value* address);

  Frame& frame_;
  std::vector<uint64_t>& helper_pcs_;
  const uint64_t first_helper_;
  std::map<uint64_t, uint64_t> helpers_;  ///< by PC
  unsigned ranges_ = 0;
  uint8_t element_ = 0;
  llvm::Value* clock_ = nullptr;
  bool limits_lds_ = false;
  bool records_ = false;
  llvm::Instruction* loop_ = nullptr;
  uint32_t record_count_ = 0;  ///< of the loop that is being made
};

}  // namespace Atoll::compiler

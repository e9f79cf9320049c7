// compiler: the inline access filter, for observers of slow-path accesses (engine/compiled/filtered_access.h).
//
// Before each access of a chunk, code checks whether it is ordinary: a comparison with the limits of LDS or scratch, or
// with a memory range cached for this place in the code. Other accesses call the engine through a shared function.
//
// For an observer of all accesses, loads are recorded instead (engine/compiled/load_records.h): each check becomes a
// record, which the code after the chunk loop reports.
#pragma once

#include <map>
#include <vector>

#include "compiler/lowering/frame.h"
#include "engine/compiled/filtered_access.h"
#include "engine/compiled/load_records.h"

namespace Atoll::compiler {

class InlineAccessFilter {
 public:
  /// `helper_pcs`: helper calls of the current function, numbered from `first_helper`.
  InlineAccessFilter(Frame& frame, std::vector<uint64_t>& helper_pcs, uint64_t first_helper)
      : frame_(frame), helper_pcs_(helper_pcs), first_helper_(first_helper) {}
  InlineAccessFilter(const InlineAccessFilter&) = delete;
  InlineAccessFilter& operator=(const InlineAccessFilter&) = delete;

  /// Sets where a loop region counts the chunk's instructions, i64; null: not in a loop region.
  void set_clock(llvm::Value* address) { clock_ = address; }

  // Record loads instead of filtering:
  void set_records() { records_ = true; }
  bool records() const { return records_; }
  /// Starts a chunk loop; preparations are inserted before `loop`.
  void begin_records(llvm::Instruction* loop) {
    loop_ = loop;
    record_count_ = 0;
  }
  /// Reports the records of the loop before the insertion point.
  void report_records();

  /// Sets the element to check, for instructions with several.
  void set_element(unsigned element) { element_ = static_cast<uint8_t>(element); }

  /// The accessing lanes of a chunk.
  struct Lanes {
    llvm::Value* active = nullptr;      ///< lanes
    llvm::Value* first_lane = nullptr;  ///< 32 bits
  };
  /// The elements that they access, one per lane.
  struct Element {
    unsigned bytes = 0;
    unsigned alignment = 1;  ///< required alignment, a power of two
    bool writes = false;
  };

  /// Checks memory accesses at i64 addresses; flat ones may be outside memory.
  void look_at_memory(const Element& element, bool is_flat, llvm::Value* addresses, const Lanes& lanes);
  /// Checks strided accesses; `address`: that of the chunk's first lane, i64.
  void look_at_even(const Element& element, llvm::Value* address, int64_t stride, const Lanes& lanes);
  /// Records elements that are `stride` apart, starting at `address` (i64).
  void record_even(unsigned bytes, bool is_lds, llvm::Value* address, int64_t stride, const Lanes& lanes);
  /// Filters LDS accesses by PassedFilter::lds_bytes instead of only by bounds.
  void set_limits_lds() { limits_lds_ = true; }
  bool limits_lds() const { return limits_lds_; }
  /// Checks LDS accesses: elements at i32 offsets from `starts` on are out of bounds.
  void look_at_lds(const Element& element, llvm::Value* places, llvm::Value* starts, const Lanes& lanes);
  /// Checks scratch accesses at i32 private addresses, one for all lanes or one each.
  void look_at_scratch(const Element& element, llvm::Value* places, const Lanes& lanes);
  /// Checks a scalar access of the wave, before its address is rounded down to dwords.
  void look_at_scalar(unsigned bytes, llvm::Value* address);

 private:
  using Space = engine::FilteredAccessKind::Space;
  struct Range {
    llvm::Value *begin, *starts;  ///< elements from begin + starts on are out of bounds
  };

  llvm::IRBuilder<>& ir() { return frame_.ir; }
  llvm::Value* splat(llvm::Value* value) { return ir().CreateVectorSplat(semantics::chunk_lanes, value); }
  llvm::Value* any(llvm::Value* lanes) {
    return ir().CreateICmpNE(ir().CreateBitCast(lanes, frame_.i16()), ir().getInt16(0));
  }
  /// Extends i32 offsets to addresses.
  llvm::Value* extended(llvm::Value* places) {
    return ir().CreateZExt(places, llvm::FixedVectorType::get(frame_.i64(), semantics::chunk_lanes));
  }
  /// Returns the lanes with misaligned addresses.
  llvm::Value* misaligned(llvm::Value* addresses, unsigned alignment);
  uint8_t range_number(bool writes);
  Range range(uint8_t number, uint64_t bytes);
  /// If `is_odd` (i1), calls the engine for the access at `addresses()`, 16 x i64.
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
  uint32_t record_count_ = 0;  ///< in the current loop
};

}  // namespace Atoll::compiler

// machine: the registers with which a wave starts.
// Source: user guide, "Initial Kernel Execution State", "Flat Scratch", "Private Segment Buffer".
#pragma once

#include <cstdint>
#include <vector>

#include "machine/engine.h"
#include "machine/wave/dispatch.h"
#include "machine/wave/wave.h"
#include "semantics/lanes/lanes.h"
#include "target/target.h"

namespace Atoll::machine {

/// The memory of a work-group beside its registers. Registers that the kernel names and LDS are zeroed when a wave or
/// work-group begins, so that runs repeat exactly even where a program reads what it never wrote (registers of which
/// the engine knows that this does not happen are left alone); scratch keeps whatever was in it, as on hardware.
struct WorkGroupStorage {
  uint8_t* lds;                     ///< LaunchState::lds_bytes, 64-byte aligned
  uint8_t* scratch;                 ///< scratch_bytes_per_wave for each wave of a whole work-group
  uint8_t* global_table = nullptr;  ///< PAL's, global_table_bytes; null: no register has its address
};

/// Size of PAL's global table, and where in it the scratch resource of compute shaders is (LLVM 22,
/// SIFrameLowering.cpp). The rest is the driver's own.
inline constexpr uint64_t global_table_bytes = 256, compute_scratch_in_table = 16;

/// With what the waves of a dispatch begin, as far as it is the same for all of them: worked out once for the
/// work-groups that live in one storage, one after another.
class InitialState {
 public:
  /// `dispatch` and the storage must stay until the last wave has begun.
  void prepare(Dispatch& dispatch, const WorkGroupStorage& storage, Engine& engine);

  /// Makes `group` work-group number `index` of the dispatch, x running fastest, or cluster after cluster. None of its
  /// waves has begun.
  void begin_work_group(WorkGroup& group, uint64_t index);

  /// Makes the group's next wave ready at the entry, its registers in `rows`: rows_of_a_wave() of them.
  Wave& begin_wave(WorkGroup& group, Row* rows);

  /// Returns whether a WaveBatch describes the waves of a work-group completely.
  bool is_series() const { return is_series_; }
  /// Fills `series` with the waves that have not begun of the work-group that began last.
  void describe(const WorkGroup& group, WaveBatch& series) const;

 private:
  void write_scalars();
  void place_in_grid(WorkGroup& group, uint64_t index);
  void place_in_cluster(WorkGroup& group, uint64_t index);
  void write_ids_to_ttmps(const uint32_t (&id)[3]);
  uint32_t lanes_of(uint32_t wave) const;
  void set_size(WorkGroup& group);
  uint64_t first_exec(uint32_t wave) const;
  void write_work_item_ids(Row* rows, uint32_t wave) const;
  void keep_ids();
  void note_needed(const LiveInRegisters* needed);

  static constexpr uint8_t none = 0xFF;

  Dispatch* dispatch_ = nullptr;
  const LaunchState* launch_ = nullptr;
  WorkGroupStorage storage_{};
  Wave start_{};  ///< registers as far as the waves of a work-group share them
  // SGPRs that differ between work-groups or waves, where the kernel has them.
  uint8_t work_group_id_[3]{}, work_group_info_ = none, scratch_offset_ = none;
  std::vector<uint16_t> cleared_rows_;  ///< after those with work-item ids; by isa::VectorSet's numbers
  bool has_named_barriers_ = false;     ///< GFX12.5
  uint32_t scalar_blocks_ = 0;          ///< so many of Wave::scalar matter
  bool is_series_ = false;
  uint64_t next_index_ = 0;         ///< after the work-group that began last
  bool has_partial_ = false;        ///< whether the grid's edge makes some work-groups smaller
  uint32_t size_[3]{}, items_ = 0;  ///< of the work-group that began last
  /// With what v0 to v2 begin in each wave of a work-group of this size, wave size and number of ids.
  struct Ids {
    uint32_t wanted[5]{};
    std::vector<FirstRows> rows;
  };
  Ids whole_, partial_;       ///< of a whole work-group, and of one that the grid's edge makes smaller
  const Ids* ids_ = &whole_;  ///< of the work-group that began last
};

/// The work-item id of a lane of a wave, in its work-group.
void work_item_of(const WorkGroup& group, uint32_t wave, uint32_t lane, uint32_t (&id)[3]);

/// The scratch buffer resource (V#) of GFX9 and GFX10: swizzled by dwords for the lanes of a wave, lane id added (user
/// guide, "Private Segment Buffer"; ISA guide, "Buffer Resource Descriptor").
void scratch_resource(const target::Target& target, uint64_t base, uint64_t bytes, uint32_t (&resource)[4]);

}  // namespace Atoll::machine

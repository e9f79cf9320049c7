// machine: what the waves of a launch start with, as data.
//
// Operating systems' ABIs describe a launch differently: HSA by a kernel descriptor and an AQL packet, PAL by registers
// and user data in metadata. One function for each ABI (hsa_launch.h) translates its description to a LaunchState,
// checked against the GPU. Scheduler, engines, checkers, fault reports and core files read nothing else.
//
// The SGPRs are a program: a list of registers with the source of each value, in order. So an ABI can place any value
// in any register, and initial_state.h needs no rule of an ABI.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "isa/instruction.h"
#include "machine/memory/address_range.h"
#include "machine/wave/cluster.h"
#include "semantics/registry.h"
#include "support/error.h"
#include "target/product.h"

namespace Atoll::machine {

class LoadedCode;

/// One scalar register that a wave starts with.
struct InitialScalar {
  enum class Source : uint8_t {
    literal,           ///< `literal`, the same for all waves
    scratch_resource,  ///< dword `part` of the buffer resource of the work-group's scratch
    scratch_address,   ///< dword `part` of the address of the work-group's scratch
    global_table,      ///< dword `part` of the address of the global table, one for each resident work-group
    work_group_id,     ///< in dimension `part`
    work_group_info,   ///< bit 31: first wave; bits 5:0: number of waves in the work-group
    scratch_offset,    ///< byte offset of the wave's scratch in the work-group's
  };
  Source source = Source::literal;
  uint8_t part = 0;
  uint8_t reg = 0;  ///< isa::scalar number
  uint32_t literal = 0;
};

/// The scalar registers that a wave starts with, in the order in which they are written.
class InitialScalars {
 public:
  static constexpr unsigned capacity = 64;  ///< more than any ABI's user and system SGPRs

  void add(const InitialScalar& scalar) {
    if (count_ < capacity) list_[count_++] = scalar;
  }
  std::span<const InitialScalar> list() const { return std::span(list_).first(count_); }
  bool has(InitialScalar::Source source) const {
    return std::ranges::find(list(), source, &InitialScalar::source) != list().end();
  }

 private:
  std::array<InitialScalar, capacity> list_{};
  unsigned count_ = 0;
};

/// A block of guest memory.
struct GuestBlock {
  uint64_t address = 0, size = 0;
};

struct LaunchState {
  // Code.
  std::shared_ptr<const LoadedCode> code;  ///< kept loaded while it runs
  uint64_t entry = 0;                      ///< address of the first instruction

  // Registers.
  uint32_t wave_size = 64;
  uint16_t sgprs = 0, vgprs = 0, agprs = 0;   ///< of a wave as it begins
  uint16_t max_vgprs = 0;                     ///< that a wave may allocate: `vgprs`, unless they are dynamic
  bool has_dynamic_vgprs = false;             ///< waves allocate VGPRs themselves (s_alloc_vgpr)
  uint16_t named_vgprs = 0, named_agprs = 0;  ///< of those allocated, the first so many are all that the code names
  uint32_t mode = 0;                          ///< the MODE register
  bool watches_exceptions = false;            ///< enables floating-point exceptions, or its code can read them
  InitialScalars scalars;
  unsigned defined_sgprs = 0;                ///< SGPRs from s0 on that the ABI defines
  uint8_t work_item_ids = 0;                 ///< 0: x, 1: x and y, 2: x, y and z
  bool has_packed_work_item_ids = false;     ///< all of them in v0
  bool has_work_group_ids_in_ttmps = false;  ///< and the wave's number (wave_number_register)
  bool has_flat_scratch = false;             ///< FLAT_SCRATCH is the address of the wave's scratch
  /// Registers from v0 on that begin with work-item ids.
  unsigned work_item_id_rows() const { return has_packed_work_item_ids ? 1 : 1U + work_item_ids; }

  // Where the waves of a work-group run.
  bool is_wgp_mode = false;         ///< on both CUs of a WGP (GFX10 to GFX11.5)
  bool splits_work_groups = false;  ///< on several CUs (TG_SPLIT)

  // Memory.
  uint32_t lds_bytes = 0;                ///< of a work-group, static and dynamic
  uint32_t static_lds_bytes = 0;         ///< of them, those of the code's own variables
  uint32_t requested_scratch_bytes = 0;  ///< of a work-item, before rounding
  uint32_t scratch_bytes_per_lane = 0;   ///< the same in whole rows
  uint32_t scratch_bytes_per_wave = 0;
  GuestBlock arguments;    ///< the kernarg segment
  GuestBlock packet;       ///< the memory that the dispatch pointer refers to; size 0: no such memory
  AddressBounds bounds{};  ///< of the memory that it may touch

  // Geometry.
  std::array<uint32_t, 3> grid_size{};        ///< in work-items
  std::array<uint32_t, 3> work_group_size{};  ///< work-items of a whole work-group
  std::array<uint32_t, 3> work_groups{};      ///< the grid in work-groups, partial ones included
  uint64_t work_group_count = 0;              ///< their product
  std::optional<Clusters> clusters;           ///< GFX12.5; not set: work-groups are on their own
  uint64_t max_resident = 1;                  ///< work-groups that may have begun and not ended at the same time
};

/// Waves of a whole work-group, and the register rows that they need together.
uint32_t waves_needed(const LaunchState& launch);
uint64_t rows_needed(const LaunchState& launch, const target::Processor& processor);
/// VGPRs and AGPRs of one wave.
uint32_t rows_of_a_wave(const LaunchState& launch);

/// Sets the geometry. Errors: invalid_argument when a work-group is larger than the GPU's, incompatible when the
/// work-groups cannot be counted. `name` is the kernel's, for messages.
support::Result<void> set_geometry(LaunchState& launch, const std::array<uint32_t, 3>& grid,
                                   const std::array<uint32_t, 3>& work_group, std::string_view name);

/// Sets the scratch of a work-item: `bytes`, and `allocated_bytes` (at least as many) that it gets. The wave size must
/// be set. Error: out_of_resources.
support::Result<void> set_scratch(LaunchState& launch, uint32_t bytes, uint64_t allocated_bytes,
                                  const target::Processor& processor, std::string_view name);

/// Sets the LDS of a work-group: `bytes`, of them `static_bytes` for variables. Error: out_of_resources.
support::Result<void> set_lds(LaunchState& launch, uint32_t static_bytes, uint32_t bytes,
                              const target::Processor& processor, std::string_view name);

/// Derives max_resident and the clusters (`cluster_size` work-groups each) from geometry and wave size. Error: the grid
/// cannot be divided into such clusters, or the GPU cannot run one.
support::Result<void> set_residency(LaunchState& launch, const std::optional<std::array<uint32_t, 3>>& cluster_size,
                                    const target::GpuModel& model, std::string_view name);

}  // namespace Atoll::machine

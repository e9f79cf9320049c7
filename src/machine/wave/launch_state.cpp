// machine: derives geometry and sizes of a launch and checks them against the GPU.
#include "machine/wave/launch_state.h"

#include <algorithm>
#include <string>

#include "machine/wave/limits.h"
#include "machine/wave/scalar_writer.h"
#include "machine/wave/wave.h"

namespace Atoll::machine {

using support::ErrorKind;
using support::fail;

namespace {

/// A wave's scratch is a multiple of this many bytes. No generation's COMPUTE_TMPRING_SIZE.WAVESIZE has a larger unit.
constexpr uint64_t scratch_granule = 1024;

constexpr std::string_view dimension_names[3] = {"x", "y", "z"};

}  // namespace

uint32_t waves_needed(const LaunchState& launch) {
  const uint32_t items = launch.work_group_size[0] * launch.work_group_size[1] * launch.work_group_size[2];
  return (items + launch.wave_size - 1) / launch.wave_size;
}

uint32_t rows_of_a_wave(const LaunchState& launch) { return uint32_t{launch.max_vgprs} + launch.agprs; }

uint64_t rows_needed(const LaunchState& launch, const target::Processor& processor) {
  // A program may name registers that its wave has not. They are then a neighbour's, or after the last wave's, where
  // there must be rows for all that an instruction can name.
  const uint64_t nameable = std::max<uint64_t>(256 + 256, processor.addressable_vgprs);
  return uint64_t{waves_needed(launch)} * rows_of_a_wave(launch) + nameable;
}

support::Result<void> set_geometry(LaunchState& launch, const std::array<uint32_t, 3>& grid,
                                   const std::array<uint32_t, 3>& work_group, std::string_view name) {
  launch.grid_size = grid;
  launch.work_group_size = work_group;
  launch.work_group_count = 1;
  uint64_t group_size = 1;
  for (unsigned d = 0; d < 3; ++d) {
    launch.work_groups[d] = static_cast<uint32_t>((uint64_t{grid[d]} + work_group[d] - 1) / work_group[d]);
    group_size *= work_group[d];
    if (__builtin_mul_overflow(launch.work_group_count, launch.work_groups[d], &launch.work_group_count)) {
      return fail(ErrorKind::incompatible, "the grid of {} x {} x {} has more work-groups than can be counted", grid[0],
                  grid[1], grid[2]);
    }
  }
  // The most that a kernel was compiled for is the compiler's affair: no GPU checks it, and HIP 6.4 launches kernels of
  // its own with more.
  if (group_size > max_work_group_size) {
    return fail(ErrorKind::invalid_argument,
                "kernel '{}' is launched with work-groups of {} x {} x {}; a GPU has at most {} work-items in one",
                name, work_group[0], work_group[1], work_group[2], max_work_group_size);
  }
  return {};
}

support::Result<void> set_scratch(LaunchState& launch, uint32_t bytes, uint64_t allocated_bytes,
                                  const target::Processor& processor, std::string_view name) {
  const uint64_t per_lane = (allocated_bytes + 3) / 4 * 4;
  const uint64_t per_wave = (per_lane * launch.wave_size + scratch_granule - 1) / scratch_granule * scratch_granule;
  const uint64_t most = processor.scratch_bytes_per_wave;
  if (per_wave > most) {
    return fail(ErrorKind::out_of_resources,
                "kernel '{}' needs {} bytes of scratch for each work-item; a GPU has at most {}", name, per_lane,
                most / launch.wave_size);
  }
  launch.requested_scratch_bytes = bytes;
  launch.scratch_bytes_per_lane = static_cast<uint32_t>(per_lane);
  launch.scratch_bytes_per_wave = static_cast<uint32_t>(per_wave);
  return {};
}

support::Result<void> set_lds(LaunchState& launch, uint32_t static_bytes, uint32_t bytes,
                              const target::Processor& processor, std::string_view name) {
  launch.static_lds_bytes = static_bytes;
  launch.lds_bytes = std::max(bytes, static_bytes);
  if (launch.lds_bytes > processor.lds_bytes) {
    return fail(ErrorKind::out_of_resources, "kernel '{}' is launched with {} bytes of LDS; {} has {} for a work-group",
                name, launch.lds_bytes, processor.name, processor.lds_bytes);
  }
  return {};
}

namespace {

/// The grid has to be one of whole clusters, and all work-groups of one have to fit the GPU, as they may wait for each
/// other.
support::Result<void> set_clusters(LaunchState& launch, const std::array<uint32_t, 3>& wanted,
                                   const target::Processor& processor, std::string_view name) {
  const unsigned x = wanted[0], y = wanted[1], z = wanted[2];
  const auto refuse = [&](ErrorKind kind, const std::string& why) {
    return fail(kind, "kernel '{}' is for clusters of {} x {} x {} work-groups; {}", name, x, y, z, why);
  };
  if (processor.generation < target::Generation::gfx12_5) {
    return refuse(ErrorKind::unsupported, fmt::format("{} has none", processor.name));
  }
  if (std::ranges::find(wanted, 0u) != wanted.end() || uint64_t{x} * y > max_work_groups_of_cluster ||
      uint64_t{x} * y * z > max_work_groups_of_cluster) {
    return refuse(ErrorKind::out_of_resources, fmt::format("a cluster has 1 to {}", max_work_groups_of_cluster));
  }
  Clusters clusters{.size = wanted};
  for (unsigned d = 0; d < 3; ++d) {
    if (launch.work_groups[d] % clusters.size[d] != 0) {
      return refuse(ErrorKind::invalid_argument,
                    fmt::format("a grid of {} work-groups in {} is not divided into whole ones", launch.work_groups[d],
                                dimension_names[d]));
    }
    clusters.count[d] = launch.work_groups[d] / clusters.size[d];
  }
  if (clusters.work_groups() > launch.max_resident) {
    return refuse(ErrorKind::out_of_resources,
                  fmt::format("{} of its work-groups fit on the GPU", launch.max_resident));
  }
  launch.clusters = clusters;
  return {};
}

}  // namespace

support::Result<void> set_residency(LaunchState& launch, const std::optional<std::array<uint32_t, 3>>& cluster_size,
                                    const target::GpuModel& model, std::string_view name) {
  const target::Processor& processor = *model.target.processor;
  // As many work-groups begin before others end as the GPU has wave slots for: a cooperative launch counts on that,
  // and no program can count on more.
  const uint32_t wave_slots = uint32_t{processor.simds_per_cu} * processor.waves_per_simd;
  launch.max_resident =
      uint64_t{std::max(1u, model.product.compute_units)} * std::max(1u, wave_slots / waves_needed(launch));
  return cluster_size ? set_clusters(launch, *cluster_size, processor, name) : support::Result<void>();
}

void set_registers(LaunchState& launch, const object::KernelDescriptor& descriptor,
                   const target::Processor& processor) {
  launch.sgprs = descriptor.sgprs;
  launch.max_vgprs = launch.named_vgprs = descriptor.vgprs;
  launch.vgprs = descriptor.dynamic_vgprs ? uint16_t{dynamic_vgpr_block} : descriptor.vgprs;
  launch.has_dynamic_vgprs = descriptor.dynamic_vgprs;
  launch.agprs = launch.named_agprs = descriptor.agprs;
  launch.mode = descriptor.mode;
  launch.work_item_ids = descriptor.work_item_ids;
  launch.has_packed_work_item_ids = processor.packed_work_item_ids;
  launch.is_wgp_mode = descriptor.wgp_mode;
}

void add_system_sgprs(LaunchState& launch, const object::KernelDescriptor& descriptor, unsigned user_sgprs,
                      const target::Processor& processor) {
  using enum InitialScalar::Source;
  launch.has_work_group_ids_in_ttmps = processor.architected_work_group_ids;
  launch.has_flat_scratch = descriptor.private_segment && processor.flat_scratch == target::FlatScratch::architected;
  ScalarWriter system(launch.scalars);
  system.skip_to(user_sgprs);
  system.limit(descriptor.sgprs);
  const bool ids[3] = {descriptor.work_group_id_x, descriptor.work_group_id_y, descriptor.work_group_id_z};
  for (unsigned d = 0; d < 3; ++d)
    if (ids[d] && !launch.has_work_group_ids_in_ttmps) system.add(work_group_id, d);
  if (descriptor.work_group_info) system.add(work_group_info);
  if (descriptor.private_segment && processor.flat_scratch != target::FlatScratch::architected) {
    system.add(scratch_offset);
  }
  launch.defined_sgprs = system.next();
}

}  // namespace Atoll::machine

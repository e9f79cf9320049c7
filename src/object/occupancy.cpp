// object: occupancy (occupancy.h).
#include "object/occupancy.h"

#include <algorithm>

#include "object/register_usage.h"

namespace Atoll::object {

namespace {

/// Work-groups of more than one wave need a barrier each, of which there are so many for a compute unit.
constexpr uint32_t barriers_per_cu = 16;

constexpr uint32_t divided_up(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

/// Returns how many waves' SGPRs fit in a SIMD where waves allocate them (until GFX9). ROCm's trap handler takes 16 of
/// each wave, too (measured on gfx942: ROCm/rocm-systems#10618; LLVM 23 counts them, LLVM 22 does not).
uint32_t waves_by_sgprs(uint32_t sgprs, const target::Processor& processor, uint32_t most) {
  if (processor.fixed_sgprs || sgprs == 0) return most;
  constexpr uint32_t of_trap_handler = 16;
  const bool is_old = processor.generation < target::Generation::gfx8;
  const uint32_t granule = is_old ? 8 : 16, there_are = is_old ? 512 : 800;
  return std::clamp(there_are / (divided_up(sgprs, granule) * granule + of_trap_handler), 1u, most);
}

}  // namespace

Occupancy occupancy_of(const KernelResources& kernel, const target::Processor& processor) {
  const uint32_t units = kernel.wgp_mode ? 2 : 1;
  const uint32_t simds = processor.simds_per_cu * units, most = processor.waves_per_simd;
  const uint32_t narrow = kernel.wave32 ? 2 : 1;  // a register of 32 lanes is half of one of 64
  const VgprFile file{.max_waves = most,
                      .vgpr_granule = processor.vgpr_allocation_granule * narrow,
                      .vgprs_there_are = processor.simd_vgprs * narrow};

  const uint32_t waves_per_group = std::max(1u, divided_up(kernel.work_group_size, kernel.wave32 ? 32 : 64));
  const uint32_t by_waves = most * simds / waves_per_group;
  const uint32_t groups = waves_per_group == 1 ? by_waves : std::min(by_waves, barriers_per_cu * units);
  const auto waves_of = [&](uint32_t work_groups) {
    return std::clamp(divided_up(std::min(groups, work_groups) * waves_per_group, simds), 1u, most);
  };
  const uint32_t groups_by_lds = processor.lds_bytes * units / std::max(kernel.lds_bytes, 1u);

  Occupancy result{.waves = most, .out_of = most, .limits = {}};
  result.limits = {{"VGPRs", occupancy(file, processor, most, 0, kernel.vgprs)},
                   {"SGPRs", waves_by_sgprs(kernel.sgprs, processor, most)},
                   {"LDS", kernel.lds_bytes == 0 ? most : waves_of(groups_by_lds)},
                   {"work-groups", waves_of(UINT32_MAX)}};
  for (const OccupancyLimit& limit : result.limits) result.waves = std::min(result.waves, limit.waves);
  return result;
}

}  // namespace Atoll::object

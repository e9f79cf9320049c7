// object: register usage (register_usage.h).
#include "object/register_usage.h"

#include <algorithm>

#include "support/bytes.h"

namespace Atoll::object {

namespace {

using target::Generation;

/// The most SGPRs of a wave with which so many waves fit on a SIMD: 800 SGPRs from GFX8 on, 512 before.
struct SgprLimit {
  uint32_t sgprs, waves;
};
constexpr SgprLimit gfx6_limits[] = {{48, 10}, {56, 9}, {64, 8}, {72, 7}, {80, 6}, {UINT32_MAX, 5}};
constexpr SgprLimit gfx8_limits[] = {{80, 10}, {88, 9}, {100, 8}, {UINT32_MAX, 7}};

}  // namespace

uint32_t extra_sgprs(const target::Processor& processor, bool vcc, bool flat_scratch, bool xnack_mask) {
  const uint32_t with_vcc = vcc ? 2 : 0;
  if (processor.fixed_sgprs) return with_vcc;
  if (processor.generation < Generation::gfx8) return flat_scratch ? 4 : with_vcc;
  if (flat_scratch || processor.flat_scratch == target::FlatScratch::architected) return 6;
  return xnack_mask ? 4 : with_vcc;
}

uint32_t total_vgprs(const target::Processor& processor, uint32_t vgprs, uint32_t agprs) {
  if (!processor.unified_vgprs) return std::max(vgprs, agprs);
  return agprs == 0 ? vgprs : static_cast<uint32_t>(support::align_up(vgprs, 4)) + agprs;
}

uint32_t occupancy(const VgprFile& file, const target::Processor& processor, uint32_t waves, uint32_t sgprs,
                   uint32_t vgprs) {
  if (sgprs != 0 && processor.fixed_sgprs) waves = std::min(waves, file.max_waves);
  if (sgprs != 0 && !processor.fixed_sgprs) {
    const bool old = processor.generation < Generation::gfx8;
    for (const SgprLimit* limit = old ? gfx6_limits : gfx8_limits;; ++limit) {
      if (sgprs > limit->sgprs) continue;
      waves = std::min(waves, limit->waves);
      break;
    }
  }
  if (vgprs >= file.vgpr_granule) {
    const auto taken = (vgprs + file.vgpr_granule - 1) / file.vgpr_granule * file.vgpr_granule;
    waves = std::min({waves, file.max_waves, std::max(file.vgprs_there_are / taken, 1u)});
  } else if (vgprs != 0) {
    waves = std::min(waves, file.max_waves);
  }
  return waves;
}

}  // namespace Atoll::object

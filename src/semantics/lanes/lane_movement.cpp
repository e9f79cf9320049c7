// semantics: lane maps (lane_movement.h).
//
// The controls follow the ISA guides: Vega and CDNA for the ones of GFX8 and GFX9, RDNA for what came with GFX10.
#include "semantics/lanes/lane_movement.h"

#include <bit>
#include <cstring>

namespace Atoll::semantics {

namespace {

constexpr unsigned row_lanes = 16;  // DPP's "row"
constexpr unsigned bank_lanes = 4;  // and "bank"

/// Maps each lane to its source lane by a function; negative values mean no source lane.
template <typename Source>
LaneMap make_map(Source source) {
  LaneMap map{};
  for (int lane = 0; lane < static_cast<int>(wave_lanes); ++lane) {
    const int from = source(lane);
    if (from >= 0) map.in_range |= uint64_t{1} << lane;
    map.from[lane] = static_cast<uint8_t>(from >= 0 ? from : lane);
  }
  return map;
}

int row_of(int lane) { return lane & ~15; }
int in_row(int lane) { return lane & 15; }

std::optional<LaneMap> dpp16_map(uint32_t control) {
  const int amount = static_cast<int>(control & 15);
  if (control <= 0xFF) {  // quad_perm
    return make_map([=](int lane) { return (lane & ~3) | static_cast<int>(control >> (2 * (lane & 3)) & 3); });
  }
  switch (control & 0x1F0) {
    case 0x100:  // row_shl
      if (amount == 0) return {};
      return make_map([=](int lane) { return in_row(lane) + amount < 16 ? lane + amount : -1; });
    case 0x110:  // row_shr
      if (amount == 0) return {};
      return make_map([=](int lane) { return in_row(lane) >= amount ? lane - amount : -1; });
    case 0x120:  // row_ror
      if (amount == 0) return {};
      return make_map([=](int lane) { return row_of(lane) | in_row(lane - amount); });
    case 0x150:  // row_newbcast, row_share
      return make_map([=](int lane) { return row_of(lane) | amount; });
    case 0x160:  // row_xmask
      return make_map([=](int lane) { return lane ^ amount; });
    default:
      break;
  }
  switch (control) {
    case 0x130:  // wave_shl:1
      return make_map([](int lane) { return lane < 63 ? lane + 1 : -1; });
    case 0x134:  // wave_rol:1
      return make_map([](int lane) { return (lane + 1) & 63; });
    case 0x138:  // wave_shr:1
      return make_map([](int lane) { return lane - 1; });
    case 0x13C:  // wave_ror:1
      return make_map([](int lane) { return (lane - 1) & 63; });
    case 0x140:  // row_mirror
      return make_map([](int lane) { return lane ^ 15; });
    case 0x141:  // row_half_mirror
      return make_map([](int lane) { return lane ^ 7; });
    // Lanes that no row is before read themselves: it is no source out of range, which bound_ctrl would be about. So
    // rocWMMA's tests of both expect, which pass on GPUs.
    case 0x142:  // row_bcast:15, the last lane of each row to all of the next
      return make_map([](int lane) { return lane > 15 ? row_of(lane) - 1 : lane; });
    case 0x143:  // row_bcast:31, lane 31 to the upper half
      return make_map([](int lane) { return lane > 31 ? 31 : lane; });
    default:
      return {};
  }
}

/// The lanes that row_mask (a bit per row) and bank_mask (a bit per bank, the same in each row) enable.
uint64_t enabled_lanes(unsigned row_mask, unsigned bank_mask) {
  uint64_t lanes = 0;
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    const bool row = row_mask >> (lane / row_lanes) & 1;
    const bool bank = bank_mask >> (lane % row_lanes / bank_lanes) & 1;
    if (row && bank) lanes |= uint64_t{1} << lane;
  }
  return lanes;
}

}  // namespace

std::optional<DppMove> dpp_move(isa::Extension extension, const isa::Dpp& dpp) {
  if (extension == isa::Extension::dpp8) {
    // Lane n of each eight reads lane control[3n+2:3n] of it; inactive lanes give 0.
    return DppMove{
        .map = make_map([&](int lane) { return (lane & ~7) | static_cast<int>(dpp.control >> (3 * (lane & 7)) & 7); }),
        .enabled = ~uint64_t{0},
        .zero_invalid = true,
        .fetch_inactive = dpp.fetch_inactive};
  }
  if (extension != isa::Extension::dpp16) return {};
  const std::optional<LaneMap> map = dpp16_map(dpp.control);
  if (!map) return {};
  return DppMove{.map = *map,
                 .enabled = enabled_lanes(dpp.row_mask, dpp.bank_mask),
                 .zero_invalid = dpp.bound_ctrl,
                 .fetch_inactive = dpp.fetch_inactive};
}

LaneMap swizzle_map(uint16_t offset) {
  // Every mode works within halves of 32 lanes or less. The offset's top bits select the mode.
  const int mask = offset & 31;
  if (offset >= 0xE000) {
    // FFT order: the lane's bits reversed, except for those in the mask, which stay.
    return make_map([=](int lane) {
      const int reversed = static_cast<int>(__builtin_bitreverse32(static_cast<uint32_t>(lane & 31)) >> 27);
      const int kept = std::popcount(static_cast<unsigned>(mask));
      return (lane & 32) | reversed >> kept | (lane & mask);
    });
  }
  if (offset >= 0xC000) {
    // Rotation among the lanes that agree in the mask's bits; bit 10 turns it round.
    const int amount = (offset & 0x400) != 0 ? -(offset >> 5 & 31) : offset >> 5 & 31;
    return make_map([=](int lane) { return (lane & 32) | (lane & mask) | ((lane + amount) & ~mask & 31); });
  }
  if (offset >= 0x8000) {  // quad permute
    return make_map([=](int lane) { return (lane & ~3) | (offset >> (2 * (lane & 3)) & 3); });
  }
  const int or_mask = offset >> 5 & 31, xor_mask = offset >> 10 & 31;
  return make_map([=](int lane) { return (lane & 32) | (((lane & mask) | or_mask) ^ xor_mask); });
}

namespace {

/// `select` of a lane: which of 16 it reads.
template <typename Select>
DppMove permlane_move(Select select, bool crossed, bool fetch_inactive, bool zero_invalid) {
  return {.map = make_map([=](int lane) {
            return (crossed ? row_of(lane) ^ static_cast<int>(row_lanes) : row_of(lane)) | (select(lane) & 15);
          }),
          .enabled = ~uint64_t{0},
          .zero_invalid = zero_invalid,
          .fetch_inactive = fetch_inactive};
}

}  // namespace

DppMove permlane16_move(uint64_t selects, bool crossed, bool fetch_inactive, bool zero_invalid) {
  return permlane_move([=](int lane) { return static_cast<int>(selects >> (4 * in_row(lane)) & 15); }, crossed,
                       fetch_inactive, zero_invalid);
}

DppMove permlane16_var_move(const Row& selects, bool crossed, bool fetch_inactive, bool zero_invalid) {
  const uint32_t* select = selects;
  return permlane_move([=](int lane) { return static_cast<int>(select[lane] & 15); }, crossed, fetch_inactive,
                       zero_invalid);
}

DppMove permlane64_move() {
  return {.map = make_map([](int lane) { return lane ^ 32; }),
          .enabled = ~uint64_t{0},
          .zero_invalid = false,
          .fetch_inactive = true};
}

void transpose_tiles(const Row* loaded, unsigned lane_bits, unsigned element_bits, Row* result) {
  constexpr unsigned columns = 16;
  const unsigned per_lane = lane_bits / element_bits, lanes_of_row = columns / per_lane;
  const uint32_t mask = (1u << element_bits) - 1;
  for (unsigned word = 0; word < lane_bits / 32; ++word) std::memset(result[word], 0, sizeof(Row));
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    const unsigned column = lane % columns;
    for (unsigned row = 0; row < per_lane; ++row) {
      const unsigned from = lane - column + row * lanes_of_row + column / per_lane;
      const unsigned source = column % per_lane * element_bits, target = row * element_bits;
      uint64_t element = loaded[source / 32][from] >> source % 32;
      if (source % 32 + element_bits > 32) element |= uint64_t{loaded[source / 32 + 1][from]} << (32 - source % 32);
      element = (element & mask) << target % 32;
      result[target / 32][lane] |= static_cast<uint32_t>(element);
      if (element >> 32 != 0) result[target / 32 + 1][lane] |= static_cast<uint32_t>(element >> 32);
    }
  }
}

void transpose_octets(const Row* loaded, unsigned element_bits, Row* result) {
  constexpr unsigned octet = 8;
  const uint32_t mask = (1u << element_bits) - 1;
  for (unsigned word = 0; word < octet * element_bits / 32; ++word) std::memset(result[word], 0, sizeof(Row));
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    const unsigned first = lane / octet * octet, source = lane % octet * element_bits;
    for (unsigned row = 0; row < octet; ++row) {
      const unsigned target = row * element_bits;
      const uint32_t element = loaded[source / 32][first + row] >> source % 32 & mask;
      result[target / 32][lane] |= element << target % 32;
    }
  }
}

void swap_halves(Row& a, Row& b, unsigned width, uint64_t exec, bool fetch_inactive, bool zero_inactive) {
  const auto move = [&](unsigned to_lane, uint32_t& to, unsigned from_lane, uint32_t from) {
    if ((exec >> to_lane & 1) == 0) return;
    if (fetch_inactive || (exec >> from_lane & 1) != 0) {
      to = from;
    } else if (zero_inactive) {
      to = 0;
    }
  };
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    if (lane / width % 2 != 0) continue;
    const unsigned other = lane + width;
    const uint32_t of_a = a[other], of_b = b[lane];
    move(other, a[other], lane, of_b);
    move(lane, b[lane], other, of_a);
  }
}

}  // namespace Atoll::semantics

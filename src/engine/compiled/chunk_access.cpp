// engine/compiled: memory accesses of one chunk of lanes (chunk_access.h).
#include "engine/compiled/chunk_access.h"

#include <cstring>

#include "engine/memory/fine_grained_atomics.h"
#include "engine/memory/lane_scratch.h"
#include "machine/memory/memory.h"

namespace Atoll::engine {

namespace {

using semantics::MemoryAccess;

class Access {
 public:
  Access(const Wave& wave, ChunkAccess& chunk, unsigned first_lane, semantics::AccessNumber number, bool is_lds,
         semantics::Denormals memory_denormals, bool drops_on_fine_grained)
      : wave_(wave),
        chunk_(chunk),
        first_lane_(first_lane),
        access_(semantics::memory_access(number)),
        is_atomic_(access_.kind == MemoryAccess::Kind::atomic),
        is_lds_(is_lds),
        memory_denormals_(memory_denormals),
        drops_on_fine_grained_(drops_on_fine_grained),
        scratch_row_(wave.wave_size * 4u) {}

  /// Whether the lanes' addresses are of what the GPU may touch.
  bool are_in_bounds(uint64_t lanes) const {
    const machine::AddressBounds bounds = wave_.work_group->bounds;
    bool all = true;
    for_each_lane(lanes, [&](unsigned lane) { all &= bounds.hold(chunk_.addresses.of[lane]); });
    return all;
  }

  void on_memory(uint64_t lanes) {
    if (drops_on_fine_grained_) {
      lanes = outside_fine_grained(chunk_.addresses, lanes, chunk_.result, access_.words());
    }
    move(chunk_.addresses, lanes, linear);
  }

  void on_lds(uint64_t lanes) {
    const machine::WorkGroup& group = *wave_.work_group;
    if (is_atomic_) {
      lds_atomic_function(access_.operation, access_.bytes)(
          {.start = group.lds, .bytes = group.lds_bytes}, chunk_.addresses, lanes, chunk_.data,
          chunk_.data + access_.words(), is_lds_ && !access_.returns ? nullptr : chunk_.result,
          semantics::lds_atomic_denormals(access_.operation, access_.bytes, wave_.float_mode));
      return;
    }
    uint64_t inside = 0;
    for_each_lane(lanes, [&](unsigned lane) {
      const uint64_t offset = chunk_.addresses.of[lane] & 0xFFFF'FFFF;
      if (offset + access_.bytes > group.lds_bytes) return;
      inside |= uint64_t{1} << lane;
      chunk_.addresses.of[lane] = reinterpret_cast<uint64_t>(group.lds) + offset;
    });
    if (inside != 0) on_memory(inside);
    if (access_.kind != MemoryAccess::Kind::store && inside != lanes) read_zeros(lanes & ~inside);
  }

  /// False if a private address is past the wave's scratch.
  bool on_scratch(uint64_t lanes) {
    LaneAddresses addresses;
    uint64_t in_pieces = 0;
    bool all_inside = true;
    for_each_lane(lanes, [&](unsigned lane) {
      const auto offset = static_cast<uint32_t>(chunk_.addresses.of[lane]);
      all_inside &= uint64_t{offset} + access_.bytes <= wave_.scratch_bytes_per_lane;
      const bool in_dword = offset % 4 + access_.bytes <= 4;
      if (!in_dword && (is_atomic_ || offset % 4 != 0)) in_pieces |= uint64_t{1} << lane;
      addresses.of[lane] = scratch_address(lane, offset);
    });
    if (!all_inside) return false;
    if (in_pieces != lanes) move(addresses, lanes & ~in_pieces, scratch_row_);
    for_each_lane(in_pieces, [&](unsigned lane) { in_pieces_at(lane); });
    return true;
  }

  /// The same of addresses that say in which lane's scratch they are.
  bool on_lane_scratch(uint64_t lanes) {
    for_each_lane(lanes, [&](unsigned lane) {
      const PrivateAddress address = lane_scratch(wave_, chunk_.addresses.of[lane]);
      columns_[lane] = address.column;
      chunk_.addresses.of[lane] = address.offset;
    });
    has_columns_ = true;
    return on_scratch(lanes);
  }

  /// As atomics must be.
  bool are_aligned(uint64_t lanes) const {
    uint64_t low_bits = 0;
    for_each_lane(lanes, [&](unsigned lane) { low_bits |= chunk_.addresses.of[lane]; });
    return !is_atomic_ || low_bits % access_.bytes == 0;
  }

 private:
  uint64_t scratch_address(unsigned lane, uint32_t offset) const {
    const uint64_t column =
        has_columns_ ? columns_[lane] : reinterpret_cast<uint64_t>(wave_.scratch) + (first_lane_ + lane) * 4;
    return column + uint64_t{offset / 4} * scratch_row_ + offset % 4;
  }

  void move(const LaneAddresses& addresses, uint64_t lanes, uint32_t word_stride) {
    if (!is_atomic_) {
      transfer_function(access_)(addresses, lanes, word_stride, chunk_.data);
      return;
    }
    atomic_function(access_.operation, access_.bytes)(addresses, lanes, chunk_.data, chunk_.data + access_.words(),
                                                      chunk_.result, memory_denormals_);
  }

  void read_zeros(uint64_t lanes) {
    static constexpr uint32_t zeros[4]{};
    LaneAddresses nowhere;
    for (uint64_t& address : nowhere.of) address = reinterpret_cast<uint64_t>(zeros);
    move(nowhere, lanes, linear);
  }

  /// An element whose dwords don't lie together, by way of a copy.
  void in_pieces_at(unsigned lane) {
    const auto offset = static_cast<uint32_t>(chunk_.addresses.of[lane]);
    alignas(16) uint8_t copy[16];
    const auto byte = [&](unsigned i) { return reinterpret_cast<uint8_t*>(scratch_address(lane, offset + i)); };
    for (unsigned i = 0; i < access_.bytes; ++i) copy[i] = *byte(i);
    LaneAddresses addresses;
    addresses.of[lane] = reinterpret_cast<uint64_t>(copy);
    move(addresses, uint64_t{1} << lane, linear);
    if (access_.kind == MemoryAccess::Kind::load) return;
    for (unsigned i = 0; i < access_.bytes; ++i) *byte(i) = copy[i];
  }

  const Wave& wave_;
  ChunkAccess& chunk_;
  const unsigned first_lane_;
  const MemoryAccess& access_;
  const bool is_atomic_, is_lds_;
  const semantics::Denormals memory_denormals_;
  const bool drops_on_fine_grained_;
  bool has_columns_ = false;
  uint64_t columns_[semantics::chunk_lanes];  ///< where the scratch begins that a lane's address is in
  const uint32_t scratch_row_;                ///< bytes from a lane's dword to its next
};

}  // namespace

uint8_t access_chunk(const Wave* wave, ChunkAccess* chunk, uint32_t lanes, uint32_t first_lane, uint32_t number,
                     AddressSpace space, semantics::Denormals memory_denormals, bool drops_on_fine_grained) {
  if (lanes == 0) return 1;
  Access access(*wave, *chunk, first_lane, semantics::AccessNumber{number}, space == AddressSpace::lds,
                memory_denormals, drops_on_fine_grained);
  switch (space) {
    case AddressSpace::lds:
      access.on_lds(lanes);
      return 1;
    case AddressSpace::scratch:
      return access.on_scratch(lanes) ? 1 : 0;
    case AddressSpace::global:
      if (!access.are_aligned(lanes) || !access.are_in_bounds(lanes)) return 0;
      access.on_memory(lanes);
      return 1;
    case AddressSpace::flat:
      break;
  }
  if (!access.are_aligned(lanes)) return 0;
  uint64_t shared = 0, scratch = 0, elsewhere = 0;
  for_each_lane(lanes, [&](unsigned lane) {
    const auto upper = static_cast<uint32_t>(chunk->addresses.of[lane] >> 32);
    shared |= uint64_t{upper == machine::shared_aperture_hi} << lane;
    scratch |= uint64_t{upper == machine::private_aperture_hi} << lane;
    elsewhere |= uint64_t{is_lane_scratch(chunk->addresses.of[lane])} << lane;
  });
  const uint64_t global = lanes & ~shared & ~scratch & ~elsewhere;
  if (!access.are_in_bounds(global)) return 0;
  if (global != 0) access.on_memory(global);
  if (shared != 0) access.on_lds(shared);
  if (scratch != 0 && !access.on_scratch(scratch)) return 0;
  return elsewhere == 0 || access.on_lane_scratch(elsewhere) ? 1 : 0;
}

}  // namespace Atoll::engine

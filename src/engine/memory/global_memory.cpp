// engine: FLAT, GLOBAL and SCRATCH instructions.
//
// A GLOBAL address is a host address. A FLAT address may lie in one of the two apertures instead. Its upper half
// determines which (machine/memory/memory.h). Then it is an offset in the work-group's LDS or in the lane's scratch.
// SCRATCH instructions give the offset in scratch alone. On GFX12.5 an address of scratch says in which lane's
// (lane_scratch.h), and the offset that stands beside a scalar base is signed and may count elements (scale_offset).
//
// Scratch is swizzled: dword n of all lanes of a wave lies together, so that lanes that use the same private address
// use one row of memory (user guide, "Address Spaces").
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "engine/interpreter/observation.h"
#include "engine/interpreter/prepare.h"
#include "engine/interpreter/vector.h"
#include "engine/memory/fine_grained_atomics.h"
#include "engine/memory/float_atomics.h"
#include "engine/memory/gather_scatter.h"
#include "engine/memory/guest_bounds.h"
#include "engine/memory/lane_scratch.h"
#include "machine/memory/memory.h"

namespace Atoll::engine {
ATOLL_HOST_ISA_BEGIN

namespace {

using machine::Fault;
using semantics::MemoryAccess;
using semantics::wave_lanes;

/// Bytes from a lane's dword in scratch to its next.
[[gnu::always_inline]] inline uint32_t scratch_row(const Wave& wave) { return wave.wave_size * 4u; }

// MemoryOp::bits
constexpr uint8_t has_vector_address = 1, has_scalar_base = 2, returns = 4, scaled_offsets = 8;

Row* data_rows(const Run& run, const MemoryOp& m) { return rows_at(run, m.data_base, m.data); }
Row* result_rows(const Run& run, const MemoryOp& m) {
  return (m.bits & returns) != 0 ? rows_at(run, m.data_base, m.result) : nullptr;
}

bool writes(const MicroOp& op) {
  const MemoryAccess::Kind kind = semantics::memory_access(op.origin->instruction).kind;
  return kind == MemoryAccess::Kind::store || kind == MemoryAccess::Kind::store_block ||
         kind == MemoryAccess::Kind::atomic;
}

/// 64-bit addresses in a VGPR pair, or a scalar base with 32-bit offsets.
template <bool scalar_base>
[[gnu::always_inline]] inline void global_addresses(const Wave& wave, const MemoryOp& m, const Run& run,
                                                    LaneAddresses& addresses) {
  const Row* rows = rows_at(run, RowBase::vgpr, m.address);
  const auto offset = static_cast<uint64_t>(int64_t{m.offset});
  if constexpr (scalar_base) {
    const uint64_t base = wave.scalar64(m.scalar_base) + offset;
    if ((m.bits & scaled_offsets) != 0) {
      const int64_t scale = m.scalar_offset;
      for (unsigned lane = 0; lane < wave_lanes; ++lane) {
        addresses.of[lane] = base + static_cast<uint64_t>(static_cast<int32_t>(rows[0][lane]) * scale);
      }
      return;
    }
    for (unsigned lane = 0; lane < wave_lanes; ++lane) addresses.of[lane] = base + rows[0][lane];
  } else {
    for (unsigned lane = 0; lane < wave_lanes; ++lane) {
      addresses.of[lane] = (rows[0][lane] | uint64_t{rows[1][lane]} << 32) + offset;
    }
  }
}

/// Of a FLAT instruction, which has a scalar base on GFX12.5 alone.
void flat_addresses(const Wave& wave, const MemoryOp& m, const Run& run, LaneAddresses& addresses) {
  if ((m.bits & has_scalar_base) != 0) return global_addresses<true>(wave, m, run, addresses);
  global_addresses<false>(wave, m, run, addresses);
}

template <bool scalar_base>
void global_transfer(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const uint64_t exec = wave.exec();
  if (exec == 0) return;
  wave.pc = m.pc;
  LaneAddresses addresses;
  global_addresses<scalar_base>(wave, m, run, addresses);
  check_bounds(wave, addresses, exec, writes(op));
  m.transfer(addresses, exec, linear, data_rows(run, m));
}

/// global_load_addtid_b32, global_store_addtid_b32: a dword of each lane, from a scalar base on.
void addresses_by_lane(const Wave& wave, const MemoryOp& m, LaneAddresses& addresses) {
  const uint64_t scalar_base = (m.bits & has_scalar_base) != 0 ? wave.scalar64(m.scalar_base) : 0;
  const uint64_t base = scalar_base + static_cast<uint64_t>(int64_t{m.offset});
  for (unsigned lane = 0; lane < wave_lanes; ++lane) addresses.of[lane] = base + lane * 4;
}

void transfer_by_lane(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  wave.pc = m.pc;
  LaneAddresses addresses;
  addresses_by_lane(wave, m, addresses);
  check_bounds(wave, addresses, wave.exec(), writes(op));
  m.transfer(addresses, wave.exec(), linear, data_rows(run, m));
}

template <bool scalar_base>
bool global_atomic(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const uint64_t exec = wave.exec();
  if (exec == 0) return true;
  wave.pc = m.pc;
  LaneAddresses addresses;
  global_addresses<scalar_base>(wave, m, run, addresses);
  const MemoryAccess& access = semantics::memory_access(op.origin->instruction);
  if (!check_aligned(wave, op, addresses, exec, access.bytes)) return false;
  check_bounds(wave, addresses, exec, true);
  Row* const result = result_rows(run, m);
  const uint64_t lanes =
      without_dropped_atomics(*run.code->target().processor, access.operation, addresses, exec, result, access.words());
  m.atomic(addresses, lanes, data_rows(run, m), rows_at(run, m.data_base, m.data2), result,
           memory_denormals(wave, run, access.operation, access.bytes));
  return true;
}

// --- Scratch --------------------------------------------------------------------------------------------------------

/// `column`: where the first dword is of the lane whose scratch it is.
[[gnu::always_inline]] inline uint64_t scratch_address(const Wave& wave, uint64_t column, uint32_t offset) {
  return column + uint64_t{offset / 4} * scratch_row(wave) + offset % 4;
}

/// Does `access(addresses, lanes, word_stride)` on the scratch of `lanes`, whose private addresses are `offsets`, in
/// their own scratch or in the `columns`. An element that is not aligned to a dword and reaches over one lies in
/// pieces: it goes through a buffer.
template <typename Access>
bool on_scratch(Wave& wave, const MicroOp& op, const uint32_t* offsets, uint64_t lanes, unsigned bytes, bool writes,
                bool in_one_piece, const Access& access, const uint64_t* columns = nullptr) {
  LaneAddresses addresses;
  uint64_t outside = 0, in_pieces = 0;
  const auto column = [&](unsigned lane) {
    return columns != nullptr ? columns[lane] : reinterpret_cast<uint64_t>(wave.scratch) + lane * 4;
  };
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    addresses.of[lane] = scratch_address(wave, column(lane), offsets[lane]);
    const bool split =
        in_one_piece ? offsets[lane] % 4 + bytes > 4 : offsets[lane] % 4 != 0 && offsets[lane] % 4 + bytes > 4;
    outside |= uint64_t{uint64_t{offsets[lane]} + bytes > wave.scratch_bytes_per_lane} << lane;
    in_pieces |= uint64_t{split} << lane;
  }
  outside &= lanes;
  in_pieces &= lanes;
  if (outside != 0) [[unlikely]] {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(outside));
    fault(wave, op.origin->pc, Fault::Kind::scratch_overflow,
          fmt::format("private address {:#x}, but the wave has {:#x} bytes of scratch for each lane", offsets[lane],
                      wave.scratch_bytes_per_lane),
          offsets[lane], writes, lane);
    return false;
  }
  if (in_pieces != lanes) access(addresses, lanes & ~in_pieces, scratch_row(wave));
  for_each_lane(in_pieces, [&](unsigned lane) {
    alignas(16) uint8_t buffer[16];
    const auto byte = [&](unsigned i) {
      return reinterpret_cast<uint8_t*>(scratch_address(wave, column(lane), offsets[lane] + i));
    };
    for (unsigned i = 0; i < bytes; ++i) buffer[i] = *byte(i);
    addresses.of[lane] = reinterpret_cast<uint64_t>(buffer);
    access(addresses, uint64_t{1} << lane, linear);
    for (unsigned i = 0; writes && i < bytes; ++i) *byte(i) = buffer[i];
  });
  return true;
}

void scratch_offsets(const Wave& wave, const MemoryOp& m, const Run& run, uint32_t* offsets) {
  uint32_t base = static_cast<uint32_t>(m.offset);
  if ((m.bits & has_scalar_base) != 0) base += wave.scalar[m.scalar_base];
  if ((m.bits & has_vector_address) != 0) {
    const Row& row = *rows_at(run, RowBase::vgpr, m.address);
    const uint32_t scale = (m.bits & scaled_offsets) != 0 ? m.scalar_offset : 1;
    for (unsigned lane = 0; lane < wave_lanes; ++lane) offsets[lane] = base + row[lane] * scale;
  } else {
    for (unsigned lane = 0; lane < wave_lanes; ++lane) offsets[lane] = base;
  }
}

bool scratch_transfer(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const uint64_t exec = wave.exec();
  if (exec == 0) return true;
  wave.pc = m.pc;
  const MemoryAccess& access = semantics::memory_access(op.origin->instruction);
  alignas(64) uint32_t offsets[wave_lanes];
  scratch_offsets(wave, m, run, offsets);
  return on_scratch(wave, op, offsets, exec, access.bytes, access.kind == MemoryAccess::Kind::store, false,
                    [&](const LaneAddresses& addresses, uint64_t lanes, uint32_t word_stride) {
                      m.transfer(addresses, lanes, word_stride, data_rows(run, m));
                    });
}

// --- FLAT -----------------------------------------------------------------------------------------------------------

/// The lanes whose address is in an aperture.
[[gnu::always_inline]] inline uint64_t lanes_in(uint32_t aperture, const LaneAddresses& addresses, uint64_t lanes) {
  uint64_t found = 0;
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    found |= uint64_t{static_cast<uint32_t>(addresses.of[lane] >> 32) == aperture} << lane;
  }
  return found & lanes;
}

[[gnu::always_inline]] inline bool any_in_aperture(const LaneAddresses& addresses) {
  bool any = false;
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    const auto upper = static_cast<uint32_t>(addresses.of[lane] >> 32);
    any |= upper >= machine::shared_aperture_hi;  // or what is no address
  }
  return any;
}

/// Calls `access(addresses, lanes, word_stride)` for each memory that the lanes' flat addresses are in. `out_of_range`
/// receives the lanes whose LDS address is out of bounds.
template <typename Access, typename OutOfRange>
bool on_flat(Wave& wave, const MicroOp& op, LaneAddresses& addresses, uint64_t lanes, unsigned bytes, bool writes,
             bool in_one_piece, const Access& access, const OutOfRange& out_of_range) {
  if (!any_in_aperture(addresses)) [[likely]] {
    check_bounds(wave, addresses, lanes, writes);
    access(addresses, lanes, linear);
    return true;
  }
  const uint64_t shared = lanes_in(machine::shared_aperture_hi, addresses, lanes);
  const uint64_t scratch = lanes_in(machine::private_aperture_hi, addresses, lanes);
  uint64_t elsewhere = 0;  // in scratch by an address that says whose
  if ((op.memory.bits & scaled_offsets) != 0) {
    for_each_lane(lanes, [&](unsigned lane) { elsewhere |= uint64_t{is_lane_scratch(addresses.of[lane])} << lane; });
  }
  const uint64_t global = lanes & ~shared & ~scratch & ~elsewhere;
  if (global != 0) {
    check_bounds(wave, addresses, global, writes);
    access(addresses, global, linear);
  }
  if (shared != 0) {
    const machine::WorkGroup& group = *wave.work_group;
    uint64_t inside = 0;
    for_each_lane(shared, [&](unsigned lane) {
      const uint64_t offset = addresses.of[lane] & 0xFFFF'FFFF;
      if (offset + bytes > group.lds_bytes) return;
      inside |= uint64_t{1} << lane;
      addresses.of[lane] = reinterpret_cast<uint64_t>(group.lds) + offset;
    });
    if (inside != 0) access(addresses, inside, linear);
    if (inside != shared) out_of_range(shared & ~inside);
  }
  alignas(64) uint32_t offsets[wave_lanes];
  if (elsewhere != 0) {
    uint64_t columns[wave_lanes];
    for (unsigned lane = 0; lane < wave_lanes; ++lane) {
      const PrivateAddress address = lane_scratch(wave, addresses.of[lane]);
      offsets[lane] = address.offset;
      columns[lane] = address.column;
    }
    if (!on_scratch(wave, op, offsets, elsewhere, bytes, writes, in_one_piece, access, columns)) return false;
  }
  if (scratch == 0) return true;
  for (unsigned lane = 0; lane < wave_lanes; ++lane) offsets[lane] = static_cast<uint32_t>(addresses.of[lane]);
  return on_scratch(wave, op, offsets, scratch, bytes, writes, in_one_piece, access);
}

bool flat_transfer(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const uint64_t exec = wave.exec();
  if (exec == 0) return true;
  wave.pc = m.pc;
  const MemoryAccess& access = semantics::memory_access(op.origin->instruction);
  const bool writes = access.kind == MemoryAccess::Kind::store;
  LaneAddresses addresses;
  flat_addresses(wave, m, run, addresses);
  return on_flat(
      wave, op, addresses, exec, access.bytes, writes, false,
      [&](const LaneAddresses& at, uint64_t lanes, uint32_t word_stride) {
        m.transfer(at, lanes, word_stride, data_rows(run, m));
      },
      [&](uint64_t lanes) {
        if (writes) return;
        static constexpr uint32_t zeros[4]{};
        LaneAddresses nowhere;
        for (uint64_t& address : nowhere.of) address = reinterpret_cast<uint64_t>(zeros);
        m.transfer(nowhere, lanes, linear, data_rows(run, m));
      });
}

bool flat_atomic(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const uint64_t exec = wave.exec();
  if (exec == 0) return true;
  wave.pc = m.pc;
  const MemoryAccess& access = semantics::memory_access(op.origin->instruction);
  LaneAddresses addresses;
  flat_addresses(wave, m, run, addresses);
  if (!check_aligned(wave, op, addresses, exec, access.bytes)) return false;
  Row* result = result_rows(run, m);
  const uint64_t in_memory = exec & ~lanes_in(machine::shared_aperture_hi, addresses, exec) &
                             ~lanes_in(machine::private_aperture_hi, addresses, exec);
  const uint64_t done = without_dropped_atomics(*run.code->target().processor, access.operation, addresses, in_memory,
                                                result, access.words());
  if (done == 0 && in_memory == exec) return true;
  return on_flat(
      wave, op, addresses, done | (exec & ~in_memory), access.bytes, true, true,
      [&](const LaneAddresses& at, uint64_t lanes, uint32_t) {
        m.atomic(at, lanes, data_rows(run, m), rows_at(run, m.data_base, m.data2), result,
                 flat_denormals(wave, run, access.operation, access.bytes, at.of[__builtin_ctzll(lanes)]));
      },
      [&](uint64_t lanes) {
        for_each_lane(lanes, [&](unsigned lane) {
          for (unsigned word = 0; result != nullptr && word < access.words(); ++word) result[word][lane] = 0;
        });
      });
}

// --- Blocks of registers --------------------------------------------------------------------------------------------

/// global_load_block and its like: of 32 registers, each that has its bit in M0 is moved from or to the dword of its
/// number.
template <bool scalar_base>
void global_block(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const uint64_t exec = wave.exec();
  wave.pc = m.pc;
  LaneAddresses addresses;
  global_addresses<scalar_base>(wave, m, run, addresses);
  for (uint32_t left = wave.scalar[isa::scalar::m0]; left != 0; left &= left - 1) {
    const auto number = static_cast<unsigned>(__builtin_ctz(left));
    LaneAddresses at;
    for (unsigned lane = 0; lane < wave_lanes; ++lane) at.of[lane] = addresses.of[lane] + number * 4;
    check_bounds(wave, at, exec, writes(op));
    m.transfer(at, exec, linear, data_rows(run, m) + number);
  }
}

bool scratch_block(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const uint64_t exec = wave.exec();
  wave.pc = m.pc;
  const bool writes = semantics::memory_access(op.origin->instruction).kind == MemoryAccess::Kind::store_block;
  alignas(64) uint32_t offsets[wave_lanes];
  scratch_offsets(wave, m, run, offsets);
  for (uint32_t left = wave.scalar[isa::scalar::m0]; left != 0; left &= left - 1) {
    const auto number = static_cast<unsigned>(__builtin_ctz(left));
    alignas(64) uint32_t at[wave_lanes];
    for (unsigned lane = 0; lane < wave_lanes; ++lane) at[lane] = offsets[lane] + number * 4;
    const auto move = [&](const LaneAddresses& addresses, uint64_t lanes, uint32_t word_stride) {
      m.transfer(addresses, lanes, word_stride, data_rows(run, m) + number);
    };
    if (!on_scratch(wave, op, at, exec, 4, writes, false, move)) return false;
  }
  return true;
}

void nothing(Wave&, const MicroOp&, Run&) {}

// --- Loads of matrices ----------------------------------------------------------------------------------------------

/// global_load_tr_b128 (elements of 16 bits), global_load_tr_b64 (8). Lanes that load nothing count as zeros.
template <bool scalar_base, unsigned element_bits>
void global_load_transposed(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const uint64_t exec = wave.exec();
  constexpr unsigned words = element_bits / 4;
  wave.pc = m.pc;
  LaneAddresses addresses;
  global_addresses<scalar_base>(wave, m, run, addresses);
  Row *loaded = run.temporary, *transposed = run.temporary + words;
  std::memset(loaded, 0, words * sizeof(Row));
  check_bounds(wave, addresses, exec, false);
  m.transfer(addresses, exec, linear, loaded);
  semantics::transpose_octets(loaded, element_bits, transposed);
  Row* result = data_rows(run, m);
  for (unsigned word = 0; word < words; ++word) copy_lanes(result[word], transposed[word], exec);
}

/// Reports the accesses.
template <bool scalar_base, unsigned element_bits>
void transposed_accesses(const Wave& wave, const MicroOp& op, const Run& run, AccessReporter& reporter) {
  LaneAddresses addresses;
  global_addresses<scalar_base>(wave, op.memory, run, addresses);
  reporter.global(addresses, wave.exec(), element_bits);
}

template <unsigned element_bits>
Handler choose_transposed(Preparation& p, bool scalar_base) {
  // How waves of 64 lanes share a matrix among the lanes is not published.
  if (p.cache.target().wave_size != 32) return nullptr;
  MemoryAccess access;
  access.kind = MemoryAccess::Kind::load;
  access.bytes = element_bits;
  p.op.memory.transfer = transfer_function(access);
  p.origin.accesses = scalar_base ? transposed_accesses<true, element_bits> : transposed_accesses<false, element_bits>;
  return scalar_base ? step<global_load_transposed<true, element_bits>>
                     : step<global_load_transposed<false, element_bits>>;
}

// --- Loads into LDS -------------------------------------------------------------------------------------------------

/// global_load_lds_* and loads with an lds bit: LDS address M0[15:0] + offset + the lane's place among 64 elements.
/// Elements smaller than a dword are extended to one. (CDNA3 guide, "Memory loads to LDS"; the offset applies to both
/// addresses.)
int64_t address_in_lds(const Wave& wave, unsigned lane, int32_t offset, unsigned words) {
  return int64_t{wave.scalar[isa::scalar::m0] & 0xFFFF} + offset + lane * words * 4;
}

void store_to_lds(Wave& wave, unsigned lane, int32_t offset, unsigned words, const uint32_t* element) {
  machine::WorkGroup& group = *wave.work_group;
  const int64_t address = address_in_lds(wave, lane, offset, words);
  if (address >= 0 && address + words * 4 <= group.lds_bytes) std::memcpy(group.lds + address, element, words * 4);
}

template <bool scalar_base, bool scratch>
bool load_to_lds(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const uint64_t exec = wave.exec();
  if (exec == 0) return true;
  wave.pc = m.pc;
  const MemoryAccess& access = semantics::memory_access(op.origin->instruction);
  Row* rows = run.temporary;
  const auto load = [&](const LaneAddresses& addresses, uint64_t lanes, uint32_t word_stride) {
    m.transfer(addresses, lanes, word_stride, rows);
  };
  if constexpr (scratch) {
    alignas(64) uint32_t offsets[wave_lanes];
    scratch_offsets(wave, m, run, offsets);
    if (!on_scratch(wave, op, offsets, exec, access.bytes, false, false, load)) return false;
  } else {
    LaneAddresses addresses;
    global_addresses<scalar_base>(wave, m, run, addresses);
    check_bounds(wave, addresses, exec, false);
    load(addresses, exec, linear);
  }
  for_each_lane(exec, [&](unsigned lane) {
    uint32_t element[4];
    for (unsigned word = 0; word < access.words(); ++word) element[word] = rows[word][lane];
    store_to_lds(wave, lane, m.offset, access.words(), element);
  });
  return true;
}

// --- Access reports --------------------------------------------------------------------------------------------------

template <bool scalar_base>
void global_accesses(const Wave& wave, const MicroOp& op, const Run& run, AccessReporter& reporter) {
  LaneAddresses addresses;
  global_addresses<scalar_base>(wave, op.memory, run, addresses);
  reporter.global(addresses, wave.exec(), semantics::memory_access(op.origin->instruction).bytes);
}

void accesses_by_lane(const Wave& wave, const MicroOp& op, const Run&, AccessReporter& reporter) {
  LaneAddresses addresses;
  addresses_by_lane(wave, op.memory, addresses);
  reporter.global(addresses, wave.exec(), semantics::memory_access(op.origin->instruction).bytes);
}

void scratch_accesses(const Wave& wave, const MicroOp& op, const Run& run, AccessReporter& reporter) {
  alignas(64) uint32_t offsets[wave_lanes];
  scratch_offsets(wave, op.memory, run, offsets);
  reporter.scratch(offsets, wave.exec(), semantics::memory_access(op.origin->instruction).bytes);
}

void flat_accesses(const Wave& wave, const MicroOp& op, const Run& run, AccessReporter& reporter) {
  const MemoryOp& m = op.memory;
  const unsigned bytes = semantics::memory_access(op.origin->instruction).bytes;
  LaneAddresses addresses;
  flat_addresses(wave, m, run, addresses);
  const uint64_t lanes = wave.exec();
  const uint64_t shared = lanes_in(machine::shared_aperture_hi, addresses, lanes);
  uint64_t scratch = lanes_in(machine::private_aperture_hi, addresses, lanes);
  alignas(64) uint32_t offsets[wave_lanes];
  for (unsigned lane = 0; lane < wave_lanes; ++lane) offsets[lane] = static_cast<uint32_t>(addresses.of[lane]);
  if ((m.bits & scaled_offsets) != 0) {
    for_each_lane(lanes & ~shared & ~scratch, [&](unsigned lane) {
      if (!is_lane_scratch(addresses.of[lane])) return;
      scratch |= uint64_t{1} << lane;
      offsets[lane] = lane_scratch(wave, addresses.of[lane]).offset;
    });
  }
  reporter.global(addresses, lanes & ~shared & ~scratch, bytes);
  reporter.lds(offsets, shared, bytes);
  reporter.scratch(offsets, scratch, bytes);
}

template <bool scratch, bool scalar_base>
void block_accesses(const Wave& wave, const MicroOp& op, const Run& run, AccessReporter& reporter) {
  LaneAddresses addresses;
  alignas(64) uint32_t offsets[wave_lanes];
  if constexpr (scratch) {
    scratch_offsets(wave, op.memory, run, offsets);
  } else {
    global_addresses<scalar_base>(wave, op.memory, run, addresses);
  }
  uint32_t distance = 0;  // that has been added
  for (uint32_t left = wave.scalar[isa::scalar::m0]; left != 0; left &= left - 1) {
    const uint32_t further =
        static_cast<uint32_t>(__builtin_ctz(left)) * 4 - std::exchange(distance, __builtin_ctz(left) * 4);
    for (unsigned lane = 0; lane < wave_lanes; ++lane) {
      if constexpr (scratch) {
        offsets[lane] += further;
      } else {
        addresses.of[lane] += further;
      }
    }
    if constexpr (scratch) {
      reporter.scratch(offsets, wave.exec(), 4);
    } else {
      reporter.global(addresses, wave.exec(), 4);
    }
  }
}

/// A load into LDS: both sides.
template <bool scratch, bool scalar_base>
void load_to_lds_accesses(const Wave& wave, const MicroOp& op, const Run& run, AccessReporter& reporter) {
  if constexpr (scratch) {
    scratch_accesses(wave, op, run, reporter);
  } else {
    global_accesses<scalar_base>(wave, op, run, reporter);
  }
  const unsigned words = semantics::memory_access(op.origin->instruction).words();
  alignas(64) uint32_t offsets[wave_lanes];
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    offsets[lane] = static_cast<uint32_t>(address_in_lds(wave, lane, op.memory.offset, words));
  }
  reporter.lds_side(offsets, wave.exec(), words * 4, true);
}

Handler choose_load_to_lds(Preparation& p, bool is_scratch, bool scalar_base) {
  p.origin.accesses = is_scratch    ? load_to_lds_accesses<true, false>
                      : scalar_base ? load_to_lds_accesses<false, true>
                                    : load_to_lds_accesses<false, false>;
  if (is_scratch) return step_or_stop<load_to_lds<false, true>>;
  return scalar_base ? step_or_stop<load_to_lds<true, false>> : step_or_stop<load_to_lds<false, false>>;
}

}  // namespace

Handler prepare_flat_memory(Preparation& p) {
  const isa::Instruction& instruction = p.instruction;
  if (orders_memory(instruction.opcode)) return step<nothing>;
  const MemoryAccess& access = semantics::memory_access(instruction);
  MemoryOp& m = p.op.memory;
  m.pc = p.origin.pc;
  m.offset = instruction.offset;
  m.bits = 0;
  m.data = m.data2 = m.result = m.address = 0;
  m.data_base = RowBase::vgpr;

  // Operands, after the result: vector address, data of stores and atomics, scalar base.
  const bool has_data = access.kind == MemoryAccess::Kind::store || access.kind == MemoryAccess::Kind::store_block ||
                        access.kind == MemoryAccess::Kind::atomic;
  if (instruction.sources() == 0) return nullptr;
  for (unsigned i = 0; i < instruction.sources(); ++i) {
    const isa::Operand& operand = instruction.src(i);
    if (operand.kind != isa::OperandKind::scalar) continue;
    m.scalar_base = static_cast<uint8_t>(operand.reg);
    m.bits |= has_scalar_base;
  }
  if (access.by_lane) {
    const isa::Operand& data = instruction.operands[0];
    m.data_base = row_base(data);
    m.data = row_offset(data);
    m.transfer = transfer_function(access);
    p.origin.accesses = accesses_by_lane;
    return step<transfer_by_lane>;
  }
  if (const isa::Operand& address = instruction.src(0); address.kind == isa::OperandKind::vgpr) {
    m.address = row_offset(address);
    m.bits |= has_vector_address;
  }
  if (has_data) {
    if (instruction.sources() < 2) return nullptr;
    m.data_base = row_base(instruction.src(1));
    m.data = row_offset(instruction.src(1));
    m.data2 = m.data + access.words() * uint32_t{sizeof(Row)};
  }
  if (instruction.destinations != 0) {
    m.data_base = row_base(instruction.dst());
    (access.kind == MemoryAccess::Kind::atomic ? m.result : m.data) = row_offset(instruction.dst());
    m.bits |= returns;
  }

  const bool is_flat = instruction.encoding == isa::Encoding::flat;
  const bool is_scratch = instruction.encoding == isa::Encoding::scratch;
  if (instruction.generation >= target::Generation::gfx12_5) {
    m.bits |= scaled_offsets;
    m.scalar_offset = instruction.scale_offset ? access.bytes : 1;
  }
  const bool scalar_base = (m.bits & has_scalar_base) != 0;
  if (!is_scratch && (m.bits & has_vector_address) == 0) return nullptr;
  p.origin.accesses = is_scratch    ? scratch_accesses
                      : is_flat     ? flat_accesses
                      : scalar_base ? global_accesses<true>
                                    : global_accesses<false>;
  if (instruction.opcode == isa::Opcode::global_load_tr_b128) return choose_transposed<16>(p, scalar_base);
  if (instruction.opcode == isa::Opcode::global_load_tr_b64) return choose_transposed<8>(p, scalar_base);
  switch (access.kind) {
    case MemoryAccess::Kind::load:
    case MemoryAccess::Kind::store:
      m.transfer = transfer_function(access);
      if (m.transfer == nullptr) return nullptr;
      if (instruction.lds) return choose_load_to_lds(p, is_scratch, scalar_base);  // until gfx90a, and GFX10: a bit
      if (is_scratch) return step_or_stop<scratch_transfer>;
      if (is_flat) return step_or_stop<flat_transfer>;
      return scalar_base ? step<global_transfer<true>> : step<global_transfer<false>>;
    case MemoryAccess::Kind::load_block:
    case MemoryAccess::Kind::store_block: {
      MemoryAccess one = access;
      one.kind = has_data ? MemoryAccess::Kind::store : MemoryAccess::Kind::load;
      m.transfer = transfer_function(one);
      p.origin.accesses = is_scratch    ? block_accesses<true, false>
                          : scalar_base ? block_accesses<false, true>
                                        : block_accesses<false, false>;
      if (is_scratch) return step_or_stop<scratch_block>;
      return scalar_base ? step<global_block<true>> : step<global_block<false>>;
    }
    case MemoryAccess::Kind::atomic:
      m.atomic = atomic_function(access.operation, access.bytes);
      if (m.atomic == nullptr || is_scratch) return nullptr;
      if (is_flat) return step_or_stop<flat_atomic>;
      return scalar_base ? step_or_stop<global_atomic<true>> : step_or_stop<global_atomic<false>>;
    case MemoryAccess::Kind::load_to_lds: {
      MemoryAccess load = access;
      load.kind = MemoryAccess::Kind::load;
      m.transfer = transfer_function(load);
      return m.transfer == nullptr ? nullptr : choose_load_to_lds(p, is_scratch, scalar_base);
    }
    default:
      return nullptr;
  }
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::engine

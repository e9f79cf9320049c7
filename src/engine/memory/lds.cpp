// engine: DS instructions: the work-group's local data share, and the lane permutations that share its encoding.
//
// Reads past the work-group's LDS give 0 and writes there are dropped, as on hardware; until GFX8 M0 may have the end
// nearer. One host thread at a time runs a
// work-group, so LDS atomics are plain reads and writes.
// Source: ISA guides of GFX9, "Data Share Instructions".
#include <cstring>

#include "engine/interpreter/observation.h"
#include "engine/interpreter/prepare.h"
#include "engine/interpreter/vector.h"
#include "engine/memory/gather_scatter.h"
#include "engine/memory/lds_limit.h"
#include "isa/element_type.h"
#include "isa/table.h"
#include "semantics/image/ray_tracing.h"
#include "semantics/lanes/lane_movement.h"

namespace Atoll::engine {
ATOLL_HOST_ISA_BEGIN

namespace {

using semantics::MemoryAccess;
using semantics::wave_lanes;

// MemoryOp::bits
constexpr uint8_t returns = 1;

/// Addresses in LDS, before they are checked.
struct alignas(64) Offsets {
  uint32_t of[wave_lanes];
};

[[gnu::always_inline]] inline void vgpr_offsets(const MemoryOp& m, const Run& run, uint32_t offset, Offsets& offsets) {
  const Row& row = *rows_at(run, RowBase::vgpr, m.address);
  for (unsigned lane = 0; lane < wave_lanes; ++lane) offsets.of[lane] = row[lane] + offset;
}

/// M0 and a place for each lane: ds_read_addtid_b32, ds_write_addtid_b32.
void lane_offsets(const Wave& wave, uint32_t offset, Offsets& offsets) {
  const uint32_t base = (wave.scalar[isa::scalar::m0] & 0xFFFF) + offset;
  for (unsigned lane = 0; lane < wave_lanes; ++lane) offsets.of[lane] = base + lane * 4;
}

/// What the wave reaches of its work-group's LDS.
[[gnu::always_inline]] inline Lds lds_of(const Wave& wave, const Run& run) {
  return {.start = wave.work_group->lds, .bytes = lds_reach(wave, *run.code->target().processor)};
}

/// Host addresses of elements of `bytes`; yields the lanes whose element is inside LDS.
[[gnu::always_inline]] inline uint64_t lds_addresses(const Lds& lds, const Offsets& offsets, unsigned bytes,
                                                     LaneAddresses& addresses) {
  const auto base = reinterpret_cast<uint64_t>(lds.start);
  uint32_t highest = 0;
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    addresses.of[lane] = base + offsets.of[lane];
    highest = std::max(highest, offsets.of[lane]);
  }
  if (uint64_t{highest} + bytes <= lds.bytes) [[likely]]
    return all_lanes;
  uint64_t inside = 0;
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    inside |= uint64_t{uint64_t{offsets.of[lane]} + bytes <= lds.bytes} << lane;
  }
  return inside;
}

void load(const MemoryOp& m, const Lds& lds, const Offsets& offsets, unsigned bytes, uint64_t exec, Row* data) {
  LaneAddresses addresses;
  const uint64_t inside = lds_addresses(lds, offsets, bytes, addresses);
  static constexpr uint32_t zeros[4]{};
  if (inside != all_lanes) {
    for_each_lane(exec & ~inside, [&](unsigned lane) { addresses.of[lane] = reinterpret_cast<uint64_t>(zeros); });
  }
  m.transfer(addresses, exec, linear, data);
}

void store(const MemoryOp& m, const Lds& lds, const Offsets& offsets, unsigned bytes, uint64_t exec, Row* data) {
  LaneAddresses addresses;
  const uint64_t inside = lds_addresses(lds, offsets, bytes, addresses);
  m.transfer(addresses, exec & inside, linear, data);
}

/// Loads and stores of one element, of one at M0, or of two at two offsets. MemoryOp::data2 is the second element's
/// data and `result` its distance in bytes.
template <MemoryAccess::Kind kind, bool by_lane, unsigned elements, unsigned bytes>
void transfer(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const uint64_t exec = wave.exec();
  if (exec == 0) return;
  Offsets offsets;
  if constexpr (by_lane) {
    lane_offsets(wave, static_cast<uint32_t>(m.offset), offsets);
  } else {
    vgpr_offsets(m, run, static_cast<uint32_t>(m.offset), offsets);
  }
  const Lds lds = lds_of(wave, run);
  constexpr auto move = kind == MemoryAccess::Kind::load ? load : store;
  if constexpr (elements == 1) return move(m, lds, offsets, bytes, exec, rows_at(run, m.data_base, m.data));
  Offsets second = offsets;
  for (uint32_t& offset : second.of) offset += m.result;
  move(m, lds, offsets, bytes, exec, rows_at(run, m.data_base, m.data));
  move(m, lds, second, bytes, exec, rows_at(run, m.data_base, m.data2));
}

/// Does an atomic at `offsets`; lanes outside LDS get 0.
void atomic_at(const MemoryOp& m, const Wave& wave, const Run& run, const MemoryAccess& access, const Offsets& offsets,
               const Row* data, const Row* data2, Row* result) {
  LaneAddresses wide;
  for (unsigned lane = 0; lane < wave_lanes; ++lane) wide.of[lane] = offsets.of[lane];
  m.lds_atomic(lds_of(wave, run), wide, wave.exec(), data, data2, result,
               semantics::lds_atomic_denormals(access.operation, access.bytes, wave.float_mode));
}

void atomic(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  Offsets offsets;
  vgpr_offsets(m, run, static_cast<uint32_t>(m.offset), offsets);
  atomic_at(m, wave, run, semantics::memory_access(op.origin->instruction), offsets, rows_at(run, m.data_base, m.data),
            rows_at(run, m.data_base, m.data2),
            (m.bits & returns) != 0 ? rows_at(run, m.data_base, m.result) : nullptr);
}

/// ds_wrxchg2*: an exchange at each of two offsets. The results come last, as they may be the data.
void exchange_two(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const isa::Instruction& instruction = op.origin->instruction;
  const MemoryAccess& access = semantics::memory_access(instruction);
  Offsets first, second;
  vgpr_offsets(m, run, instruction.offset * uint32_t{access.offset_unit}, first);
  vgpr_offsets(m, run, instruction.offset1 * uint32_t{access.offset_unit}, second);
  const unsigned words = access.words();
  Row* old = run.temporary;
  atomic_at(m, wave, run, access, first, rows_at(run, m.data_base, m.data), nullptr, old);
  atomic_at(m, wave, run, access, second, rows_at(run, m.data_base, m.data2), nullptr, old + words);
  Row* result = rows_at(run, m.data_base, m.result);
  for_each_lane(wave.exec(), [&](unsigned lane) {
    for (unsigned word = 0; word < 2 * words; ++word) result[word][lane] = old[word][lane];
  });
}

/// Of ds_*_src2: the place of the atomic, and that of its data.
void two_offsets(const MicroOp& op, const Run& run, Offsets& offsets, Offsets& sources) {
  const isa::Instruction& instruction = op.origin->instruction;
  vgpr_offsets(op.memory, run, 0, offsets);
  // The decoder's offset is the 16 bits of both fields.
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    sources.of[lane] = semantics::src2_address(offsets.of[lane], static_cast<uint8_t>(instruction.offset),
                                               static_cast<uint8_t>(instruction.offset >> 8));
  }
}

/// ds_*_src2: the data come from a second place in LDS.
void atomic_from_lds(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const MemoryAccess& access = semantics::memory_access(op.origin->instruction);
  Offsets offsets, sources;
  two_offsets(op, run, offsets, sources);
  LaneAddresses addresses;
  const uint64_t inside = lds_addresses(lds_of(wave, run), sources, access.bytes, addresses);
  Row* data = run.temporary;
  for_each_lane(wave.exec(), [&](unsigned lane) {
    uint32_t words[2]{};
    if ((inside >> lane & 1) != 0) {
      std::memcpy(words, reinterpret_cast<const void*>(addresses.of[lane]), access.bytes);
    }
    data[0][lane] = words[0];
    data[1][lane] = words[1];
  });
  atomic_at(m, wave, run, access, offsets, data, nullptr, nullptr);
}

/// ds_condxchg32_rtn_b64: each of the two words is exchanged if its new value has bit 31, which is not stored.
void conditional_exchange(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  Offsets offsets;
  vgpr_offsets(m, run, static_cast<uint32_t>(m.offset), offsets);
  for (uint32_t& offset : offsets.of) offset &= 0xFFF8;
  LaneAddresses addresses;
  const uint64_t inside = lds_addresses(lds_of(wave, run), offsets, 8, addresses);
  const Row* data = rows_at(run, m.data_base, m.data);
  Row* result = rows_at(run, m.data_base, m.result);
  for_each_lane(wave.exec(), [&](unsigned lane) {
    for (unsigned word = 0; word < 2; ++word) {
      uint32_t old = 0;
      const uint32_t value = data[word][lane];
      if ((inside >> lane & 1) != 0) {
        auto* memory = reinterpret_cast<void*>(addresses.of[lane] + word * 4);
        std::memcpy(&old, memory, 4);
        const uint32_t stored = value & 0x7FFF'FFFF;
        if ((value >> 31) != 0) std::memcpy(memory, &stored, 4);
      }
      result[word][lane] = old;
    }
  });
}

/// ds_append, ds_consume: one word at M0 + offset counts the lanes.
template <bool append>
void count_lanes(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const uint64_t exec = wave.exec();
  const machine::WorkGroup& group = *wave.work_group;
  const uint64_t address = uint64_t{wave.scalar[isa::scalar::m0] & 0xFFFF} + static_cast<uint32_t>(m.offset);
  uint32_t old = 0;
  if (address + 4 <= group.lds_bytes) {
    std::memcpy(&old, group.lds + address, 4);
    const auto count = static_cast<uint32_t>(__builtin_popcountll(exec));
    const uint32_t value = append ? old + count : old - count;
    std::memcpy(group.lds + address, &value, 4);
  }
  Row& result = *rows_at(run, m.data_base, m.result);
  for_each_lane(exec, [&](unsigned lane) { result[lane] = old; });
}

// --- Lane permutations ----------------------------------------------------------------------------------------------

void swizzle(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  semantics::swizzle(*op.origin->lane_map, wave.exec(), *rows_at(run, RowBase::vgpr, m.address), run.temporary[0]);
  copy_lanes(*rows_at(run, m.data_base, m.result), run.temporary[0], wave.exec());
}

template <bool pull, bool fetch_inactive = false>
void permute(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  constexpr auto move = pull ? semantics::backward_permute : semantics::permute;
  const uint64_t valid = fetch_inactive ? ~uint64_t{0} : wave.exec();
  const unsigned reach = std::min<unsigned>(wave.wave_size, run.code->target().processor->permute_lanes);
  move(valid, *rows_at(run, RowBase::vgpr, m.address), static_cast<uint16_t>(m.offset),
       *rows_at(run, m.data_base, m.data), run.temporary[0], reach);
  copy_lanes(*rows_at(run, m.data_base, m.result), run.temporary[0], wave.exec());
}

/// ds_read_b*_tr_b*
template <unsigned lane_bits, unsigned element_bits>
void load_transposed(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const uint64_t exec = wave.exec();
  constexpr unsigned words = lane_bits / 32;
  Offsets offsets;
  vgpr_offsets(m, run, static_cast<uint32_t>(m.offset), offsets);
  LaneAddresses addresses;
  const uint64_t inside = lds_addresses(lds_of(wave, run), offsets, lane_bits / 8, addresses);
  Row *loaded = run.temporary, *transposed = run.temporary + words;
  std::memset(loaded, 0, words * sizeof(Row));  // what lanes have that load nothing
  for_each_lane(exec & inside, [&](unsigned lane) {
    uint32_t value[words];
    std::memcpy(value, reinterpret_cast<const void*>(addresses.of[lane]), sizeof value);
    for (unsigned word = 0; word < words; ++word) loaded[word][lane] = value[word];
  });
  semantics::transpose_tiles(loaded, lane_bits, element_bits, transposed);
  Row* result = rows_at(run, m.data_base, m.result);
  for (unsigned word = 0; word < words; ++word) copy_lanes(result[word], transposed[word], exec);
}

// --- Ray tracing ----------------------------------------------------------------------------------------------------

/// ds_bvh_stack_rtn_b32 of GFX11
void bvh_stack(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const machine::WorkGroup& group = *wave.work_group;
  const auto is_inside = [&](uint32_t address) { return uint64_t{address} + 4 <= group.lds_bytes; };
  const auto load = [&](uint32_t address) {
    uint32_t value = 0;
    if (is_inside(address)) std::memcpy(&value, group.lds + address, 4);
    return value;
  };
  const auto store = [&](uint32_t address, uint32_t value) {
    if (is_inside(address)) std::memcpy(group.lds + address, &value, 4);
  };
  Row& address = *rows_at(run, RowBase::vgpr, m.address);
  const Row& last_visited = *rows_at(run, m.data_base, m.data);
  const Row* data = rows_at(run, m.data_base, m.data2);
  Row& result = *rows_at(run, m.data_base, m.result);
  for_each_lane(wave.exec(), [&](unsigned lane) {
    semantics::BvhStack stack(address[lane], static_cast<uint8_t>(m.offset >> 8));
    result[lane] = semantics::push_nodes(stack, last_visited[lane],
                                         {data[0][lane], data[1][lane], data[2][lane], data[3][lane]}, load, store);
    address[lane] = stack.address();
  });
}

void nothing(Wave&, const MicroOp&, Run&) {}

// --- Access reports --------------------------------------------------------------------------------------------------

/// Loads, stores and atomics.
void accesses(const Wave& wave, const MicroOp& op, const Run& run, AccessReporter& reporter) {
  const MemoryOp& m = op.memory;
  const isa::Instruction& instruction = op.origin->instruction;
  const MemoryAccess& access = semantics::memory_access(instruction);
  const auto report = [&](uint32_t offset) {
    Offsets offsets;
    if (access.by_lane) {
      lane_offsets(wave, offset, offsets);
    } else {
      vgpr_offsets(m, run, offset, offsets);
    }
    reporter.lds(offsets.of, wave.exec(), access.bytes);
  };
  if (access.elements == 1) return report(static_cast<uint32_t>(m.offset));
  report(static_cast<uint32_t>(instruction.offset) * access.offset_unit);
  report(instruction.offset1 * uint32_t{access.offset_unit});
}

/// Atomics whose data are in LDS.
void accesses_from_lds(const Wave& wave, const MicroOp& op, const Run& run, AccessReporter& reporter) {
  const unsigned bytes = semantics::memory_access(op.origin->instruction).bytes;
  Offsets offsets, sources;
  two_offsets(op, run, offsets, sources);
  reporter.lds_side(sources.of, wave.exec(), bytes, false);
  reporter.lds(offsets.of, wave.exec(), bytes);
}

void conditional_exchange_accesses(const Wave& wave, const MicroOp& op, const Run& run, AccessReporter& reporter) {
  Offsets offsets;
  vgpr_offsets(op.memory, run, static_cast<uint32_t>(op.memory.offset), offsets);
  for (uint32_t& offset : offsets.of) offset &= 0xFFF8;
  reporter.lds(offsets.of, wave.exec(), 8);
}

/// ds_append, ds_consume: one word for the wave, as of its first lane.
void count_accesses(const Wave& wave, const MicroOp& op, const Run&, AccessReporter& reporter) {
  Offsets offsets;
  for (uint32_t& offset : offsets.of) {
    offset = (wave.scalar[isa::scalar::m0] & 0xFFFF) + static_cast<uint32_t>(op.memory.offset);
  }
  reporter.lds(offsets.of, wave.exec() & -wave.exec(), 4);
}

void transposed_accesses(const Wave& wave, const MicroOp& op, const Run& run, AccessReporter& reporter) {
  Offsets offsets;
  vgpr_offsets(op.memory, run, static_cast<uint32_t>(op.memory.offset), offsets);
  reporter.lds(offsets.of, wave.exec(), op.origin->instruction.dst().words * 4u);
}

// --- Preparation ----------------------------------------------------------------------------------------------------

template <MemoryAccess::Kind kind, unsigned bytes>
Handler choose_transfer(const MemoryAccess& access) {
  if (access.by_lane) return bytes == 4 ? step<transfer<kind, true, 1, 4>> : nullptr;
  if (access.elements == 2) return step<transfer<kind, false, 2, bytes>>;
  return step<transfer<kind, false, 1, bytes>>;
}

template <MemoryAccess::Kind kind>
Handler choose_transfer(const MemoryAccess& access) {
  switch (access.bytes) {
    case 1:
      return choose_transfer<kind, 1>(access);
    case 2:
      return choose_transfer<kind, 2>(access);
    case 4:
      return choose_transfer<kind, 4>(access);
    case 8:
      return choose_transfer<kind, 8>(access);
    case 12:
      return choose_transfer<kind, 12>(access);
    case 16:
      return choose_transfer<kind, 16>(access);
    default:
      return nullptr;
  }
}

}  // namespace

Handler prepare_lds(Preparation& p) {
  const isa::Instruction& instruction = p.instruction;
  if (isa::row_of(instruction).computes.operation == isa::Operation::nop) return step<nothing>;
  if (instruction.gds) return nullptr;
  const MemoryAccess& access = semantics::memory_access(instruction);
  MemoryOp& m = p.op.memory;
  m.pc = p.origin.pc;
  m.offset = instruction.offset;
  m.bits = 0;
  m.address = m.data = m.data2 = m.result = 0;
  m.data_base = RowBase::vgpr;

  // Operands: result, address (unless M0 is), first and second data.
  unsigned next = instruction.destinations;
  const bool m0_address =
      access.by_lane || access.kind == MemoryAccess::Kind::append || access.kind == MemoryAccess::Kind::consume;
  const auto take = [&]() -> const isa::Operand* {
    while (next < instruction.operand_count) {
      const isa::Operand& operand = instruction.operands[next++];
      if (operand.kind == isa::OperandKind::vgpr || operand.kind == isa::OperandKind::agpr) return &operand;
    }
    return nullptr;
  };
  if (instruction.destinations != 0) {
    m.data_base = row_base(instruction.dst());
    m.result = row_offset(instruction.dst());
    m.bits |= returns;
  }
  if (!m0_address) {
    const isa::Operand* address = take();
    if (address == nullptr) return nullptr;
    m.address = row_offset(*address);
  }
  if (const isa::Operand* data = take()) {
    m.data_base = row_base(*data);
    m.data = row_offset(*data);
    m.data2 = m.data;
  }
  if (const isa::Operand* data2 = take()) m.data2 = row_offset(*data2);

  const auto transposed = [&](Handler handler) {
    p.origin.accesses = transposed_accesses;
    return handler;
  };
  const isa::Computation& computes = isa::row_of(instruction).computes;
  switch (computes.operation) {
    case isa::Operation::lanes_swizzle:
      p.origin.lane_map = semantics::swizzle_map(static_cast<uint16_t>(m.offset));
      return step<swizzle>;
    case isa::Operation::lanes_push:
      return step<permute<false>>;
    case isa::Operation::lanes_pull:
      return step<permute<true>>;
    case isa::Operation::lanes_pull_inactive:
      return step<permute<true, true>>;
    case isa::Operation::load_transposed:
      switch (isa::bits_of(computes.from)) {
        case 16:
          return transposed(step<load_transposed<64, 16>>);
        case 8:
          return transposed(step<load_transposed<64, 8>>);
        case 6:
          return transposed(step<load_transposed<96, 6>>);
        default:
          return transposed(step<load_transposed<64, 4>>);
      }
    case isa::Operation::bvh_stack:
      // The state that GFX12 keeps in the address is not published.
      return instruction.generation < target::Generation::gfx12 ? step<bvh_stack> : nullptr;
    default:
      break;
  }

  p.origin.accesses = access.data_in_lds ? accesses_from_lds : accesses;
  switch (access.kind) {
    case MemoryAccess::Kind::load:
      m.data = m.result;
      m.data2 = m.data + access.words() * uint32_t{sizeof(Row)};
      [[fallthrough]];
    case MemoryAccess::Kind::store:
      m.transfer = transfer_function(access);
      if (m.transfer == nullptr) return nullptr;
      if (access.elements == 2) {
        m.offset = instruction.offset * access.offset_unit;
        m.result = instruction.offset1 * access.offset_unit - static_cast<uint32_t>(m.offset);
      }
      return access.kind == MemoryAccess::Kind::load ? choose_transfer<MemoryAccess::Kind::load>(access)
                                                     : choose_transfer<MemoryAccess::Kind::store>(access);
    case MemoryAccess::Kind::atomic:
      m.lds_atomic = lds_atomic_function(access.operation, access.bytes);
      if (m.lds_atomic == nullptr) return nullptr;
      if (access.data_in_lds) return step<atomic_from_lds>;
      return access.elements == 2 ? step<exchange_two> : step<atomic>;
    case MemoryAccess::Kind::conditional_exchange:
      p.origin.accesses = conditional_exchange_accesses;
      return step<conditional_exchange>;
    case MemoryAccess::Kind::append:
      p.origin.accesses = count_accesses;
      return step<count_lanes<true>>;
    case MemoryAccess::Kind::consume:
      p.origin.accesses = count_accesses;
      return step<count_lanes<false>>;
    default:
      return nullptr;
  }
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::engine

// engine: ds_load_tr* and global_load_tr* of GFX12.5. Each lane loads some neighbouring elements of a row; what it gets
// are elements of a column, from other lanes' loads, so that a matrix in memory by rows is in registers as WMMA has
// columns.
//
// Where element j of lane s goes is by AMD's emulator of GFX12.5 (ROCm's rocjitsu, shared/ds_transpose.h). What lanes
// load that EXEC leaves out counts as zeros.
#include "engine/memory/transposed_loads.h"

#include <cstring>

#include "engine/interpreter/observation.h"
#include "engine/interpreter/vector.h"
#include "engine/memory/gather_scatter.h"
#include "engine/memory/guest_bounds.h"
#include "engine/memory/lane_address.h"
#include "isa/element_type.h"

namespace Atoll::engine {

namespace {

constexpr unsigned lanes = 32, max_words = 4;

/// The lane and the place in it of element `j` that lane `s` loads.
struct Target {
  unsigned lane, slot;
};
template <unsigned width>
constexpr Target target_of(unsigned s, unsigned j) {
  if constexpr (width == 16) return {s / 8 * 8 + j, s % 8};
  if constexpr (width == 8) return {s / 16 * 16 + s / 4 % 2 * 8 + j, s / 8 % 2 * 4 + s % 4};
  if constexpr (width == 6) return {s / 4 % 2 * 16 + j, s / 8 * 4 + s % 4};
  return {s / 8 % 2 * 16 + j, s / 16 * 8 + s % 8};
}

using Element = uint32_t[max_words];

template <unsigned width, unsigned words>
void transpose(const Element (&loaded)[lanes], Element (&transposed)[lanes]) {
  std::memset(transposed, 0, sizeof transposed);
  constexpr uint32_t mask = (1u << width) - 1;
  for (unsigned s = 0; s < lanes; ++s) {
    for (unsigned j = 0; j < words * 32 / width; ++j) {
      const unsigned from = j * width;
      uint64_t bits = loaded[s][from / 32];
      if (from / 32 + 1 < words) bits |= uint64_t{loaded[s][from / 32 + 1]} << 32;
      const uint64_t value = bits >> from % 32 & mask;
      const Target to = target_of<width>(s, j);
      const unsigned at = to.slot * width;
      transposed[to.lane][at / 32] |= static_cast<uint32_t>(value << at % 32);
      if (at % 32 + width > 32) transposed[to.lane][at / 32 + 1] |= static_cast<uint32_t>(value >> (32 - at % 32));
    }
  }
}

/// The host's address of what a lane loads; null if it is outside of LDS.
template <bool in_lds, unsigned bytes>
const void* address_of(const Wave& wave, const MemoryOp& m, const Row* rows, unsigned lane) {
  if constexpr (in_lds) {
    const uint32_t offset = rows[0][lane] + static_cast<uint32_t>(m.offset);
    const machine::WorkGroup& group = *wave.work_group;
    return uint64_t{offset} + bytes <= group.lds_bytes ? group.lds + offset : nullptr;
  }
  const uint64_t address = lane_address(wave, m, rows, lane);
  check_bounds(wave, address, false);
  return reinterpret_cast<const void*>(address);
}

template <bool in_lds, unsigned width, unsigned words>
void load(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  wave.pc = m.pc;
  const Row* rows = rows_at(run, RowBase::vgpr, m.address);
  Element loaded[lanes]{}, transposed[lanes];
  for_each_lane(wave.exec(), [&](unsigned lane) {
    const void* from = address_of<in_lds, words * 4>(wave, m, rows, lane);
    if (from != nullptr) std::memcpy(loaded[lane], from, words * 4);
  });
  transpose<width, words>(loaded, transposed);
  Row* result = rows_at(run, RowBase::vgpr, m.result);
  for_each_lane(wave.exec(), [&](unsigned lane) {
    for (unsigned word = 0; word < words; ++word) result[word][lane] = transposed[lane][word];
  });
}

/// Reports the accesses.
void accesses(const Wave& wave, const MicroOp& op, const Run& run, AccessReporter& reporter) {
  const MemoryOp& m = op.memory;
  const unsigned bytes = op.origin->instruction.dst().words * 4u;
  const Row* rows = rows_at(run, RowBase::vgpr, m.address);
  if (op.origin->instruction.encoding == isa::Encoding::ds) {
    uint32_t offsets[semantics::wave_lanes]{};
    for_each_lane(wave.exec(), [&](unsigned lane) { offsets[lane] = rows[0][lane] + static_cast<uint32_t>(m.offset); });
    return reporter.lds(offsets, wave.exec(), bytes);
  }
  LaneAddresses addresses;
  for_each_lane(wave.exec(), [&](unsigned lane) { addresses.of[lane] = lane_address(wave, m, rows, lane); });
  reporter.global(addresses, wave.exec(), bytes);
}

/// By the bits of the elements that are transposed.
template <bool is_lds>
Handler handler_for(unsigned bits) {
  switch (bits) {
    case 16:
      return step<load<is_lds, 16, 4>>;
    case 8:
      return step<load<is_lds, 8, 2>>;
    case 6:
      return step<load<is_lds, 6, 3>>;
    case 4:
      return step<load<is_lds, 4, 2>>;
    default:
      return nullptr;
  }
}

}  // namespace

Handler prepare_transposed_load(Preparation& p) {
  const isa::Instruction& instruction = p.instruction;
  if (instruction.generation < target::Generation::gfx12_5) return nullptr;
  const isa::Computation& computes = isa::row_of(instruction).computes;
  if (computes.operation != isa::Operation::load_transposed) return nullptr;
  const unsigned bits = isa::bits_of(computes.from);
  const Handler handler =
      instruction.encoding == isa::Encoding::ds ? handler_for<true>(bits) : handler_for<false>(bits);
  if (handler == nullptr || instruction.destinations != 1 || !is_row(instruction.src(0))) return nullptr;
  MemoryOp& m = p.op.memory;
  m.pc = p.origin.pc;
  set_lane_address(m, instruction, instruction.src(0), instruction.sources() > 1 ? &instruction.src(1) : nullptr,
                   instruction.dst().words * 4U);
  m.result = row_offset(instruction.dst());
  p.origin.accesses = accesses;
  return handler;
}

}  // namespace Atoll::engine

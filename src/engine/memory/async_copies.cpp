// engine: GFX12.5's copies between memory and LDS that a wave does not wait for, and prefetches.
//
// A lane's element goes from its address in memory to its address in LDS, which a VGPR has, or back; the offset of the
// instruction counts on both sides. Such copies are done when their instruction is, so there is nothing for
// s_wait_asynccnt to wait for, and a barrier in LDS at which they arrive is arrived at at once.
#include "engine/memory/async_copies.h"

#include <cstring>

#include "engine/interpreter/observation.h"
#include "engine/interpreter/vector.h"
#include "engine/memory/gather_scatter.h"
#include "engine/memory/guest_bounds.h"
#include "engine/memory/lane_address.h"
#include "isa/element_type.h"

namespace Atoll::engine {

namespace {

using isa::Opcode;

/// MemoryOp::data: of the addresses in LDS; result: bytes of an element; addresses in memory as lane_address.h has
/// them.
template <bool loads>
void copy(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  wave.pc = m.pc;
  const machine::WorkGroup& group = *wave.work_group;
  const Row* rows = rows_at(run, RowBase::vgpr, m.address);
  const Row& lds_row = *rows_at(run, RowBase::vgpr, m.data);
  for_each_lane(wave.exec(), [&](unsigned lane) {
    const uint64_t address = lane_address(wave, m, rows, lane);
    check_bounds(wave, address, !loads);
    void* memory = reinterpret_cast<void*>(address);
    const uint32_t in_lds = lds_row[lane] + static_cast<uint32_t>(m.offset);
    const bool inside = uint64_t{in_lds} + m.result <= group.lds_bytes;
    // Through a buffer: a fault of memory leaves LDS as it was.
    uint8_t element[16]{};
    if constexpr (loads) {
      std::memcpy(element, memory, m.result);
      if (inside) std::memcpy(group.lds + in_lds, element, m.result);
    } else {
      if (inside) std::memcpy(element, group.lds + in_lds, m.result);
      std::memcpy(memory, element, m.result);
    }
  });
}

/// Reports both sides of the copy.
template <bool loads>
void copy_accesses(const Wave& wave, const MicroOp& op, const Run& run, AccessReporter& reporter) {
  const MemoryOp& m = op.memory;
  const Row* rows = rows_at(run, RowBase::vgpr, m.address);
  const Row& lds_row = *rows_at(run, RowBase::vgpr, m.data);
  LaneAddresses addresses;
  uint32_t offsets[semantics::wave_lanes]{};
  for_each_lane(wave.exec(), [&](unsigned lane) {
    addresses.of[lane] = lane_address(wave, m, rows, lane);
    offsets[lane] = lds_row[lane] + static_cast<uint32_t>(m.offset);
  });
  reporter.set_direction(loads, !loads);
  reporter.global(addresses, wave.exec(), m.result);
  reporter.lds_side(offsets, wave.exec(), m.result, loads);
}

void nothing(Wave&, const MicroOp&, Run&) {}

/// A barrier in LDS of 8 bytes: how many are still to arrive in this phase, less one; the phase, which counts down; and
/// with how many a phase begins, less one: 16 bits each, from the lowest up. (AMD's emulator of GFX12.5, ROCm's
/// rocjitsu, lds_barrier_cell.h.)
uint64_t after_arrivals(uint64_t barrier, uint64_t arrivals) {
  constexpr uint64_t field = 0xFFFF;
  uint64_t pending = barrier & field, phase = barrier >> 16 & field;
  const uint64_t initial = barrier >> 32 & field;
  if (arrivals <= pending) {
    pending -= arrivals;
  } else {
    const uint64_t further = arrivals - pending - 1;
    phase = (phase - 1 - further / (initial + 1)) & field;
    pending = initial - further % (initial + 1);
  }
  return (barrier & field << 48) | initial << 32 | phase << 16 | pending;
}

/// ds_atomic_barrier_arrive_rtn_b64: as many arrive as the data say, and the barrier as it was is the result;
/// ds_atomic_async_barrier_arrive_b64: one, when the copies before it are done.
template <bool returns>
void arrive(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const machine::WorkGroup& group = *wave.work_group;
  const Row& row = *rows_at(run, RowBase::vgpr, m.address);
  for_each_lane(wave.exec(), [&](unsigned lane) {
    const uint32_t address = row[lane] + static_cast<uint32_t>(m.offset);
    uint64_t arrivals = 1;
    if constexpr (returns) {
      const Row* data = rows_at(run, RowBase::vgpr, m.data);
      arrivals = data[0][lane] | uint64_t{data[1][lane]} << 32;
    }
    const uint64_t barrier = arrive_in_lds(group, address, arrivals);
    if constexpr (returns) {
      Row* result = rows_at(run, RowBase::vgpr, m.result);
      result[0][lane] = static_cast<uint32_t>(barrier);
      result[1][lane] = static_cast<uint32_t>(barrier >> 32);
    }
  });
}

void arrival_accesses(const Wave& wave, const MicroOp& op, const Run& run, AccessReporter& reporter) {
  const Row& row = *rows_at(run, RowBase::vgpr, op.memory.address);
  uint32_t offsets[semantics::wave_lanes]{};
  for_each_lane(wave.exec(),
                [&](unsigned lane) { offsets[lane] = row[lane] + static_cast<uint32_t>(op.memory.offset); });
  reporter.set_direction(true, true, true);
  reporter.lds(offsets, wave.exec(), 8);
}

Handler prepare_arrival(Preparation& p) {
  const isa::Instruction& instruction = p.instruction;
  p.origin.accesses = arrival_accesses;
  MemoryOp& m = p.op.memory;
  m.offset = instruction.offset;
  if (!is_row(instruction.src(0))) return nullptr;
  m.address = row_offset(instruction.src(0));
  if (instruction.opcode == Opcode::ds_atomic_async_barrier_arrive_b64) return step<arrive<false>>;
  if (instruction.destinations != 1 || instruction.sources() < 2 || !is_row(instruction.src(1))) return nullptr;
  m.data = row_offset(instruction.src(1));
  m.result = row_offset(instruction.dst());
  return step<arrive<true>>;
}

/// Bytes of an element; 0: it is no such copy.
}  // namespace

// Each work-group of a cluster that a load is for executes it, so it is a load for the one that does.
uint64_t arrive_in_lds(const machine::WorkGroup& group, uint32_t address, uint64_t arrivals) {
  uint64_t barrier = 0;
  if (uint64_t{address} + sizeof barrier > group.lds_bytes) return barrier;
  std::memcpy(&barrier, group.lds + address, sizeof barrier);
  const uint64_t after = after_arrivals(barrier, arrivals);
  std::memcpy(group.lds + address, &after, sizeof after);
  return barrier;
}

Handler prepare_async_copy(Preparation& p) {
  const isa::Instruction& instruction = p.instruction;
  const isa::Computation& computes = isa::row_of(instruction).computes;
  switch (computes.operation) {
    case isa::Operation::prefetch_data:
      return instruction.encoding == isa::Encoding::smem ? nullptr : step<nothing>;
    case isa::Operation::barrier_arrive:
    case isa::Operation::async_barrier_arrive:
      return prepare_arrival(p);
    case isa::Operation::load_async:
    case isa::Operation::store_async:
      break;
    default:
      return nullptr;
  }
  const unsigned bytes = isa::bits_of(computes.type) / 8;
  const bool stores = computes.operation == isa::Operation::store_async;
  const isa::Operand& memory = instruction.operands[stores ? 0 : 1];
  const isa::Operand& lds = instruction.operands[stores ? 1 : 0];
  if (!is_row(memory) || !is_row(lds)) return nullptr;
  MemoryOp& m = p.op.memory;
  m.pc = p.origin.pc;
  set_lane_address(m, instruction, memory, instruction.operand_count > 2 ? &instruction.operands[2] : nullptr, bytes);
  m.data = row_offset(lds);
  m.result = bytes;
  p.origin.accesses = stores ? copy_accesses<false> : copy_accesses<true>;
  return stores ? step<copy<false>> : step<copy<true>>;
}

}  // namespace Atoll::engine

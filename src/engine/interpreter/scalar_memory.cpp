// engine: scalar memory: loads and stores of SGPRs, scalar buffers, clocks and the scalar cache.
// Source: ISA guides, "Scalar Memory Operations".
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "engine/interpreter/observation.h"
#include "engine/interpreter/prepare.h"
#include "engine/interpreter/scalar_offset.h"
#include "engine/memory/buffer_resource.h"
#include "engine/memory/float_atomics.h"
#include "engine/memory/gather_scatter.h"
#include "engine/memory/guest_access.h"
#include "engine/memory/guest_bounds.h"
#include "isa/table.h"
#include "machine/queue/signal.h"

namespace Atoll::engine {

namespace {

using isa::Operation;

/// The immediate offset has 34 bits on GFX7: MemoryOp::address is its upper word.
[[gnu::always_inline]] inline uint64_t immediate_of(const MemoryOp& m) {
  return static_cast<uint32_t>(m.offset) | uint64_t{m.address} << 32;
}

/// Returns the byte offset: an immediate, an SGPR, or both. MemoryOp::bits is the SGPR's scale; 0: none.
[[gnu::always_inline]] inline uint64_t offset_of(const Wave& wave, const MemoryOp& m) {
  return immediate_of(m) + (m.bits != 0 ? uint64_t{wave.scalar[m.scalar_offset]} * m.bits : 0);
}

/// s_load_dword and its multiples
template <unsigned words>
ATOLL_GUEST_ACCESS void load(Wave& wave, const MicroOp& op, Run&) {
  const MemoryOp& m = op.memory;
  wave.pc = m.pc;
  const uint64_t address = (wave.scalar64(m.scalar_base) + offset_of(wave, m)) & ~uint64_t{3};
  check_bounds(wave, address, false);
  __builtin_memcpy_inline(&wave.scalar[m.data], reinterpret_cast<const void*>(address), words * 4);
}

/// s_load_u8 and its like, which need not be aligned to dwords; s_buffer_load_u8 and its like.
template <bool is_buffer>
void load_small(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  wave.pc = m.pc;
  const semantics::MemoryAccess& access = semantics::memory_access(op.origin->instruction);
  const uint64_t offset = offset_of(wave, m) & ~uint64_t{access.bytes - 1u};
  uint32_t value = 0;
  if constexpr (is_buffer) {
    const BufferResource resource(&wave.scalar[m.scalar_base], *run.code->target().processor);
    if (offset + access.bytes <= resource.scalar_bytes()) {
      check_bounds(wave, resource.base + offset, false);
      std::memcpy(&value, reinterpret_cast<const void*>(resource.base + offset), access.bytes);
    }
  } else {
    const uint64_t address = wave.scalar64(m.scalar_base) + offset;
    check_bounds(wave, address, false);
    std::memcpy(&value, reinterpret_cast<const void*>(address), access.bytes);
  }
  const unsigned unused = 32 - 8u * access.bytes;
  if (access.sign_extend) value = static_cast<uint32_t>(static_cast<int32_t>(value << unused) >> unused);
  wave.scalar[m.data] = value;
}

template <unsigned words>
void store(Wave& wave, const MicroOp& op, Run&) {
  const MemoryOp& m = op.memory;
  wave.pc = m.pc;
  const uint64_t address = (wave.scalar64(m.scalar_base) + offset_of(wave, m)) & ~uint64_t{3};
  check_bounds(wave, address, true);
  std::memcpy(reinterpret_cast<void*>(address), &wave.scalar[m.data], words * 4);
}

/// s_scratch_load, s_scratch_store: the base is the wave's scratch in memory. An offset in an SGPR counts in units of
/// 64 bytes, an immediate in bytes.
uint64_t scratch_address(const Wave& wave, const MemoryOp& m) {
  const uint64_t offset = m.bits != 0 ? wave.scalar[m.scalar_offset] * uint64_t{64} : 0;
  return (wave.scalar64(m.scalar_base) + immediate_of(m) + offset) & ~uint64_t{3};
}

template <unsigned words, bool is_store>
void scratch(Wave& wave, const MicroOp& op, Run&) {
  const MemoryOp& m = op.memory;
  wave.pc = m.pc;
  const uint64_t address = scratch_address(wave, m);
  check_bounds(wave, address, is_store);
  if constexpr (is_store) {
    std::memcpy(reinterpret_cast<void*>(address), &wave.scalar[m.data], words * 4);
  } else {
    std::memcpy(&wave.scalar[m.data], reinterpret_cast<const void*>(address), words * 4);
  }
}

/// s_buffer_load, s_buffer_store: dwords past the buffer's end read as 0 and are not written.
template <unsigned words, bool is_store>
void buffer(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  wave.pc = m.pc;
  const BufferResource resource(&wave.scalar[m.scalar_base], *run.code->target().processor);
  const uint64_t size = resource.scalar_bytes();
  const uint64_t offset = offset_of(wave, m) & ~uint64_t{3};
  uint32_t result[words];
  for (unsigned i = 0; i < words; ++i) {
    const bool inside = offset + i * 4 + 4 <= size;
    auto* address = reinterpret_cast<void*>(resource.base + offset + i * 4);
    result[i] = 0;
    if (inside) check_bounds(wave, resource.base + offset + i * 4, is_store);
    if (inside && is_store) std::memcpy(address, &wave.scalar[m.data + i], 4);
    if (inside && !is_store) std::memcpy(&result[i], address, 4);
  }
  if constexpr (!is_store) std::memcpy(&wave.scalar[m.data], result, sizeof result);
}

/// s_memtime and s_memrealtime: both tick as the machine's one clock does.
void clock(Wave& wave, const MicroOp& op, Run&) { wave.set_scalar64(op.memory.data, machine::now_ns()); }

/// s_atomic_*, s_buffer_atomic_*: one lane's atomic with the data in SGPRs. The lane functions of vector memory do it.
template <bool is_buffer>
bool atomic(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  wave.pc = m.pc;
  const semantics::MemoryAccess& access = semantics::memory_access(op.origin->instruction);
  const unsigned words = access.words();
  Row data[2 * 2];
  for (unsigned word = 0; word < 2 * words; ++word) {
    data[word][0] = m.data + word < isa::scalar::count ? wave.scalar[m.data + word] : 0;
  }
  const uint64_t offset = offset_of(wave, m);
  LaneAddresses addresses;
  bool inside = true;
  if constexpr (is_buffer) {
    const BufferResource resource(&wave.scalar[m.scalar_base], *run.code->target().processor);
    addresses.of[0] = (resource.base + offset) & ~uint64_t{3};
    inside = offset + access.bytes <= resource.scalar_bytes();
  } else {
    addresses.of[0] = (wave.scalar64(m.scalar_base) + offset) & ~uint64_t{3};
  }
  if (!check_aligned(wave, op, addresses, 1, access.bytes)) return false;
  Row old[2];
  old[0][0] = old[1][0] = 0;
  if (inside) {
    check_bounds(wave, addresses.of[0], true);
    m.atomic(addresses, 1, data, data + words, old, memory_denormals(wave, run, access.operation, access.bytes));
  }
  if (op.origin->instruction.glc) {
    for (unsigned word = 0; word < words; ++word) wave.scalar[m.data + word] = old[word][0];
  }
  return true;
}

/// s_get_waveid_in_workgroup
void wave_number(Wave& wave, const MicroOp& op, Run&) { wave.scalar[op.memory.data] = wave.index; }

void nothing(Wave&, const MicroOp&, Run&) {}

/// Reports the accesses. Dwords past the end of a buffer are not accessed.
template <bool is_buffer>
void accesses(const Wave& wave, const MicroOp& op, const Run& run, AccessReporter& reporter) {
  const MemoryOp& m = op.memory;
  const isa::Instruction& instruction = op.origin->instruction;
  const semantics::MemoryAccess& access = semantics::memory_access(instruction);
  const bool is_small = access.kind == semantics::MemoryAccess::Kind::load && access.bytes < 4;
  const bool is_atomic = access.kind == semantics::MemoryAccess::Kind::atomic;
  uint64_t bytes = is_small || is_atomic ? access.bytes : instruction.operands[0].words * 4u;
  // Single bytes and words need not be aligned to dwords.
  const unsigned granule = !is_small ? 4 : is_buffer ? unsigned{access.bytes} : 1;
  const uint64_t offset = offset_of(wave, m);
  uint64_t base = wave.scalar64(m.scalar_base);
  if constexpr (is_buffer) {
    const BufferResource resource(&wave.scalar[m.scalar_base], *run.code->target().processor);
    base = resource.base;
    const uint64_t from = offset & ~uint64_t{granule - 1}, size = resource.scalar_bytes();
    const uint64_t inside = from < size ? size - from : 0;
    if (inside < bytes) bytes = is_small || is_atomic ? 0 : inside / 4 * 4;
  }
  reporter.scalar(base + offset, static_cast<unsigned>(bytes), granule);
}

void scratch_accesses(const Wave& wave, const MicroOp& op, const Run&, AccessReporter& reporter) {
  reporter.scalar(scratch_address(wave, op.memory), op.origin->instruction.operands[0].words * 4u, 4);
}

template <template <unsigned> typename Make>
Handler for_words(unsigned words) {
  switch (words) {
    case 1:
      return Make<1>::handler;
    case 2:
      return Make<2>::handler;
    case 3:
      return Make<3>::handler;
    case 4:
      return Make<4>::handler;
    case 8:
      return Make<8>::handler;
    case 16:
      return Make<16>::handler;
    default:
      return nullptr;
  }
}

template <unsigned words>
struct Load {
  static constexpr Handler handler = step<load<words>>;
};
template <unsigned words>
struct Store {
  static constexpr Handler handler = step<store<words>>;
};
template <unsigned words>
struct ScratchLoad {
  static constexpr Handler handler = step<scratch<words, false>>;
};
template <unsigned words>
struct ScratchStore {
  static constexpr Handler handler = step<scratch<words, true>>;
};
template <unsigned words>
struct BufferLoad {
  static constexpr Handler handler = step<buffer<words, false>>;
};
template <unsigned words>
struct BufferStore {
  static constexpr Handler handler = step<buffer<words, true>>;
};

/// By which scale_offset multiplies an offset (GFX12.5): the bytes that the instruction loads.
unsigned access_bytes(const isa::Instruction& instruction) {
  const semantics::MemoryAccess& access = semantics::memory_access(instruction);
  return access.bytes != 0 ? access.bytes : instruction.operands[0].words * 4u;
}

}  // namespace

Handler prepare_scalar_memory(Preparation& p) {
  const isa::Instruction& instruction = p.instruction;
  MemoryOp& m = p.op.memory;
  m.pc = p.origin.pc;
  const int64_t offset = scalar_offset(instruction);
  m.offset = static_cast<int32_t>(offset);
  m.address = static_cast<uint32_t>(offset >> 32);
  m.bits = 0;

  const isa::InstructionRow& row = isa::row_of(instruction);
  switch (row.computes.operation) {
    case Operation::cycle_counter:
    case Operation::real_time_counter:
      m.data = instruction.dst().reg;
      return step<clock>;
    case Operation::wave_in_group:
      m.data = instruction.dst().reg;
      return step<wave_number>;
    case Operation::invalidate:  // memory is coherent: there is no scalar cache
    case Operation::write_back:
    case Operation::discard_lines:
    case Operation::translate_ahead:
    case Operation::prefetch_code:  // hints
    case Operation::prefetch_data:
      return step<nothing>;
    default:
      break;
  }

  // Data, base, and an offset that may be a register, in this order whether the data is loaded or stored.
  if (instruction.operand_count < 2) return nullptr;
  const isa::Operand& data = instruction.operands[0];
  const isa::Operand& base = instruction.operands[1];
  if (data.kind != isa::OperandKind::scalar || base.kind != isa::OperandKind::scalar) return nullptr;
  m.data = data.reg;
  m.scalar_base = static_cast<uint8_t>(base.reg);
  for (unsigned i = 2; i < instruction.operand_count; ++i) {
    const isa::Operand& operand = instruction.operands[i];
    if (operand.kind == isa::OperandKind::scalar) {
      m.scalar_offset = static_cast<uint8_t>(operand.reg);
      m.bits = instruction.scale_offset ? static_cast<uint8_t>(access_bytes(instruction)) : 1;
    }
  }

  using Kind = semantics::MemoryAccess::Kind;
  const semantics::MemoryAccess& access = semantics::memory_access(instruction);
  const bool is_scratch = row.has(isa::flag::reads_flat_scratch);
  const bool is_buffer = row.operands[1].type == isa::DataType::b128;  // the resource
  p.origin.accesses = is_scratch ? scratch_accesses : is_buffer ? accesses<true> : accesses<false>;
  if (access.kind == Kind::load) {
    if (access.bytes < 4) return is_buffer ? step<load_small<true>> : step<load_small<false>>;
    return is_scratch  ? for_words<ScratchLoad>(data.words)
           : is_buffer ? for_words<BufferLoad>(data.words)
                       : for_words<Load>(data.words);
  }
  if (access.kind == Kind::store) {
    return is_scratch  ? for_words<ScratchStore>(data.words)
           : is_buffer ? for_words<BufferStore>(data.words)
                       : for_words<Store>(data.words);
  }
  if (access.kind != Kind::atomic) return nullptr;
  m.atomic = atomic_function(access.operation, access.bytes);
  if (m.atomic == nullptr) return nullptr;
  return is_buffer ? step_or_stop<atomic<true>> : step_or_stop<atomic<false>>;
}

}  // namespace Atoll::engine

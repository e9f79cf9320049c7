// engine: from an isa::Instruction to a MicroOp (prepare.h): what the families share.
#include "engine/interpreter/prepare.h"

#include <cstring>

#include <fmt/format.h>

#include "engine/interpreter/global_wave_sync.h"
#include "engine/interpreter/wmma_gfx12_5.h"
#include "engine/memory/async_copies.h"
#include "engine/memory/gather_scatter.h"
#include "engine/memory/tensor_copies.h"
#include "engine/memory/transposed_loads.h"
#include "isa/table.h"
#include "machine/memory/memory.h"
#include "semantics/scalar/scalar_float.h"

namespace Atoll::engine {

namespace {

void no_such_register(Wave& wave, const MicroOp* op, Run&) {
  fault(wave, op->origin->pc, machine::Fault::Kind::illegal_instruction,
        fmt::format("{} names registers that do not exist", isa::row(op->origin->instruction.opcode).name));
}

/// LDS_DIRECT: a value in LDS at M0[15:0], the same for all lanes; M0[18:16] is its type.
/// Source: Vega ISA guide, "LDS Direct Reads".
uint64_t lds_direct_value(const Wave& wave) {
  const uint32_t m0 = wave.scalar[isa::scalar::m0], address = m0 & 0xFFFF, type = m0 >> 16 & 7;
  constexpr unsigned sign_extended = 4;
  constexpr uint8_t bytes[4] = {1, 2, 4, 4};
  const unsigned size = bytes[type & 3];
  if (address + size > wave.work_group->lds_bytes) return 0;
  uint32_t value = 0;
  std::memcpy(&value, wave.work_group->lds + address, size);
  if ((type & sign_extended) == 0 || size == 4) return value;
  const unsigned shift = 32 - 8 * size;
  return static_cast<uint32_t>(static_cast<int32_t>(value << shift) >> shift);
}

Handler prepare_family(Preparation& p) {
  using enum isa::Encoding;
  switch (p.instruction.encoding) {
    case sop1:
    case sop2:
    case sopk:
    case sopc:
    case sopp:
      if (Handler handler = prepare_control(p)) return handler;
      if (Handler handler = prepare_fork_join(p)) return handler;
      if (Handler handler = prepare_hardware_register(p)) return handler;
      if (Handler handler = prepare_register_index(p)) return handler;
      return prepare_scalar(p);
    case smem:
      return prepare_scalar_memory(p);
    case vop1:
    case vop2:
    case vopc:
    case vop3:
    case vop3p:
    case vinterp:
      if (Handler handler = prepare_deep_matrix(p)) return handler;
      if (Handler handler = prepare_matrix(p)) return handler;
      if (Handler handler = prepare_lane_operation(p)) return handler;
      // Those of the vector ALU whose operands are scalar registers (v_s_exp_f32 and its like).
      if (semantics::lane_equivalent(p.instruction.opcode) != isa::Opcode::invalid) return prepare_scalar(p);
      return prepare_vector(p);
    case vopd:
    case vopd3:
      return prepare_dual(p);
    case ds:
      if (Handler handler = prepare_global_wave_sync(p)) return handler;
      if (Handler handler = prepare_async_copy(p)) return handler;
      if (Handler handler = prepare_transposed_load(p)) return handler;
      return prepare_lds(p);
    case flat:
    case global:
    case scratch:
      if (Handler handler = prepare_async_copy(p)) return handler;
      if (Handler handler = prepare_transposed_load(p)) return handler;
      return prepare_flat_memory(p);
    case mubuf:
    case mtbuf:
      return prepare_buffer(p);
    case mimg:
      if (Handler handler = prepare_tensor_copy(p)) return handler;
      if (Handler handler = prepare_ray_tracing(p)) return handler;
      return prepare_image(p);
    case vsample:
      return prepare_image(p);
    default:
      return nullptr;
  }
}

}  // namespace

void not_implemented(Wave& wave, const MicroOp* op, Run&) {
  fault(wave, op->origin->pc, machine::Fault::Kind::illegal_instruction,
        fmt::format("{} is not implemented", isa::row(op->origin->instruction.opcode).name));
}

void fault(Wave& wave, uint64_t pc, machine::Fault::Kind kind, std::string what, uint64_t address, bool is_write,
           unsigned lane) {
  wave.fault = std::make_unique<machine::Fault>(machine::Fault{.kind = kind,
                                                               .pc = pc,
                                                               .address = address,
                                                               .is_write = is_write,
                                                               .lane = static_cast<uint8_t>(lane),
                                                               .what = std::move(what)});
  wave.pc = pc;
  wave.state = machine::WaveState::faulted;
}

bool check_aligned(Wave& wave, const MicroOp& op, const LaneAddresses& addresses, uint64_t lanes, unsigned bytes) {
  const uint64_t within = bytes - 1;
  uint64_t low_bits = 0;
  for_each_lane(lanes, [&](unsigned lane) { low_bits |= addresses.of[lane]; });
  if ((low_bits & within) == 0) return true;
  auto first = static_cast<unsigned>(__builtin_ctzll(lanes));
  while ((lanes >> first & 1) == 0 || (addresses.of[first] & within) == 0) ++first;
  fault(wave, op.origin->pc, machine::Fault::Kind::memory,
        fmt::format("an atomic of {} bytes must be aligned to them", bytes), addresses.of[first], true, first);
  return false;
}

std::optional<uint64_t> constant_value(const isa::Operand& operand) {
  using enum isa::OperandKind;
  constexpr uint64_t shared = uint64_t{machine::shared_aperture_hi} << 32;
  constexpr uint64_t scratch = uint64_t{machine::private_aperture_hi} << 32;
  switch (operand.kind) {
    case constant:
      return operand.value;
    // As 64-bit operands these are addresses. A 32-bit read sees the low half.
    case shared_base:
      return shared;
    case shared_limit:
      return shared | 0xFFFF'FFFF;
    case private_base:
      return scratch;
    case private_limit:
      return scratch | 0xFFFF'FFFF;
    case pops_exiting_wave_id:
    case none:
    case off:
      return 0;
    default:
      return std::nullopt;
  }
}

uint64_t scalar_value(const Wave& wave, const isa::Operand& operand) {
  using enum isa::OperandKind;
  switch (operand.kind) {
    case scalar:
      return operand.words == 2 ? wave.scalar64(operand.reg) : wave.scalar[operand.reg];
    case vccz:
      return wave.vcc() == 0;
    case execz:
      return wave.exec() == 0;
    case scc:
      return wave.scc;
    case lds_direct:
      return lds_direct_value(wave);
    case flat_scratch_base_lo: {
      const uint64_t base = machine::lane_scratch_base | reinterpret_cast<uint64_t>(wave.scratch);
      return isa::words_of(operand.type) == 2 ? base : base & 0xFFFF'FFFF;
    }
    case flat_scratch_base_hi:
      return (machine::lane_scratch_base | reinterpret_cast<uint64_t>(wave.scratch)) >> 32;
    default:
      return constant_value(operand).value_or(0);
  }
}

bool registers_exist(const isa::Instruction& instruction) {
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const isa::Operand& operand = instruction.operands[i];
    const unsigned end = operand.reg + operand.words;
    switch (operand.kind) {
      case isa::OperandKind::vgpr:
      case isa::OperandKind::agpr:
        if (end > (instruction.generation < target::Generation::gfx12_5 ? 256 : 1024)) return false;
        break;
      case isa::OperandKind::scalar:
        if (end > isa::scalar::count) return false;
        break;
      default:
        break;
    }
  }
  return true;
}

Handler prepare_op(OpMetadata& origin, MicroOp& op, CodePage& page, CodeCache& cache) {
  if (!registers_exist(origin.instruction)) return no_such_register;
  Preparation preparation{origin, origin.instruction, op, page, cache};
  const Handler handler = prepare_family(preparation);
  return handler != nullptr ? handler : not_implemented;
}

}  // namespace Atoll::engine

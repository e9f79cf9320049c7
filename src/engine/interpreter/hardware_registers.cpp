// engine: hardware registers: s_getreg_b32, s_setreg_b32 and s_setreg_imm32_b32.
// Source: the ISA guides, "Hardware Register Read/Write" (numbers and fields); user guide for SH_MEM_BASES.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "engine/interpreter/hardware_register.h"
#include "engine/interpreter/prepare.h"
#include "engine/interpreter/register_index.h"
#include "engine/vgpr_banks.h"
#include "isa/table.h"
#include "machine/clock.h"
#include "machine/gpu.h"
#include "machine/memory/memory.h"
#include "machine/wave/dispatch.h"

namespace Atoll::engine {

namespace {

using machine::WorkGroup;

namespace hardware = isa::hardware;

/// SIMM16 of the instruction: which register, and which bits of it.
struct Field {
  unsigned id, offset, size;
  explicit Field(uint16_t immediate)
      : id(immediate & 0x3F), offset(immediate >> 6 & 0x1F), size((immediate >> 11 & 0x1F) + 1u) {}
  uint32_t mask() const { return static_cast<uint32_t>((uint64_t{1} << size) - 1) << offset; }
  uint32_t changed(uint32_t whole, uint32_t value) const { return (whole & ~mask()) | (value << offset & mask()); }
};

uint32_t status_of(const Wave& wave) {
  constexpr uint32_t in_work_group = 1u << 11, valid = 1u << 16;
  return wave.status | valid | (wave.scc ? 1u : 0u) | (wave.exec() == 0 ? 1u << 9 : 0u) |
         (wave.vcc() == 0 ? 1u << 10 : 0u) | (wave.work_group != nullptr ? in_work_group : 0u);
}

/// Where the wave runs. A virtual GPU has no fixed places: waves of a work-group are said to be on one compute unit,
/// spread over its SIMDs, and work-groups take in turn the GPU's compute units, or those of them that the queue may
/// use.
struct Place {
  uint32_t die = 0, engine = 0, array = 0, unit = 0;

  explicit Place(const Wave& wave) {
    const WorkGroup* group = wave.work_group;
    if (group == nullptr || group->dispatch == nullptr || group->dispatch->gpu == nullptr) return;
    const target::Product& product = group->dispatch->gpu->model().product;
    const auto& usable = group->dispatch->compute_units;
    uint32_t rest = usable ? (*usable)[group->id[0] % usable->size()] : group->id[0];
    rest %= std::max(product.compute_units, 1u);
    const auto next = [&rest](uint32_t count) {
      const uint32_t number = rest % std::max(count, 1u);
      rest /= std::max(count, 1u);
      return number;
    };
    die = next(product.xcc_count);
    engine = next(product.shader_engines / std::max(product.xcc_count, 1u));
    array = next(product.shader_arrays_per_engine);
    unit = rest;
  }
};

/// SE_ID has three bits on gfx908 and gfx90a, else two (HIP's device functions, "HW_ID Register bit structure").
uint32_t hardware_id_of(const Wave& wave) {
  const Place place(wave);
  return (wave.index / 4 & 0xF) | (wave.index & 3) << 4 | (place.unit & 0xF) << 8 | (place.array & 1) << 12 |
         (place.engine & 7) << 13;
}

/// From GFX10 on in two registers (RDNA3 ISA guide, "HW_ID1", "HW_ID2"): WAVE_ID, SIMD_ID, WGP_ID, SA_ID and SE_ID; in
/// the second, of which queue a wave is, and WG_ID, the slot of its work-group.
uint32_t hardware_id1_of(const Wave& wave) {
  const Place place(wave);
  return (wave.index / 4 & 0x1F) | (wave.index & 3) << 8 | (place.unit / 2 & 0xF) << 10 | (place.array & 1) << 16 |
         (place.engine & 7) << 18;
}

/// Sizes in the granules of the fields: 4 VGPRs, 16 SGPRs, less one.
uint32_t gpr_alloc_of(const Wave& wave) {
  const uint32_t vgprs = std::max<uint32_t>(wave.vgprs + 3u, 4) / 4 - 1;
  const uint32_t sgprs = std::max<uint32_t>(wave.sgprs + 15u, 16) / 16 - 1;
  return (vgprs & 0x3F) << 8 | (sgprs & 0xF) << 24;
}

/// The size in granules of 128 dwords.
uint32_t lds_alloc_of(const Wave& wave) {
  const uint32_t bytes = wave.work_group != nullptr ? wave.work_group->lds_bytes : 0;
  return ((bytes + 511) / 512 & 0x1FF) << 12;
}

/// The upper 16 bits of the private and of the shared aperture.
constexpr uint32_t memory_bases = (machine::shared_aperture_hi & 0xFFFF'0000) | machine::private_aperture_hi >> 16;

/// Of the cluster that the wave's work-group is in: a number that is not 0 from bit 6, and the work-group's number in
/// it from bit 21, where clang's code has them; 0 outside of clusters.
uint32_t ib_status2_of(const Wave& wave) {
  const machine::WorkGroup* group = wave.work_group;
  return group != nullptr && group->cluster != nullptr ? 1u << 6 | group->number_in_cluster << 21 : 0;
}

struct Readable {
  unsigned id;
  uint32_t (*value)(const Wave& wave);
};
constexpr uint32_t zero(const Wave&) { return 0; }

/// Nothing is outstanding (IB_STS), and there is no trap handler.
constexpr Readable readable[] = {
    {hardware::mode, [](const Wave& wave) { return wave.mode; }},
    {hardware::status, status_of},
    {hardware::trap_status, [](const Wave& wave) { return wave.trap_status; }},
    {hardware::hw_id, hardware_id_of},
    {hardware::gpr_alloc, gpr_alloc_of},
    {hardware::lds_alloc, lds_alloc_of},
    {hardware::ib_status, zero},
    {hardware::ib_status2, ib_status2_of},
    {hardware::shared_memory_bases, [](const Wave&) { return memory_bases; }},
    {hardware::xcc_id, [](const Wave& wave) { return Place(wave).die; }},
    {hardware::hw_id1, hardware_id1_of},
    {hardware::hw_id2,
     [](const Wave& wave) { return wave.work_group != nullptr ? wave.work_group->id[0] % 32 << 16 : 0; }},
    {hardware::flat_scratch_lo, [](const Wave& wave) { return wave.scalar[isa::scalar::flat_scratch_lo]; }},
    {hardware::flat_scratch_hi, [](const Wave& wave) { return wave.scalar[isa::scalar::flat_scratch_hi]; }},
    {hardware::shader_cycles, [](const Wave&) { return static_cast<uint32_t>(machine::now_ns()); }},
    {hardware::shader_cycles_hi, [](const Wave&) { return static_cast<uint32_t>(machine::now_ns() >> 32); }},
    {hardware::tba_lo, zero},
    {hardware::tba_hi, zero},
    {hardware::tma_lo, zero},
    {hardware::tma_hi, zero},
    {hardware::state_private, [](const Wave& wave) { return wave.scc ? 1u << 9 : 0u; }},
    {hardware::exception_private, zero},
    {hardware::exception_user, [](const Wave& wave) { return wave.trap_status; }},
    {hardware::trap_control, zero},
};
const Readable* find_readable(uint16_t immediate) {
  const auto* found = std::ranges::find(readable, Field(immediate).id, &Readable::id);
  return found != std::end(readable) ? found : nullptr;
}

void set_mode(Wave& wave, uint32_t mode, Run& run) {
  wave.mode = mode;
  wave.float_mode = machine::float_mode_of(mode, wave.float_mode);
  run.call.mode = wave.float_mode;
}

/// Where the fields of MODE begin that s_round_mode and s_denorm_mode write.
constexpr unsigned rounding = 0, denormals = 4;
std::optional<unsigned> float_mode_field(const isa::Instruction& instruction) {
  switch (isa::row_of(instruction).computes.operation) {
    case isa::Operation::set_rounding:
      return rounding;
    case isa::Operation::set_denormals:
      return denormals;
    default:
      return std::nullopt;
  }
}

enum class SetRegister : uint8_t { no, of_register, of_constant };

/// Whether an instruction is s_setreg_b32 or s_setreg_imm32_b32, whose value is a literal.
SetRegister set_register_of(const isa::Instruction& instruction) {
  const isa::InstructionRow& row = isa::row_of(instruction);
  if (row.computes.operation != isa::Operation::set_register) return SetRegister::no;
  const bool has_literal = std::ranges::any_of(
      row.operands, [](const isa::OperandSpec& operand) { return operand.field == isa::Field::literal; });
  return has_literal ? SetRegister::of_constant : SetRegister::of_register;
}

/// s_round_mode, s_denorm_mode: four bits of MODE from the immediate.
template <unsigned shift>
void set_float_mode(Wave& wave, const MicroOp& op, Run& run) {
  constexpr uint32_t field = 0xFu << shift;
  set_mode(wave, (wave.mode & ~field) | (uint32_t{op.origin->instruction.immediate} << shift & field), run);
}

bool get_register(Wave& wave, const MicroOp& op, Run&) {
  const uint16_t immediate = op.origin->instruction.immediate;
  if (!has_hardware_register(immediate)) {
    fault(wave, op.origin->pc, machine::Fault::Kind::illegal_instruction,
          fmt::format("s_getreg_b32 of hardware register {} is not implemented", Field(immediate).id));
    return false;
  }
  wave.scalar[op.mask_out] = hardware_register(&wave, immediate);
  return true;
}

void set_register(Wave& wave, const MicroOp* op, Run& run) {
  ++run.instructions;
  const isa::Instruction& instruction = op->origin->instruction;
  const Field field(instruction.immediate);
  const auto value = static_cast<uint32_t>(scalar_value(wave, instruction.src(instruction.sources() - 1)));
  switch (field.id) {
    case hardware::mode: {
      const uint32_t before = wave.mode;
      set_mode(wave, field.changed(wave.mode, value), run);
      if (has_vgpr_banks(*run.code->target().processor)) {
        // s_setreg_imm32_b32 takes the banks from its constant whatever field it writes (LLVM, handleSetregMode).
        if (set_register_of(instruction) == SetRegister::of_constant) {
          wave.mode = (wave.mode & ~banks_mask) | (value & banks_mask);
        }
        if (((wave.mode ^ before) & banks_mask) != 0) return go_apart(wave, op->origin->pc + instruction.size, run);
      } else if (runs_apart(wave)) {
        return go_apart(wave, op->origin->pc + instruction.size, run);
      }
      break;
    }
    case hardware::trap_status:
    case hardware::exception_user:
      wave.trap_status = field.changed(wave.trap_status, value);
      break;
    case hardware::flat_scratch_lo:
    case hardware::flat_scratch_hi: {
      uint32_t& half = wave.scalar[isa::scalar::flat_scratch_lo + (field.id - hardware::flat_scratch_lo)];
      half = field.changed(half, value);
      break;
    }
    case hardware::status:  // only a trap handler may write it; hardware ignores others
      break;
    default:
      return fault(
          wave, op->origin->pc, machine::Fault::Kind::illegal_instruction,
          fmt::format("{} to hardware register {} is not implemented", isa::row(instruction.opcode).name, field.id));
  }
  op += op->slots;
  [[clang::musttail]] return handler_of(op)(wave, op, run);
}

}  // namespace

bool has_hardware_register(uint16_t immediate) { return find_readable(immediate) != nullptr; }

uint32_t hardware_register(const Wave* wave, uint16_t immediate) {
  const Field field(immediate);
  return (find_readable(immediate)->value(*wave) & field.mask()) >> field.offset;
}

std::optional<semantics::FloatMode> float_mode_after(const isa::Instruction& instruction,
                                                     const semantics::FloatMode& before) {
  if (const auto field = float_mode_field(instruction)) {
    const uint32_t value = uint32_t{instruction.immediate} << *field & 0xFu << *field;
    return machine::float_mode_of((machine::mode_bits_of(before) & ~(0xFu << *field)) | value, before);
  }
  const SetRegister set = set_register_of(instruction);
  if (set == SetRegister::no) return before;
  const bool is_constant = set == SetRegister::of_constant;
  const Field field(instruction.immediate);
  if (field.id != hardware::mode) return before;
  const auto value = is_constant ? constant_value(instruction.src(instruction.sources() - 1)) : std::nullopt;
  if (!value) return std::nullopt;
  const uint32_t changed = field.changed(machine::mode_bits_of(before), static_cast<uint32_t>(*value));
  return machine::float_mode_of(changed, before);
}

bool sets_float_mode(const isa::Instruction& instruction) {
  if (float_mode_field(instruction)) return true;
  if (set_register_of(instruction) != SetRegister::of_constant || instruction.sources() == 0) return false;
  const Field field(instruction.immediate);
  const bool has_ieee_mode = instruction.generation < target::Generation::gfx11_7;
  return field.id == hardware::mode && (field.mask() & ~machine::float_mode_bits_of(has_ieee_mode)) == 0;
}

std::optional<uint8_t> banks_after(const isa::Instruction& instruction, uint8_t before) {
  if (instruction.generation < target::Generation::gfx12_5) return before;
  if (isa::row_of(instruction).computes.operation == isa::Operation::set_vgpr_banks)
    return static_cast<uint8_t>(instruction.immediate);
  const SetRegister set = set_register_of(instruction);
  if (set == SetRegister::no) return before;
  const bool is_constant = set == SetRegister::of_constant;
  const Field field(instruction.immediate);
  if (field.id != hardware::mode || instruction.sources() == 0) return before;
  if (!is_constant) return (field.mask() & banks_mask) == 0 ? std::optional(before) : std::nullopt;
  const auto value = constant_value(instruction.src(instruction.sources() - 1));
  return value ? std::optional(banks_in(static_cast<uint32_t>(*value))) : std::nullopt;
}

std::optional<ModeBits> inert_mode_bits(const isa::Instruction& instruction) {
  if (set_register_of(instruction) != SetRegister::of_constant || instruction.sources() == 0) return {};
  const Field field(instruction.immediate);
  const auto value = constant_value(instruction.src(instruction.sources() - 1));
  constexpr uint32_t inert = 0xFF000000;
  const bool is_inert = instruction.generation >= target::Generation::gfx12_5 && field.id == hardware::mode &&
                        (field.mask() & ~inert) == 0;
  if (!is_inert || !value) return {};
  return ModeBits{field.mask(), field.changed(0, static_cast<uint32_t>(*value))};
}

Handler prepare_hardware_register(Preparation& p) {
  switch (isa::row_of(p.instruction).computes.operation) {
    case isa::Operation::get_register:
      p.op.mask_out = static_cast<uint8_t>(p.instruction.dst().reg);
      return step_or_stop<get_register>;
    case isa::Operation::set_register:
      return p.instruction.sources() != 0 ? set_register : nullptr;
    case isa::Operation::set_rounding:
      return step<set_float_mode<rounding>>;
    case isa::Operation::set_denormals:
      return step<set_float_mode<denormals>>;
    default:
      return nullptr;
  }
}

}  // namespace Atoll::engine

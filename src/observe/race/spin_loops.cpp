// observe: decodes the code around a load and checks that nothing else in its loop has an effect.
#include "observe/race/spin_loops.h"

#include <optional>

#include "isa/decode.h"
#include "isa/effects.h"
#include "isa/table.h"

namespace Atoll::observe {

namespace {

/// Longer loops do more than wait.
constexpr unsigned max_instructions = 64;

/// True for scratch accesses, where unoptimized code keeps its variables; until GFX9 through the buffer in s[0:3].
bool is_private(const isa::Instruction& instruction) {
  if (instruction.encoding == isa::Encoding::scratch) return true;
  if (instruction.encoding != isa::Encoding::mubuf) return false;
  const isa::Operand* resource = isa::operand_of(instruction, isa::Field::buffer_resource);
  return resource != nullptr && resource->kind == isa::OperandKind::scalar && resource->reg == 0;
}

/// True for other accesses and barriers, with which a loop does more than wait. Scalar loads may fetch the address.
bool does_something(const isa::Instruction& instruction) {
  const isa::InstructionRow& row = isa::row_of(instruction);
  if (row.has(isa::flag::barrier)) return true;
  return row.has(isa::flag::memory) && instruction.encoding != isa::Encoding::smem && !is_private(instruction);
}

/// Returns whether both instructions differ only in registers.
bool is_alike(const isa::Instruction& one, const isa::Instruction& other) {
  return one.opcode == other.opcode && one.offset == other.offset && one.operand_count == other.operand_count;
}

}  // namespace

bool spins(std::span<const uint8_t> code, uint64_t offset, const target::Processor& processor, unsigned wave_size) {
  const auto at = [&](uint64_t place) -> std::optional<isa::Instruction> {
    if (place >= code.size()) return std::nullopt;
    auto instruction = isa::decode(code.subspan(place), processor, wave_size);
    return instruction ? std::optional(std::move(*instruction)) : std::nullopt;
  };
  // Searches forward for a branch back over the access.
  const auto access = at(offset);
  if (!access) return false;
  const isa::Effects own = isa::effects_of(*access);
  // Returns whether the instruction changes the access's address in the next iteration.
  const auto changes_place = [&](const isa::Instruction& instruction) {
    const isa::Effects effects = isa::effects_of(instruction);
    isa::ScalarSet scalars = effects.writes & own.reads;
    scalars.reset(isa::scalar::exec_lo);  // lanes that have finished waiting
    scalars.reset(isa::scalar::exec_hi);
    return scalars.any() || (effects.vector_writes & own.vector_reads).any();
  };
  bool stays = !changes_place(*access);
  std::optional<uint64_t> head;
  uint64_t place = offset + access->size;
  for (unsigned count = 0; count < max_instructions && !head; ++count) {
    const auto next = at(place);
    if (!next) return false;
    // Compilers peel the first iteration.
    if (is_alike(*access, *next)) return spins(code, place, processor, wave_size);
    if (does_something(*next)) return false;
    stays = stays && !changes_place(*next);
    const isa::Control control = isa::control_of(*next);
    place += next->size;
    if (control.is_call()) return false;
    if (control.has_target) {
      const uint64_t target = place + static_cast<uint64_t>(int64_t{static_cast<int16_t>(next->immediate)} * 4);
      if (target <= offset) {
        head = target;
      } else if (control.kind != isa::Control::Kind::conditional) {
        return false;
      }
    } else if (control.kind != isa::Control::Kind::next && control.kind != isa::Control::Kind::wait) {
      return false;
    }
  }
  if (!head || !stays) return false;
  for (place = *head; place < offset;) {
    const auto before = at(place);
    if (!before || does_something(*before) || changes_place(*before)) return false;
    place += before->size;
  }
  return place == offset;
}

}  // namespace Atoll::observe

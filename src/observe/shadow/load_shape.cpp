// observe: determines a load's shape from its opcode and resource.
#include "observe/shadow/load_shape.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "machine/gpu.h"
#include "machine/wave/dispatch.h"
#include "semantics/image/image_operation.h"
#include "semantics/memory/memory_access.h"

namespace Atoll::observe {

namespace {

using isa::Encoding;
using isa::Instruction;
using isa::OperandKind;
using semantics::MemoryAccess;

/// Returns a shape with the registers of the result.
std::optional<LoadShape> shape_of_result(const Instruction& instruction, uint32_t bytes) {
  if (instruction.lds || instruction.tfe || instruction.destinations != 1 || bytes > LoadShape::max_bytes) {
    return std::nullopt;
  }
  const isa::Operand& result = instruction.dst();
  if (result.kind != OperandKind::vgpr && result.kind != OperandKind::agpr) return std::nullopt;
  if (bytes > 2 && bytes % 4 != 0) return std::nullopt;
  return LoadShape{.kind = result.kind, .reg = result.reg, .words = 0, .bytes = static_cast<uint8_t>(bytes)};
}

/// Adds the registers that components fill; returns nullopt if the instruction has a different number.
std::optional<LoadShape> with_components(LoadShape shape, const Instruction& instruction, uint8_t components,
                                         bool halves, const target::Processor& processor) {
  shape.components = components;
  shape.halves = halves;
  shape.packed = halves && !processor.has(target::Feature::unpacked_d16);
  const auto count = static_cast<unsigned>(std::popcount(components));
  shape.words = static_cast<uint8_t>(shape.packed ? (count + 1) / 2 : count);
  if (instruction.dst().words != shape.words || shape.words > LoadShape::max_words) return std::nullopt;
  return shape;
}

std::optional<LoadShape> image_shape(const machine::Wave& wave, const Instruction& instruction, uint32_t bytes) {
  const semantics::ImageOperation& operation = semantics::image_operation(instruction.opcode);
  if (operation.kind != semantics::ImageOperation::Kind::load || operation.packed || instruction.operand_count < 3) {
    return std::nullopt;
  }
  auto shape = shape_of_result(instruction, bytes);
  const isa::Operand& words = instruction.operands[2];
  if (!shape || words.kind != OperandKind::scalar) return std::nullopt;
  const target::Processor& processor = wave.work_group->dispatch->gpu->processor();
  const auto resource = semantics::read_image_resource({&wave.scalar[words.reg], words.words}, processor);
  if (!resource || resource->format.bytes != bytes) return std::nullopt;
  shape->format = resource->format;
  shape->selects = resource->selects;
  const uint8_t components = instruction.dmask == 0 ? uint8_t{1} : instruction.dmask;
  return with_components(*shape, instruction, components, instruction.d16, processor);
}

/// Returns the four words of a buffer resource; null if the instruction has none.
const uint32_t* buffer_resource(const machine::Wave& wave, const Instruction& instruction) {
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const isa::Operand& operand = instruction.operands[i];
    if (operand.kind == OperandKind::scalar) return operand.words == 4 ? &wave.scalar[operand.reg] : nullptr;
  }
  return nullptr;
}

/// The format is the instruction's if it is typed, else that of the resource's last word.
std::optional<semantics::BufferFormat> buffer_format(const Instruction& instruction, uint32_t word3,
                                                     const target::Processor& processor) {
  using enum target::BufferResources;
  const auto layout = processor.buffer_resources;
  const bool is_typed = instruction.encoding == Encoding::mtbuf;
  if (layout < gfx10) {
    return semantics::buffer_format(is_typed ? instruction.data_format : word3 >> 15 & 0xF,
                                    is_typed ? instruction.number_format : word3 >> 12 & 7);
  }
  const uint32_t mask = layout == gfx10 ? 0x7F : 0x3F;
  return semantics::unified_buffer_format(is_typed ? instruction.data_format : word3 >> 12 & mask,
                                          instruction.generation);
}

std::optional<LoadShape> converted_shape(const machine::Wave& wave, const Instruction& instruction,
                                         const MemoryAccess& access, uint32_t bytes) {
  auto shape = shape_of_result(instruction, bytes);
  const uint32_t* resource = buffer_resource(wave, instruction);
  if (!shape || resource == nullptr || access.half == MemoryAccess::Half::high) return std::nullopt;
  const target::Processor& processor = wave.work_group->dispatch->gpu->processor();
  shape->format = buffer_format(instruction, resource[3], processor);
  if (!shape->format || shape->format->bytes != bytes) return std::nullopt;
  if (instruction.encoding != Encoding::mtbuf) shape->buffer_word3 = resource[3];
  shape->keeps_half = access.is_d16 && !access.clears_other_half;
  const auto components = static_cast<uint8_t>((1u << access.components) - 1);
  return with_components(*shape, instruction, components, access.is_d16, processor);
}

}  // namespace

std::optional<LoadShape> load_shape(const machine::Wave& wave, const Instruction& instruction, uint32_t bytes) {
  if (instruction.encoding == Encoding::mimg) return image_shape(wave, instruction, bytes);
  const MemoryAccess& access = semantics::memory_access(instruction);
  if (access.kind != MemoryAccess::Kind::load || access.elements != 1) {
    return std::nullopt;
  }
  if (access.components != 0) return converted_shape(wave, instruction, access, bytes);
  auto shape = shape_of_result(instruction, bytes);
  if (!shape || access.bytes != bytes || instruction.dst().words != (bytes + 3) / 4) return std::nullopt;
  shape->words = static_cast<uint8_t>(instruction.dst().words);
  shape->sign_extend = access.sign_extend;
  shape->halves = access.half != MemoryAccess::Half::none;
  shape->high_half = access.half == MemoryAccess::Half::high;
  shape->keeps_half = access.keeps_half();
  return shape;
}

LoadShape::Registers LoadShape::registers(const uint8_t* element) const {
  Registers made;
  const auto set_half = [&](unsigned word, bool high, uint32_t half, bool keeps) {
    made.value[word] |= (half & 0xFFFF) << (high ? 16 : 0);
    made.mask[word] |= keeps ? 0xFFFFu << (high ? 16 : 0) : ~0u;
  };
  if (!format) {
    std::memcpy(made.value.data(), element, bytes);
    uint32_t& first = made.value[0];
    if (sign_extend && bytes < 4) {
      const unsigned shift = 32 - 8 * bytes;
      first = static_cast<uint32_t>(static_cast<int32_t>(first << shift) >> shift);
    }
    if (halves) {
      set_half(0, high_half, std::exchange(first, 0), keeps_half);
    } else {
      std::fill_n(made.mask.begin(), words, ~0u);
    }
    return made;
  }
  std::array<uint32_t, 4> all = semantics::read_components(*format, element);
  if (buffer_word3) all = semantics::select_components(*format, all, *buffer_word3);
  if (selects) all = semantics::select_components({.format = *format, .selects = *selects}, all);
  unsigned next = 0;
  for (unsigned i = 0; i < all.size(); ++i) {
    if ((components >> i & 1) == 0) continue;
    if (packed) {
      set_half(next / 2, next % 2 != 0, semantics::narrow_component(*format, all[i]), keeps_half);
    } else {
      made.value[next] = halves ? semantics::narrow_component(*format, all[i]) : all[i];
      made.mask[next] = ~0u;
    }
    ++next;
  }
  return made;
}

}  // namespace Atoll::observe

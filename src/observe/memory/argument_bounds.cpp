// observe: the arguments that an access to the kernarg segment reads (argument_bounds.h).
#include "observe/memory/argument_bounds.h"

#include <algorithm>
#include <bit>

#include "isa/table.h"
#include "support/bytes.h"

namespace Atoll::observe {

namespace {

using object::ArgumentKind;
using object::KernelArgument;

bool is_hidden(const KernelArgument& argument) {
  return argument.kind >= ArgumentKind::hidden_global_offset_x && argument.kind <= ArgumentKind::hidden_queue_ptr;
}

/// The arguments of a kernel for accesses of a given size.
class Arguments {
 public:
  Arguments(const object::KernelMetadata& kernel, uint32_t bytes) : kernel_(kernel), bytes_(bytes) {}

  /// Returns the argument that contains the whole access at an offset, or null.
  const KernelArgument* at(uint64_t offset) const {
    const auto found = std::ranges::find_if(kernel_.arguments, [&](const KernelArgument& argument) {
      return offset >= argument.offset && offset + bytes_ <= uint64_t{argument.offset} + argument.size;
    });
    return found == kernel_.arguments.end() ? nullptr : &*found;
  }
  /// True for structures and arrays of at least two elements.
  bool is_indexed(const KernelArgument& argument) const {
    return argument.kind == ArgumentKind::by_value && argument.size > bytes_;
  }
  /// Returns the last structure that begins at or before an offset.
  const KernelArgument* indexed_before(uint64_t offset) const {
    const KernelArgument* last = nullptr;
    for (const KernelArgument& argument : kernel_.arguments) {
      const bool is_later = last == nullptr || argument.offset > last->offset;
      if (is_indexed(argument) && argument.offset <= offset && is_later) last = &argument;
    }
    return last;
  }
  /// The end of the explicit arguments and begin of the hidden ones (user guide, "Kernarg Segment").
  uint64_t end_of_explicit() const {
    uint64_t end = 0;
    for (const KernelArgument& argument : kernel_.arguments) {
      if (!is_hidden(argument)) end = std::max(end, uint64_t{argument.offset} + argument.size);
    }
    return end;
  }
  uint64_t begin_of_hidden() const { return support::align_up(end_of_explicit(), uint64_t{8}); }
  /// True if only an out-of-bounds index can reach the offset.
  bool is_out_of_place(uint64_t offset) const {
    const KernelArgument* const argument = at(offset);
    if (argument == nullptr) return true;
    return is_hidden(*argument) ? offset != argument->offset : !is_indexed(*argument);
  }

 private:
  const object::KernelMetadata& kernel_;
  uint32_t bytes_;
};

template <typename Visit>
void for_each_lane(const machine::AccessEvent& access, const Visit& visit) {
  for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
    visit(static_cast<unsigned>(std::countr_zero(lanes)));
  }
}

/// True for a scalar load whose base is inside the explicit arguments, or whose offset is in a register.
bool is_computed(const Arguments& arguments, uint64_t kernarg, const machine::AccessEvent& access) {
  const isa::Instruction& instruction = access.instruction;
  const isa::Operand* const base = isa::operand_of(instruction, isa::Field::sbase);
  if (base == nullptr || base->kind != isa::OperandKind::scalar || base->words != 2) return false;
  // From GFX10 on, an unused offset register is encoded as null.
  const isa::Operand* const offset_register = isa::operand_of(instruction, isa::Field::soffset);
  if (instruction.offset_register && (offset_register == nullptr || offset_register->reg != isa::scalar::null))
    return true;
  // Translated code may hold the base elsewhere than in the wave's registers.
  const uint64_t address = access.addresses[std::countr_zero(access.lanes)];
  const uint64_t offset = address - static_cast<uint64_t>(int64_t{instruction.offset}) - kernarg;
  return offset != 0 && offset < arguments.begin_of_hidden();
}

}  // namespace

std::optional<LeftArgument> left_argument(const object::KernelMetadata& kernel, uint64_t kernarg,
                                          const machine::AccessEvent& access) {
  const Arguments arguments(kernel, access.bytes);
  const auto first = static_cast<unsigned>(std::countr_zero(access.lanes));
  const auto offset_of = [&](unsigned lane) { return access.addresses[lane] - kernarg; };
  if (access.is_scalar) {
    const uint64_t offset = offset_of(first);
    if (!is_computed(arguments, kernarg, access) || !arguments.is_out_of_place(offset)) return std::nullopt;
    const KernelArgument* const left = arguments.indexed_before(offset);
    if (left == nullptr) return std::nullopt;  // no structure precedes the access
    return LeftArgument{.lane = first, .count = 1, .argument = left};
  }
  // The structure that most lanes read, and whether a lane reads an offset that only an index reaches.
  bool is_uniform = true, is_out_of_place = false;
  const KernelArgument* max_read = nullptr;
  uint64_t max_lanes = 0, least = UINT64_MAX;
  for_each_lane(access, [&](unsigned lane) {
    const uint64_t offset = offset_of(lane);
    is_uniform &= offset == offset_of(first);
    least = std::min(least, offset);
    is_out_of_place |= arguments.is_out_of_place(offset);
    const KernelArgument* const argument = arguments.at(offset);
    if (argument == nullptr || argument == max_read || is_hidden(*argument) || !arguments.is_indexed(*argument)) return;
    uint64_t lanes = 0;
    for_each_lane(access, [&](unsigned other) { lanes += arguments.at(offset_of(other)) == argument ? 1 : 0; });
    if (lanes > max_lanes) {
      max_lanes = lanes;
      max_read = argument;
    }
  });
  if (is_uniform || !is_out_of_place) return std::nullopt;
  LeftArgument left{.argument = max_read != nullptr ? max_read : arguments.indexed_before(least)};
  for_each_lane(access, [&](unsigned lane) {
    const KernelArgument* const argument = arguments.at(offset_of(lane));
    const bool is_other = argument != nullptr && !is_hidden(*argument) && arguments.is_indexed(*argument);
    if (is_other && max_read != nullptr) return;
    if (left.count++ == 0) left.lane = lane;
  });
  return left.count == 0 ? std::nullopt : std::optional(left);
}

}  // namespace Atoll::observe

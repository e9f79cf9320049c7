// semantics: the table of memory accesses (memory_access.h).
//
// What an instruction moves is the same in every encoding that has it: flat_load_ubyte, global_load_ubyte and
// buffer_load_ubyte differ in their addresses only. A row's operation and its parameters give it.
#include "semantics/memory/memory_access.h"

#include <array>
#include <cstddef>
#include <optional>

#include "isa/element_type.h"

namespace Atoll::semantics {

namespace {

using Kind = MemoryAccess::Kind;
using Half = MemoryAccess::Half;
using isa::Element;
using isa::InstructionRow;
using isa::Operation;
using isa::Places;

constexpr auto opcode_count = static_cast<uint32_t>(isa::Opcode::count);

/// The kinds of atomics by what their data are: `other` of those that only some types have.
struct AtomicKinds {
  AtomicOperation on_signed, on_unsigned, on_floats;
};

std::optional<AtomicKinds> atomic_kinds(Operation operation) {
  using enum AtomicOperation;
  switch (operation) {
    case Operation::add:
      return AtomicKinds{add, add, float_add};
    case Operation::sub:
      return AtomicKinds{subtract, subtract, none};
    case Operation::min:
      return AtomicKinds{signed_min, unsigned_min, float_min};
    case Operation::max:
      return AtomicKinds{signed_max, unsigned_max, float_max};
    case Operation::bit_and:
      return AtomicKinds{bit_and, bit_and, none};
    case Operation::bit_or:
      return AtomicKinds{bit_or, bit_or, none};
    case Operation::bit_xor:
      return AtomicKinds{bit_xor, bit_xor, none};
    case Operation::mask_or:
      return AtomicKinds{mask_or, mask_or, none};
    case Operation::exchange:
      return AtomicKinds{swap, swap, none};
    case Operation::compare_exchange:
      return AtomicKinds{compare_swap, compare_swap, float_compare_swap};
    case Operation::compare_store:
      return AtomicKinds{compare_store, compare_store, float_compare_store};
    case Operation::increment_wrap:
      return AtomicKinds{increment, increment, none};
    case Operation::decrement_wrap:
      return AtomicKinds{decrement, decrement, none};
    case Operation::sub_saturate:
      return AtomicKinds{subtract_clamp, subtract_clamp, none};
    case Operation::sub_if_enough:
      return AtomicKinds{conditional_subtract, conditional_subtract, none};
    case Operation::wrap:
      return AtomicKinds{wrap, wrap, none};
    default:
      return std::nullopt;
  }
}

AtomicOperation atomic_of(const isa::Computation& computes) {
  const auto kinds = atomic_kinds(computes.operation);
  if (!kinds) return AtomicOperation::none;
  if (computes.type == Element::f16) return AtomicOperation::packed_add_f16;
  if (computes.type == Element::bf16) return AtomicOperation::packed_add_bf16;
  if (isa::is_float(computes.type)) return kinds->on_floats;
  if (computes.operation == Operation::sub && computes.order == isa::Order::reversed) {
    return AtomicOperation::reverse_subtract;
  }
  return isa::is_signed(computes.type) ? kinds->on_signed : kinds->on_unsigned;
}

/// Loads and stores of registers, or of LDS; a buffer load's lds bit is the instruction's, not the row's.
Kind kind_of(const InstructionRow& row) {
  switch (row.computes.operation) {
    case Operation::load:
    case Operation::load_monitor:
      return row.has(isa::flag::to_lds) ? Kind::load_to_lds : Kind::load;
    case Operation::store:
      return row.has(isa::flag::from_lds) ? Kind::store_from_lds : Kind::store;
    case Operation::load_block:
      return Kind::load_block;
    case Operation::store_block:
      return Kind::store_block;
    case Operation::append:
      return Kind::append;
    case Operation::consume:
      return Kind::consume;
    case Operation::conditional_exchange:
      return Kind::conditional_exchange;
    default:
      return atomic_of(row.computes) != AtomicOperation::none ? Kind::atomic : Kind::none;
  }
}

Half half_of(isa::Part part) {
  return part == isa::Part::low_half ? Half::low : part == isa::Part::high_half ? Half::high : Half::none;
}

MemoryAccess access_of(const InstructionRow& row) {
  const isa::Computation& computes = row.computes;
  const bool is_image = row.encoding == isa::Encoding::mimg || row.encoding == isa::Encoding::vsample;
  if (is_image || !row.has(isa::flag::memory)) return {};
  MemoryAccess access{.kind = kind_of(row)};
  if (access.kind == Kind::none) return {};
  const bool is_packed = computes.type == Element::f16 || computes.type == Element::bf16;
  access.bytes = static_cast<uint8_t>(is_packed ? 4 : isa::bits_of(computes.type) / 8);
  access.sign_extend = (access.kind == Kind::load || access.kind == Kind::load_to_lds) && isa::is_signed(computes.type);
  access.half = half_of(computes.part);
  if (computes.type == Element::components) access.components = computes.elements;
  access.is_d16 = computes.d16;
  if (computes.places == Places::two || computes.places == Places::two_st64) {
    access.elements = 2;
    access.offset_unit = static_cast<uint16_t>(access.bytes * (computes.places == Places::two ? 1 : 64));
  }
  access.by_lane = computes.places == Places::by_lane;
  access.data_in_lds = computes.places == Places::data_in_lds;
  switch (access.kind) {
    case Kind::append:
    case Kind::consume:
      access.bytes = 4;
      access.returns = true;
      break;
    case Kind::conditional_exchange:
      access.returns = true;
      break;
    case Kind::atomic:
      access.operation = atomic_of(computes);
      access.returns = row.operands[0].field == isa::Field::ds_dst;
      break;
    default:
      break;
  }
  return access;
}

}  // namespace

// The accesses of all opcodes, and after them the same for GPUs whose D16 loads clear what they don't load.
AccessNumber access_number(const isa::Instruction& instruction) {
  const auto opcode = static_cast<uint32_t>(instruction.opcode);
  return AccessNumber{instruction.clears_other_half ? opcode + opcode_count : opcode};
}

const MemoryAccess& memory_access(AccessNumber number) {
  static const auto table = [] {
    std::array<MemoryAccess, size_t{opcode_count} * 2> accesses;
    for (uint32_t i = 0; i < opcode_count; ++i) {
      accesses[i] = accesses[opcode_count + i] = access_of(isa::row(static_cast<isa::Opcode>(i)));
      MemoryAccess& clearing = accesses[opcode_count + i];
      clearing.clears_other_half = clearing.kind == Kind::load && (clearing.half != Half::none || clearing.is_d16);
    }
    return accesses;
  }();
  return table[static_cast<uint32_t>(number)];
}

}  // namespace Atoll::semantics

// isa: the element types of a row's operation.
#pragma once

#include "isa/table.h"

namespace Atoll::isa {

/// The element that an operand of that type holds: f16 for a packed pair of them. None for a lane mask.
constexpr Element element_of(DataType type) {
  using enum Element;
  switch (type) {
    case DataType::none:
    case DataType::lane_mask:
      return none;
    case DataType::b8:
      return b8;
    case DataType::b16:
      return b16;
    case DataType::i16:
    case DataType::v2i16:
      return i16;
    case DataType::u16:
    case DataType::v2u16:
      return u16;
    case DataType::f16:
    case DataType::v2f16:
      return f16;
    case DataType::bf16:
    case DataType::v2bf16:
      return bf16;
    case DataType::b32:
    case DataType::v2b32:
      return b32;
    case DataType::i32:
      return i32;
    case DataType::u32:
      return u32;
    case DataType::f32:
    case DataType::v2f32:
      return f32;
    case DataType::b64:
      return b64;
    case DataType::i64:
      return i64;
    case DataType::u64:
      return u64;
    case DataType::f64:
      return f64;
    case DataType::b96:
      return b96;
    case DataType::b128:
      return b128;
    case DataType::b256:
      return b256;
    case DataType::b512:
      return b512;
    default:  // tuples of a matrix, whose elements the operation names
      return b32;
  }
}

/// The element type of a row's operation: the one that it states, or the first operand's that is no lane mask.
constexpr Element element_type(const InstructionRow& row) {
  if (row.computes.type != Element::none) return row.computes.type;
  for (const OperandSpec& operand : row.operands) {
    const Element element = element_of(operand.type);
    if (element != Element::none) return element;
  }
  return Element::none;
}

/// The width of an element; 0 where the instruction, or a buffer's format, decides it.
constexpr unsigned bits_of(Element element) {
  using enum Element;
  switch (element) {
    case i4:
    case u4:
    case iu4:
    case b4:
    case f4:
    case fp4:
      return 4;
    case b6:
    case fp6:
    case bf6:
      return 6;
    case i8:
    case u8:
    case iu8:
    case b8:
    case fp8:
    case bf8:
      return 8;
    case i16:
    case u16:
    case b16:
    case f16:
    case bf16:
      return 16;
    case i24:
    case u24:
      return 24;
    case i32:
    case u32:
    case b32:
    case f32:
    case xf32:
      return 32;
    case i64:
    case u64:
    case b64:
    case f64:
      return 64;
    case b96:
      return 96;
    case b128:
      return 128;
    case b256:
      return 256;
    case b512:
      return 512;
    case none:
    case f8f6f4:
    case components:
      return 0;
  }
  return 0;
}

constexpr bool is_float(Element element) {
  using enum Element;
  switch (element) {
    case f4:
    case fp4:
    case fp6:
    case bf6:
    case fp8:
    case bf8:
    case f8f6f4:
    case f16:
    case bf16:
    case f32:
    case xf32:
    case f64:
      return true;
    default:
      return false;
  }
}

constexpr bool is_signed(Element element) {
  using enum Element;
  return element == i4 || element == i8 || element == i16 || element == i24 || element == i32 || element == i64;
}

}  // namespace Atoll::isa

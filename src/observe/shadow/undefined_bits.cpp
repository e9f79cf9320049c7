// observe: the transfer function of each operation.
#include "observe/shadow/undefined_bits.h"

#include <algorithm>
#include <bit>

#include "isa/element_type.h"

namespace Atoll::observe {

namespace {

using isa::Element;
using isa::Operation;
using isa::Predicate;

constexpr uint64_t mask_of(unsigned bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }
/// Returns all bits if any is set.
constexpr uint64_t all_if(uint64_t undefined) { return undefined == 0 ? 0 : ~uint64_t{0}; }
/// Returns the lowest set bit and all bits above it.
constexpr uint64_t upwards(uint64_t undefined) { return undefined | (uint64_t{0} - undefined); }

constexpr Bits low(Bits a, unsigned bits) { return {a.value & mask_of(bits), a.undefined & mask_of(bits)}; }
constexpr Bits inverse(Bits a) { return {~a.value, a.undefined}; }
constexpr Bits conjunction(Bits a, Bits b) {
  return {a.value & b.value, (a.undefined | b.undefined) & (a.undefined | a.value) & (b.undefined | b.value)};
}
constexpr Bits disjunction(Bits a, Bits b) { return inverse(conjunction(inverse(a), inverse(b))); }
constexpr Bits exclusive(Bits a, Bits b) { return {a.value ^ b.value, a.undefined | b.undefined}; }
constexpr Bits sum(Bits a, Bits b) { return {a.value + b.value, upwards(a.undefined | b.undefined)}; }
constexpr Bits difference(Bits a, Bits b) { return {a.value - b.value, upwards(a.undefined | b.undefined)}; }
constexpr Bits product(Bits a, Bits b) {
  const bool is_zero = (a.value | a.undefined) == 0 || (b.value | b.undefined) == 0;
  return {a.value * b.value, is_zero ? 0 : upwards(a.undefined | b.undefined)};
}
constexpr Bits signed_of(Bits a, unsigned bits) {
  const unsigned up = 64 - bits;
  return {static_cast<uint64_t>(static_cast<int64_t>(a.value << up) >> up),
          static_cast<uint64_t>(static_cast<int64_t>(a.undefined << up) >> up)};
}
enum class Direction : uint8_t { left, right, right_signed };
constexpr Bits shifted(Direction direction, Bits a, Bits amount, unsigned bits) {
  const uint64_t mask = bits - 1;
  if ((amount.undefined & mask) != 0) return {0, (a.value | a.undefined) == 0 ? 0 : mask_of(bits)};
  const auto by = static_cast<unsigned>(amount.value & mask);
  if (direction == Direction::left) return low({a.value << by, a.undefined << by}, bits);
  const Bits from = direction == Direction::right ? low(a, bits) : signed_of(a, bits);
  if (direction == Direction::right) return {from.value >> by, from.undefined >> by};
  return low({static_cast<uint64_t>(static_cast<int64_t>(from.value) >> by),
              static_cast<uint64_t>(static_cast<int64_t>(from.undefined) >> by)},
             bits);
}
constexpr Bits chosen(Bits condition, Bits if_set, Bits if_clear) {
  if ((condition.undefined & 1) == 0) return (condition.value & 1) != 0 ? if_set : if_clear;
  return {if_clear.value, if_set.undefined | if_clear.undefined | (if_set.value ^ if_clear.value)};
}
constexpr Bits field(Bits a, Bits offset, Bits width, bool is_signed, unsigned bits) {
  const uint64_t mask = bits - 1;
  if ((offset.undefined & mask) != 0 || width.undefined != 0) return {0, all_if(1)};
  const auto first = static_cast<unsigned>(offset.value & mask), count = static_cast<unsigned>(width.value);
  if (count == 0) return {};
  const Bits part = low({low(a, bits).value >> first, low(a, bits).undefined >> first}, std::min(count, bits - first));
  return is_signed ? signed_of(part, std::min(count, bits - first)) : part;
}
/// v_perm_b32: each byte of the result is one of the sources' eight bytes or a constant.
Bits permuted(Bits high, Bits lower, Bits selector) {
  if (selector.undefined != 0) return {0, all_if(1)};
  const Bits both{high.value << 32 | (lower.value & mask_of(32)),
                  high.undefined << 32 | (lower.undefined & mask_of(32))};
  Bits result;
  for (unsigned byte = 0; byte < 4; ++byte) {
    const auto select = static_cast<unsigned>(selector.value >> (8 * byte) & 0xFF);
    Bits part;
    if (select < 8) {
      part = low({both.value >> (8 * select), both.undefined >> (8 * select)}, 8);
    } else if (select < 12) {
      const unsigned sign = 16 * (select - 8) + 15;
      part = low(signed_of({both.value >> sign & 1, both.undefined >> sign & 1}, 1), 8);
    }
    result.value |= part.value << (8 * byte);
    result.undefined |= part.undefined << (8 * byte);
  }
  return result;
}

enum class Comparison : uint8_t { equal, less, less_or_equal, other };
/// Returns whether the result of a comparison is uninitialized.
bool compares_undefined(Comparison comparison, Bits a, Bits b, unsigned bits, bool is_signed) {
  a = low(a, bits);
  b = low(b, bits);
  const uint64_t undefined = a.undefined | b.undefined;
  if (undefined == 0) return false;
  if (comparison == Comparison::equal) return ((a.value ^ b.value) & ~undefined) == 0;
  if (comparison == Comparison::other) return true;
  const uint64_t sign = is_signed ? uint64_t{1} << (bits - 1) : 0;
  a.value ^= sign;
  b.value ^= sign;
  const uint64_t least_a = a.value & ~a.undefined, most_a = a.value | a.undefined;
  const uint64_t least_b = b.value & ~b.undefined, most_b = b.value | b.undefined;
  if (comparison == Comparison::less) return most_a >= least_b && least_a < most_b;
  return most_a > least_b && least_a <= most_b;
}

struct Compare {
  Comparison comparison = Comparison::other;
  bool is_swapped = false;
};

/// Integer comparisons. A negated relation depends on the same bits.
Compare compare_of(Predicate predicate) {
  using enum Predicate;
  switch (predicate) {
    case eq:
    case ne:
      return {Comparison::equal, false};
    case lt:
    case ge:
      return {Comparison::less, false};
    case gt:
    case le:
      return {Comparison::less, true};
    default:
      return {};
  }
}

bool is_constant(Predicate predicate) { return predicate == Predicate::never || predicate == Predicate::always; }

/// Returns the width of the first source operand; 64 if the only source is the immediate.
unsigned source_bits(const isa::InstructionRow& row) {
  for (unsigned i = 1; i < row.operands.size(); ++i) {
    const unsigned bits = isa::bits_of(isa::element_of(row.operands[i].type));
    if (bits != 0) return bits;
  }
  return 64;
}

/// SCC of most scalar instructions: the result is not 0.
ShadowTransfer not_zero(Bits result, unsigned bits) {
  result = low(result, bits);
  return {result.undefined, result.undefined != 0 && (result.value & ~result.undefined) == 0};
}

}  // namespace

// Transfer functions of integer operations. For all others, including floating-point operations, any uninitialized
// source bit makes the whole result uninitialized.
ShadowTransfer transfer_function(const isa::InstructionRow& row, std::span<const Bits> sources, unsigned result_bits,
                                 Bits scc) {
  using enum Operation;
  const auto source = [&](unsigned i) { return i < sources.size() ? sources[i] : Bits{}; };
  const isa::Computation& computes = row.computes;
  const Element type = isa::element_type(row);
  const unsigned bits = std::min(isa::bits_of(type), 64u);
  const bool is_integer = !isa::is_float(type) && !row.has(isa::flag::memory);
  const bool is_reversed = computes.order == isa::Order::reversed;
  const Bits a = source(is_reversed ? 1 : 0), b = source(is_reversed ? 0 : 1), c = source(2);
  const auto exactly = [&](Bits result) { return not_zero(result, result_bits); };
  const auto arithmetic = [&](Bits result) {
    const Bits cut = low(result, result_bits);
    return ShadowTransfer{cut.undefined, (a.undefined | b.undefined | c.undefined | scc.undefined) != 0};
  };
  const auto with_carry = [&](ShadowTransfer result) {
    result.undefined |= all_if(scc.undefined) & mask_of(result_bits);
    return result;
  };
  const auto shift = [&](Direction direction, Bits value, Bits amount) {
    return shifted(direction, value, amount, bits);
  };
  const auto unknown = [&] {
    uint64_t any = scc.undefined;
    for (const Bits& each : sources) any |= each.undefined;
    return ShadowTransfer{all_if(any) & mask_of(result_bits), any != 0};
  };

  // Bit movements, independent of type.
  switch (computes.operation) {
    case mov:
    case whole_quad:
      return {a.undefined & mask_of(result_bits), false};
    case select:
      // The condition is SCC, or a lane's bit of the third source.
      return {chosen(sources.size() > 2 ? c : scc, a, b).undefined & mask_of(result_bits), false};
    case conditional_mov:  // the old value is the first source
      return {chosen(scc, b, a).undefined & mask_of(result_bits), false};
    case pack_low_low:
      if (result_bits != 32) return unknown();
      return {(a.undefined & 0xFFFF) | (b.undefined & 0xFFFF) << 16, false};
    case convert:
    case convert_normalized:
      if (computes.from == Element::u8) {  // one byte of a register
        return {all_if(a.undefined >> (8 * computes.number) & 0xFF) & mask_of(32), false};
      }
      // Two sources, each of which becomes half of the result.
      if (computes.elements == 2 && sources.size() == 2 && isa::bits_of(computes.type) == 16) {
        return {(a.undefined != 0 ? 0xFFFFu : 0u) | (b.undefined != 0 ? 0xFFFF0000u : 0u), false};
      }
      return unknown();
    default:
      break;
  }
  if (!is_integer) return unknown();

  switch (computes.operation) {
    case compare: {
      if (is_constant(computes.predicate)) return {};
      const Compare relation = compare_of(computes.predicate);
      const bool undefined = compares_undefined(relation.comparison, relation.is_swapped ? b : a,
                                                relation.is_swapped ? a : b, bits, isa::is_signed(type));
      return {undefined ? ~uint64_t{0} : 0, undefined};
    }
    case extend: {
      const unsigned width = computes.type != Element::none ? bits : source_bits(row);
      const Bits narrow = low(a, width);
      return {(isa::is_signed(type) ? signed_of(narrow, width) : narrow).undefined & mask_of(32), false};
    }
    case bit_not:
      return exactly(inverse(a));
    case bit_and:
      return exactly(conjunction(a, b));
    case bit_or:
      return exactly(disjunction(a, b));
    case bit_xor:
      return exactly(exclusive(a, b));
    case bit_and_not:
      return exactly(conjunction(a, inverse(b)));
    case bit_or_not:
      return exactly(disjunction(a, inverse(b)));
    case bit_nand:
      return exactly(inverse(conjunction(a, b)));
    case bit_nor:
      return exactly(inverse(disjunction(a, b)));
    case bit_xnor:
      return exactly(inverse(exclusive(a, b)));
    case bit_and_or:
      return exactly(disjunction(conjunction(a, b), c));
    case bit_or3:
      return exactly(disjunction(disjunction(a, b), c));
    case bit_xor3:
      return exactly(exclusive(exclusive(a, b), c));
    case bit_field_insert:
      return exactly(disjunction(conjunction(a, b), conjunction(inverse(a), c)));
    case bit_table:
      return {(a.undefined | b.undefined | c.undefined) & mask_of(result_bits), false};
    case shl:
      return exactly(shift(Direction::left, a, b));
    case lshr:
      return exactly(shift(Direction::right, a, b));
    case ashr:
      return exactly(shift(Direction::right_signed, a, b));
    case shl_or:
      return exactly(disjunction(shift(Direction::left, a, b), c));
    case add:
    case add3:
    case add_carry:
      return with_carry(arithmetic(sum(sum(a, b), c)));
    case sub:
    case sub_borrow:
      return with_carry(arithmetic(difference(difference(a, b), c)));
    case shl_add:
      if (computes.number != 0) return arithmetic(sum(shift(Direction::left, a, {computes.number, 0}), b));
      return arithmetic(sum(shift(Direction::left, a, b), c));
    case add_shl:
      return arithmetic(shift(Direction::left, sum(a, b), c));
    case bit_xor_add:
      return arithmetic(sum(exclusive(a, b), c));
    case mul:
    case mad: {
      // Factors are as wide as the operation or their operands.
      const unsigned width = std::min(bits, source_bits(row));
      if (isa::is_signed(type) && bits == 64 && width != 64) return unknown();
      const Bits factors = product(low(a, computes.operation == mul ? bits : width), low(b, width));
      return arithmetic(sum(factors, c));
    }
    case mul_hi:
      if (bits != 24) return unknown();
      return {all_if((a.undefined | b.undefined) & mask_of(24)) & mask_of(result_bits), false};
    case bit_field_extract:
      return exactly(field(a, low(b, 5), low(c, 5), isa::is_signed(type), bits));
    case bit_field_extract_packed:
      return exactly(
          field(a, low(b, bits == 64 ? 6 : 5), low({b.value >> 16, b.undefined >> 16}, 7), isa::is_signed(type), bits));
    case bit_test: {
      const bool undefined = (b.undefined & (bits - 1)) != 0 || (a.undefined >> (b.value & (bits - 1)) & 1) != 0;
      return {0, undefined};
    }
    case align_bits:
    case align_bytes: {
      const unsigned unit = computes.operation == align_bits ? 1 : 8, most = computes.operation == align_bits ? 31 : 3;
      if ((c.undefined & most) != 0) return {mask_of(32), false};
      const auto by = static_cast<unsigned>(c.value & most) * unit;
      const Bits both{a.value << 32 | (b.value & mask_of(32)), a.undefined << 32 | (b.undefined & mask_of(32))};
      return {both.undefined >> by & mask_of(32), false};
    }
    case byte_permute:
      return {permuted(a, b, c).undefined & mask_of(32), false};
    case pack_low_high:
      return {(a.undefined & 0xFFFF) | (b.undefined & 0xFFFF0000), false};
    case pack_high_high:
      return {(a.undefined >> 16 & 0xFFFF) | (b.undefined & 0xFFFF0000), false};
    case pack_high_low:
      return {(a.undefined >> 16 & 0xFFFF) | (b.undefined & 0xFFFF) << 16, false};
    case bit_reverse: {
      uint64_t reversed = 0;
      for (unsigned bit = 0; bit < bits; ++bit) reversed |= (a.undefined >> bit & 1) << (bits - 1 - bit);
      return {reversed, false};
    }
    default:
      return unknown();
  }
}

}  // namespace Atoll::observe

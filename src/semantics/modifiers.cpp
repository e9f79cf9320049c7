// semantics: see modifiers.h. Each function decides what to do once and then goes over the lanes in chunks.
//
// The functions are part of the compiled engine's bitcode, too. There they work on the one chunk that the first lanes
// of each row hold, and are inlined for operands that are constants: nothing is left of the decisions then.
#include "semantics/modifiers.h"

#include "semantics/float/float_lanes.h"
#include "semantics/row.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

namespace {

using isa::DataType;
using isa::SdwaSelect;
using isa::SdwaUnused;

using row::chunks;

#define ATOLL_INLINE [[gnu::always_inline]] inline

/// out = change(in), chunk by chunk.
template <typename Change>
ATOLL_INLINE void change_lanes(Row& out, const Row& in, const Change& change) {
  using A = row::Access<U32>;
  for (unsigned chunk = 0; chunk < chunks; ++chunk) A::store(&out, chunk, change(A::load(&in, chunk)), 0xFFFF);
}

/// dst = change(dst, result) in the active lanes.
template <typename Change>
ATOLL_INLINE void merge_lanes(Row& dst, const Row& result, uint64_t exec, const Change& change) {
  using A = row::Access<U32>;
  for (unsigned chunk = 0; chunk < chunks; ++chunk) {
    const U32 merged = change(A::load(&dst, chunk), A::load(&result, chunk));
    A::store(&dst, chunk, merged, static_cast<uint16_t>(exec >> chunk * chunk_lanes));
  }
}

/// How a type's elements lie in registers.
enum class Layout : uint8_t { half, half_pair, single, single_pair, twice, other };

ATOLL_INLINE Layout layout_of(DataType type) {
  switch (type) {
    case DataType::b16:
    case DataType::i16:
    case DataType::u16:
    case DataType::f16:
    case DataType::bf16:
      return Layout::half;
    case DataType::v2i16:
    case DataType::v2u16:
    case DataType::v2f16:
    case DataType::v2bf16:
      return Layout::half_pair;
    case DataType::v2b32:
    case DataType::v2f32:
      return Layout::single_pair;
    case DataType::b64:
    case DataType::i64:
    case DataType::u64:
    case DataType::f64:
      return Layout::twice;
    case DataType::b8:
    case DataType::b32:
    case DataType::i32:
    case DataType::u32:
    case DataType::f32:
      return Layout::single;
    default:
      return Layout::other;
  }
}

/// An element's sign bit is ANDed and then XORed with these.
struct Sign {
  uint32_t keep, flip;
};
ATOLL_INLINE Sign sign_of(uint32_t bit, bool absolute, bool negative) {
  return {absolute ? ~bit : ~0u, negative ? bit : 0};
}

ATOLL_INLINE void change_sign(Row& out, const Row& in, Sign sign) {
  change_lanes(out, in, [=](U32 word) { return (word & sign.keep) ^ sign.flip; });
}

struct Field {
  unsigned shift, width;
};
ATOLL_INLINE Field field_of(SdwaSelect select) {
  switch (select) {
    case SdwaSelect::byte_0:
      return {0, 8};
    case SdwaSelect::byte_1:
      return {8, 8};
    case SdwaSelect::byte_2:
      return {16, 8};
    case SdwaSelect::byte_3:
      return {24, 8};
    case SdwaSelect::word_0:
      return {0, 16};
    case SdwaSelect::word_1:
      return {16, 16};
    case SdwaSelect::dword:
      break;
  }
  return {0, 32};
}

/// A field of each lane, moved down and extended.
ATOLL_INLINE void extract(Row& out, const Row& in, Field field, bool sign_extend) {
  const unsigned left = 32 - field.shift - field.width, right = 32 - field.width;
  if (sign_extend) {
    change_lanes(out, in, [=](U32 word) { return bits<U32>(bits<I32>(word << left) >> static_cast<int>(right)); });
  } else {
    change_lanes(out, in, [=](U32 word) { return word << left >> right; });
  }
}

/// Both halves of each lane, each from either half.
ATOLL_INLINE void arrange_halves(Row& out, const Row& in, bool low_from_high, bool high_from_high) {
  const unsigned low_shift = low_from_high ? 16 : 0, high_shift = high_from_high ? 16 : 0;
  change_lanes(out, in, [=](U32 word) { return (word >> low_shift & 0xFFFFu) | word >> high_shift << 16u; });
}

template <typename T>
ATOLL_INLINE T scaled_and_clamped(T value, float scale, bool clamp, bool dx10_clamp) {
  if (scale != 1) {
    const T product = flush(with_nan(value * static_cast<typename row::Element<T>::type>(scale), value));
    value = select(product == 0, T(0), product);
  }
  if (clamp) {
    const auto nan = is_nan(value);
    const T limited = select(value > T(1), T(1), select(value > T(0), value, T(0)));
    value = select(nan, dx10_clamp ? T(0) : quiet(value), limited);
  }
  return value;
}

/// Applies scale and clamp to rows of chunk type T.
template <typename T>
ATOLL_INLINE void modify_rows(Row* rows, float scale, bool clamp, const FloatMode& mode) {
  using A = row::Access<T>;
  for (unsigned chunk = 0; chunk < chunks; ++chunk) {
    const auto each = [&](auto value) {
      if constexpr (std::is_same_v<decltype(value), F16>) {
        const F32 wide = widen(value);
        // A denormal of half precision is a normal number here.
        F32 result = scaled_and_clamped(wide, scale, clamp, mode.dx10_clamp);
        if (scale != 1) result = select(magnitude(result) < 0x1p-14f, F32(0), result);
        if (mode.clamps_overflow) {
          const auto overflow = (magnitude(result) > 65504.0f) & (magnitude(wide) < infinity<F32>());
          result = select(overflow, with_sign(F32(65504), result), result);
        }
        return narrow(result);
      } else {
        return scaled_and_clamped(value, scale, clamp, mode.dx10_clamp);
      }
    };
    const T value = A::load(rows, chunk);
    if constexpr (std::is_same_v<T, Pair<F16>> || std::is_same_v<T, Pair<F32>>) {
      A::store(rows, chunk, T{each(value.lo), each(value.hi)}, 0xFFFF);
    } else if constexpr (std::is_same_v<T, F16>) {  // what is in the upper half may have to stay
      row::Access<LowHalf<F16>>::store(rows, chunk, {each(value)}, 0xFFFF);
    } else {
      A::store(rows, chunk, each(value), 0xFFFF);
    }
  }
}

/// As above for pairs of bfloat16, which are the upper halves of singles.
ATOLL_INLINE void modify_brain_rows(Row* rows, float scale, bool clamp, bool dx10_clamp) {
  using A = row::Access<U32>;
  for (unsigned chunk = 0; chunk < chunks; ++chunk) {
    const U32 word = A::load(rows, chunk);
    const F32 low = scaled_and_clamped(bits<F32>(word << 16), scale, clamp, dx10_clamp);
    const F32 high = scaled_and_clamped(bits<F32>(word & 0xFFFF0000u), scale, clamp, dx10_clamp);
    A::store(rows, chunk, bits<U32>(low) >> 16 | (bits<U32>(high) & 0xFFFF0000u), 0xFFFF);
  }
}

}  // namespace

bool has_source_modifiers(const isa::Operand& operand) {
  if (operand.neg || operand.abs || operand.sext || operand.sdwa != SdwaSelect::dword) return true;
  switch (layout_of(operand.type)) {
    case Layout::half:
      return operand.op_sel;
    case Layout::half_pair:
    case Layout::single_pair:
      return operand.neg_hi || operand.op_sel || !operand.op_sel_hi;
    default:
      return false;
  }
}

void apply_source_modifiers(Row* out, const Row* in, const isa::Operand& operand) {
  const Layout layout = layout_of(operand.type);
  const unsigned rows = layout == Layout::twice || layout == Layout::single_pair ? 2 : 1;
  if (operand.sdwa != SdwaSelect::dword) {
    extract(out[0], in[0], field_of(operand.sdwa), operand.sext);
    in = out;
  }
  constexpr uint32_t high_bit = 0x8000'0000;
  switch (layout) {
    case Layout::half:
      if (operand.op_sel) {
        extract(out[0], in[0], {16, 16}, false);
        in = out;
      }
      change_sign(out[0], in[0], sign_of(0x8000, operand.abs, operand.neg));
      break;
    case Layout::half_pair: {
      arrange_halves(out[0], in[0], operand.op_sel, operand.op_sel_hi);
      const Sign low = sign_of(0x8000, operand.abs, operand.neg), high = sign_of(high_bit, operand.abs, operand.neg_hi);
      change_sign(out[0], out[0], {low.keep & high.keep, low.flip | high.flip});
      break;
    }
    case Layout::single_pair:
      change_sign(out[0], in[operand.op_sel], sign_of(high_bit, operand.abs, operand.neg));
      change_sign(out[1], in[operand.op_sel_hi], sign_of(high_bit, operand.abs, operand.neg_hi));
      break;
    case Layout::twice:
    case Layout::single:
    case Layout::other:
      if (rows == 2) change_sign(out[0], in[0], sign_of(0, false, false));
      change_sign(out[rows - 1], in[rows - 1], sign_of(high_bit, operand.abs, operand.neg));
      break;
  }
}

void apply_mixed_source(Row& out, const Row& in, const isa::Operand& operand, Denormals singles) {
  const Sign sign = sign_of(0x8000'0000, operand.abs, operand.neg);
  if (!operand.op_sel_hi) {
    change_sign(out, in, sign);
    return;
  }
  extract(out, in, {operand.op_sel ? 16u : 0u, 16}, false);
  if (operand.type == isa::DataType::bf16) {
    for (uint32_t& lane : out) lane <<= 16;
    change_sign(out, out, sign);
    return;
  }
  const bool flushes = (static_cast<uint8_t>(singles) & static_cast<uint8_t>(Denormals::allow_in)) == 0;
  for (unsigned chunk = 0; chunk < chunks; ++chunk) {
    const F16 half = row::Access<F16>::load(&out, chunk);
    row::Access<F32>::store(&out, chunk, widen(flushes ? flush(half) : half), 0xFFFF);
  }
  change_sign(out, out, sign);
}

void apply_result_modifiers(Row* result, DataType type, uint8_t omod, bool clamp, const FloatMode& mode) {
  const bool single = type == DataType::f32 || type == DataType::v2f32;
  const auto denormals = static_cast<uint8_t>(single ? mode.denormals32 : mode.denormals16_64);
  const bool multiplies = !mode.ieee && (denormals & static_cast<uint8_t>(Denormals::allow_out)) == 0;
  constexpr float scales[4] = {1.0f, 2.0f, 4.0f, 0.5f};
  const float scale = multiplies ? scales[omod & 3] : 1.0f;
  if (scale == 1 && !clamp) return;
  switch (type) {
    case DataType::f16:
      modify_rows<F16>(result, scale, clamp, mode);
      break;
    case DataType::v2f16:
      modify_rows<Pair<F16>>(result, scale, clamp, mode);
      break;
    case DataType::v2bf16:
      modify_brain_rows(result, scale, clamp, mode.dx10_clamp);
      break;
    case DataType::f32:
      modify_rows<F32>(result, scale, clamp, mode);
      break;
    case DataType::v2f32:
      modify_rows<Pair<F32>>(result, scale, clamp, mode);
      break;
    case DataType::f64:
      modify_rows<F64>(result, scale, clamp, mode);
      break;
    default:
      break;
  }
}

bool reads_high_half(const isa::Instruction& instruction, const VectorShape& shape) {
  return instruction.op_sel_dst && shape.reads_dst && shape.sources < 3;
}

void move_high_half_down(Row& row) {
  merge_lanes(row, row, ~uint64_t{0}, [](U32, U32 value) { return value >> 16u; });
}

void merge_high_half(Row& dst, const Row& result, uint64_t exec) {
  merge_lanes(dst, result, exec, [](U32 old, U32 value) { return (old & 0xFFFFu) | value << 16u; });
}

void merge_sdwa(Row& dst, const Row& result, SdwaSelect select, SdwaUnused unused, uint64_t exec) {
  const Field field = field_of(select);
  const uint32_t part = (field.width == 32 ? ~0u : (1u << field.width) - 1) << field.shift;
  const uint32_t keep = unused == SdwaUnused::preserve ? ~part : 0;
  const unsigned left = 32 - field.width, right = left - field.shift;
  const bool sign_extend = unused == SdwaUnused::sext;
  merge_lanes(dst, result, exec, [=](U32 old, U32 value) {
    const U32 top = value << left;
    const U32 placed = sign_extend ? bits<U32>(bits<I32>(top) >> static_cast<int>(right)) : top >> right;
    return (old & keep) | (placed & ~keep);
  });
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

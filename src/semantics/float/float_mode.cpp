// semantics: see float_mode.h.
//
// This is part of the compiled engine's bitcode, too. There it works on one chunk, and the mode and the operands' types
// are constants of which nothing is left when it has been inlined.
#include "semantics/float/float_mode.h"

#include <xmmintrin.h>

#include "semantics/float/float_lanes.h"
#include "semantics/row.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

namespace {

#define ATOLL_INLINE [[gnu::always_inline]] inline

/// Where all bits of `exponent` are 0, those of `fraction` become 0, too.
ATOLL_INLINE U32 flush_field(U32 word, uint32_t exponent, uint32_t fraction) {
  return select((word & exponent) == 0, word & ~fraction, word);
}
ATOLL_INLINE U32 flush_single(U32 word) { return flush_field(word, Format<F32>::exponent, Format<F32>::fraction); }
ATOLL_INLINE U32 flush_half(U32 word) { return flush_field(word, Format<F16>::exponent, Format<F16>::fraction); }
ATOLL_INLINE U32 flush_high_half(U32 word) {
  return flush_field(word, uint32_t{Format<F16>::exponent} << 16, uint32_t{Format<F16>::fraction} << 16);
}

template <typename T, typename Change>
ATOLL_INLINE void change_rows(Row* out, const Row* in, uint64_t written, const Change& change) {
  using A = row::Access<T>;
  for (unsigned chunk = 0; chunk < row::chunks; ++chunk) {
    A::store(out, chunk, change(A::load(in, chunk)), static_cast<uint16_t>(written >> chunk * chunk_lanes));
  }
}

/// out = in with zeros of the same sign in place of denormals, in the lanes that are to be written.
ATOLL_INLINE void flush_rows(Row* out, const Row* in, Floating type, uint64_t written) {
  switch (type) {
    case Floating::none:
      break;
    case Floating::half:
      change_rows<U32>(out, in, written, flush_half);
      break;
    case Floating::half_pair:
      change_rows<U32>(out, in, written, [](U32 word) { return flush_high_half(flush_half(word)); });
      break;
    case Floating::single_pair:
      change_rows<U32>(out + 1, in + 1, written, flush_single);
      [[fallthrough]];
    case Floating::single:
      change_rows<U32>(out, in, written, flush_single);
      break;
    case Floating::twice:
      change_rows<F64>(out, in, written, [](F64 value) { return flush(value); });
      break;
  }
}

/// The MXCSR rounding field (Intel SDM volume 1, 10.2.3) of a rounding mode.
ATOLL_INLINE unsigned rounding_control(Round round) {
  switch (round) {
    case Round::nearest_even:
      return _MM_ROUND_NEAREST;
    case Round::plus_infinity:
      return _MM_ROUND_UP;
    case Round::minus_infinity:
      return _MM_ROUND_DOWN;
    case Round::toward_zero:
      return _MM_ROUND_TOWARD_ZERO;
  }
  return _MM_ROUND_NEAREST;
}

/// Calls with the host rounding in that direction, so that the arithmetic stays in between: the compiler has to believe
/// that the assembly changes all that can be reached from the call.
ATOLL_INLINE void run_rounding(VectorCall& call, VectorFunction plain, Round round) {
  const unsigned control = _mm_getcsr();
  _mm_setcsr((control & ~_MM_ROUND_MASK) | rounding_control(round));
  asm volatile("" : : "r"(&call) : "memory");
  plain(call);
  asm volatile("" : : "r"(&call) : "memory");
  _mm_setcsr(control);
  asm volatile("" : : "r"(&call) : "memory");
}

/// Bits of one half, as they stand in a register.
struct Half {
  unsigned shift;
  ATOLL_INLINE U32 is_infinite(U32 word) const {
    return bits<U32>((word >> shift & ~uint32_t{Format<F16>::sign} & 0xFFFF) == uint32_t{Format<F16>::exponent});
  }
  ATOLL_INLINE U32 is_zero(U32 word) const { return bits<U32>((word >> shift & 0x7FFF) == 0); }
};
constexpr Half halves[2] = {{0}, {16}};

/// Lanes of a result's halves, as masks of all ones, in which infinity is no overflow.
struct TrueInfinities {
  U32 of[2][row::chunks];

  ATOLL_INLINE void clear() {
    for (auto& half : of) {
      for (U32& lanes : half) lanes = U32(0);
    }
  }
  /// Adds the infinities that come from source number `number`.
  ATOLL_INLINE void add(const FloatUse& use, unsigned number, Floating type, const Row* source) {
    if (type == Floating::none) return;
    // A reciprocal, a logarithm: a division by zero, as there is nothing else that makes an infinity of zero.
    const bool is_only = number == 0 && use.src[1] == Floating::none && use.old == Floating::none;
    const bool are_two = use.dst == Floating::half_pair && use.src[0] == type && use.src[1] == type;
    for (unsigned chunk = 0; chunk < row::chunks; ++chunk) {
      const auto note = [&](unsigned half, U32 lanes) { of[use.dst == Floating::half ? 0 : half][chunk] |= lanes; };
      const U32 word = row::Access<U32>::load(source, chunk);
      switch (type) {
        case Floating::half:
          for (unsigned half = 0; half < 2; ++half) {
            note(half, halves[0].is_infinite(word));
            if (is_only) note(half, halves[0].is_zero(word));
          }
          break;
        case Floating::half_pair:
          for (unsigned half = 0; half < 2; ++half) note(half, halves[half].is_infinite(word));
          break;
        case Floating::single:
          for (unsigned half = 0; half < 2; ++half) {
            if (are_two && half != number) continue;  // of two, each becomes a half
            note(half, bits<U32>((word & 0x7FFFFFFF) == 0x7F800000));
          }
          break;
        default:
          break;
      }
    }
  }

  /// Makes the largest number of the other infinities.
  ATOLL_INLINE void clamp_others(Row* result, Floating type, uint64_t written) const {
    for (unsigned chunk = 0; chunk < row::chunks; ++chunk) {
      U32 word = row::Access<U32>::load(result, chunk);
      for (unsigned half = 0; half < (type == Floating::half_pair ? 2 : 1); ++half) {
        // The pattern before that of infinity.
        word -= halves[half].is_infinite(word) & ~of[half][chunk] & 1u << halves[half].shift;
      }
      row::Access<U32>::store(result, chunk, word, static_cast<uint16_t>(written >> chunk * chunk_lanes));
    }
  }
};

/// The bits of one element in a word of a register.
struct ElementBits {
  uint32_t all, exponent, quiet;

  ATOLL_INLINE U32 is_nan(U32 word) const { return bits<U32>((word & (all >> 1 & all)) > exponent); }
  ATOLL_INLINE U32 is_signaling(U32 word) const { return is_nan(word) & bits<U32>((word & quiet) == 0); }
};
constexpr ElementBits low_half{0xFFFF, 0x7C00, 0x0200}, high_half{0xFFFF0000, 0x7C000000, 0x02000000},
    whole_word{0xFFFFFFFF, 0x7F800000, 0x00400000};

/// Restores signaling NaNs that an operation has made quiet: where MODE.IEEE is 0 it passes them on. The result is the
/// first source that is a NaN, so that source is noted before the operation may overwrite it.
struct SignalingNans {
  alignas(64) Row first[2];  ///< for each element of the result, the first source that is a NaN; 0 if no source is

  ATOLL_INLINE void clear() {
    for (Row& row : first) {
      for (uint32_t& lane : row) lane = 0;
    }
  }

  ATOLL_INLINE void note(const Row* source, Floating type) {
    switch (type) {
      case Floating::none:
        break;
      case Floating::half:
        note_words(first[0], source[0], low_half);
        break;
      case Floating::half_pair:
        note_words(first[0], source[0], low_half);
        note_words(first[0], source[0], high_half);
        break;
      case Floating::single_pair:
        note_words(first[1], source[1], whole_word);
        [[fallthrough]];
      case Floating::single:
        note_words(first[0], source[0], whole_word);
        break;
      case Floating::twice:
        for (unsigned chunk = 0; chunk < row::chunks; ++chunk) {
          const F64 value = row::Access<F64>::load(source, chunk), noted = row::Access<F64>::load(first, chunk);
          row::Access<F64>::store(first, chunk, select(is_nan(value) & ~is_nan(noted), value, noted), 0xFFFF);
        }
        break;
    }
  }

  /// `from`: the type of the sources, `to` that of the result.
  ATOLL_INLINE void restore(Row* result, Floating from, Floating to, uint64_t written) const {
    if (from != to) return restore_converted(result, from, to, written);
    switch (to) {
      case Floating::none:
        break;
      case Floating::half:
        restore_words(result[0], first[0], low_half, written);
        break;
      case Floating::half_pair:
        restore_words(result[0], first[0], low_half, written);
        restore_words(result[0], first[0], high_half, written);
        break;
      case Floating::single_pair:
        restore_words(result[1], first[1], whole_word, written);
        [[fallthrough]];
      case Floating::single:
        restore_words(result[0], first[0], whole_word, written);
        break;
      case Floating::twice:
        for (unsigned chunk = 0; chunk < row::chunks; ++chunk) {
          const F64 noted = row::Access<F64>::load(first, chunk), value = row::Access<F64>::load(result, chunk);
          const auto was_quieted = is_signalling(noted) & (bits<U64>(value) == bits<U64>(quiet(noted)));
          row::Access<F64>::store(result, chunk, select(was_quieted, noted, value),
                                  static_cast<uint16_t>(written >> chunk * chunk_lanes));
        }
        break;
    }
  }

 private:
  ATOLL_INLINE static void note_words(Row& noted, const Row& source, ElementBits element) {
    for (unsigned chunk = 0; chunk < row::chunks; ++chunk) {
      const U32 word = row::Access<U32>::load(&source, chunk), old = row::Access<U32>::load(&noted, chunk);
      const U32 is_first = element.is_nan(word) & ~element.is_nan(old);
      row::Access<U32>::store(&noted, chunk, old | (word & is_first & element.all), 0xFFFF);
    }
  }

  ATOLL_INLINE static void restore_words(Row& result, const Row& noted, ElementBits element, uint64_t written) {
    for (unsigned chunk = 0; chunk < row::chunks; ++chunk) {
      const U32 word = row::Access<U32>::load(&result, chunk);
      const U32 source = row::Access<U32>::load(&noted, chunk) & element.all;
      const U32 was_quieted =
          element.is_signaling(source) & bits<U32>((word & element.all) == (source | element.quiet));
      row::Access<U32>::store(&result, chunk, word & ~(was_quieted & element.quiet),
                              static_cast<uint16_t>(written >> chunk * chunk_lanes));
    }
  }

  /// A conversion between formats keeps the payload. One that has no room for it stays quiet.
  ATOLL_INLINE void restore_converted(Row* result, Floating from, Floating to, uint64_t written) const {
    const bool from_half = from == Floating::half, to_twice = to == Floating::twice;
    if (!from_half && !(from == Floating::single && to_twice) && from != Floating::twice) return;
    for (unsigned chunk = 0; chunk < row::chunks; ++chunk) {
      U32 signaling;
      if (from == Floating::twice) {
        signaling = bits<U32>(convert<I32>(is_signalling(row::Access<F64>::load(first, chunk))));
      } else {
        const ElementBits source = from_half ? low_half : whole_word;
        signaling = source.is_signaling(row::Access<U32>::load(first, chunk));
      }
      const auto active = static_cast<uint16_t>(written >> chunk * chunk_lanes);
      if (to_twice) {
        const F64 value = row::Access<F64>::load(result, chunk);
        const U64 cleared = bits<U64>(value) & ~U64(Format<F64>::quiet);
        const auto restores = convert<I64>(bits<I32>(signaling)) & is_nan(value) & is_nan(bits<F64>(cleared));
        row::Access<F64>::store(result, chunk, select(restores, bits<F64>(cleared), value), active);
      } else {
        const U32 word = row::Access<U32>::load(result, chunk), cleared = word & ~whole_word.quiet;
        const U32 restores = signaling & whole_word.is_nan(word) & whole_word.is_nan(cleared);
        row::Access<U32>::store(result, chunk, (cleared & restores) | (word & ~restores), active);
      }
    }
  }
};

}  // namespace

void run_in_mode(VectorCall& call, VectorFunction plain, const FloatUse& use, const FloatMode& mode) {
  const auto flushes = [&](Floating type, Denormals kept) {
    if (type == Floating::none) return false;
    const auto denormals = static_cast<uint8_t>(is_single(type) ? mode.denormals32 : mode.denormals16_64);
    return (denormals & static_cast<uint8_t>(kept)) == 0;
  };
#ifdef ATOLL_BITCODE
  const uint64_t active = 0xFFFF;
#else
  const uint64_t active = call.exec;
#endif

  // The sources, copied where they must change: the call may not touch them.
  alignas(64) Row copies[4][2];
  VectorCall inner = call;
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    if (!flushes(use.src[i], Denormals::allow_in)) continue;
    flush_rows(copies[i], call.src[i], use.src[i], ~uint64_t{0});
    inner.src[i] = copies[i];
  }
  // The old destination can change in place: its active lanes are about to be overwritten.
  if (flushes(use.old, Denormals::allow_in)) flush_rows(call.dst[0], call.dst[0], use.old, active);

  const bool clamps =
      mode.clamps_overflow && use.overflows && (use.dst == Floating::half || use.dst == Floating::half_pair);
  TrueInfinities infinities;
  if (clamps) {
    infinities.clear();
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) infinities.add(use, i, use.src[i], inner.src[i]);
    infinities.add(use, 2, use.old, call.dst[0]);
  }

  // Conversions to halves always make NaNs quiet.
  const bool to_half = use.dst == Floating::half || use.dst == Floating::half_pair;
  const bool passes_signals = !quiets(mode) && use.dst != Floating::none && (!to_half || use.src[0] == use.dst);
  SignalingNans signals;
  if (passes_signals) {
    signals.clear();
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) signals.note(inner.src[i], use.src[i]);
    signals.note(call.dst[0], use.old);
  }

  inner.mode_applied = true;
  const Round round = round_of(use, mode);
  if (round == Round::nearest_even) {
    plain(inner);
  } else {
    run_rounding(inner, plain, round);
  }

  if (passes_signals) signals.restore(call.dst[0], use.src[0], use.dst, active);
  if (clamps) infinities.clamp_others(call.dst[0], use.dst, active);
  if (flushes(use.dst, Denormals::allow_out)) flush_rows(call.dst[0], call.dst[0], use.dst, active);
  call.mask_out = inner.mask_out;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

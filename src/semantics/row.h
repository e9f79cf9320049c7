// semantics: from a chunk function to the function over whole register rows that the interpreter calls.
//
// row_function<&chunk>() reads the chunk function's signature: which parameters are vectors and how wide,
// whether it takes masks, the old destination or the floating-point mode, and what it yields. The row function
// loads each chunk of the sources, calls, and stores under EXEC.
#pragma once

#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "semantics/float/float_mode.h"
#include "semantics/host_isa.h"
#include "semantics/lanes/lanes.h"
#include "semantics/registry.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

/// Two values per lane: packed 16-bit pairs of one register, or 32-bit pairs of two (v_pk_*).
template <typename T>
struct Pair {
  T lo, hi;
};

/// Two halves to a lane, in its word as registers hold them.
struct HalfPairs {
  U32 words;
};

/// Four registers per lane (v_mqsad_u32_u8).
struct Quad {
  U32 words[4];
};

/// A vector result together with a carry-out or flag per lane.
template <typename T>
struct WithMask {
  T value;
  Mask mask;
};

/// Marks the parameter that takes the destination's old value: v_fmac_f32(F32 a, F32 b, Old<F32> d).
template <typename T>
struct Old {
  T value;
};

/// Marks a 16-bit result that leaves the register's upper half alone (GFX9's v_fma_f16 and its like).
template <typename T>
struct LowHalf {
  T value;
};

/// Marks a source that is single precision or half precision widened to it, as the instruction's op_sel_hi says
/// (v_mad_mix, v_fma_mix).
struct Mixed {
  F32 value;
};

/// A source in one byte or word of its register, which op_sel chooses (gfx950's v_cvt_scalef32_*): in the low bits.
template <unsigned width>
struct Part {
  U32 value;
};

/// A result that is one byte of its register, which op_sel chooses: in the low bits.
struct OneByte {
  U32 value;
};

/// The truth table of v_bitop3.
struct TruthTable {
  uint8_t bits;
};

/// Which of the first two sources are signed (v_dot4_i32_iu8): a bit for each.
struct SignedSources {
  uint8_t bits;
};

/// The clamp bit, for integer operations: they saturate at the ends of their type's range instead of wrapping.
struct Clamp {
  bool on;
};

/// The number in the wave of each lane of the chunk (v_mbcnt).
struct LaneIndex {
  U32 value;
};

namespace row {

#ifdef ATOLL_BITCODE
/// The chunks that functions over rows go over. Translated code has one: it is what the first lanes of each row hold.
inline constexpr unsigned chunks = 1;
#else
inline constexpr unsigned chunks = wave_lanes / chunk_lanes;
#endif

template <typename T>
struct Element {
  using type = std::remove_cvref_t<decltype(std::declval<T&>()[0])>;
};

template <typename T>
struct Access {  // plain vectors
  static constexpr unsigned size = sizeof(typename Element<T>::type);
  static constexpr unsigned words = size == 8 ? 2 : 1;

  [[gnu::always_inline]] static T load(const Row* rows, unsigned chunk) {
    U32 low;
    std::memcpy(&low, &rows[0][chunk * chunk_lanes], sizeof low);
    if constexpr (size == 4) {
      return bits<T>(low);
    } else if constexpr (size == 2) {
      return bits<T>(convert<U16>(low));
    } else if constexpr (size == 1) {
      return bits<T>(convert<U8>(low));
    } else {
      U32 high;
      std::memcpy(&high, &rows[1][chunk * chunk_lanes], sizeof high);
      return bits<T>(__builtin_shufflevector(low, high, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24,
                                             9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
    }
  }

  [[gnu::always_inline]] static void store_word(uint32_t* row, U32 value, uint16_t active) {
    if (active != 0xFFFF) {
      U32 old;
      std::memcpy(&old, row, sizeof old);
      value = select(lanes_of(Mask{active}), value, old);
    }
    std::memcpy(row, &value, sizeof value);
  }

  [[gnu::always_inline]] static void store(Row* rows, unsigned chunk, T value, uint16_t active) {
    if constexpr (size == 4) {
      store_word(&rows[0][chunk * chunk_lanes], bits<U32>(value), active);
    } else if constexpr (size == 2) {
      store_word(&rows[0][chunk * chunk_lanes], convert<U32>(bits<U16>(value)), active);
    } else if constexpr (size == 1) {
      store_word(&rows[0][chunk * chunk_lanes], convert<U32>(bits<U8>(value)), active);
    } else {
      using Words = uint32_t __attribute__((ext_vector_type(2 * chunk_lanes)));
      const Words all = bits<Words>(value);
      store_word(&rows[0][chunk * chunk_lanes],
                 __builtin_shufflevector(all, all, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), active);
      store_word(&rows[1][chunk * chunk_lanes],
                 __builtin_shufflevector(all, all, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31), active);
    }
  }
};

template <typename T>
struct Access<Pair<T>> {
  static constexpr bool half = sizeof(typename Element<T>::type) == 2;
  static constexpr unsigned words = half ? 1 : 2;

  [[gnu::always_inline]] static Pair<T> load(const Row* rows, unsigned chunk) {
    if constexpr (half) {
      const U32 word = Access<U32>::load(rows, chunk);
      return {bits<T>(convert<U16>(word)), bits<T>(convert<U16>(word >> 16))};
    } else {
      return {Access<T>::load(rows, chunk), Access<T>::load(rows + 1, chunk)};
    }
  }
  [[gnu::always_inline]] static void store(Row* rows, unsigned chunk, Pair<T> value, uint16_t active) {
    if constexpr (half) {
      Access<U32>::store(rows, chunk, convert<U32>(bits<U16>(value.lo)) | convert<U32>(bits<U16>(value.hi)) << 16,
                         active);
    } else {
      Access<T>::store(rows, chunk, value.lo, active);
      Access<T>::store(rows + 1, chunk, value.hi, active);
    }
  }
};

template <>
struct Access<HalfPairs> {
  static constexpr unsigned words = 1;
  [[gnu::always_inline]] static HalfPairs load(const Row* rows, unsigned chunk) {
    return {Access<U32>::load(rows, chunk)};
  }
  [[gnu::always_inline]] static void store(Row* rows, unsigned chunk, HalfPairs value, uint16_t active) {
    Access<U32>::store(rows, chunk, value.words, active);
  }
};

template <>
struct Access<Quad> {
  static constexpr unsigned words = 4;
  [[gnu::always_inline]] static Quad load(const Row* rows, unsigned chunk) {
    Quad quad;
    for (unsigned i = 0; i < 4; ++i) quad.words[i] = Access<U32>::load(rows + i, chunk);
    return quad;
  }
  [[gnu::always_inline]] static void store(Row* rows, unsigned chunk, Quad value, uint16_t active) {
    for (unsigned i = 0; i < 4; ++i) Access<U32>::store(rows + i, chunk, value.words[i], active);
  }
};

template <>
struct Access<Mixed> {
  static constexpr unsigned words = 1;
  [[gnu::always_inline]] static Mixed load(const Row* rows, unsigned chunk) { return {Access<F32>::load(rows, chunk)}; }
};

template <unsigned width>
struct Access<Part<width>> {
  static constexpr unsigned words = 1;
  [[gnu::always_inline]] static Part<width> load(const Row* rows, unsigned chunk) {
    return {Access<U32>::load(rows, chunk)};
  }
};

template <>
struct Access<OneByte> {
  static constexpr unsigned words = 1;
  [[gnu::always_inline]] static void store(Row* rows, unsigned chunk, OneByte value, uint16_t active) {
    Access<U32>::store(rows, chunk, value.value, active);
  }
};

template <typename T>
struct Access<Old<T>> {
  static constexpr unsigned words = Access<T>::words;
  [[gnu::always_inline]] static Old<T> load(const Row* rows, unsigned chunk) { return {Access<T>::load(rows, chunk)}; }
};

template <typename T>
struct Access<LowHalf<T>> {
  static constexpr unsigned words = 1;
  [[gnu::always_inline]] static void store(Row* rows, unsigned chunk, LowHalf<T> value, uint16_t active) {
    const U32 old = Access<U32>::load(rows, chunk);
    Access<U32>::store(rows, chunk, (old & 0xFFFF0000u) | convert<U32>(bits<U16>(value.value)), active);
  }
};

template <typename T>
inline constexpr bool is_mode = std::is_same_v<T, const FloatMode&> || std::is_same_v<T, FloatMode>;
template <typename T>
inline constexpr bool is_mask = std::is_same_v<T, Mask>;
template <typename T>
inline constexpr bool is_old = false;
template <typename T>
inline constexpr bool is_old<Old<T>> = true;
/// Whether it is one value of 16 bits per lane.
template <typename T>
inline constexpr bool is_half = false;
template <>
inline constexpr bool is_half<U16> = true;
template <>
inline constexpr bool is_half<I16> = true;
template <>
inline constexpr bool is_half<F16> = true;
template <typename T>
inline constexpr bool is_low_half = false;
template <typename T>
inline constexpr bool is_low_half<LowHalf<T>> = true;

template <typename T>
inline constexpr unsigned part_width = 0;
template <unsigned width>
inline constexpr unsigned part_width<Part<width>> = width;
template <typename T>
inline constexpr bool is_truth_table = std::is_same_v<T, TruthTable>;
template <typename T>
inline constexpr bool is_signed_sources = std::is_same_v<T, SignedSources>;
template <typename T>
inline constexpr bool is_clamp = std::is_same_v<T, Clamp>;
template <typename T>
inline constexpr bool is_lane_index = std::is_same_v<T, LaneIndex>;
/// Whether a parameter is one of the instruction's vector sources.
template <typename T>
inline constexpr bool is_source = !is_mode<T> && !is_mask<T> && !is_old<T> && !is_clamp<T> && !is_lane_index<T> &&
                                  !is_truth_table<T> && !is_signed_sources<T>;

/// Taking a chunk function's type apart.
template <typename Function>
struct Signature;
template <typename R, typename... Args>
struct Signature<R (*)(Args...)> {
  using Result = R;
  using Parameters = std::tuple<Args...>;
  static constexpr unsigned count = sizeof...(Args);
};

template <typename Parameters, unsigned Index>
consteval unsigned vectors_before() {
  return []<size_t... I>(std::index_sequence<I...>) {
    return (0u + ... + (is_source<std::tuple_element_t<I, Parameters>> ? 1u : 0u));
  }(std::make_index_sequence<Index>());
}
template <typename Parameters, unsigned Index>
consteval unsigned masks_before() {
  return []<size_t... I>(std::index_sequence<I...>) {
    return (0u + ... + (is_mask<std::tuple_element_t<I, Parameters>> ? 1u : 0u));
  }(std::make_index_sequence<Index>());
}

template <typename Parameters, unsigned Index>
[[gnu::always_inline]] inline auto argument(const VectorCall& call, unsigned chunk) {
  using T = std::tuple_element_t<Index, Parameters>;
  if constexpr (is_mode<T>) {
    return call.mode;
  } else if constexpr (is_clamp<T>) {
    return Clamp{call.clamp};
  } else if constexpr (is_truth_table<T>) {
    return TruthTable{call.truth_table};
  } else if constexpr (is_signed_sources<T>) {
    return SignedSources{call.signed_sources};
  } else if constexpr (is_lane_index<T>) {
    return LaneIndex{U32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} +
                     (call.first_lane + chunk * chunk_lanes)};
  } else if constexpr (is_mask<T>) {
    const uint64_t mask = masks_before<Parameters, Index>() == 0 ? call.mask_in : call.mask2_in;
    return Mask{static_cast<uint16_t>(mask >> (chunk * chunk_lanes))};
  } else if constexpr (is_old<T>) {
    return Access<T>::load(call.dst[0], chunk);
  } else {
    return Access<T>::load(call.src[vectors_before<Parameters, Index>()], chunk);
  }
}

/// How the floating-point mode applies to a parameter or result, by its type.
template <typename T>
inline constexpr Floating floating = Floating::none;
template <>
inline constexpr Floating floating<F16> = Floating::half;
template <>
inline constexpr Floating floating<F32> = Floating::single;
template <>
inline constexpr Floating floating<F64> = Floating::twice;
template <>
inline constexpr Floating floating<Pair<F16>> = Floating::half_pair;
template <>
inline constexpr Floating floating<HalfPairs> = Floating::half_pair;
template <>
inline constexpr Floating floating<Pair<F32>> = Floating::single_pair;
template <>
inline constexpr Floating floating<Mixed> = Floating::single;
template <typename T>
inline constexpr Floating floating<Old<T>> = floating<T>;
template <typename T>
inline constexpr Floating floating<LowHalf<T>> = floating<T>;
template <typename T>
inline constexpr Floating floating<WithMask<T>> = floating<T>;

template <typename T>
constexpr void describe_floating(FloatUse& use, unsigned& source) {
  if constexpr (is_old<T>) {
    use.old = floating<T>;
  } else if constexpr (is_source<T>) {
    use.src[source++] = floating<T>;
  }
}

template <typename Function, Mode mode>
consteval FloatUse float_use() {
  using S = Signature<Function>;
  FloatUse use;
  use.dst = floating<typename S::Result>;
  use.overflows = mode != Mode::never_overflows;
  unsigned source = 0;
  [&]<size_t... I>(std::index_sequence<I...>) {
    (describe_floating<std::tuple_element_t<I, typename S::Parameters>>(use, source), ...);
  }(std::make_index_sequence<S::count>());
  return use;
}

template <typename Result>
[[gnu::always_inline]] inline void keep(VectorCall& call, unsigned chunk, uint16_t active, Result result) {
  Access<Result>::store(call.dst[0], chunk, result, active);
}
[[gnu::always_inline]] inline void keep(VectorCall& call, unsigned chunk, uint16_t active, Mask mask) {
  call.mask_out |= uint64_t{static_cast<uint16_t>(mask.bits & active)} << (chunk * chunk_lanes);
}
template <typename T>
[[gnu::always_inline]] inline void keep(VectorCall& call, unsigned chunk, uint16_t active, WithMask<T> result) {
  keep(call, chunk, active, result.mask);
  keep(call, chunk, active, result.value);
}

template <auto Chunk, Mode mode>
void run(VectorCall& call) {
  using S = Signature<decltype(Chunk)>;
  if constexpr (mode != Mode::ignored) {
    static constexpr FloatUse use = float_use<decltype(Chunk), mode>();
    if constexpr (use.any()) {
      if (!is_plain(call.mode) && !call.mode_applied) [[unlikely]] {
        run_in_mode(call, &run<Chunk, mode>, use, call.mode);
        return;
      }
    }
  }
  call.mask_out = 0;
  for (unsigned chunk = 0; chunk < wave_lanes / chunk_lanes; ++chunk) {
    const auto active = static_cast<uint16_t>(call.exec >> (chunk * chunk_lanes));
    if (active == 0) continue;
    [&]<size_t... I>(std::index_sequence<I...>) {
      keep(call, chunk, active, Chunk(argument<typename S::Parameters, I>(call, chunk)...));
    }(std::make_index_sequence<S::count>());
  }
}

/// One chunk alone, every lane of it active: the first 16 lanes of each row hold it, as the low 16 bits of the masks
/// do. This is what the compiled engine inlines: it keeps the rows in host registers, and EXEC is its business.
template <auto Chunk>
void run_alone(VectorCall& call) {
  using S = Signature<decltype(Chunk)>;
  call.mask_out = 0;
  [&]<size_t... I>(std::index_sequence<I...>) {
    keep(call, 0, 0xFFFF, Chunk(argument<typename S::Parameters, I>(call, 0)...));
  }(std::make_index_sequence<S::count>());
}

template <typename T>
struct ResultShape {
  static constexpr uint8_t words = Access<T>::words;
  static constexpr bool mask = false, low_half = is_low_half<T>;
};
template <>
struct ResultShape<Mask> {
  static constexpr uint8_t words = 0;
  static constexpr bool mask = true, low_half = false;
};
template <typename T>
struct ResultShape<WithMask<T>> {
  static constexpr uint8_t words = Access<T>::words;
  static constexpr bool mask = true, low_half = false;
};

/// Adds one parameter to the shape.
template <typename T>
constexpr void describe(VectorShape& shape) {
  if constexpr (is_mask<T>) {
    ++shape.masks_in;
  } else if constexpr (is_old<T>) {
    shape.reads_dst = true;
  } else if constexpr (is_clamp<T>) {
    shape.handles_clamp = true;
  } else if constexpr (is_truth_table<T>) {
    shape.has_truth_table = true;
  } else if constexpr (is_signed_sources<T>) {
    shape.has_signed_sources = true;
  } else if constexpr (is_source<T>) {
    shape.src_words[shape.sources++] = Access<T>::words;
    shape.mixed_sources |= std::is_same_v<T, Mixed>;
    if constexpr (part_width<T> != 0) shape.source_part = part_width<T>;
  }
}

}  // namespace row

/// The row function of a chunk function, with its shape.
template <auto Chunk, Mode mode = Mode::applies>
constexpr VectorShape row_function() {
  using S = row::Signature<decltype(Chunk)>;
  using Parameters = typename S::Parameters;
  VectorShape shape;
#ifdef ATOLL_BITCODE
  shape.call = &row::run_alone<Chunk>;
#else
  shape.call = &row::run<Chunk, mode>;
#endif
  if constexpr (mode != Mode::ignored) shape.float_use = row::float_use<decltype(Chunk), mode>();
  using Result = row::ResultShape<typename S::Result>;
  shape.dst_words[0] = Result::words;
  shape.destinations = Result::words != 0;
  shape.mask_out = Result::mask;
  shape.writes_low_half_only = Result::low_half;
  shape.writes_one_byte = std::is_same_v<typename S::Result, OneByte>;
  [&]<size_t... I>(std::index_sequence<I...>) {
    (row::describe<std::tuple_element_t<I, Parameters>>(shape), ...);
  }(std::make_index_sequence<S::count>());
  return shape;
}

/// From GFX10 on, what has a result of 16 bits leaves the other half of the register as it was. Before, most
/// instructions clear it, and the functions say which don't (LLVM, GCNSubtarget::zeroesHigh16BitsOfDest).
constexpr bool keeps_upper_halves(target::Generation generation) { return generation >= target::Generation::gfx10; }

/// A chunk function whose 16-bit result leaves its register's upper half alone.
template <auto Chunk, typename Function = decltype(Chunk)>
struct KeepsUpperHalf;
template <auto Chunk, typename Result, typename... Parameters>
struct KeepsUpperHalf<Chunk, Result (*)(Parameters...)> {
  [[gnu::always_inline]] static LowHalf<Result> call(Parameters... parameters) { return {Chunk(parameters...)}; }
};

/// One entry of a file's table of vector instructions.
struct VectorEntry {
  isa::Opcode opcode;
  VectorShape shape;
  /// As above, on GPUs where 16-bit results keep the upper half of their register; without a call if the result
  /// has another width.
  VectorShape keeping;
  /// From this generation on. An instruction that later means something else has a further entry.
  target::Generation since;
};

template <auto Chunk, Mode mode = Mode::applies>
constexpr VectorEntry vector_entry(isa::Opcode opcode, target::Generation since = target::Generation::gfx6) {
  using Result = typename row::Signature<decltype(Chunk)>::Result;
  if constexpr (row::is_half<Result>) {
    return {opcode, row_function<Chunk, mode>(), row_function<&KeepsUpperHalf<Chunk>::call, mode>(), since};
  } else {
    return {opcode, row_function<Chunk, mode>(), {}, since};
  }
}

// LANES(name, Result, (parameters)) { body }: defines the chunk function of the opcode of that name. A file ends
// with its table: constexpr VectorEntry entries[] = {ENTRY(v_add_f32), ...}. An operation over floating-point types
// that takes no notice of the rounding and denormal mode stands there as MODELESS_ENTRY; one of which an infinite
// result is no overflow as EXACT_INFINITY_ENTRY. ENTRY_SINCE(generation, opcode, function): what an instruction does
// from that generation on.
#define LANES(name, result, parameters) [[gnu::always_inline]] inline result name parameters
#define ENTRY(name) ::Atoll::semantics::vector_entry<&name>(::Atoll::isa::Opcode::name)
#define MODELESS_ENTRY(name) \
  ::Atoll::semantics::vector_entry<&name, ::Atoll::semantics::Mode::ignored>(::Atoll::isa::Opcode::name)
#define EXACT_INFINITY_ENTRY(name) \
  ::Atoll::semantics::vector_entry<&name, ::Atoll::semantics::Mode::never_overflows>(::Atoll::isa::Opcode::name)
#define ENTRY_SINCE(generation, opcode, ...) \
  ::Atoll::semantics::vector_entry<&__VA_ARGS__>(::Atoll::isa::Opcode::opcode, ::Atoll::target::Generation::generation)
#define MODELESS_ENTRY_SINCE(generation, opcode, ...)                                \
  ::Atoll::semantics::vector_entry<&__VA_ARGS__, ::Atoll::semantics::Mode::ignored>( \
      ::Atoll::isa::Opcode::opcode, ::Atoll::target::Generation::generation)

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

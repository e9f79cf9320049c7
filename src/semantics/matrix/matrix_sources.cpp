#include "semantics/matrix/matrix_sources.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "isa/table.h"
#include "semantics/float/small_floats.h"
#include "semantics/lanes/rare_lanes.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

namespace {

constexpr unsigned bits_of(MatrixElement element) {
  using enum MatrixElement;
  switch (element) {
    case f64:
      return 64;
    case f32:
    case xf32:
      return 32;
    case f16:
    case bf16:
      return 16;
    case fp6:
    case bf6:
      return 6;
    case fp4:
      return 4;
    default:
      return 8;
  }
}

/// The low bits of each lane as a number.
template <MatrixElement element>
[[gnu::always_inline]] inline F32 number(U32 word, Fp8Format eight_bit) {
  using enum MatrixElement;
  if constexpr (element == f32) {
    return bits<F32>(word);
  } else if constexpr (element == xf32) {
    // 10 bits of fraction; measured (MMA-Sim, see matrix.h), the rest is cut off. A NaN stays one.
    const auto nan = (word & ~Format<F32>::sign) > U32(Format<F32>::exponent);
    return bits<F32>(select(nan, word, word & 0xFFFF'E000u));
  } else if constexpr (element == f16) {
    return convert<F32>(bits<F16>(convert<U16>(word)));
  } else if constexpr (element == bf16) {
    return bits<F32>(word << 16);
  } else if constexpr (element == i8) {
    return convert<F32>(bits<I32>(word << 24) >> 24);
  } else if constexpr (element == fp8) {
    return eight_bit == Fp8Format::ocp ? decode<OcpFp8>(word) : decode<FnuzFp8>(word);
  } else if constexpr (element == bf8) {
    return eight_bit == Fp8Format::ocp ? decode<OcpBf8>(word) : decode<FnuzBf8>(word);
  } else if constexpr (element == fp6) {
    return decode<Fp6>(word);
  } else if constexpr (element == bf6) {
    return decode<Bf6>(word);
  } else {
    return decode<Fp4>(word);
  }
}

[[gnu::always_inline]] inline U32 load(const uint32_t* row) {
  U32 word;
  std::memcpy(&word, row, sizeof word);
  return word;
}

/// How the elements of a source lie in its lanes.
struct Placing {
  const Row* rows;
  unsigned per_lane;  ///< elements of each lane
  unsigned run;       ///< of those, neighbours in the direction of the depth
  unsigned width;     ///< lanes of one depth
  uint32_t flushed;   ///< the bits of the exponent, where denormals become 0; else 0
  Fp8Format eight_bit;
};

template <MatrixElement element>
void read_elements(const Placing& p, float* out) {
  constexpr unsigned width = bits_of(element);
  // All sizes are powers of two, and divisions would take longer than all the rest.
  const auto width_bits = static_cast<unsigned>(std::countr_zero(p.width));
  const auto run_bits = static_cast<unsigned>(std::countr_zero(p.run));
  const unsigned groups_bits = 6 - width_bits;  // of lanes that have the same depths
  float* chunks[wave_lanes / chunk_lanes];
  for (unsigned chunk = 0; chunk < std::size(chunks); ++chunk) {
    const unsigned lane = chunk * chunk_lanes;
    chunks[chunk] = out + (lane >> width_bits << (run_bits + width_bits)) + (lane & (p.width - 1));
  }
  for (unsigned e = 0; e < p.per_lane; ++e) {
    const unsigned word = e * width / 32, shift = e * width % 32;
    const unsigned depth = (e >> run_bits << (run_bits + groups_bits)) + (e & (p.run - 1));
    for (unsigned chunk = 0; chunk < std::size(chunks); ++chunk) {
      const unsigned lane = chunk * chunk_lanes;
      U32 code = load(&p.rows[word][lane]) >> shift;
      if (width == 6 && shift + width > 32) code |= load(&p.rows[word + 1][lane]) << (32 - shift);
      if (p.flushed != 0) code = select((code & p.flushed) == 0, U32(0), code);
      const F32 value = number<element>(code, p.eight_bit);
      std::memcpy(chunks[chunk] + (size_t{depth} << width_bits), &value, sizeof value);
    }
  }
}

void read_elements(MatrixElement element, const Placing& placing, float* out) {
  using enum MatrixElement;
  switch (element) {
    case f32:
      return read_elements<f32>(placing, out);
    case xf32:
      return read_elements<xf32>(placing, out);
    case f16:
      return read_elements<f16>(placing, out);
    case bf16:
      return read_elements<bf16>(placing, out);
    case i8:
      return read_elements<i8>(placing, out);
    case fp8:
      return read_elements<fp8>(placing, out);
    case bf8:
      return read_elements<bf8>(placing, out);
    case fp6:
      return read_elements<fp6>(placing, out);
    case bf6:
      return read_elements<bf6>(placing, out);
    case fp4:
      return read_elements<fp4>(placing, out);
    case f64:
      return;
  }
}

bool has_formats(const MatrixShape& shape) { return isa::row(shape.opcode).has(isa::flag::matrix_formats); }

/// `in_runs`: a lane's elements are not all neighbours, but those of each 16 bytes are. A 6-bit format has no such
/// runs.
void read_source(const MatrixCall& call, const Row* rows, MatrixElement element, const MatrixLanes& lanes, bool in_runs,
                 MatrixSource& source) {
  const unsigned width = source.width, depth = source.depth;
  Placing placing{.rows = rows,
                  .per_lane = depth * width / wave_lanes,
                  .run = 0,
                  .width = width,
                  .flushed = 0,
                  .eight_bit = call.eight_bit};
  constexpr unsigned run_bits = 128;
  const bool has_runs = in_runs && bits_of(element) != 6;
  placing.run = has_runs ? std::min(placing.per_lane, run_bits / bits_of(element)) : placing.per_lane;
  if (call.sums == target::MatrixSums::pairwise_flushing) {
    if (element == MatrixElement::f16) placing.flushed = 0x7C00;
    if (element == MatrixElement::bf16) placing.flushed = 0x7F80;
  }
  constexpr unsigned max_words = 8;
  alignas(64) Row moved[max_words];
  if (lanes.moved) {
    const unsigned words = (placing.per_lane * bits_of(element) + 31) / 32;
    for (unsigned word = 0; word < words; ++word) {
      for (unsigned lane = 0; lane < wave_lanes; ++lane) moved[word][lane] = rows[word][lanes.from[lane]];
    }
    placing.rows = moved;
  }
  read_elements(element, placing, source.own);
}

/// True if a source stays in its registers: with single precision each lane holds one element. D must not
/// overwrite it.
[[gnu::always_inline]] inline bool stays_in_place(const MatrixCall& call, MatrixElement element, const Row* row) {
  return element == MatrixElement::f32 && (row < call.d || row >= call.d + registers_of_d(*call.shape));
}

[[gnu::always_inline]] inline const float* in_place(const Row* row) { return reinterpret_cast<const float*>(*row); }

}  // namespace

int least_normal_exponent(MatrixElement element, Fp8Format eight_bit) {
  using enum MatrixElement;
  switch (element) {
    case f16:
      return -14;
    case fp8:
      return 1 - (eight_bit == Fp8Format::ocp ? OcpFp8::bias : FnuzFp8::bias);
    case bf8:
      return 1 - (eight_bit == Fp8Format::ocp ? OcpBf8::bias : FnuzBf8::bias);
    default:
      return -126;
  }
}

namespace {

[[gnu::always_inline]] inline U32 size_at(const float* elements) {
  return load(reinterpret_cast<const uint32_t*>(elements)) & 0x7FFF'FFFFu;
}

constexpr int exponent_bits = 23, exponent_bias = 127;

/// Calls store(place, alignments) for all chunks; an exponent of 0 is aligned as `one`.
template <typename Store>
[[gnu::always_inline]] inline AlignedElements read_alignment(const float* elements, unsigned count, int least_exponent,
                                                             int one, Store store) {
  constexpr uint32_t least_size = (Alignment::least_exponent + exponent_bias) << exponent_bits,
                     end_of_sizes = (Alignment::max_exponent + 1 + exponent_bias) << exponent_bits;
  U32 smallest = U32(end_of_sizes), largest = U32(0);  // a 0 is the largest, less 1
  U32 denormals = U32(0);
  for (unsigned i = 0; i < count; i += chunk_lanes) {
    const U32 whole = size_at(elements + i), size = select(whole < 1u << exponent_bits, U32(0), whole);
    denormals |= whole ^ size;
    smallest = __builtin_elementwise_min(smallest, size - 1);
    largest = __builtin_elementwise_max(largest, size);
    const I32 exponent =
        __builtin_elementwise_max(bits<I32>(size >> exponent_bits), I32(least_exponent + exponent_bias));
    store(i, select(size == 0, U32(Alignment::of_zero), bits<U32>(one + exponent_bias - exponent)));
  }
  return {.all = !any((smallest < least_size - 1) | (largest >= end_of_sizes)),
          .has_denormals = any(bits<I32>(denormals))};
}

}  // namespace

AlignedElements read_a_alignment(const float* elements, unsigned count, int least_exponent, Alignment& alignment) {
  return read_alignment(elements, count, least_exponent, 76,
                        [&](unsigned place, U32 own) __attribute__((always_inline)) {
                          const Lanes<uint8_t> bytes = convert<Lanes<uint8_t>>(own);
                          std::memcpy(&alignment.of_a[place], &bytes, sizeof bytes);
                        });
}

AlignedElements read_b_alignment(const float* elements, unsigned count, int least_exponent, Alignment& alignment) {
  return read_alignment(elements, count, least_exponent, 75,
                        [&](unsigned place, U32 own) __attribute__((always_inline)) {
                          const U32 two = own | own << 8, four = two | two << 16;
                          std::memcpy(&alignment.of_b[place], &four, sizeof four);
                        });
}

void flush_denormals(const float* elements, unsigned count, float* flushed) {
  for (unsigned i = 0; i < count; i += chunk_lanes) {
    const F32 element = flush(bits<F32>(load(reinterpret_cast<const uint32_t*>(elements + i))));
    std::memcpy(flushed + i, &element, sizeof element);
  }
}

float unit_of(const float* elements, unsigned count, int places) {
  constexpr int most = 50;
  const auto unit_below = [&](U32 largest) __attribute__((always_inline)) {
    const int exponent = static_cast<int>(__builtin_reduce_max(largest) >> exponent_bits) - exponent_bias;
    return exponent < -most || exponent > most ? 0 : power_of_two(exponent + 1 - places);
  };
  const auto has_parts = [&](unsigned first, float unit) __attribute__((always_inline)) {
    const F32 whole = F32(unit * 0x1.8p23f);  // a sum with this has no room for parts of the unit
    const F32 element = bits<F32>(load(reinterpret_cast<const uint32_t*>(elements + first)));
    return any((element + whole) - whole != element);
  };
  // Mostly the first few have parts of the unit that they would have by themselves, which is no larger than that of
  // all.
  U32 largest = size_at(elements);
  if (const float unit = unit_below(largest); unit != 0 && has_parts(0, unit)) return 0;
  for (unsigned i = chunk_lanes; i < count; i += chunk_lanes) {
    largest = __builtin_elementwise_max(largest, size_at(elements + i));
  }
  const float unit = unit_below(largest);
  for (unsigned i = 0; i < count && unit != 0; i += chunk_lanes) {
    if (has_parts(i, unit)) return 0;
  }
  return unit;
}

MatrixLanes broadcast_block(const MatrixShape& shape, uint8_t cbsz, uint8_t abid) {
  MatrixLanes lanes;
  const unsigned receivers = std::min(1u << cbsz, unsigned{shape.blocks});
  lanes.moved = receivers > 1;
  for (unsigned lane = 0; lanes.moved && lane < wave_lanes; ++lane) {
    const unsigned block = lane / shape.rows, row = lane % shape.rows;
    lanes.from[lane] = static_cast<uint8_t>((block / receivers * receivers + abid % receivers) * shape.rows + row);
  }
  return lanes;
}

MatrixLanes lane_group_pattern(uint8_t blgp) {
  MatrixLanes lanes;
  lanes.moved = blgp != 0;
  for (unsigned lane = 0; lanes.moved && lane < wave_lanes; ++lane) {
    unsigned from = lane;
    if (blgp == 1 || blgp == 2) from = lane % 32 + (blgp - 1u) * 32;  // one half for both
    if (blgp == 3) from = (lane + 16) % wave_lanes;                   // rotated by a quarter
    if (blgp >= 4) from = lane % 16 + (blgp - 4u) * 16;               // one quarter for all
    lanes.from[lane] = static_cast<uint8_t>(from);
  }
  return lanes;
}

void read_a(const MatrixCall& call, MatrixSource& a) {
  const MatrixShape& shape = *call.shape;
  const bool sparse = call.index != nullptr;
  a.width = unsigned{shape.rows} * shape.blocks;
  a.depth = shape.depth / (sparse ? 2u : 1u);
  if (call.cbsz == 0 && stays_in_place(call, call.a_element, call.a)) {
    a.elements = in_place(call.a);
    return;
  }
  const MatrixLanes lanes = sparse ? MatrixLanes{} : broadcast_block(shape, call.cbsz, call.abid);
  read_source(call, call.a, call.a_element, lanes, !sparse && has_formats(shape), a);
}

void read_b(const MatrixCall& call, MatrixSource& b) {
  const MatrixShape& shape = *call.shape;
  b.width = unsigned{shape.columns} * shape.blocks;
  b.depth = shape.depth;
  if (call.blgp == 0 && stays_in_place(call, call.b_element, call.b)) {
    b.elements = in_place(call.b);
    return;
  }
  const bool in_runs = call.index != nullptr || has_formats(shape);
  read_source(call, call.b, call.b_element, lane_group_pattern(call.blgp), in_runs, b);
}

SparseIndex read_index(const MatrixCall& call, const MatrixSource& a) {
  SparseIndex index;
  const unsigned per_lane = a.depth * a.width / wave_lanes, bits_per_lane = 2 * per_lane;
  const unsigned parts = 32 / bits_per_lane;
  const unsigned first_bit = call.cbsz == 0 ? call.abid % parts * bits_per_lane : 0;
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    for (unsigned e = 0; e < per_lane; ++e) {
      const unsigned k = lane / a.width * per_lane + e;
      const unsigned in_four = (*call.index)[lane] >> (first_bit + 2 * e) & 3;
      index.depth[k * a.width + lane % a.width] = static_cast<uint8_t>(k / 2 * 4 + in_four);
    }
  }
  return index;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

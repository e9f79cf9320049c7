#include "semantics/evaluate.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "semantics/note_function.h"

namespace Atoll::semantics::test {

Evaluation evaluate(isa::Opcode opcode, const std::vector<Values>& sources, const Conditions& conditions) {
  const VectorShape& shape = vector_function(opcode, conditions.generation);
  EXPECT_NE(shape.call, nullptr) << "no semantics for opcode " << static_cast<unsigned>(opcode);
  EXPECT_EQ(shape.sources, sources.size()) << "opcode " << static_cast<unsigned>(opcode);
  note_function(Atoll::test::TestedBy::arithmetic, opcode, conditions.generation);
  Evaluation result;
  if (shape.call == nullptr || shape.sources != sources.size()) return result;
  const size_t count = sources.front().size();
  struct alignas(64) Rows {
    Row rows[2];
  };
  for (size_t start = 0; start < count; start += wave_lanes) {
    const size_t lanes = std::min<size_t>(wave_lanes, count - start);
    std::vector<Rows> src(sources.size());
    Rows dst{};
    VectorCall call{};
    call.exec = ~uint64_t{0};
    call.mode = conditions.mode;
    call.clamp = conditions.clamp;
    call.dst[0] = dst.rows;
    for (size_t lane = 0; lane < lanes; ++lane) {
      for (size_t i = 0; i < sources.size(); ++i) {
        const uint64_t value = sources[i].at(start + lane);
        src[i].rows[0][lane] = static_cast<uint32_t>(value);
        src[i].rows[1][lane] = static_cast<uint32_t>(value >> 32);
      }
      if (!conditions.mask_in.empty()) call.mask_in |= uint64_t{conditions.mask_in.at(start + lane)} << lane;
      if (!conditions.old.empty()) {
        dst.rows[0][lane] = static_cast<uint32_t>(conditions.old.at(start + lane));
        dst.rows[1][lane] = static_cast<uint32_t>(conditions.old.at(start + lane) >> 32);
      }
    }
    for (size_t i = 0; i < sources.size(); ++i) call.src[i] = src[i].rows;
    shape.call(call);
    for (size_t lane = 0; lane < lanes; ++lane) {
      uint64_t value = dst.rows[0][lane];
      if (shape.dst_words[0] == 2) value |= uint64_t{dst.rows[1][lane]} << 32;
      result.dst.push_back(value);
      result.mask.push_back(call.mask_out >> lane & 1);
    }
  }
  return result;
}

uint64_t evaluate_one(isa::Opcode opcode, const std::vector<uint64_t>& sources, const Conditions& conditions) {
  std::vector<Values> lists;
  lists.reserve(sources.size());
  for (const uint64_t source : sources) lists.push_back({source});
  const Evaluation result = evaluate(opcode, lists, conditions);
  return result.dst.empty() ? ~uint64_t{0} : result.dst[0];
}

Values bits_of(const std::vector<float>& numbers) {
  Values values;
  for (const float number : numbers) values.push_back(word(number));
  return values;
}
Values bits_of(const std::vector<double>& numbers) {
  Values values;
  for (const double number : numbers) values.push_back(word(number));
  return values;
}

namespace {

/// Both signs of each.
Values with_negatives(const Values& values, unsigned width) {
  Values all = values;
  for (const uint64_t value : values) all.push_back(value | uint64_t{1} << (width - 1));
  return all;
}

}  // namespace

Values edges16() {
  return with_negatives({0x0000, 0x0001, 0x0002, 0x0200, 0x03FF, 0x0400, 0x0401, 0x3800, 0x3BFF, 0x3C00, 0x3C01, 0x4000,
                         0x4200, 0x5BFF, 0x6400, 0x7800, 0x7BFE, 0x7BFF, 0x7C00, 0x7C01, 0x7D55, 0x7E00, 0x7FFF},
                        16);
}
Values edges32() {
  return with_negatives({0x00000000, 0x00000001, 0x00000002, 0x00400000, 0x007FFFFF, 0x00800000, 0x00800001, 0x01000000,
                         0x33800000, 0x3EFFFFFF, 0x3F000000, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3FC00000, 0x40200000,
                         0x4B000001, 0x4EFFFFFF, 0x4F000000, 0x4F7FFFFF, 0x4F800000, 0x7E800000, 0x7F000000, 0x7F7FFFFF,
                         0x7F800000, 0x7F800001, 0x7FABCDEF, 0x7FC00000, 0x7FC12345, 0x7FFFFFFF},
                        32);
}
Values edges64() {
  return with_negatives(
      {0x0000000000000000, 0x0000000000000001, 0x0000000000000002, 0x0008000000000000, 0x000FFFFFFFFFFFFF,
       0x0010000000000000, 0x0010000000000001, 0x36A0000000000000, 0x380FFFFFE0000000, 0x3810000000000000,
       0x3FDFFFFFFFFFFFFF, 0x3FE0000000000000, 0x3FEFFFFFFFFFFFFF, 0x3FF0000000000000, 0x3FF0000000000001,
       0x3FF0000010000000, 0x4004000000000000, 0x41DFFFFFFFC00000, 0x41DFFFFFFFE00000, 0x41E0000000000000,
       0x41EFFFFFFFE00000, 0x41F0000000000000, 0x4330000000000001, 0x47EFFFFFF0000000, 0x7FD0000000000000,
       0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF0000000000001, 0x7FF4567812345678, 0x7FF8000000000000,
       0x7FF8123456789ABC, 0x7FFFFFFFFFFFFFFF},
      64);
}

Values random_bits(unsigned width, unsigned count, uint64_t seed) {
  std::mt19937_64 random(seed);
  Values values(count);
  const unsigned fraction_bits = width == 64 ? 52 : width == 32 ? 23 : 10;
  const uint64_t exponent_mask = (uint64_t{1} << (width - 1)) - (uint64_t{1} << fraction_bits);
  const uint64_t bias = (uint64_t{1} << (width - fraction_bits - 2)) - 1;
  for (unsigned i = 0; i < count; ++i) {
    values[i] = random() >> (64 - width);
    if (i % 2 == 1) {  // near 1, so that sums of two of them are interesting
      values[i] = (values[i] & ~exponent_mask) | (bias + random() % 25 - 12) << fraction_bits;
    }
  }
  return values;
}

std::vector<Values> pairs(const Values& values) {
  std::vector<Values> lists(2);
  for (const uint64_t a : values) {
    for (const uint64_t b : values) {
      lists[0].push_back(a);
      lists[1].push_back(b);
    }
  }
  return lists;
}
std::vector<Values> triples(const Values& values) {
  std::vector<Values> lists(3);
  for (const uint64_t a : values) {
    for (const uint64_t b : values) {
      for (const uint64_t c : values) {
        lists[0].push_back(a);
        lists[1].push_back(b);
        lists[2].push_back(c);
      }
    }
  }
  return lists;
}

void append_random(std::vector<Values>& sources, unsigned width, unsigned count, uint64_t seed) {
  for (size_t i = 0; i < sources.size(); ++i) {
    const Values more = random_bits(width, count, seed + i);
    sources[i].insert(sources[i].end(), more.begin(), more.end());
  }
}

}  // namespace Atoll::semantics::test

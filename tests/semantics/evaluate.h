// Tests of the semantics room: running one vector instruction over many values.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "semantics/registry.h"

namespace Atoll::semantics::test {

/// One operand's values, each the bits of one lane's register or register pair, the low register in the low word.
using Values = std::vector<uint64_t>;

struct Evaluation {
  Values dst;              ///< the result of each call of the instruction, for as many as there were source values
  std::vector<bool> mask;  ///< and its mask result
};

struct Conditions {
  FloatMode mode{};
  std::vector<bool> mask_in{};  ///< a bit per value; all clear when empty
  Values old{};                 ///< what the destination held; zeros when empty
  bool clamp = false;
  target::Generation generation = target::Generation::gfx9;
};

/// The instruction over all values, 64 at a time, every lane active.
Evaluation evaluate(isa::Opcode opcode, const std::vector<Values>& sources, const Conditions& conditions = {});

/// One call with a single lane's values.
uint64_t evaluate_one(isa::Opcode opcode, const std::vector<uint64_t>& sources, const Conditions& conditions = {});

/// Lists of numbers as Values.
Values bits_of(const std::vector<float>& numbers);
Values bits_of(const std::vector<double>& numbers);

inline float as_float(uint64_t word) { return std::bit_cast<float>(static_cast<uint32_t>(word)); }
inline double as_double(uint64_t word) { return std::bit_cast<double>(word); }
inline uint32_t word(float number) { return std::bit_cast<uint32_t>(number); }
inline uint64_t word(double number) { return std::bit_cast<uint64_t>(number); }

/// Edge values of a format (zeros, denormals, ones, limits, infinities, quiet and signalling NaNs, of both signs).
Values edges16();
Values edges32();
Values edges64();

/// `count` random numbers of the given width, from a fixed seed: half of them with exponents of every size, half
/// near 1.
Values random_bits(unsigned width, unsigned count, uint64_t seed);

/// Every pair (or triple) of the values, as parallel lists.
std::vector<Values> pairs(const Values& values);
std::vector<Values> triples(const Values& values);

/// Adds random patterns to each of `sources` (all of one width).
void append_random(std::vector<Values>& sources, unsigned width, unsigned count, uint64_t seed);

}  // namespace Atoll::semantics::test

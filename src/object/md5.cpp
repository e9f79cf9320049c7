#include "object/md5.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace Atoll::object {

namespace {

using State = std::array<uint32_t, 4>;

constexpr size_t block_bytes = 64;

/// The constants of the 64 steps: 2^32 times |sin(step + 1)|, rounded down.
const std::array<uint32_t, 64>& step_constants() {
  static const auto constants = [] {
    std::array<uint32_t, 64> table{};
    for (size_t i = 0; i < table.size(); i++)
      table[i] = static_cast<uint32_t>(std::floor(std::fabs(std::sin(static_cast<double>(i + 1))) * 0x1p32));
    return table;
  }();
  return constants;
}

/// Left rotations: four to each round, taken in turn.
constexpr uint8_t rotations[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

void add_block(State& state, const uint8_t* block) {
  std::array<uint32_t, 16> words;
  std::memcpy(words.data(), block, block_bytes);
  const auto& constants = step_constants();
  auto [a, b, c, d] = state;
  for (unsigned step = 0; step < 64; step++) {
    const unsigned round = step / 16;
    uint32_t mixed = 0;
    unsigned word = 0;
    switch (round) {
      case 0:
        mixed = (b & c) | (~b & d);
        word = step;
        break;
      case 1:
        mixed = (d & b) | (~d & c);
        word = 5 * step + 1;
        break;
      case 2:
        mixed = b ^ c ^ d;
        word = 3 * step + 5;
        break;
      default:
        mixed = c ^ (b | ~d);
        word = 7 * step;
    }
    const uint32_t sum = a + mixed + constants[step] + words[word % 16];
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, rotations[round][step % 4]);
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
}

}  // namespace

std::array<uint8_t, 16> md5(std::span<const uint8_t> bytes) {
  State state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const size_t whole = bytes.size() / block_bytes * block_bytes;
  for (size_t offset = 0; offset < whole; offset += block_bytes) add_block(state, bytes.data() + offset);

  // The rest, a one bit, zeroes, and the length in bits fill one block or two.
  std::array<uint8_t, 2 * block_bytes> tail{};
  const size_t rest = bytes.size() - whole;
  if (rest != 0) std::memcpy(tail.data(), bytes.data() + whole, rest);
  tail[rest] = 0x80;
  const size_t tail_bytes = rest + 1 + sizeof(uint64_t) <= block_bytes ? block_bytes : 2 * block_bytes;
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  std::memcpy(tail.data() + tail_bytes - sizeof bits, &bits, sizeof bits);
  for (size_t offset = 0; offset < tail_bytes; offset += block_bytes) add_block(state, tail.data() + offset);
  return std::bit_cast<std::array<uint8_t, 16>>(state);
}

}  // namespace Atoll::object

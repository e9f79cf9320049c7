#include "semantics/integer_check.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "semantics/note_function.h"

namespace Atoll::semantics::test {

namespace {

constexpr unsigned max_words = 4;
constexpr uint32_t edge_words[] = {0,          1,          2,          7,          8,          15,         16,
                                   31,         32,         33,         0x7F,       0x80,       0xFF,       0x100,
                                   0x7FFF,     0x8000,     0xFFFF,     0x10000,    0x7FFFFF,   0x800000,   0xFFFFFF,
                                   0x1000000,  0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFF0000, 0x80008000,
                                   0x7FFF7FFF, 0x80808080, 0x7F7F7F7F, 0x00FF00FF, 0xFFFFFFFE, 0x0C0D0B0A};

struct alignas(64) Operand {
  Row rows[max_words];
};

/// A source word: an edge value half of the time.
uint32_t random_word(std::mt19937& random) {
  return random() % 2 != 0 ? edge_words[random() % std::size(edge_words)] : static_cast<uint32_t>(random());
}

class Check {
 public:
  Check(isa::Opcode opcode, const Reference& reference) : shape_(vector_function(opcode)), reference_(reference) {
    note_function(Atoll::test::TestedBy::arithmetic, opcode, target::Generation::gfx9);
  }

  const VectorShape& shape() const { return shape_; }

  /// Fills the operands' words by `next`, which is given source and lane, and compares under `exec`.
  void run(uint64_t exec, bool clamp, std::mt19937& random, const std::function<uint32_t(unsigned, unsigned)>& next) {
    for (unsigned source = 0; source < 4; ++source) {
      for (auto& row : src_[source].rows) {
        for (unsigned lane = 0; lane < wave_lanes; ++lane) row[lane] = next(source, lane);
      }
    }
    for (auto& row : dst_.rows) {
      for (uint32_t& word : row) word = random_word(random);
    }
    const Operand before = dst_;
    VectorCall call{};
    call.exec = exec;
    call.clamp = clamp;
    call.mask_in = uint64_t{random()} << 32 | random();
    call.dst[0] = dst_.rows;
    for (unsigned source = 0; source < 4; ++source) call.src[source] = src_[source].rows;
    shape_.call(call);
    for (unsigned number = 0; number < wave_lanes; ++number) {
      Lane lane{.mask_in = (call.mask_in >> number & 1) != 0, .clamp = clamp, .number = number};
      for (unsigned word = 0; word < max_words; ++word) {
        lane.old[word] = before.rows[word][number];
        for (unsigned source = 0; source < 4; ++source) lane.src[source][word] = src_[source].rows[word][number];
      }
      const bool active = (exec >> number & 1) != 0;
      const Outcome expected = active ? reference_(lane) : Outcome{};
      for (unsigned word = 0; word < max_words; ++word) {
        const bool written = active && word < shape_.dst_words[0];
        ASSERT_EQ(dst_.rows[word][number], written ? expected.words[word] : lane.old[word])
            << "lane " << number << (active ? "" : " (inactive)") << ", word " << word << ", clamp " << clamp
            << std::hex << ", sources " << lane.src[0][0] << ":" << lane.src[0][1] << " " << lane.src[1][0] << ":"
            << lane.src[1][1] << " " << lane.src[2][0] << ":" << lane.src[2][1] << ", old " << lane.old[0];
      }
      ASSERT_EQ((call.mask_out >> number & 1) != 0, shape_.mask_out && expected.mask)
          << "mask of lane " << number << std::hex << ", sources " << lane.u64(0) << " " << lane.u64(1) << " "
          << lane.u64(2);
    }
  }

 private:
  const VectorShape& shape_;
  const Reference& reference_;
  Operand src_[4], dst_;
};

}  // namespace

void check(isa::Opcode opcode, const Reference& reference) {
  SCOPED_TRACE("opcode " + std::to_string(static_cast<unsigned>(opcode)));
  Check check(opcode, reference);
  ASSERT_NE(check.shape().call, nullptr) << "no semantics";
  std::mt19937 random(static_cast<unsigned>(opcode));
  const uint64_t masks[] = {~uint64_t{0}, 0, 0x5555'0000'FFFF'8001, 1, uint64_t{1} << 63};
  for (const bool clamp : {false, true}) {
    if (clamp && !check.shape().handles_clamp) continue;
    // Every pair of edge values, the second one running over the lanes.
    for (const uint32_t first : edge_words) {
      check.run(~uint64_t{0}, clamp, random, [&](unsigned source, unsigned lane) {
        if (source == 0) return first;
        return source == 1 ? edge_words[lane % std::size(edge_words)] : random_word(random);
      });
      if (testing::Test::HasFatalFailure()) return;
    }
    for (unsigned round = 0; round < 100; ++round) {
      check.run(masks[round % std::size(masks)], clamp, random,
                [&](unsigned, unsigned) { return random_word(random); });
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

uint64_t unsigned_result(const Lane& lane, Int128 exact, unsigned bits) {
  const Int128 largest = (Int128{1} << bits) - 1;
  if (lane.clamp) exact = exact < 0 ? 0 : exact > largest ? largest : exact;
  return static_cast<uint64_t>(exact & largest);
}

uint64_t signed_result(const Lane& lane, Int128 exact, unsigned bits) {
  const Int128 largest = (Int128{1} << (bits - 1)) - 1;
  if (lane.clamp) exact = exact < -largest - 1 ? -largest - 1 : exact > largest ? largest : exact;
  return static_cast<uint64_t>(exact & ((Int128{1} << bits) - 1));
}

}  // namespace Atoll::semantics::test

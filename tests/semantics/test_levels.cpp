// The levels of host vector instructions (semantics/host_isa.h) give the same results, bit for bit: every entry of the
// table, in every mode, over edge values and random ones, and what goes on around it: modifiers and lane movement.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "isa/table.h"
#include "semantics/evaluate.h"
#include "semantics/host_isa_functions.h"

namespace Atoll::semantics {
void PrintTo(HostVectors level, std::ostream* out);
void PrintTo(HostVectors level, std::ostream* out) { *out << name(level); }
}  // namespace Atoll::semantics

namespace Atoll::semantics::test {
namespace {

constexpr unsigned max_words = 32, usual_words = 4;

struct alignas(64) Rows {
  Row rows[max_words];
};

/// Rows of random words, edge values of every format among them.
class RandomRows {
 public:
  explicit RandomRows(uint64_t seed) : random_(seed) {
    for (const Values& edges : {edges16(), edges32(), edges64()}) {
      for (const uint64_t edge : edges) {
        edges_.push_back(static_cast<uint32_t>(edge));
        edges_.push_back(static_cast<uint32_t>(edge >> 32));
        edges_.push_back(static_cast<uint32_t>(edge << 16));
      }
    }
  }

  uint64_t next() { return random_(); }
  uint32_t word() {
    const uint64_t bits = random_();
    switch (bits >> 60) {
      case 0:
      case 1:
      case 2:
        return edges_[bits % edges_.size()];
      case 3:
      case 4:  // small integers, of either sign
        return static_cast<uint32_t>(static_cast<int32_t>(bits % 80) - 16);
      case 5:
      case 6:
      case 7:  // single precision near 1
        return static_cast<uint32_t>(bits & 0x807FFFFF) + (0x3F000000u + (bits >> 32 & 3) * 0x00800000u);
      case 8:  // the upper word of a double near 1
        return static_cast<uint32_t>(bits & 0x800FFFFF) + (0x3FE00000u + (bits >> 32 & 3) * 0x00100000u);
      default:
        return static_cast<uint32_t>(bits);
    }
  }
  void fill(Rows& rows, unsigned words = usual_words) {
    for (unsigned i = 0; i < words; ++i) {
      for (uint32_t& lane : rows.rows[i]) lane = word();
    }
  }

 private:
  std::mt19937_64 random_;
  std::vector<uint32_t> edges_;
};

FloatMode random_mode(uint64_t bits) {
  FloatMode mode;
  if (bits % 4 == 0) return mode;
  mode.round32 = static_cast<Round>(bits >> 8 & 3);
  mode.round16_64 = static_cast<Round>(bits >> 10 & 3);
  mode.denormals32 = static_cast<Denormals>(bits >> 12 & 3);
  mode.denormals16_64 = static_cast<Denormals>(bits >> 14 & 3);
  mode.dx10_clamp = (bits >> 16 & 1) != 0;
  mode.ieee = (bits >> 17 & 1) != 0;
  mode.eight_bit = static_cast<Fp8Format>(bits >> 18 & 1);
  return mode;
}

/// Lanes of EXEC or of a mask: all, or any.
uint64_t random_lanes(RandomRows& random) { return random.next() % 3 == 0 ? ~uint64_t{0} : random.next(); }

std::string differing_lane(const Rows& a, const Rows& b) {
  for (unsigned word = 0; word < max_words; ++word) {
    for (unsigned lane = 0; lane < wave_lanes; ++lane) {
      if (a.rows[word][lane] != b.rows[word][lane]) {
        return fmt::format("lane {} word {}: {:#010x} and {:#010x}", lane, word, a.rows[word][lane],
                           b.rows[word][lane]);
      }
    }
  }
  return "none";
}

/// The levels beyond the portable one, which they are compared with.
class Levels : public testing::TestWithParam<HostVectors> {
 protected:
  const LevelFunctions& portable = functions_of(HostVectors::portable);
  const LevelFunctions& level = functions_of(GetParam());
};

TEST_P(Levels, VectorFunctionsAgree) {
  RandomRows random(1);
  unsigned functions = 0;
  using target::Generation;
  constexpr unsigned opcodes = static_cast<unsigned>(isa::Opcode::count);
  // What GFX9 has, and what differs on later generations.
  for (unsigned i = 1; i < 3 * opcodes; ++i) {
    const auto opcode = static_cast<isa::Opcode>(i % opcodes);
    const Generation generation = i < opcodes       ? Generation::gfx9
                                  : i < 2 * opcodes ? Generation::gfx11
                                                    : Generation::gfx12;
    const VectorShape& expected_shape = portable.vector_function(opcode, generation);
    const VectorShape& shape = level.vector_function(opcode, generation);
    const Generation before = generation == Generation::gfx12 ? Generation::gfx11 : Generation::gfx9;
    if (generation != before && shape.call == level.vector_function(opcode, before).call) continue;
    ASSERT_EQ(shape.call == nullptr, expected_shape.call == nullptr);
    if (shape.call == nullptr) continue;
    ++functions;
    ASSERT_NE(shape.call, expected_shape.call) << isa::row(opcode).name << " is the same function in both";
    for (unsigned round = 0; round < 60; ++round) {
      Rows sources[4]{}, old{};
      for (unsigned s = 0; s < 4; ++s) random.fill(sources[s], std::max<unsigned>(shape.src_words[s], usual_words));
      random.fill(old, std::max<unsigned>(shape.dst_words[0], usual_words));
      VectorCall call{};
      call.exec = random_lanes(random);
      call.mask_in = random_lanes(random);
      call.mask2_in = random_lanes(random);
      call.mode = random_mode(random.next());
      call.clamp = random.next() % 2 != 0;
      call.truth_table = static_cast<uint8_t>(random.next());
      call.signed_sources = static_cast<uint8_t>(random.next() % 4);
      for (unsigned s = 0; s < 4; ++s) call.src[s] = sources[s].rows;
      const auto run = [&](const VectorShape& function, Rows& result) {
        result = old;
        VectorCall own = call;
        own.dst[0] = result.rows;
        function.call(own);
        return own.mask_out;
      };
      Rows expected{}, result{};
      const uint64_t expected_mask = run(expected_shape, expected), mask = run(shape, result);
      ASSERT_EQ(mask, expected_mask) << isa::row(opcode).name;
      ASSERT_EQ(std::memcmp(&result, &expected, sizeof result), 0)
          << isa::row(opcode).name << ", " << differing_lane(expected, result) << ", rounding "
          << static_cast<unsigned>(call.mode.round32) << " and " << static_cast<unsigned>(call.mode.round16_64);
    }
  }
  EXPECT_GT(functions, 400u);
}

isa::Operand random_operand(RandomRows& random, isa::DataType type) {
  isa::Operand operand;
  operand.type = type;
  const uint64_t bits = random.next();
  operand.neg = (bits & 1) != 0;
  operand.abs = (bits & 2) != 0;
  operand.neg_hi = (bits & 4) != 0;
  operand.op_sel = (bits & 8) != 0;
  operand.op_sel_hi = (bits & 16) != 0;
  operand.sext = (bits & 32) != 0;
  if ((bits & 64) != 0) operand.sdwa = static_cast<isa::SdwaSelect>(bits >> 8 & 7);
  if (operand.sdwa > isa::SdwaSelect::dword) operand.sdwa = isa::SdwaSelect::dword;
  return operand;
}

TEST_P(Levels, ModifiersAgree) {
  using enum isa::DataType;
  RandomRows random(2);
  for (unsigned round = 0; round < 400; ++round) {
    for (const isa::DataType type : {b16, i16, f16, v2f16, v2bf16, b32, f32, v2f32, f64, b64}) {
      const isa::Operand operand = random_operand(random, type);
      const FloatMode mode = random_mode(random.next());
      const uint64_t exec = random_lanes(random), bits = random.next();
      Rows in{}, old{};
      random.fill(in);
      random.fill(old);
      EXPECT_EQ(level.has_source_modifiers(operand), portable.has_source_modifiers(operand));
      const auto compare = [&](const char* what, const auto& apply) {
        Rows expected = old, result = old;
        apply(portable, expected.rows);
        apply(level, result.rows);
        ASSERT_EQ(std::memcmp(&result, &expected, sizeof result), 0) << what << differing_lane(expected, result);
      };
      compare("apply_source_modifiers: ",
              [&](const LevelFunctions& f, Row* out) { f.apply_source_modifiers(out, in.rows, operand); });
      compare("apply_mixed_source: ", [&](const LevelFunctions& f, Row* out) {
        f.apply_mixed_source(*out, *in.rows, operand, mode.denormals32);
      });
      compare("apply_result_modifiers: ", [&](const LevelFunctions& f, Row* out) {
        f.apply_result_modifiers(out, type, bits & 3, (bits & 4) != 0, mode);
      });
      compare("merge_high_half: ", [&](const LevelFunctions& f, Row* out) { f.merge_high_half(*out, *in.rows, exec); });
      compare("merge_sdwa: ", [&](const LevelFunctions& f, Row* out) {
        f.merge_sdwa(*out, *in.rows, operand.sdwa, static_cast<isa::SdwaUnused>(bits >> 8 & 3 ? bits >> 8 & 1 : 2),
                     exec);
      });
    }
  }
}

TEST_P(Levels, LaneMovementAgrees) {
  RandomRows random(3);
  unsigned moves = 0;
  for (unsigned round = 0; round < 2000; ++round) {
    const uint64_t exec = random_lanes(random), bits = random.next();
    const auto offset = static_cast<uint16_t>(bits);
    Rows in{}, old{};
    random.fill(in);
    random.fill(old);
    const auto compare = [&](const char* what, const auto& apply) {
      Rows expected = old, result = old;
      apply(portable, *expected.rows);
      apply(level, *result.rows);
      ASSERT_EQ(std::memcmp(&result, &expected, sizeof result), 0) << what << differing_lane(expected, result);
    };
    isa::Dpp dpp{};
    dpp.control = static_cast<decltype(dpp.control)>(bits & 0x1FF);
    dpp.row_mask = bits >> 12 & 15;
    dpp.bank_mask = bits >> 16 & 15;
    dpp.bound_ctrl = (bits >> 20 & 1) != 0;
    if (const auto move = dpp_move(isa::Extension::dpp16, dpp)) {
      ++moves;
      compare("apply_dpp: ", [&](const LevelFunctions& f, Row& out) { f.apply_dpp(*move, exec, *in.rows, out); });
      Row scratch;
      EXPECT_EQ(level.apply_dpp(*move, exec, *in.rows, scratch), portable.apply_dpp(*move, exec, *in.rows, scratch));
    }
    const LaneMap map = swizzle_map(offset);
    compare("swizzle: ", [&](const LevelFunctions& f, Row& out) { f.swizzle(map, exec, *in.rows, out); });
    compare("permute: ",
            [&](const LevelFunctions& f, Row& out) { f.permute(exec, in.rows[1], offset, *in.rows, out, 64); });
    compare("backward_permute: ", [&](const LevelFunctions& f, Row& out) {
      f.backward_permute(exec, in.rows[1], offset, *in.rows, out, 32);
    });
  }
  EXPECT_GT(moves, 500u);
}

INSTANTIATE_TEST_SUITE_P(Host, Levels, testing::ValuesIn(available_host_vectors().subspan(1)),
                         [](const auto& level) { return std::string(name(level.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Levels);  // on a host with no more than the portable one

// The suites of this directory are run once for each level; this is what makes them be.
TEST(HostVectors, TheEnvironmentChooses) {
  const char* wish = std::getenv("ATOLL_HOST_VECTORS");
  EXPECT_EQ(name(host_vectors()), wish != nullptr ? std::string_view(wish) : name(available_host_vectors().back()));
}

TEST(HostVectors, UnknownNamesAreRefused) {
  const char* before = std::getenv("ATOLL_HOST_VECTORS");
  const std::string kept = before != nullptr ? before : "";
  setenv("ATOLL_HOST_VECTORS", "sse9", 1);
  const auto wanted = wanted_host_vectors();
  setenv("ATOLL_HOST_VECTORS", kept.c_str(), 1);
  ASSERT_FALSE(wanted.has_value());
  EXPECT_EQ(wanted.error().message, "ATOLL_HOST_VECTORS=sse9: there are avx512, avx2 and portable");
}

}  // namespace
}  // namespace Atoll::semantics::test

// Code that is larger than what is translated at once: it is cut, and still does what it says.
#include "compiler/parts.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "engine/wave_runner.h"
#include "target/processor.h"

namespace Atoll::test {
namespace {

constexpr unsigned blocks = 100, additions = 40, rounds = 3;

/// A loop around blocks of additions to v1, each of which is left out in the round that has its number's remainder; in
/// each, a small loop counts in s6.
std::string large_code() {
  std::string text = "s_mov_b32 s4, 0\ns_mov_b32 s6, 0\nagain:\n";
  for (unsigned block = 0; block < blocks; ++block) {
    const std::string number = std::to_string(block);
    text += "s_cmp_eq_u32 s4, " + std::to_string(block % rounds) + "\ns_cbranch_scc1 out" + number + "\n";
    for (unsigned i = 0; i < additions; ++i) text += "v_add_u32 v1, " + std::to_string((block + i) % 60) + ", v1\n";
    text += "s_mov_b32 s5, 5\nsmall" + number + ":\ns_add_u32 s6, s6, 1\ns_sub_u32 s5, s5, 1\ns_cmp_lg_u32 s5, 0\n" +
            "s_cbranch_scc1 small" + number + "\nout" + number + ":\n";
  }
  return text + "s_add_u32 s4, s4, 1\ns_cmp_lt_u32 s4, " + std::to_string(rounds) + "\ns_cbranch_scc1 again\n";
}

TEST(Parts, HoldEveryBlockOnceAndKeepSmallLoopsWhole) {
  const std::vector<uint8_t> code = assemble(large_code() + "s_endpgm", "gfx90a");
  const auto begin = reinterpret_cast<uint64_t>(code.data());
  const auto flow = engine::follow(begin, begin, begin + code.size(), *target::find_processor("gfx90a"));
  ASSERT_TRUE(flow.has_value());
  constexpr uint64_t wanted = 500;
  const auto parts = compiler::cut(*flow, wanted);
  EXPECT_GT(parts.size(), flow->instructions / wanted / 2);
  std::set<uint64_t> seen;
  uint64_t instructions = 0;
  for (const engine::ControlFlow& part : parts) {
    uint64_t here = 0;
    for (const auto& [pc, block] : part.blocks) {
      EXPECT_TRUE(seen.insert(pc).second);
      here += block.instructions.size();
      const engine::Located& last = block.instructions.back();
      const bool is_small_loop = block.instructions.size() == 4 && last.target() == pc;
      EXPECT_TRUE(!is_small_loop || part.blocks.contains(last.target()));
    }
    EXPECT_LE(here, 2 * wanted);
    EXPECT_EQ(here, part.instructions);
    EXPECT_FALSE(part.entries.empty());
    for (const uint64_t pc : part.entries) EXPECT_TRUE(part.blocks.contains(pc));
    instructions += here;
  }
  EXPECT_EQ(seen.size(), flow->blocks.size());
  EXPECT_EQ(instructions, flow->instructions);
}

TEST(Parts, TogetherDoWhatTheWholeDoes) {
  setenv("ATOLL_ENGINE", "compiled", 1);
  setenv("ATOLL_COMPILE", "wait", 1);
  WaveRunner runner;
  machine::WaveState state = runner.run(large_code());
  EXPECT_EQ(state, machine::WaveState::ended);
  const auto report = runner.engine().report();
  ASSERT_EQ(report.translations.size(), 2U);  // and the s_endpgm at another place that it ends with
  EXPECT_GT(report.translations[0].instructions, 4000U);
  EXPECT_EQ(report.translations[0].single_steps, 0U);
  uint32_t sum = 0, loops = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned block = 0; block < blocks; ++block) {
      if (block % rounds == round) continue;
      loops += 5;
      for (unsigned i = 0; i < additions; ++i) sum += (block + i) % 60;
    }
  }
  EXPECT_EQ(runner.s(6), loops);
  for (unsigned lane = 0; lane < 64; ++lane) EXPECT_EQ(runner.v(1)[lane], sum);
}

}  // namespace
}  // namespace Atoll::test

// What --check=wait knows of a wave by the number of its path: the same whether code is told instruction by instruction
// or in blocks, and as few numbers as there is to know.
#include "observe/wait/wait_paths.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "engine/wave_runner.h"
#include "isa/decode.h"
#include "target/target.h"

namespace Atoll::test {
namespace {

using observe::PathEvents;
using observe::WaitPaths;

struct Code {
  std::vector<uint8_t> bytes;
  target::Target target;

  Code(const std::string& text, const char* processor)
      : bytes(assemble(text, processor)), target(*target::find_processor(processor)) {}
  machine::InstructionRange all() const {
    const auto begin = reinterpret_cast<uint64_t>(bytes.data());
    return {.begin = begin, .end = begin + bytes.size()};
  }
  WaitPaths::Step after(WaitPaths& paths, uint32_t state) const {
    return paths.step(state, all(), *target.processor, target.wave_size);
  }
  std::vector<machine::InstructionRange> instructions() const {
    std::vector<machine::InstructionRange> found;
    for (uint64_t pc = all().begin; pc < all().end; pc = found.back().end) {
      const auto size = isa::decode(std::span(reinterpret_cast<const uint8_t*>(pc), all().end - pc), *target.processor);
      if (!size) throw std::runtime_error(size.error().message);
      found.push_back({.begin = pc, .end = pc + size->size});
    }
    return found;
  }
};

/// Instructions, by their number, at which registers are used before they have been waited for.
std::vector<size_t> conflicts(const Code& code, const PathEvents* events) {
  std::vector<size_t> found;
  if (events == nullptr) return found;
  const auto all = code.instructions();
  for (const auto& conflict : events->conflicts) {
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].begin == conflict.pc) found.push_back(i);
    }
  }
  return found;
}

TEST(WaitPaths, FindsTheSameInBlocksAsInSingleInstructions) {
  const Code code(R"(
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_load_dword s8, s[0:1], 0x8
    s_add_u32 s6, s4, 4
    s_waitcnt lgkmcnt(0)
    global_load_dword v1, v0, s[4:5]
    global_load_dword v2, v0, s[4:5] offset:4
    global_store_dword v0, v3, s[4:5]
    s_waitcnt vmcnt(2)
    v_add_u32 v3, v1, v1
    v_add_u32 v3, v2, v1
    s_waitcnt vmcnt(1)
    v_add_u32 v3, v2, v1)",
                  "gfx90a");
  WaitPaths paths;
  const WaitPaths::Step whole = code.after(paths, 0);
  EXPECT_EQ(conflicts(code, whole.events), (std::vector<size_t>{2, 9}));
  std::vector<size_t> one_by_one;
  uint32_t state = 0;
  for (const machine::InstructionRange& each : code.instructions()) {
    const WaitPaths::Step step = paths.step(state, each, *code.target.processor, code.target.wave_size);
    for (const size_t at : conflicts(code, step.events)) one_by_one.push_back(at);
    state = step.next;
  }
  EXPECT_EQ(one_by_one, (std::vector<size_t>{2, 9}));
  EXPECT_EQ(state, whole.next);
  // Each time that a wave comes there.
  EXPECT_EQ(conflicts(code, code.after(paths, 0).events), (std::vector<size_t>{2, 9}));
}

TEST(WaitPaths, GoOnFromWhatHasComeBefore) {
  const Code load("global_load_dword v1, v0, s[4:5]", "gfx1100"), wait("s_waitcnt vmcnt(0)", "gfx1100"),
      use("v_add_f32 v2, v1, v1", "gfx1100");
  WaitPaths paths;
  const uint32_t loading = load.after(paths, 0).next;
  EXPECT_NE(loading, 0U);
  EXPECT_EQ(conflicts(use, use.after(paths, loading).events), std::vector<size_t>{0});
  const uint32_t loaded = wait.after(paths, loading).next;
  EXPECT_EQ(loaded, 0U);
  EXPECT_EQ(use.after(paths, loaded).events, nullptr);
}

// Stores count for what has been loaded before them, and for nothing else.
TEST(WaitPaths, KeepOfStoresThatTheyAreThere) {
  const Code load("global_load_dword v1, v0, s[4:5]", "gfx90a"), one("global_store_dword v0, v3, s[4:5]", "gfx90a"),
      other("global_store_dword v0, v4, s[6:7]", "gfx90a"), use("s_waitcnt vmcnt(1)\nv_add_u32 v3, v1, v1", "gfx90a");
  WaitPaths paths;
  EXPECT_EQ(one.after(paths, 0).next, 0U);
  const uint32_t loading = load.after(paths, 0).next;
  EXPECT_FALSE(conflicts(use, use.after(paths, loading).events).empty());
  const uint32_t stored = one.after(paths, loading).next;
  EXPECT_EQ(stored, other.after(paths, loading).next);
  EXPECT_TRUE(conflicts(use, use.after(paths, stored).events).empty());
}

TEST(WaitPaths, AreFewInLoops) {
  const Code loop(R"(
    global_load_dword v1, v0, s[4:5]
    v_add_u32 v0, 4, v0
    global_store_dword v0, v3, s[6:7]
    ds_write_b32 v5, v6
    s_waitcnt vmcnt(1)
    v_add_u32 v3, v1, v3)",
                  "gfx942");
  WaitPaths paths;
  std::set<uint32_t> numbers;
  uint32_t state = 0;
  for (unsigned round = 0; round < 1000; ++round) {
    const WaitPaths::Step step = loop.after(paths, state);
    EXPECT_TRUE(conflicts(loop, step.events).empty());
    numbers.insert(state = step.next);
  }
  EXPECT_LE(numbers.size(), 2U);
}

TEST(WaitPaths, TellHalvesOfTranscendentalResultsApart) {
  const auto violations = [](const std::string& text, const char* gpu) {
    const Code code(text, gpu);
    WaitPaths paths;
    const PathEvents* events = code.after(paths, 0).events;
    return events == nullptr ? 0 : events->missing.size();
  };
  {
    const char* const gpu = "gfx1100";
    EXPECT_EQ(violations("v_sqrt_f16 v1.l, v2.l\nv_mul_f16 v3.l, v1.h, v4.l", gpu), 0U);
    EXPECT_EQ(violations("v_sqrt_f16 v1.l, v2.l\nv_mul_f16 v3.l, v1.l, v4.l", gpu), 1U);
    EXPECT_EQ(violations("v_sqrt_f16 v1.h, v2.l\nv_mul_f32 v3, v1, v4", gpu), 1U);
  }
}

TEST(WaitPaths, CountWaitStatesAcrossBlocks) {
  const Code write("v_readfirstlane_b32 s4, v0", "gfx90a"), two("s_nop 1", "gfx90a"), one("s_nop 0", "gfx90a"),
      use("buffer_load_dword v1, v0, s[4:7], 0 offen", "gfx90a");
  WaitPaths paths;
  const auto missing = [&](unsigned twos, unsigned ones) -> uint32_t {
    uint32_t state = write.after(paths, 0).next;
    for (unsigned i = 0; i < twos; ++i) state = two.after(paths, state).next;
    for (unsigned i = 0; i < ones; ++i) state = one.after(paths, state).next;
    const PathEvents* events = use.after(paths, state).events;
    if (events == nullptr || events->missing.empty()) return 0;
    const auto& violation = events->missing[0].event;
    return violation.required - violation.distance;
  };
  EXPECT_EQ(missing(0, 0), 5U);
  EXPECT_EQ(missing(2, 0), 1U);
  EXPECT_EQ(missing(1, 2), 1U);
  EXPECT_EQ(missing(2, 1), 0U);
  EXPECT_EQ(missing(0, 20), 0U);
}

TEST(WaitPaths, TellOfCopiesInTheirOrder) {
  const Code code(R"(
    global_load_async_to_lds_b32 v1, v2, s[4:5]
    global_load_async_to_lds_b32 v3, v2, s[4:5]
    s_wait_asynccnt 0x1
    global_store_async_from_lds_b32 v2, v1, s[4:5]
    s_wait_asynccnt 0x0)",
                  "gfx1250");
  WaitPaths paths;
  const WaitPaths::Step step = code.after(paths, 0);
  ASSERT_NE(step.events, nullptr);
  const hazards::CopySteps& copies = step.events->copies;
  ASSERT_EQ(copies.size(), 6U);
  EXPECT_TRUE(copies[0].begun != nullptr && copies[1].begun != nullptr && copies[3].begun != nullptr);
  EXPECT_TRUE(copies[2].begun == nullptr && copies[2].done == 0);
  // The younger one is found first.
  EXPECT_EQ(copies[4].done, 1U);
  EXPECT_EQ(copies[5].done, 0U);
  EXPECT_TRUE(paths.any_copies());
}

TEST(WaitPaths, ForgetCodeThatIsUnloaded) {
  const Code load("global_load_dword v1, v0, s[4:5]", "gfx90a"), use("v_add_u32 v2, v1, v1", "gfx90a");
  WaitPaths paths;
  const uint32_t loading = load.after(paths, 0).next;
  ASSERT_NE(use.after(paths, loading).events, nullptr);
  paths.forget(load.all().begin, load.all().end);
  // Whoever is in that state has nothing under way that could be shown.
  EXPECT_EQ(use.after(paths, loading).events, nullptr);
  const uint32_t again = load.after(paths, 0).next;
  EXPECT_NE(again, loading);
  EXPECT_NE(use.after(paths, again).events, nullptr);
}

}  // namespace
}  // namespace Atoll::test

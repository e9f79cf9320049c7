// Breakpoints, stops and single steps (machine/wave_control.h) on GPUs of several generations, in both engines. The
// expected values are host arithmetic over the kernels' text.
#include "machine/wave_control.h"

#include <chrono>
#include <thread>

#include "machine/memory/memory.h"
#include "observe/recorder.h"

namespace Atoll::test {
namespace {

using machine::StoppedWave;
using machine::StopReason;
using machine::Wave;
using machine::WaveControl;
using machine::WaveSelector;
using namespace std::chrono_literals;

constexpr auto patience = 300s;  // of a host that is busy

struct DebuggedGpu {
  const char* gpu;
  uint32_t lanes;  ///< of a wave
  const char* engine;
};
void PrintTo(const DebuggedGpu& way, std::ostream* out) { *out << way.gpu << " " << way.engine; }

/// An observer that stops waves, and a kernel that runs on a thread of its own.
struct WaveControlTest : testing::TestWithParam<DebuggedGpu>, machine::Observer {
  WaveControl control;
  machine::EventMask wanted;
  std::function<void(uint64_t entry)> before;  ///< called before the dispatch's waves begin
  std::function<void(const Wave&, uint64_t)> at_instruction;
  uint64_t entry = 0;
  std::thread thread;
  machine::Memory memory;
  uint64_t arguments = 0, data = 0;

  machine::EventMask watched() const override { return wanted; }
  WaveControl* wave_control() override { return &control; }
  void dispatch_begins(const machine::Dispatch& dispatch) override {
    entry = dispatch.kernel->entry;
    if (before) before(entry);
  }
  void instruction(const Wave& wave, uint64_t pc, const isa::Instruction&) override {
    if (at_instruction) at_instruction(wave, pc);
  }

  uint32_t lanes() const { return GetParam().lanes; }

  void SetUp() override {
    arguments = memory.allocate(0x1000, 0, "arguments").value_or(0);
    data = memory.allocate(0x1000, 0, "data").value_or(0);
    ASSERT_NE(arguments, 0U);
    ASSERT_NE(data, 0U);
    std::memcpy(reinterpret_cast<void*>(arguments), &data, sizeof data);
    std::memset(reinterpret_cast<void*>(data), 0, 0x1000);
  }
  void TearDown() override {
    control.resume({});
    if (thread.joinable()) thread.join();
  }
  uint32_t result() const { return *reinterpret_cast<const volatile uint32_t*>(data); }

  void run(const std::string& text, uint32_t waves_of_a_group = 1, uint32_t groups = 1) {
    run_observed(*this, GetParam().gpu, {"next_free_vgpr 8", "next_free_sgpr 24", "user_sgpr_kernarg_segment_ptr 1"},
                 text, lanes() * waves_of_a_group * groups, lanes() * waves_of_a_group,
                 reinterpret_cast<const void*>(arguments), 0, GetParam().engine);
  }
  void start(const std::string& text, uint32_t waves_of_a_group = 1, uint32_t groups = 1) {
    thread = std::thread([this, text, waves_of_a_group, groups] { run(text, waves_of_a_group, groups); });
  }
  void finish() {
    thread.join();
    thread = {};
  }
};

/// Counts s6 from 0 to s7 and stores it. Offsets: 0 s_mov, 4 s_mov, 8 s_add, 12 s_cmp, 16 the branch.
constexpr const char* counting = R"(
    s_mov_b32 s6, 0
    s_movk_i32 s7, 500
  loop:
    s_add_u32 s6, s6, 1
    s_cmp_lg_u32 s6, s7
    s_cbranch_scc1 loop
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_mov_b32 v2, s6
    v_mov_b32 v0, s4
    v_mov_b32 v1, s5
    flat_store_dword v[0:1], v2
    s_endpgm)";

TEST_P(WaveControlTest, HitsEqualExecutions) {
  unsigned in_loop = 0, once = 0;
  uint64_t asked = 0;
  before = [&](uint64_t at) {
    in_loop = control.add_breakpoint(at + 8, [&](const Wave&) { return ++asked, false; });
    once = control.add_breakpoint(at, [](const Wave&) { return false; });
  };
  run(counting, 2, 3);
  EXPECT_EQ(control.hits(in_loop), 500U * 2 * 3);
  EXPECT_EQ(asked, 500U * 2 * 3);
  EXPECT_EQ(control.hits(once), 2U * 3);
  EXPECT_EQ(result(), 500U);
}

TEST_P(WaveControlTest, ABreakpointThatIsRemovedStopsNoWave) {
  before = [&](uint64_t at) { control.remove_breakpoint(control.add_breakpoint(at + 8)); };
  run(counting);
  EXPECT_EQ(result(), 500U);
  EXPECT_TRUE(control.stopped().empty());
}

TEST_P(WaveControlTest, AStoppedWaveCanBeChanged) {
  unsigned number = 0;
  before = [&](uint64_t at) {
    number = control.add_breakpoint(at + 12, [](const Wave& wave) { return wave.scalar[6] == 100; });
  };
  start(counting);
  const auto stop = control.wait(patience);
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->reason, StopReason::breakpoint);
  EXPECT_EQ(stop->breakpoint, number);
  EXPECT_EQ(stop->wave->pc, entry + 12);
  EXPECT_EQ(stop->wave->scalar[6], 100U);
  EXPECT_EQ(control.hits(number), 100U);
  ASSERT_EQ(control.stopped().size(), 1U);
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(stop->wave->pc, entry + 12);  // it stays
  stop->wave->scalar[6] = 990;
  stop->wave->scalar[7] = 1000;
  control.resume({});
  finish();
  EXPECT_EQ(result(), 1000U);
  EXPECT_EQ(control.hits(number), 100U + 10);  // 991 to 1000
}

TEST_P(WaveControlTest, ALoopIsFollowedStepByStep) {
  before = [&](uint64_t at) { control.add_breakpoint(at); };
  start(counting);
  auto stop = control.wait(patience);
  ASSERT_TRUE(stop);
  std::vector<uint64_t> expected{4};
  for (int round = 0; round < 3; ++round) {
    for (const uint64_t offset : {8, 12, 16}) expected.push_back(offset);
  }
  for (const uint64_t offset : expected) {
    EXPECT_TRUE(control.step(*stop->wave));
    stop = control.wait(patience);
    ASSERT_TRUE(stop);
    EXPECT_EQ(stop->reason, StopReason::step);
    EXPECT_EQ(stop->wave->pc, entry + offset);
  }
  EXPECT_EQ(stop->wave->scalar[6], 3U);
  control.resume({});
  finish();
  EXPECT_EQ(result(), 500U);
}

TEST_P(WaveControlTest, AStepOntoABreakpointReportsItOnce) {
  unsigned number = 0;
  before = [&](uint64_t at) {
    control.add_breakpoint(at);
    number = control.add_breakpoint(at + 4);
  };
  start(counting);
  auto stop = control.wait(patience);
  ASSERT_TRUE(stop);
  control.step(*stop->wave);
  stop = control.wait(patience);
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->reason, StopReason::step);
  EXPECT_EQ(stop->breakpoint, number);
  control.resume({});
  finish();
  EXPECT_EQ(control.hits(number), 1U);
}

// The function at offset 0x100 adds 1 to s6 and returns. s_getpc yields the address after it, offset 8.
TEST_P(WaveControlTest, StepOverExecutesACall) {
  before = [&](uint64_t at) { control.add_breakpoint(at + 20); };
  start(R"(
    s_mov_b32 s6, 41
    s_getpc_b64 s[8:9]
    s_add_u32 s8, s8, 0xf8
    s_addc_u32 s9, s9, 0
    s_swappc_b64 s[10:11], s[8:9]
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_mov_b32 v2, s6
    v_mov_b32 v0, s4
    v_mov_b32 v1, s5
    flat_store_dword v[0:1], v2
    s_endpgm
    .p2align 8
    s_add_u32 s6, s6, 1
    s_setpc_b64 s[10:11])");
  auto stop = control.wait(patience);
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->wave->scalar[6], 41U);
  EXPECT_EQ(stop->wave->pc, entry + 20);
  EXPECT_TRUE(control.step_over(*stop->wave));
  stop = control.wait(patience);
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->reason, StopReason::step);
  EXPECT_EQ(stop->wave->pc, entry + 24);
  EXPECT_EQ(stop->wave->scalar[6], 42U);
  control.resume({});
  finish();
  EXPECT_EQ(result(), 42U);
  EXPECT_FALSE(control.has_breakpoint(entry + 24));
}

/// Waits until s12 is not 0, which only a debugger makes it, and stores it.
constexpr const char* waiting = R"(
    s_mov_b32 s12, 0
  loop:
    s_cmp_eq_u32 s12, 0
    s_cbranch_scc1 loop
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_mov_b32 v2, s12
    v_mov_b32 v0, s4
    v_mov_b32 v1, s5
    flat_store_dword v[0:1], v2
    s_endpgm)";

TEST_P(WaveControlTest, AllWavesStopAndGoOn) {
  start(waiting, 2, 3);
  std::this_thread::sleep_for(10ms);
  control.stop({});
  std::vector<Wave*> waves;
  for (int i = 0; i < 6; ++i) {
    const auto stop = control.wait(patience);
    ASSERT_TRUE(stop) << i;
    EXPECT_EQ(stop->reason, StopReason::requested);
    waves.push_back(stop->wave);
  }
  EXPECT_EQ(control.stopped().size(), 6U);
  EXPECT_FALSE(control.wait(1ms));
  // All of them are in the loop, or before their first instruction.
  for (Wave* wave : waves) {
    EXPECT_GE(wave->pc, entry);
    EXPECT_LE(wave->pc, entry + 8);
    if (wave->pc == entry) wave->pc += 4;
    wave->scalar[12] = 7;
  }
  control.resume({});
  finish();
  EXPECT_EQ(result(), 7U);
}

TEST_P(WaveControlTest, OneWaveStopsWhileOthersEnd) {
  unsigned at_end = 0;
  before = [&](uint64_t at) {
    at_end = control.add_breakpoint(at + 8, [](const Wave& wave) { return wave.index == 1 && wave.scalar[6] == 250; });
  };
  start(counting, 2, 1);
  const auto stop = control.wait(patience);
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->wave->index, 1U);
  // Wave 0 stores its result and ends meanwhile.
  for (int i = 0; i < 2000 && result() == 0; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(result(), 500U);
  EXPECT_EQ(control.stopped().size(), 1U);
  stop->wave->scalar[7] = 600;
  control.resume(WaveSelector::of(*stop->wave));
  finish();
  EXPECT_EQ(result(), 600U);
}

TEST_P(WaveControlTest, AnObserverStopsAWaveInAnEvent) {
  if (std::string_view(GetParam().engine) == "compiled")
    GTEST_SKIP() << "an observer of instructions has them interpreted";
  wanted.instructions = true;
  uint64_t seen = 0;
  at_instruction = [&](const Wave& wave, uint64_t pc) {
    if (pc == entry + 8 && ++seen == 5) control.stop_here(wave);
  };
  start(counting);
  const auto stop = control.wait(patience);
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->reason, StopReason::observer);
  EXPECT_EQ(stop->wave->pc, entry + 8);
  EXPECT_EQ(stop->wave->scalar[6], 4U);
  control.resume({});
  finish();
  EXPECT_EQ(seen, 500U);  // the event is not repeated
  EXPECT_EQ(result(), 500U);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, WaveControlTest,
    testing::Values(DebuggedGpu{"gfx803", 64, "interpreter"}, DebuggedGpu{"gfx803", 64, "compiled"},
                    DebuggedGpu{"gfx90a", 64, "interpreter"}, DebuggedGpu{"gfx90a", 64, "compiled"},
                    DebuggedGpu{"gfx1100", 32, "interpreter"}, DebuggedGpu{"gfx1100", 32, "compiled"},
                    DebuggedGpu{"gfx1250", 32, "interpreter"}, DebuggedGpu{"gfx1250", 32, "compiled"}),
    [](const auto& way) { return std::string(way.param.gpu) + "_" + way.param.engine; });

}  // namespace
}  // namespace Atoll::test

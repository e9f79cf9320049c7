// Several observers of one machine: each gets what it would get alone, in both engines.
#include "machine/observer_mux.h"

#include <tuple>

#include "machine/memory/memory.h"
#include "machine/wave_control.h"
#include "observe/recorder.h"

namespace Atoll::test {
namespace {

const std::vector<std::string> directives{"next_free_vgpr 4", "next_free_sgpr 8", "user_sgpr_kernarg_segment_ptr 1"};
constexpr const char* kernel = R"(
    s_mov_b32 s4, 0
    v_lshlrev_b32 v0, 2, v0
  loop:
    ds_write_b32 v0, v1
    ds_read_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    s_add_u32 s4, s4, 1
    s_cmp_lt_u32 s4, 3
    s_cbranch_scc1 loop
    s_barrier
    s_endpgm)";

auto fields_of(const RecordedAccess& access) {
  return std::tuple(access.space, access.reads, access.writes, access.bytes, access.lanes, access.addresses);
}

struct MuxByEngine : testing::TestWithParam<std::string> {
  static void run(machine::Observer& observer) {
    run_observed(observer, "gfx900", directives, kernel, 128, 128, nullptr, 0, GetParam().c_str());
  }
};

TEST_P(MuxByEngine, EachObserverGetsWhatItGetsAlone) {
  const machine::EventMask all{.code = true,
                               .dispatches = true,
                               .work_groups = true,
                               .synchronisation = true,
                               .accesses = true,
                               .barriers = true};
  Recorder alone(all), first(all), second(all);
  run(alone);
  machine::ObserverMux mux;
  EXPECT_TRUE(mux.add(first));
  EXPECT_TRUE(mux.add(second));
  run(mux);
  EXPECT_EQ(alone.accesses.size(), 2U * 3 * 2);  // waves, rounds, accesses
  for (const Recorder* one : {&first, &second}) {
    EXPECT_EQ(one->events, alone.events);
    ASSERT_EQ(one->accesses.size(), alone.accesses.size());
    for (size_t i = 0; i < alone.accesses.size(); ++i)
      EXPECT_EQ(fields_of(one->accesses[i]), fields_of(alone.accesses[i])) << i;
  }
}

TEST_P(MuxByEngine, EventsGoToThoseThatSelectThem) {
  Recorder of_waves({.work_groups = true}), of_barriers({.barriers = true}), of_accesses({.accesses = true});
  machine::ObserverMux mux;
  for (Recorder* each : {&of_waves, &of_barriers, &of_accesses}) EXPECT_TRUE(mux.add(*each));
  run(mux);
  EXPECT_EQ(of_waves.events,
            (std::vector<std::string>{"group 0", "wave 0", "wave 1", "wave 1 ends", "wave 0 ends", "group 0 ends"}));
  EXPECT_EQ(of_barriers.events, (std::vector<std::string>{"wave 0 arrives -1", "wave 0 waits -1", "wave 1 arrives -1",
                                                          "wave 1 waits -1", "wave 0 passes -1", "wave 1 passes -1"}));
  EXPECT_TRUE(of_accesses.events.empty());
  EXPECT_EQ(of_accesses.accesses.size(), 12U);
}

// A wave has one number for its path, from which the mux finds each client's.
TEST_P(MuxByEngine, EachClientOfPathsHasNumbersOfItsOwn) {
  struct Skipping : Recorder {
    using Recorder::Recorder;
    uint32_t on_basic_block(const machine::Wave& wave, uint32_t before,
                            const machine::InstructionRange& code) override {
      return Recorder::on_basic_block(wave, before, code) + 9;
    }
  };
  Recorder alone({}, {.paths = true}), ones({}, {.paths = true});
  Skipping tens({}, {.paths = true});
  run(alone);
  machine::ObserverMux mux;
  EXPECT_TRUE(mux.add(ones));
  EXPECT_TRUE(mux.add(tens));
  run(mux);
  EXPECT_EQ(ones.numbers, alone.numbers);
  ASSERT_EQ(tens.numbers.size(), alone.numbers.size());
  for (size_t i = 0; i < alone.numbers.size(); ++i) EXPECT_EQ(tens.numbers[i], alone.numbers[i] * 10);
  EXPECT_EQ(ones.path.size(), alone.path.size());
  EXPECT_EQ(tens.path.size(), alone.path.size());
}

INSTANTIATE_TEST_SUITE_P(Engines, MuxByEngine, testing::Values("interpreter", "compiled"),
                         [](const auto& engine) { return std::string(engine.param); });

TEST(ObserverMux, JoinsFilters) {
  Recorder low({}, {.filtered_accesses = true}), high({}, {.filtered_accesses = true});
  low.ordinary = {.begin = 0x1000, .end = 0x2000};
  high.ordinary = {.begin = 0x1800, .end = 0x2800};
  machine::ObserverMux mux;
  EXPECT_TRUE(mux.add(low));
  EXPECT_TRUE(mux.add(high));
  const isa::Instruction instruction;
  const auto passes = [&](uint64_t address, machine::OrdinaryMemory& around) {
    return mux.instrumentation()->passes_filter({},
                                                {.instruction = instruction,
                                                 .pc = 0,
                                                 .space = machine::Space::global,
                                                 .reads = true,
                                                 .writes = false,
                                                 .is_atomic = false,
                                                 .is_scalar = false,
                                                 .drops_bits = false,
                                                 .bytes = 4,
                                                 .lanes = 1,
                                                 .addresses = &address},
                                                around);
  };
  machine::OrdinaryMemory around;
  EXPECT_FALSE(passes(0x1000, around));
  EXPECT_FALSE(passes(0x2400, around));
  EXPECT_TRUE(passes(0x1900, around));
  EXPECT_EQ(around.begin, 0x1800U);
  EXPECT_EQ(around.end, 0x2000U);
}

TEST(ObserverMux, RefusesWhatCannotBeShared) {
  Recorder first({}, {.undefined_values = true}), second({}, {.undefined_values = true}), third({.code = true});
  machine::ObserverMux mux;
  EXPECT_TRUE(mux.add(first));
  EXPECT_FALSE(mux.add(second));
  EXPECT_TRUE(mux.add(third));
}

// Freed memory goes when the last observer lets it.
TEST(ObserverMux, KeepsFreedMemoryUntilAllRelease) {
  struct Keeper : machine::Observer {
    std::function<void()> kept;
    machine::EventMask watched() const override { return {.memory = true}; }
    void freed(uint64_t, std::string_view, std::function<void()> release) override { kept = std::move(release); }
  };
  Keeper first, second;
  machine::ObserverMux mux;
  EXPECT_TRUE(mux.add(first));
  EXPECT_TRUE(mux.add(second));
  unsigned released = 0;
  mux.freed(0x1000, "free", [&] { ++released; });
  first.kept = nullptr;
  EXPECT_EQ(released, 0U);
  second.kept = nullptr;
  EXPECT_EQ(released, 1U);
}

}  // namespace
}  // namespace Atoll::test

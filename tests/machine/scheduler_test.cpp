// Work-groups on host threads: barriers, work-groups that wait for each other, and dispatches that must be stopped.
// Waves keep where they are in their program counter, as real ones do.
#include "machine/schedule/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "fixture.h"
#include "machine/clock.h"
#include "machine/queue/signal.h"
#include "on_one_processor.h"

namespace Atoll::machine {
namespace {

using support::ErrorKind;
using testing::HasSubstr;

class SchedulerTest : public testing::TestWithParam<unsigned> {
 protected:
  void start(test::FunctionEngine::Body body, GpuOptions options = {}) {
    code.reset();
    options.threads = GetParam();
    gpu = test::make_gpu("gfx900", std::move(body), std::move(options));
    code = test::load(*gpu, test::assemble_kernel("gfx900", {"next_free_vgpr 4", "next_free_sgpr 8"}));
  }
  support::Result<KernelStatistics> run(uint32_t work_groups, uint16_t size) {
    return gpu->run(test::packet_for(*code, {work_groups * size, 1, 1}, {size, 1, 1}));
  }
  std::unique_ptr<Gpu> gpu;
  std::shared_ptr<LoadedCode> code;
};

INSTANTIATE_TEST_SUITE_P(Threads, SchedulerTest, testing::Values(1, 2, 5),
                         [](const auto& threads) { return "With" + std::to_string(threads.param); });

TEST_P(SchedulerTest, EveryWaveOfEveryWorkGroupRunsOnce) {
  constexpr unsigned groups = 3000;
  std::vector<std::atomic<int>> runs(groups * 2);
  start([&](Wave& wave, uint64_t) {
    ++runs[wave.work_group->id[0] * 2 + wave.index];
    wave.instructions += 3;
    return WaveState::ended;
  });
  const auto ran = run(groups, 128);
  ASSERT_TRUE(ran) << ran.error().message;
  for (const auto& count : runs) EXPECT_EQ(count, 1);
  EXPECT_EQ(ran->work_groups, groups);
  EXPECT_EQ(ran->waves, 2 * groups);
  EXPECT_EQ(ran->wave_instructions, 6 * groups);
}

// Both threads of a kernel of some milliseconds once ran on one processor of a virtual machine, as the other one had
// halted.
TEST(Scheduler, ItsThreadsWakeOnAnotherProcessorThanTheirWakers) {
  const auto launcher = std::this_thread::get_id();
  std::atomic<int> first_processor{-1};
  const auto gpu = test::make_gpu("gfx900",
                                  [&](Wave& wave, uint64_t) {
                                    if (std::this_thread::get_id() != launcher) {
                                      int none = -1;
                                      first_processor.compare_exchange_strong(none, sched_getcpu());
                                    }
                                    const uint64_t end = now_ns() + 20'000;
                                    while (now_ns() < end) {
                                    }
                                    wave.instructions += 1;
                                    return WaveState::ended;
                                  },
                                  {.threads = 2});
  const auto code = test::load(*gpu, test::assemble_kernel("gfx900", {"next_free_vgpr 4", "next_free_sgpr 8"}));
  const test::OnOneProcessor here;
  if (here.is_the_only_one()) GTEST_SKIP() << "this host has one processor";
  int together = 0, apart = 0;
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    first_processor = -1;
    ASSERT_TRUE(gpu->run(test::packet_for(*code, {200 * 64, 1, 1}, {64, 1, 1})));
    if (first_processor != -1) ++(first_processor == here.number ? together : apart);
  }
  // When other work keeps the other processor busy, the kernel may move the thread.
  EXPECT_GT(apart, together);
}

TEST_P(SchedulerTest, WhatWavesRunBeforeTheirWorkGroupIsSetAsideCounts) {
  constexpr unsigned groups = 50, of_the_first = 10, of_a_wait = 5, waits = 3;
  std::vector<std::atomic<unsigned>> runs(groups);
  start([&](Wave& wave, uint64_t) {
    if (wave.index == 0) {
      wave.instructions += of_the_first;
      return WaveState::ended;
    }
    wave.instructions += of_a_wait;
    wave.interpreted += 1;
    return ++runs[wave.work_group->id[0]] < waits ? WaveState::ready : WaveState::ended;
  });
  const auto ran = run(groups, 128);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(ran->waves, 2 * groups);
  EXPECT_EQ(ran->wave_instructions, groups * (of_the_first + waits * of_a_wait));
  EXPECT_EQ(ran->interpreted_instructions, groups * waits);
}

/// Has threads sleep that may, as long as they may.
class RoomyEngine final : public test::FunctionEngine {
 public:
  RoomyEngine(Body body, std::atomic<unsigned>& sleepers, std::atomic<unsigned>& threads)
      : FunctionEngine(std::move(body)), sleepers_(sleepers), threads_(threads) {}
  void yield_to_compiler(unsigned threads, const std::function<bool()>& may_sleep) override {
    if (std::this_thread::get_id() == launcher_) threads_ = ~0U;
    if (threads_ == 0) threads_ = threads;
    ++sleepers_;
    while (may_sleep()) std::this_thread::yield();
  }

 private:
  std::atomic<unsigned>&sleepers_, &threads_;
  const std::thread::id launcher_ = std::this_thread::get_id();
};

TEST(Scheduler, ItsThreadsMakeRoomWhileTheOneThatLaunchedGoesOn) {
  constexpr unsigned groups = 100;
  std::atomic<unsigned> sleepers{0}, threads{0}, ended{0};
  const auto model = target::find_gpu("gfx900");
  ASSERT_TRUE(model);
  // Until the others have been asked, no work-group ends; then the one thread that is awake has to run all of them.
  const auto body = [&](Wave& wave, uint64_t budget) {
    wave.instructions += budget;
    if (sleepers == 0) return WaveState::ready;
    ++ended;
    return WaveState::ended;
  };
  auto gpu =
      Gpu::create(*model, [&](const target::Target&) { return std::make_unique<RoomyEngine>(body, sleepers, threads); },
                  {.threads = 3});
  ASSERT_TRUE(gpu) << gpu.error().message;
  const auto code = test::load(**gpu, test::assemble_kernel("gfx900", {"next_free_vgpr 4", "next_free_sgpr 8"}));
  ASSERT_TRUE((*gpu)->run(test::packet_for(*code, {groups * 64, 1, 1}, {64, 1, 1})));
  EXPECT_EQ(ended, groups);
  EXPECT_EQ(threads, 3u) << "of those that run waves; or the thread that launches was asked, too";
}

/// Goes on in a series as WaveBatch says, in the same Wave, except that every so many waves it goes back.
class SeriesEngine final : public test::FunctionEngine {
 public:
  using FunctionEngine::FunctionEngine;
  WaveState run_batch(Wave& wave, uint64_t budget, WaveBatch& series) override {
    for (unsigned count = 1;; ++count) {
      const WaveState state = run(wave, budget);
      if (state != WaveState::ended || count % 7 == 0) return state;
      ++wave.index;
      if (series.waves_left == 0) {
        if (!series.begin_work_group(series)) {
          --wave.index;
          return state;
        }
        wave.index = 0;
      }
      --series.waves_left;
      std::copy_n(series.scalars, isa::scalar::count, wave.scalar);
      wave.set_exec(series.waves_left == 0 ? series.last_exec : series.exec);
      std::memcpy(wave.vgpr, series.first_rows[wave.index].row, sizeof(FirstRows));
    }
  }
};

TEST_P(SchedulerTest, WavesOfASeriesAreThoseOfTheGrid) {
  // 5 by 4 work-groups of 24 by 10 work-items, those at the edges smaller; each has up to four waves.
  constexpr uint32_t width = 24 * 4 + 7, height = 10 * 3 + 4, rounds = 50;
  std::vector<std::atomic<int>> runs(width * height);
  std::atomic<unsigned> wrong{0}, waited{0};
  const auto body = [&](Wave& wave, uint64_t budget) {
    wave.instructions += 1;
    const uint32_t* group = wave.work_group->id;
    if (wave.scalar[0] != group[0] || wave.scalar[1] != group[1]) ++wrong;
    // Some stop on the way: at a barrier, or for want of time.
    const uint64_t seen = wave.pc & 3;
    if (seen == 0 && group[0] % 3 == 1 && group[1] % 2 == 0) {
      ++waited;
      wave.pc |= 1;
      if (group[0] == 1) return WaveState::at_barrier;
      if (wave.index == 2) {
        wave.instructions += budget;
        return WaveState::ready;
      }
    }
    for (unsigned lane = 0; lane < 64; ++lane) {
      if ((wave.exec() >> lane & 1) == 0) continue;
      const uint32_t x = group[0] * 24 + wave.vgpr[0][lane], y = group[1] * 10 + wave.vgpr[1][lane];
      if (x >= width || y >= height || wave.vgpr[2][lane] != 0) {
        ++wrong;
      } else {
        ++runs[y * width + x];
      }
    }
    wave.pc &= ~uint64_t{3};
    return WaveState::ended;
  };
  const auto model = target::find_gpu("gfx900");
  ASSERT_TRUE(model);
  auto made = Gpu::create(*model, [&](const target::Target&) { return std::make_unique<SeriesEngine>(body); },
                          {.threads = GetParam()});
  ASSERT_TRUE(made) << made.error().message;
  gpu = *std::move(made);
  code = test::load(
      *gpu, test::assemble_kernel("gfx900", {"next_free_vgpr 4", "next_free_sgpr 8", "system_sgpr_workgroup_id_x 1",
                                             "system_sgpr_workgroup_id_y 1", "system_vgpr_workitem_id 1"}));
  for (unsigned round = 0; round < rounds; ++round) {
    const auto ran = gpu->run(test::packet_for(*code, {width, height, 1}, {24, 10, 1}));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->work_groups, 20u);
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(waited, rounds);
  for (const auto& count : runs) EXPECT_EQ(count, static_cast<int>(rounds));
}

TEST_P(SchedulerTest, AFaultInASeriesIsThatOfItsWave) {
  const auto body = [&](Wave& wave, uint64_t) {
    wave.instructions += 1;
    if (wave.work_group->id[0] != 37 || wave.index != 2) return WaveState::ended;
    wave.fault = std::make_unique<Fault>(Fault{.kind = Fault::Kind::abort, .pc = wave.pc, .lane = 5});
    return WaveState::faulted;
  };
  const auto model = target::find_gpu("gfx900");
  ASSERT_TRUE(model);
  auto made = Gpu::create(*model, [&](const target::Target&) { return std::make_unique<SeriesEngine>(body); },
                          {.threads = GetParam()});
  ASSERT_TRUE(made) << made.error().message;
  gpu = *std::move(made);
  code = test::load(*gpu, test::assemble_kernel("gfx900", {"next_free_vgpr 4", "next_free_sgpr 8"}));
  const auto ran = run(100, 256);
  ASSERT_FALSE(ran);
  EXPECT_THAT(ran.error().message, HasSubstr("(37, 0, 0), wave 2"));
}

TEST_P(SchedulerTest, NoWavePassesABarrierBeforeAllHaveArrived) {
  constexpr unsigned groups = 40, waves = 16, barriers = 5;
  std::vector<std::atomic<unsigned>> arrived(groups);
  std::atomic<unsigned> too_early{0};
  start([&](Wave& wave, uint64_t budget) {
    const unsigned group = wave.work_group->id[0];
    const uint64_t phase = wave.pc & 0xFF;
    // All have arrived at the barriers passed so far; waves take different times to get to the next.
    if (arrived[group] < phase * waves) ++too_early;
    wave.instructions += 10;
    if (phase == barriers) return WaveState::ended;
    if (((wave.pc >> 8) & 0xF) < wave.index % 4) {
      wave.pc += 0x100;
      wave.instructions += budget;
      return WaveState::ready;
    }
    ++arrived[group];
    wave.pc = (wave.pc & ~uint64_t{0xFFF}) | (phase + 1);
    return WaveState::at_barrier;
  });
  // The kernel's code lies at a multiple of 4096 only by chance; the low bits of the PC are what is used above.
  ASSERT_EQ(code->find("k.kd") == nullptr, false);
  const auto ran = run(groups, waves * 64);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(too_early, 0u);
  for (const auto& count : arrived) EXPECT_EQ(count, waves * barriers);
}

TEST_P(SchedulerTest, WavesThatEndedAreNotAwaitedAtABarrier) {
  std::atomic<unsigned> passed{0};
  start([&](Wave& wave, uint64_t) {
    wave.instructions += 1;
    if (wave.index % 2 == 0) return WaveState::ended;
    if (wave.scalar[40] == 77) {
      ++passed;
      return WaveState::ended;
    }
    wave.scalar[40] = 77;
    return WaveState::at_barrier;
  });
  ASSERT_TRUE(run(10, 512));
  EXPECT_EQ(passed, 10u * 4);
}

TEST_P(SchedulerTest, AWorkGroupMayWaitForOneThatBeginsLater) {
  for (const bool says_so : {false, true}) {  // by s_sleep, or by using up its budget
    constexpr unsigned groups = 12;
    std::atomic<bool> flag{false};
    start([&](Wave& wave, uint64_t budget) {
      if (wave.work_group->id[0] == groups - 1) flag = true;
      if (flag) return WaveState::ended;
      wave.instructions += says_so ? 2 : budget;
      return WaveState::ready;
    });
    ASSERT_TRUE(run(groups, 64));
    EXPECT_TRUE(flag);
  }
}

TEST_P(SchedulerTest, AWaveThatSeemsToWaitRunsLittleBeforeOthersHaveTheirTurn) {
  for (const bool waits : {false, true}) {
    std::atomic<uint64_t> longest{0};
    start([&](Wave& wave, uint64_t budget) {
      wave.instructions += budget;
      if (waits) {
        uint32_t& calls = wave.vgpr[3][5];  // scalars tell whether anything changes
        if (++calls > 4) longest = std::max(longest.load(), budget);
        return calls == 200 ? WaveState::ended : WaveState::ready;
      }
      longest = std::max(longest.load(), budget);
      return ++wave.scalar[40] == 200 ? WaveState::ended : WaveState::ready;
    });
    ASSERT_TRUE(run(1, 64));
    if (waits) EXPECT_LT(longest, 1000u);
    if (!waits) EXPECT_GT(longest, 1000u);
  }
}

TEST_P(SchedulerTest, WorkGroupsInAChainLookSeldomWhenOneIsHeldUp) {
  // Each wave waits for the one before it, in its own work-group or the one before that: a triangular system's rows.
  constexpr unsigned groups = 300, waves = 4, rows = groups * waves, held_up_every = 64, slices = 3;
  std::vector<std::atomic<bool>> done(rows);
  std::atomic<uint64_t> looked{0};
  std::atomic<unsigned> under_way{0}, max_outstanding{0};
  start([&](Wave& wave, uint64_t budget) {
    const unsigned row = wave.work_group->id[0] * waves + wave.index;
    if (wave.index == 0 && std::exchange(wave.scalar[40], 1) == 0) {
      max_outstanding = std::max(max_outstanding.load(), ++under_way);
    }
    const bool waits = row != 0 && !done[row - 1];
    if (!waits && row % held_up_every == 5 && wave.scalar[41] != slices) {
      ++wave.scalar[41];
      std::this_thread::sleep_for(std::chrono::microseconds(1500));  // longer than a work-group keeps its thread
      wave.instructions += budget;
      return WaveState::ready;
    }
    if (waits) {
      looked += budget;
      wave.instructions += budget;
      return WaveState::ready;
    }
    wave.instructions += 200;
    done[row] = true;
    if (wave.index == waves - 1) --under_way;
    return WaveState::ended;
  });
  // A host that takes the thread's processor away ends time slices early, so that more work-groups begin.
  constexpr int max_attempts = 5;
  for (int attempt = 1; attempt <= max_attempts; ++attempt) {
    for (std::atomic<bool>& each : done) each = false;
    looked = 0;
    under_way = max_outstanding = 0;
    const auto ran = run(groups, waves * 64);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->waves, rows);
    if (GetParam() != 1) return;  // how often other threads look meanwhile depends on the host
    constexpr unsigned enough_in_flight = 4;
    constexpr uint64_t enough_looked = (rows / held_up_every + 1) * 20'000;
    if (max_outstanding <= enough_in_flight && looked < enough_looked) return;
    if (attempt == max_attempts) {
      ADD_FAILURE() << max_outstanding << " work-groups were under way at once, which looked " << looked << " times";
    }
  }
}

TEST_P(SchedulerTest, AWorkGroupAmongManyShortOnesMayWaitForThoseBehindIt) {
  constexpr unsigned groups = 5000, waits = 1500, later = 200;
  std::vector<std::atomic<int>> runs(groups);
  start([&](Wave& wave, uint64_t) {
    const unsigned group = wave.work_group->id[0];
    wave.instructions += 1;
    if (group == waits && runs[waits + later] == 0) return WaveState::ready;
    ++runs[group];
    return WaveState::ended;
  });
  const auto ran = run(groups, 64);
  ASSERT_TRUE(ran) << ran.error().message;
  for (const auto& count : runs) EXPECT_EQ(count, 1);
  EXPECT_EQ(ran->waves, groups);
}

// The first launch knows nothing of the kernel; those after it know how long it takes, and then that it waits.
TEST_P(SchedulerTest, EachWorkGroupMayWaitForTheOneBeforeIt) {
  constexpr unsigned groups = 600, launches = 4;
  std::vector<std::atomic<unsigned>> runs(groups);
  std::atomic<unsigned> launch{1};
  bool waits = false;
  start([&](Wave& wave, uint64_t budget) {
    const unsigned group = wave.work_group->id[0];
    if (waits && group != 0 && runs[group - 1] != launch) {
      wave.instructions += budget;
      return WaveState::ready;
    }
    wave.instructions += 1;
    ++runs[group];
    return WaveState::ended;
  });
  for (; launch <= launches; ++launch) {
    waits = launch > 1;
    const auto ran = run(groups, 64);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->waves, groups);
    for (const auto& count : runs) ASSERT_EQ(count, launch);
  }
}

// What a thread fetches ahead for the next work-group is in vain when another thread runs that.
TEST_P(SchedulerTest, NeighboursOfAKnownKernelStayTogether) {
  constexpr unsigned groups = 20'000;
  std::vector<std::atomic<int>> runs(groups);
  bool first_waits = false, second_was_first = false;
  start([&](Wave& wave, uint64_t) {
    const unsigned group = wave.work_group->id[0];
    if (group == 0 && first_waits) {
      while (runs[groups - 1] == 1) std::this_thread::yield();  // which other threads get to
      second_was_first = runs[1] == 2;
    }
    ++runs[group];
    wave.instructions += 5000;
    return WaveState::ended;
  });
  ASSERT_TRUE(run(groups, 64));
  first_waits = GetParam() > 1;
  ASSERT_TRUE(run(groups, 64));
  EXPECT_FALSE(second_was_first);
  for (const auto& count : runs) ASSERT_EQ(count, 2);
}

TEST_P(SchedulerTest, AKernelInterruptedAmongManyShortWorkGroupsEnds) {
  for (unsigned at = 100; at < 3000; at += 371) {
    start([&](Wave& wave, uint64_t) {
      wave.instructions += 1;
      if (wave.work_group->id[0] == at) gpu->interrupt();
      return WaveState::ended;
    });
    const auto ran = run(500'000, 64);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().kind, ErrorKind::aborted);
  }
}

TEST_P(SchedulerTest, WavesGetRowsOfTheirOwnWhileTheyWait) {
  std::atomic<unsigned> wrong{0};
  start([&](Wave& wave, uint64_t) {
    wave.instructions += 1;
    uint32_t& phase = wave.scalar[40];
    const uint32_t mine = wave.work_group->id[0] * 16 + wave.index + 1;
    if (phase == 0 && wave.vgpr[3][5] != 0) ++wrong;
    if (phase != 0 && wave.vgpr[3][5] != mine) ++wrong;
    wave.vgpr[3][5] = mine;
    // Every third wave ends at once, so that others get its rows.
    if (wave.index % 3 == 0 || ++phase == 3) return WaveState::ended;
    return WaveState::at_barrier;
  });
  ASSERT_TRUE(run(200, 1024));
  EXPECT_EQ(wrong, 0u);
}

TEST_P(SchedulerTest, AllWorkGroupsOfACooperativeLaunchMeet) {
  constexpr unsigned groups = 600, rounds = 3;
  std::atomic<unsigned> arrived{0};
  start([&](Wave& wave, uint64_t) {
    wave.instructions += 2;
    uint32_t& round = wave.scalar[40];
    if (wave.work_group->id[0] >= groups) return WaveState::ended;
    if ((round & 1) == 0) {
      ++arrived;
      ++round;
    }
    if (arrived < groups * (round / 2 + 1)) return WaveState::ready;
    ++round;
    return round / 2 == rounds ? WaveState::ended : WaveState::ready;
  });
  ASSERT_TRUE(run(groups, 64));
  EXPECT_EQ(arrived, groups * rounds);
}

TEST_P(SchedulerTest, DispatchesOfTwoThreadsMayWaitForEachOther) {
  std::atomic<unsigned> turn{0};
  start([&](Wave& wave, uint64_t budget) {
    const unsigned me = wave.work_group->dispatch->launch.grid_size[0] == 64 ? 0 : 1;
    wave.instructions += budget;
    if (turn % 2 != me) return WaveState::ready;
    return ++turn >= 19 + me ? WaveState::ended : WaveState::ready;
  });
  std::thread other([&] { EXPECT_TRUE(run(1, 32)); });
  EXPECT_TRUE(run(1, 64));
  other.join();
  EXPECT_EQ(turn, 20u);
}

TEST_P(SchedulerTest, AKernelThatNeverEndsIsTimedOut) {
  GpuOptions options;
  options.kernel_timeout = std::chrono::milliseconds(20);
  start(
      [](Wave& wave, uint64_t budget) {
        wave.instructions += budget;
        return WaveState::ready;
      },
      options);
  const auto ran = run(50, 256);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, ErrorKind::aborted);
  EXPECT_THAT(ran.error().message, HasSubstr("kernel 'k' was stopped: it ran longer than the timeout"));
}

TEST_P(SchedulerTest, WavesThatWaitAtABarrierWithOneThatNeverComesAreTimedOut) {
  GpuOptions options;
  options.kernel_timeout = std::chrono::milliseconds(20);
  start(
      [](Wave& wave, uint64_t) {
        wave.instructions += 1;
        return wave.index == 0 ? WaveState::ready : WaveState::at_barrier;
      },
      options);
  const auto ran = run(3, 256);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, ErrorKind::aborted);
}

TEST_P(SchedulerTest, InterruptStopsWhatRunsAndNothingLater) {
  std::atomic<bool> running{false}, endless{true};
  start([&](Wave& wave, uint64_t budget) {
    running = true;
    wave.instructions += budget;
    return endless ? WaveState::ready : WaveState::ended;
  });
  std::thread ctrl_c([&] {
    while (!running) std::this_thread::yield();
    gpu->interrupt();
  });
  const auto ran = run(8, 64);
  ctrl_c.join();
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, ErrorKind::aborted);
  EXPECT_THAT(ran.error().message, HasSubstr("interrupted"));
  endless = false;
  EXPECT_TRUE(run(8, 64));
}

TEST_P(SchedulerTest, AFaultEndsTheDispatchAndIsToldOnce) {
  std::atomic<unsigned> reports{0};
  GpuOptions options;
  options.on_fault = [&](const FaultReport& report) {
    ++reports;
    EXPECT_EQ(report.fault.kind, Fault::Kind::illegal_instruction);
    EXPECT_EQ(report.work_group[0], 700u);
    EXPECT_EQ(report.wave, 1u);
  };
  start(
      [](Wave& wave, uint64_t budget) {
        wave.instructions += budget;
        if (wave.work_group->id[0] == 700 && wave.index == 1) {
          wave.fault = std::make_unique<Fault>(
              Fault{.kind = Fault::Kind::illegal_instruction, .pc = wave.pc, .what = "v_nonsense"});
          return WaveState::faulted;
        }
        return wave.work_group->id[0] < 700 ? WaveState::ended : WaveState::ready;  // the rest would run for ever
      },
      options);
  const auto ran = run(100'000, 128);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, ErrorKind::illegal_instruction);
  EXPECT_THAT(ran.error().message, HasSubstr("v_nonsense"));
  EXPECT_THAT(ran.error().message, HasSubstr("work-group   (700, 0, 0), wave 1"));
  EXPECT_EQ(reports, 1u);
}

}  // namespace
}  // namespace Atoll::machine

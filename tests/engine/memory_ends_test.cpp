// Accesses past the end of a lane's scratch, past LDS by a flat address, and of atomics that are not aligned, on each
// generation: what the ISA guides say of addresses out of range ("Flat Memory Instructions", "Data Share"), and that a
// fault is of the first lane that has one and leaves memory as it was.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "engine/instruction_programs.h"
#include "engine/wave_runner.h"
#include "machine/memory/memory.h"

namespace Atoll {
namespace {

using machine::Fault;
using machine::WaveState;
using test::Machine;
using test::WaveRunner;

TEST(MemoryEndsOnEachGeneration, ScratchPastItsEndIsTheFirstLanesFault) {
  for (const Machine& machine : test::machines_from_gfx9) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    const std::string scratch = test::name_on(processor, "scratch_load_dwordx2") + " v[4:5], v1, off";
    const std::string flat = test::name_on(processor, "flat_store_dwordx2") + " v[2:3], v[4:5]";
    for (const std::string& instruction : {scratch, flat}) {
      WaveRunner runner(machine.processor, "", machine.wave_size);
      constexpr uint32_t past = WaveRunner::scratch_bytes_per_lane - 4, lane_of_fault = 13;
      for (unsigned lane = 0; lane < 64; ++lane) {
        // Lane 5's is past the end too, but it is off.
        runner.v(1)[lane] = runner.v(2)[lane] =
            lane == 5 || lane == lane_of_fault || lane == 20 ? past : WaveRunner::scratch_bytes_per_lane - 8;
        runner.v(3)[lane] = machine::private_aperture_hi;
      }
      runner.wave().set_exec(machine.wave_size == 32 ? 0xFFFF'FFDF : ~uint64_t{0x20});
      ASSERT_EQ(runner.run(instruction), WaveState::faulted) << instruction;
      ASSERT_NE(runner.wave().fault, nullptr);
      EXPECT_EQ(runner.wave().fault->kind, Fault::Kind::scratch_overflow);
      EXPECT_EQ(runner.wave().fault->lane, lane_of_fault);
      EXPECT_EQ(runner.wave().fault->address, past);
    }
  }
}

TEST(MemoryEndsOnEachGeneration, FlatAddressesPastLdsReadZeroAndDropWrites) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    const auto name = [&](const char* row) { return test::name_on(processor, row); };
    if (name("flat_load_dword").empty()) continue;  // GFX6
    WaveRunner runner(machine.processor, "", machine.wave_size);
    std::vector<uint32_t> expected(WaveRunner::lds_bytes / 4);
    for (unsigned i = 0; i < expected.size(); ++i) expected[i] = 0x9E37'79B9 * (i + 1);
    std::memcpy(runner.lds(), expected.data(), WaveRunner::lds_bytes);
    std::vector<uint32_t> loaded(64);
    for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
      const bool past = lane % 3 == 1;
      runner.v(2)[lane] = past ? WaveRunner::lds_bytes + lane * 4 : lane * 4;
      runner.v(3)[lane] = machine::shared_aperture_hi;
      runner.v(4)[lane] = 1000 + lane;
      runner.v(5)[lane] = runner.v(6)[lane] = 0xDEAD'BEEF;
      if (!past) expected[lane] = 1000 + lane + 7;
      loaded[lane] = past ? 0 : 1000 + lane;
      runner.v(7)[lane] = 7;
    }
    ASSERT_EQ(runner.run(fmt::format("{} v[2:3], v4\n{} v5, v[2:3]\n{} v6, v[2:3], v7{}\n", name("flat_store_dword"),
                                     name("flat_load_dword"), name("flat_atomic_add"), test::returning(processor))),
              WaveState::ended);
    for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
      EXPECT_EQ(runner.v(5)[lane], loaded[lane]) << lane;
      EXPECT_EQ(runner.v(6)[lane], loaded[lane]) << lane;
    }
    EXPECT_EQ(std::memcmp(runner.lds(), expected.data(), WaveRunner::lds_bytes), 0);
  }
}

TEST(MemoryEndsOnEachGeneration, AMisalignedAtomicIsTheFirstLanesFault) {
  for (const Machine& machine : test::machines_from_gfx9) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    const std::string global = test::name_on(processor, "global_atomic_add") + " v1, v4, s[2:3]";
    const std::string buffer = test::name_on(processor, "buffer_atomic_add") + " v4, v1, s[4:7], s8 offen";
    for (const std::string& instruction : {global, buffer}) {
      WaveRunner runner(machine.processor, "", machine.wave_size);
      std::vector<uint32_t> memory(64, 5);
      runner.set_pair(2, memory.data());
      test::set_buffer(runner, 4, memory.data(), 256);
      for (unsigned lane = 0; lane < 64; ++lane) runner.v(1)[lane] = lane * 4 + (lane == 7 || lane == 20 ? 2 : 0);
      ASSERT_EQ(runner.run(instruction), WaveState::faulted) << instruction;
      ASSERT_NE(runner.wave().fault, nullptr);
      EXPECT_EQ(runner.wave().fault->kind, Fault::Kind::memory);
      EXPECT_EQ(runner.wave().fault->lane, 7u);
      EXPECT_EQ(runner.wave().fault->address, reinterpret_cast<uint64_t>(memory.data()) + 30);
      EXPECT_EQ(memory, std::vector<uint32_t>(64, 5));
    }
  }
}

}  // namespace
}  // namespace Atoll

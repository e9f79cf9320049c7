// Memory instructions that some generations alone have, those placed by the lane's number and blocks of registers, and
// the constants that their encodings add to addresses, which differ by generation. What is expected is computed by the
// host, by the ISA guides' pseudo-code.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "engine/instruction_programs.h"
#include "engine/wave_runner.h"

namespace Atoll {
namespace {

using machine::WaveState;
using target::Generation;
using test::Machine;
using test::WaveRunner;

constexpr uint64_t masks[] = {~uint64_t{0}, 0xF7FF'FFFE'DFFF'7FF9, 0x0000'0100'0002'0001};

uint64_t lanes_of(const Machine& machine, uint64_t exec) { return machine.wave_size == 32 ? exec & 0xFFFF'FFFF : exec; }

std::vector<uint8_t> bytes(size_t count) {
  std::vector<uint8_t> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = static_cast<uint8_t>(i * 167 + i / 256 * 13 + 0x80);
  return all;
}

/// GLOBAL_LOAD_ADDTID_B32, GLOBAL_STORE_ADDTID_B32: a dword for each lane from a scalar base on.
TEST(MemoryOnEachGeneration, DwordsByTheLanesNumber) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    const std::string load = test::name_on(processor, "global_load_dword_addtid");
    const std::string store = test::name_on(processor, "global_store_dword_addtid");
    EXPECT_EQ(load.empty(), processor.generation < Generation::gfx10_3);
    EXPECT_EQ(store.empty(), load.empty());
    if (load.empty()) continue;
    for (const uint64_t mask : masks) {
      WaveRunner runner(machine.processor, "", machine.wave_size);
      const uint64_t exec = lanes_of(machine, mask);
      runner.wave().set_exec(exec);
      std::vector<uint8_t> memory = bytes(1024), expected = memory;
      runner.set_pair(2, memory.data() + 64);
      std::vector<uint32_t> loaded(64);
      for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
        runner.v(4)[lane] = 0x9E37'79B9 * (lane + 1);
        loaded[lane] = runner.v(5)[lane] = 0xDEAD'BEEF;
        if ((exec >> lane & 1) == 0) continue;
        std::memcpy(&loaded[lane], &expected[64 - 16 + 4 * lane], 4);
        std::memcpy(&expected[64 + 512 + 4 * lane], &runner.v(4)[lane], 4);
      }
      ASSERT_EQ(runner.run(fmt::format("{} v5, s[2:3] offset:-16\n{} v4, s[2:3] offset:512\n", load, store)),
                WaveState::ended);
      EXPECT_TRUE(memory == expected);
      for (unsigned lane = 0; lane < machine.wave_size; ++lane) EXPECT_EQ(runner.v(5)[lane], loaded[lane]) << lane;
    }
  }
}

/// GLOBAL_LOAD_BLOCK and its like: of 32 registers, those with a bit in M0, each with the dword of its number.
TEST(MemoryOnEachGeneration, BlocksOfRegisters) {
  constexpr uint32_t chosen[] = {0x8000'0005, 0xFFFF'FFFF, 0, 0x0F0F'1000};
  constexpr unsigned first_loaded = 40, first_of_scratch = 80, first_stored = 120;
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    for (const char* row : {"global_load_block", "global_store_block", "scratch_load_block", "scratch_store_block"}) {
      EXPECT_EQ(test::name_on(processor, row).empty(), processor.generation < Generation::gfx12) << row;
    }
    if (processor.generation < Generation::gfx12) continue;
    for (const uint32_t m0 : chosen) {
      for (const uint64_t mask : masks) {
        SCOPED_TRACE(fmt::format("M0 {:#x}, EXEC {:#x}", m0, mask));
        WaveRunner runner(machine.processor, "", machine.wave_size);
        const uint64_t exec = lanes_of(machine, mask);
        runner.wave().set_exec(exec);
        constexpr unsigned distance = 132, stores = 64 * distance + 64;
        std::vector<uint8_t> memory = bytes(2 * stores + 64), expected = memory;
        runner.set_pair(2, memory.data());
        runner.s(4) = m0;
        std::vector<std::array<uint32_t, 64>> rows(256);
        // v1: offsets of memory for loads, v[2:3]: addresses for stores, v4: offsets of scratch.
        for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
          runner.v(1)[lane] = lane * distance;
          const uint64_t address = reinterpret_cast<uint64_t>(memory.data()) + stores + lane * distance;
          runner.v(2)[lane] = static_cast<uint32_t>(address);
          runner.v(3)[lane] = static_cast<uint32_t>(address >> 32);
          runner.v(4)[lane] = lane % 3 * 4;
          for (unsigned reg = first_loaded; reg < first_stored + 32; ++reg) {
            runner.v(reg)[lane] = 0x9E37'79B9 * (lane * 256 + reg);
          }
        }
        for (unsigned reg = 0; reg < 256; ++reg) std::memcpy(rows[reg].data(), runner.v(reg), sizeof rows[reg]);
        for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
          for (unsigned i = 0; i < 32 && (exec >> lane & 1) != 0; ++i) {
            if ((m0 >> i & 1) == 0) continue;
            std::memcpy(&rows[first_loaded + i][lane], &memory[lane * distance + 8 + 4 * i], 4);
            // Stored to memory and to scratch, and loaded from there.
            const uint32_t value = rows[first_stored + i][lane];
            std::memcpy(&expected[stores + lane * distance + 4 + 4 * i], &value, 4);
            rows[first_of_scratch + i][lane] = value;
          }
        }
        ASSERT_EQ(runner.run("s_mov_b32 m0, s4\n"
                             "global_load_block v[40:71], v1, s[2:3] offset:8\n"
                             "global_store_block v[2:3], v[120:151], off offset:4\n"
                             "scratch_store_block v4, v[120:151], off offset:8\n"
                             "scratch_load_block v[80:111], v4, off offset:8\n"),
                  WaveState::ended);
        EXPECT_TRUE(memory == expected);
        for (unsigned reg = 0; reg < 256; ++reg) {
          for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
            ASSERT_EQ(runner.v(reg)[lane], rows[reg][lane]) << 'v' << reg << " of lane " << lane;
          }
        }
        for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
          for (unsigned i = 0; i < 32; ++i) {
            const bool moved = (exec >> lane & 1) != 0 && (m0 >> i & 1) != 0;
            const uint32_t at = lane % 3 * 4 + 8 + 4 * i;
            EXPECT_EQ(runner.scratch(lane, at), moved ? rows[first_stored + i][lane] : 0u) << lane << ' ' << at;
          }
        }
      }
    }
  }
}

/// The largest and smallest constants that LLVM's assembler takes.
TEST(MemoryOnEachGeneration, OffsetsUpToTheirEnds) {
  constexpr int64_t half = 9 << 20;
  std::vector<uint8_t> memory(2 * half);
  const auto mark = [&](int64_t offset, uint32_t value) { std::memcpy(&memory[half + offset], &value, 4); };
  for (const Machine& machine : test::machines_from_gfx9) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    const Generation generation = processor.generation;
    const bool is_gfx12 = generation >= Generation::gfx12, is_gfx10 = generation >= Generation::gfx10;
    const int64_t of_lanes = is_gfx12 ? 1 << 23 : generation >= Generation::gfx11 || !is_gfx10 ? 1 << 12 : 1 << 11;
    const int64_t of_scalars = is_gfx12 ? 1 << 23 : 1 << 20, of_buffers = is_gfx12 ? 1 << 23 : 1 << 12;
    mark(of_lanes - 1, 0x1111'1111);
    mark(-of_lanes, 0x2222'2222);
    const auto name = [&](const char* row) { return test::name_on(processor, row); };

    WaveRunner runner(machine.processor, "", machine.wave_size);
    runner.set_pair(2, memory.data() + half);
    test::set_buffer(runner, 4, memory.data() + half, static_cast<uint32_t>(half));
    for (unsigned lane = 0; lane < 64; ++lane) runner.v(1)[lane] = 0;
    runner.set_rows(2, [&](unsigned) { return reinterpret_cast<uint64_t>(memory.data() + half); });
    ASSERT_EQ(runner.run(fmt::format("{0} v4, v1, s[2:3] offset:{1}\n{0} v5, v[2:3], off offset:{2}\n"
                                     "{0} v6, v[2:3], off offset:{1}\n{0} v7, v1, s[2:3] offset:{2}\n",
                                     name("global_load_dword"), of_lanes - 1, -of_lanes)),
              WaveState::ended);
    mark(of_scalars - 4, 0x3333'3333);
    mark(-of_scalars, 0x4444'4444);
    ASSERT_EQ(runner.run(fmt::format("{0} s8, s[2:3], {1}\n{0} s9, s[2:3], {2}\n{3} s10, s[4:7], {1}\n",
                                     name("s_load_dword"), of_scalars - 4, -of_scalars, name("s_buffer_load_dword"))),
              WaveState::ended);
    mark(of_buffers - 1, 0x5555'5555);
    ASSERT_EQ(runner.run(fmt::format("s_mov_b32 s12, 0\n{0} v8, v1, s[4:7], s12 offen offset:{1}\n"
                                     "{0} v9, off, s[4:7], s12 offset:{1}\n",
                                     name("buffer_load_dword"), of_buffers - 1)),
              WaveState::ended);
    EXPECT_EQ(runner.s(8), 0x3333'3333u);
    EXPECT_EQ(runner.s(9), 0x4444'4444u);
    EXPECT_EQ(runner.s(10), 0x3333'3333u);
    constexpr uint32_t expected[] = {0x1111'1111, 0x2222'2222, 0x1111'1111, 0x2222'2222, 0x5555'5555, 0x5555'5555};
    for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
      for (unsigned i = 0; i < 6; ++i) EXPECT_EQ(runner.v(4 + i)[lane], expected[i]) << 'v' << 4 + i << ' ' << lane;
    }
  }
}

}  // namespace
}  // namespace Atoll

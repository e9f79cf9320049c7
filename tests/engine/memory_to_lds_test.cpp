// Loads that go from memory, buffers and scratch into LDS, on each generation that has them, and the store that goes
// the other way. The place in LDS is M0[15:0], the instruction's offset and the lane's place among 64 elements (ISA
// guides, "Memory Buffer Load to LDS"; CDNA3 and CDNA4 guides, "Global and Scratch Loads to LDS"). What is expected is
// computed here on a copy of LDS: elements smaller than a dword become one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "engine/instruction_programs.h"
#include "engine/wave_runner.h"

namespace Atoll {
namespace {

using machine::WaveState;
using target::Generation;
using test::Machine;
using test::WaveRunner;

struct Element {
  const char* name;  ///< after "load_" or "load_lds_"
  unsigned bytes;
  bool sign;
  bool gfx950;  ///< and no other
};
constexpr Element elements[] = {{"ubyte", 1, false, false},  {"sbyte", 1, true, false},  {"ushort", 2, false, false},
                                {"sshort", 2, true, false},  {"dword", 4, false, false}, {"dwordx3", 12, false, true},
                                {"dwordx4", 16, false, true}};

constexpr uint64_t masks[] = {~uint64_t{0}, 0xF7FF'FFFE'DFFF'7FF9, 0x0000'0100'0002'0001};

/// A wave with something in LDS, memory and scratch, which loads in turn.
struct Loads {
  explicit Loads(const Machine& machine);

  bool has_own_instructions() const {  // or a bit of others
    return processor.generation == Generation::gfx940 || processor.generation == Generation::gfx950;
  }
  bool has_any() const { return processor.generation < Generation::gfx11; }
  bool has(const Element& element) const { return !element.gfx950 || processor.generation == Generation::gfx950; }
  bool is_on(unsigned lane) const { return (runner_exec >> lane & 1) != 0; }

  /// Puts the lanes' elements into `expected`, at `place` and the offset.
  void load(const Element& element, uint32_t place, const std::function<const uint8_t*(unsigned lane)>& from);
  /// An instruction with M0 and what it is to do, as text.
  void add(const std::string& instruction, const Element& element, const std::function<const uint8_t*(unsigned)>& from);
  void run();

  const target::Processor& processor;
  unsigned lanes;
  WaveRunner runner;
  uint64_t runner_exec = 0;
  std::vector<uint8_t> memory, expected;
  std::string source;
  uint32_t next = 64;  ///< place in LDS
};

/// Offsets of memory: an address of 20 bytes more for the lane after.
uint32_t place_of(unsigned lane) { return (lane * 29 + 7) % 64 * 20 + lane % 4; }

constexpr uint32_t offset = 8;

Loads::Loads(const Machine& machine)
    : processor(*target::find_processor(machine.processor)),
      lanes(machine.wave_size),
      runner(machine.processor, "", lanes),
      memory(2048),
      expected(WaveRunner::lds_bytes) {
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint8_t>(i * 167 + i / 256 * 13 + 0x80);
  for (unsigned reg = 10; reg < 12; ++reg) {
    for (unsigned lane = 0; lane < 64; ++lane) runner.v(reg)[lane] = 0xDEAD'BEEF;
  }
  runner.set_pair(8, memory.data());
  runner.set_pair(4, memory.data());
  runner.s(6) = static_cast<uint32_t>(memory.size());
  runner.s(7) = test::raw_buffer_word(processor);
  runner.s(12) = 4;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    runner.v(2)[lane] = place_of(lane);
    const auto address = reinterpret_cast<uint64_t>(memory.data()) + place_of(lane);
    runner.v(4)[lane] = static_cast<uint32_t>(address);
    runner.v(5)[lane] = static_cast<uint32_t>(address >> 32);
    runner.v(3)[lane] = lane % 5 * 8 + lane % 4;
    for (uint32_t at = 0; at < WaveRunner::scratch_bytes_per_lane; at += 4) {
      runner.scratch(lane, at) = 0x9E37'79B9 * (at * 16 + lane + 1);
    }
  }
}

void Loads::load(const Element& element, uint32_t place, const std::function<const uint8_t*(unsigned)>& from) {
  const unsigned bytes = std::max(element.bytes, 4u);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if (!is_on(lane)) continue;
    uint8_t value[16]{};
    std::memcpy(value, from(lane), element.bytes);
    const bool negative = element.sign && (value[element.bytes - 1] & 0x80) != 0;
    for (unsigned i = element.bytes; i < bytes; ++i) value[i] = negative ? 0xFF : 0;
    std::memcpy(&expected[place + offset + lane * bytes], value, bytes);
  }
}

void Loads::add(const std::string& instruction, const Element& element,
                const std::function<const uint8_t*(unsigned)>& from) {
  // The upper half of M0 counts for nothing.
  source += fmt::format("s_mov_b32 m0, {:#x}\n{}\n", 0x1234'0000 + next, instruction);
  load(element, next, from);
  next += 64 * std::max(element.bytes, 4u) + 16;
  ASSERT_LE(next, WaveRunner::lds_bytes);
}

/// Starts over after each run.
void Loads::run() {
  const auto before = [&](unsigned reg) { return std::vector<uint32_t>(runner.v(reg), runner.v(reg) + 64); };
  std::vector<std::vector<uint32_t>> registers;
  registers.reserve(16);
  for (unsigned reg = 0; reg < 16; ++reg) registers.push_back(before(reg));
  ASSERT_EQ(runner.run(source), WaveState::ended) << source;
  EXPECT_EQ(std::memcmp(runner.lds(), expected.data(), expected.size()), 0) << source;
  for (unsigned reg = 0; reg < 16; ++reg) EXPECT_TRUE(before(reg) == registers[reg]) << 'v' << reg << '\n' << source;
  source.clear();
  next = 64;
}

void start(Loads& loads, uint64_t exec) {
  loads.runner_exec = loads.lanes == 32 ? exec & 0xFFFF'FFFF : exec;
  loads.runner.wave().set_exec(loads.runner_exec);
  for (unsigned i = 0; i < WaveRunner::lds_bytes; ++i) loads.expected[i] = static_cast<uint8_t>(i * 89 + i / 256 * 7);
  std::memcpy(loads.runner.lds(), loads.expected.data(), loads.expected.size());
}

TEST(MemoryToLdsOnEachGeneration, OfGlobalInstructions) {
  for (const Machine& machine : test::machines_from_gfx9) {
    SCOPED_TRACE(test::name_of_machine(machine));
    Loads loads(machine);
    for (const uint64_t exec : masks) {
      start(loads, exec);
      if (!loads.has_any()) continue;
      bool base = false;
      for (const Element& element : elements) {
        if (!loads.has(element) || (element.bytes > 4 && !loads.has_own_instructions())) continue;
        const std::string name = test::name_on(
            loads.processor, fmt::format("global_load_{}{}", loads.has_own_instructions() ? "lds_" : "", element.name));
        ASSERT_FALSE(name.empty()) << element.name;
        base = !base;
        loads.add(fmt::format("{} {} offset:{}{}", name, base ? "v2, s[8:9]" : "v[4:5], off", offset,
                              loads.has_own_instructions() ? "" : " lds"),
                  element, [&](unsigned lane) { return &loads.memory[place_of(lane) + offset]; });
      }
      ASSERT_NO_FATAL_FAILURE(loads.run());
    }
  }
}

TEST(MemoryToLdsOnEachGeneration, OfScratchInstructions) {
  for (const Machine& machine : test::machines_from_gfx9) {
    SCOPED_TRACE(test::name_of_machine(machine));
    Loads loads(machine);
    for (const uint64_t exec : masks) {
      start(loads, exec);
      if (!loads.has_any()) continue;
      uint8_t bytes[64][4];
      for (const Element& element : elements) {
        if (element.bytes > 4) continue;
        const std::string name =
            test::name_on(loads.processor,
                          fmt::format("scratch_load_{}{}", loads.has_own_instructions() ? "lds_" : "", element.name));
        ASSERT_FALSE(name.empty()) << element.name;
        for (unsigned lane = 0; lane < loads.lanes; ++lane) {
          for (unsigned i = 0; i < 4; ++i) {
            const uint32_t at = loads.runner.v(3)[lane] + offset + i;
            bytes[lane][i] = static_cast<uint8_t>(loads.runner.scratch(lane, at & ~3u) >> at % 4 * 8);
          }
        }
        loads.add(fmt::format("{} v3, off offset:{}{}", name, offset, loads.has_own_instructions() ? "" : " lds"),
                  element, [&](unsigned lane) { return bytes[lane]; });
      }
      ASSERT_NO_FATAL_FAILURE(loads.run());
    }
  }
}

TEST(MemoryToLdsOnEachGeneration, OfBufferInstructions) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    Loads loads(machine);
    for (const uint64_t exec : masks) {
      start(loads, exec);
      if (!loads.has_any()) continue;
      for (const Element& element : elements) {
        if (!loads.has(element)) continue;
        const std::string name = test::name_on(loads.processor, fmt::format("buffer_load_{}", element.name));
        ASSERT_FALSE(name.empty()) << element.name;
        loads.add(fmt::format("{} v2, s[4:7], s12 offen offset:{} lds", name, offset), element,
                  [&](unsigned lane) { return &loads.memory[place_of(lane) + offset + 4]; });
      }
      ASSERT_NO_FATAL_FAILURE(loads.run());
    }
  }
}

/// With a format: one component, as in a register. Here 16 bits of an integer with sign.
TEST(MemoryToLdsOnEachGeneration, OfBufferInstructionsWithAFormat) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    Loads loads(machine);
    const unsigned number = loads.processor.generation >= Generation::gfx10 ? 12 : 2 << 3 | 5;
    const uint32_t bounds = loads.processor.generation >= Generation::gfx10 ? 3u << 28 | 1u << 24 : 0;
    loads.runner.s(7) = 4 | number << 12 | bounds;
    for (const uint64_t exec : masks) {
      start(loads, exec);
      if (!loads.has_any()) continue;
      loads.add(fmt::format("buffer_load_format_x v2, s[4:7], s12 offen offset:{} lds", offset), elements[3],
                [&](unsigned lane) { return &loads.memory[place_of(lane) + offset + 4]; });
      ASSERT_NO_FATAL_FAILURE(loads.run());
    }
  }
}

/// BUFFER_STORE_LDS_DWORD: the lanes' dwords of LDS, here to those of a buffer that adds the lanes' numbers to the
/// index.
TEST(MemoryToLdsOnEachGeneration, AndBack) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    Loads loads(machine);
    const std::string name = test::name_on(loads.processor, "buffer_store_lds_dword");
    const Generation generation = loads.processor.generation;
    EXPECT_EQ(name.empty(), generation < Generation::gfx8 || generation >= Generation::gfx940);
    if (name.empty()) continue;
    constexpr uint32_t stride = 12;
    loads.runner.s(5) |= stride << 16;
    loads.runner.s(6) = 2048;
    loads.runner.s(7) |= 1u << 23;  // ADD_TID_ENABLE, with which the data format is a part of the stride
    loads.runner.s(7) &= ~(0xFu << 15);
    for (const uint64_t exec : masks) {
      start(loads, exec);
      std::vector<uint8_t> expected = loads.memory;
      for (unsigned lane = 0; lane < 64; ++lane) {
        if (!loads.is_on(lane)) continue;
        std::memcpy(&expected[4 + offset + lane * stride], &loads.expected[0x100 + offset + lane * 4], 4);
      }
      ASSERT_EQ(loads.runner.run(fmt::format("s_mov_b32 m0, 0x12340100\n{} s[4:7], s12 offset:{} lds\n", name, offset)),
                WaveState::ended);
      EXPECT_TRUE(loads.memory == expected);
    }
  }
}

}  // namespace
}  // namespace Atoll

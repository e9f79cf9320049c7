// Loads and stores of the scalar unit, of each width, with each way to name an address, on each generation. What is
// expected is read from memory by the host. Atomics of the scalar unit are in atomic_families_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "engine/instruction_programs.h"
#include "engine/wave_runner.h"

namespace Atoll {
namespace {

using machine::WaveState;
using target::Generation;
using test::Machine;
using test::registers;
using test::WaveRunner;

struct Accesses {
  explicit Accesses(const Machine& machine);
  void load_every_width();
  void load_every_width_from_buffers();
  void load_small_values();
  void store_every_width();
  void read_what_the_wave_is();

  /// A buffer in s[4:7].
  void set_buffer(uint32_t stride, uint32_t records) { test::set_buffer(runner, 4, memory.data(), records, stride); }
  uint32_t word(size_t at) const {
    uint32_t value;
    std::memcpy(&value, &memory[at], 4);
    return value;
  }
  /// The instruction's operands for an address at s8 and a constant, in one of the ways that the generation has.
  std::string at(const char* base, unsigned constant, bool has_register) const {
    if (!has_register) return fmt::format("{}, {:#x}", base, counts_dwords() ? constant / 4 : constant);
    if (constant == 0) return fmt::format("{}, s8{}", base, is_gfx12() ? " offset:0x0" : "");
    return fmt::format("{}, s8 offset:{:#x}", base, constant);
  }
  std::string loads(const char* kind, unsigned first, const std::string& address) const;
  void expect_loads(unsigned first, size_t place, size_t size);
  static uint32_t untouched(unsigned reg) { return 0xABCD'0000 + reg; }
  bool is_gfx12() const { return processor.generation >= Generation::gfx12; }
  /// Constants are numbers of dwords on GFX6 and GFX7; a register and a constant together, and negative constants, are
  /// new in GFX9.
  bool counts_dwords() const { return processor.generation <= Generation::gfx7; }
  bool adds_both() const { return processor.generation >= Generation::gfx9; }

  const target::Processor& processor;
  WaveRunner runner;
  std::vector<uint8_t> memory;
};

Accesses::Accesses(const Machine& machine)
    : processor(*target::find_processor(machine.processor)),
      runner(machine.processor, "", machine.wave_size),
      memory(1024) {
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint8_t>(i * 167 + i / 256 * 13 + 0x80);
  runner.set_pair(2, memory.data());
  for (unsigned i = 12; i < 96; ++i) runner.s(i) = untouched(i);
}

struct Width {
  const char* suffix;
  unsigned words, offset;  ///< of its registers behind those of the others
};
constexpr Width widths[] = {
    {"dword", 1, 30}, {"dwordx2", 2, 28}, {"dwordx4", 4, 24}, {"dwordx8", 8, 16}, {"dwordx16", 16, 0}};

/// Loads of every width at one address, into 31 registers from `first` on.
std::string Accesses::loads(const char* kind, unsigned first, const std::string& address) const {
  std::string source;
  for (const Width& width : widths) {
    const std::string name = test::name_on(processor, fmt::format("s_{}load_{}", kind, width.suffix));
    EXPECT_FALSE(name.empty()) << width.suffix;
    source += fmt::format("{} {}, {}\n", name, registers('s', first + width.offset, width.words), address);
  }
  return source;
}

/// Checks the registers that loads of `size` bytes fill. Afterwards the registers hold their initial values.
void Accesses::expect_loads(unsigned first, size_t place, size_t size) {
  for (const Width& width : widths) {
    for (unsigned i = 0; i < width.words; ++i) {
      const unsigned reg = first + width.offset + i;
      const size_t from = place + 4 * i;
      EXPECT_EQ(runner.s(reg), from + 4 <= size ? word(from) : 0) << width.suffix << ": s" << reg;
      runner.s(reg) = untouched(reg);
    }
  }
  EXPECT_EQ(runner.s(first + 31), untouched(first + 31));
}

/// By a constant, a register, and both. Addresses are those of dwords: the lower two bits count for nothing.
void Accesses::load_every_width() {
  runner.set_pair(10, memory.data() + 0x100);
  runner.s(8) = 0x54;
  ASSERT_EQ(runner.run(loads("", 16, at("s[2:3]", 0x92, false)) + loads("", 48, at("s[2:3]", 0, true))),
            WaveState::ended);
  expect_loads(16, 0x90, memory.size());
  expect_loads(48, 0x54, memory.size());
  ASSERT_EQ(runner.run(loads("", 16, adds_both() ? at("s[2:3]", 0x40, true) : at("s[2:3]", 0x94, false)) +
                       loads("", 48, adds_both() ? "s[10:11], -0x34" : at("s[2:3]", 0xCC, false))),
            WaveState::ended);
  expect_loads(16, 0x94, memory.size());
  expect_loads(48, 0xCC, memory.size());
}

/// Dwords past the buffer's end read as 0. With a stride, its size is that of all records.
void Accesses::load_every_width_from_buffers() {
  for (const unsigned stride : {0u, 12u}) {
    set_buffer(stride, stride == 0 ? 0x9C : 13);
    runner.s(8) = 0x88;
    ASSERT_EQ(runner.run(loads("buffer_", 16, at("s[4:7]", 0x22, false)) + loads("buffer_", 48, at("s[4:7]", 0, true))),
              WaveState::ended);
    expect_loads(16, 0x20, 0x9C);
    expect_loads(48, 0x88, 0x9C);
    ASSERT_EQ(runner.run(loads("buffer_", 16, adds_both() ? at("s[4:7]", 0xC, true) : at("s[4:7]", 0x94, false))),
              WaveState::ended);
    expect_loads(16, 0x94, 0x9C);
  }
}

/// GFX12: bytes and halves of dwords at their own addresses, and three dwords.
void Accesses::load_small_values() {
  struct Small {
    const char* suffix;
    unsigned bytes;
    bool sign;
  };
  constexpr Small smalls[] = {{"u8", 1, false}, {"i8", 1, true}, {"u16", 2, false}, {"i16", 2, true}};
  set_buffer(0, 0x9D);
  for (const Small& small : smalls) {
    const std::string name = test::name_on(processor, fmt::format("s_load_{}", small.suffix));
    const std::string of_buffer = test::name_on(processor, fmt::format("s_buffer_load_{}", small.suffix));
    ASSERT_EQ(name.empty(), !is_gfx12());
    ASSERT_EQ(of_buffer.empty(), !is_gfx12());
    if (!is_gfx12()) continue;
    SCOPED_TRACE(name);
    const auto loaded = [&](size_t place) {
      if (small.bytes == 1) return static_cast<uint32_t>(small.sign ? int8_t(memory[place]) : int32_t{memory[place]});
      const auto half = static_cast<uint16_t>(word(place));
      return static_cast<uint32_t>(small.sign ? static_cast<int16_t>(half) : int32_t{half});
    };
    const unsigned bytes = small.bytes;
    ASSERT_EQ(runner.run(fmt::format("s_mov_b32 s8, {0}\n"
                                     "{1} s16, s[2:3], {2}\n{1} s17, s[2:3], s8 offset:{0}\n{1} s18, s[2:3], {3}\n"
                                     "{4} s19, s[4:7], {2}\n{4} s20, s[4:7], s8 offset:{0}\n{4} s21, s[4:7], {3}\n"
                                     "{4} s22, s[4:7], 0x9c\n{4} s23, s[4:7], 0x9e\n",
                                     3 * bytes, name, 0x40, 0x50 + bytes, of_buffer)),
              WaveState::ended);
    const size_t places[] = {0x40, 6 * bytes, 0x50 + bytes};
    for (unsigned i = 0; i < 3; ++i) {
      EXPECT_EQ(runner.s(16 + i), loaded(places[i])) << i;
      EXPECT_EQ(runner.s(19 + i), loaded(places[i])) << i;
    }
    EXPECT_EQ(runner.s(22), bytes == 1 ? loaded(0x9C) : 0);
    EXPECT_EQ(runner.s(23), 0u);
  }
  if (!is_gfx12()) return;
  ASSERT_EQ(runner.run("s_load_b96 s[16:18], s[2:3], 0x24\ns_buffer_load_b96 s[20:22], s[4:7], 0x94\n"),
            WaveState::ended);
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(runner.s(16 + i), word(0x24 + 4 * i));
    EXPECT_EQ(runner.s(20 + i), i < 2 ? word(0x94 + 4 * i) : 0);
  }
}

/// GFX8 to GFX10.1: stores to memory and buffers, and since GFX9 to scratch, whose offsets in registers count in
/// units of 64 bytes.
void Accesses::store_every_width() {
  const bool stores = processor.generation >= Generation::gfx8 && processor.generation <= Generation::gfx10;
  const bool has_scratch = stores && processor.generation >= Generation::gfx9;
  set_buffer(0, 0x200);
  for (const Width& width : widths) {
    if (width.words > 4) break;
    const std::string store = test::name_on(processor, fmt::format("s_store_{}", width.suffix));
    const std::string buffer = test::name_on(processor, fmt::format("s_buffer_store_{}", width.suffix));
    const std::string scratch = test::name_on(processor, fmt::format("s_scratch_store_{}", width.suffix));
    const std::string scratch_load = test::name_on(processor, fmt::format("s_scratch_load_{}", width.suffix));
    for (const std::string& name : {store, buffer}) ASSERT_EQ(name.empty(), !stores);
    for (const std::string& name : {scratch, scratch_load}) ASSERT_EQ(name.empty(), !has_scratch);
    if (!stores) continue;
    SCOPED_TRACE(store);
    const std::string data = registers('s', 16, width.words);
    std::vector<uint8_t> expected = memory;
    const auto stored = [&](size_t place, unsigned words) {
      for (unsigned w = 0; w < words; ++w) std::memcpy(&expected[place + 4 * w], &runner.s(16 + w), 4);
    };
    stored(0x20, width.words);
    stored(0x44, width.words);
    stored(0x60, width.words);
    stored(0x1FC, 1);  // the others are past the buffer's end
    if (has_scratch) {
      stored(0x208, width.words);
      stored(0x280, width.words);
    }
    ASSERT_EQ(runner.run(fmt::format("s_mov_b32 s8, 0x44\ns_mov_b32 s9, 10\n"
                                     "{1} {0}, s[2:3], 0x22\n{1} {0}, s[2:3], s8\n"
                                     "{2} {0}, s[4:7], 0x60\n{2} {0}, s[4:7], 0x1fc\n",
                                     data, store, buffer) +
                         (has_scratch ? fmt::format("{1} {0}, s[2:3], 0x208\n{1} {0}, s[2:3], s9\n"
                                                    "{2} {3}, s[2:3], 0x10c\n{2} {4}, s[2:3], s9\n",
                                                    data, scratch, scratch_load, registers('s', 24, width.words),
                                                    registers('s', 32, width.words))
                                      : "") +
                         "s_dcache_wb\n"),
              WaveState::ended);
    EXPECT_TRUE(memory == expected);
    for (unsigned w = 0; w < width.words && has_scratch; ++w) {
      EXPECT_EQ(runner.s(24 + w), word(0x10C + 4 * w)) << w;
      EXPECT_EQ(runner.s(32 + w), word(0x280 + 4 * w)) << w;
    }
    for (unsigned i = 16; i < 48; ++i) runner.s(i) = 0x1234'0000 + 0x100 * width.words + i;
  }
}

/// Clocks, which go on, and the wave's number in its work-group, which GFX10.1 has.
void Accesses::read_what_the_wave_is() {
  const std::string number = test::name_on(processor, "s_get_waveid_in_workgroup");
  EXPECT_EQ(number.empty(), processor.generation != Generation::gfx10);
  runner.wave().index = 3;
  if (!number.empty()) {
    ASSERT_EQ(runner.run(number + " s16"), WaveState::ended);
    EXPECT_EQ(runner.s(16), 3u);
  }
  for (const char* row : {"s_memtime", "s_memrealtime"}) {
    const std::string name = test::name_on(processor, row);
    if (name.empty()) continue;
    ASSERT_EQ(runner.run(fmt::format("{0} s[16:17]\n{0} s[18:19]\n", name)), WaveState::ended);
    const uint64_t first = runner.wave().scalar64(16), second = runner.wave().scalar64(18);
    ASSERT_EQ(runner.run(name + " s[20:21]"), WaveState::ended);
    const uint64_t third = runner.wave().scalar64(20);
    EXPECT_LE(first, second) << name;
    EXPECT_LT(second, third) << name;
    EXPECT_LT(third - first, uint64_t{60} * 1'000'000'000) << name;  // no tick is shorter than a nanosecond
  }
}

TEST(ScalarMemoryOnEachGeneration, LoadEveryWidth) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    ASSERT_NO_FATAL_FAILURE(Accesses(machine).load_every_width());
  }
}
TEST(ScalarMemoryOnEachGeneration, LoadEveryWidthFromBuffers) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    ASSERT_NO_FATAL_FAILURE(Accesses(machine).load_every_width_from_buffers());
  }
}
TEST(ScalarMemoryOnEachGeneration, LoadSmallValues) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    ASSERT_NO_FATAL_FAILURE(Accesses(machine).load_small_values());
  }
}
TEST(ScalarMemoryOnEachGeneration, StoreEveryWidth) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    ASSERT_NO_FATAL_FAILURE(Accesses(machine).store_every_width());
  }
}
TEST(ScalarMemoryOnEachGeneration, ReadWhatTheWaveIs) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    ASSERT_NO_FATAL_FAILURE(Accesses(machine).read_what_the_wave_is());
  }
}

}  // namespace
}  // namespace Atoll

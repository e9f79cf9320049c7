// Where a buffer's elements are and which are outside of it, on each generation. The rules are the ISA guides', "Buffer
// Addressing" and "Range Checking": on GFX9 they follow from the stride and the addressing, before from the stride and,
// on GFX8, from whether the buffer is swizzled (Mesa's notes on NUM_RECORDS), from GFX10 on from the resource
// (OOB_SELECT). GFX10 compares where an access begins, later generations where it ends (Mesa, "OOB_SELECT"). From GFX9
// on a lane's offset plus the instruction's wraps around, and on CDNA resources that add the lane's number have no end
// without an index (measured on gfx950: ROCm/rocm-systems#10928). In a swizzled buffer, elements of records that follow
// each other lie side by side; they are dwords, until GFX8 and from GFX11 on also larger. What is expected is computed
// here for each dword.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
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

constexpr uint64_t masks[] = {~uint64_t{0}, 0xF7FF'FFFE'DFFF'7FF9};

/// How a resource of GFX10 and later says what is outside.
enum Select : uint8_t { index_and_offset, index_alone, no_records, raw };

struct Buffer {
  unsigned stride, records;
  Select select;         ///< from GFX10 on
  unsigned swizzle = 0;  ///< records that are interleaved, of 8, 16, 32 or 64
  unsigned element = 4;  ///< bytes, where the buffer is swizzled
};
constexpr Buffer buffers[] = {
    {0, 203, raw},
    {0, 64, raw},
    {12, 21, index_alone},
    {16, 40, index_alone, 8},
    {12, 203, raw},
    {12, 20, index_and_offset},
    {12, 0, no_records},
    {12, 1, no_records},
    {8, 50, index_alone, 32},
    {16, 40, index_alone, 16, 8},
    {32, 40, index_alone, 8, 16},
    {16, 1403, raw, 8},
};

/// How an instruction names a place: with an index in v2, an offset in v3, a constant and what s8 has.
struct Addressing {
  const char* operands;
  bool has_index, has_offset;
  uint32_t constant;
};
constexpr Addressing addressings[] = {
    {"off, s[4:7], s8 offset:20", false, false, 20},
    {"v3, s[4:7], s8 offen", false, true, 0},
    {"v2, s[4:7], s8 idxen offset:4", true, false, 4},
    {"v[2:3], s[4:7], s8 idxen offen offset:8", true, true, 8},
};

struct Access {
  const char* row;
  unsigned words;
};
constexpr Access loads[] = {{"buffer_load_dwordx2", 2}, {"buffer_load_dwordx4", 4}, {"buffer_load_dword", 1}};
constexpr unsigned scalar_offset = 12, memory_bytes = 16384, result = 20, stored = 10;

struct Ranges {
  const target::Processor& processor;
  const Buffer& buffer;
  const Addressing& addressing;

  bool is_old() const { return processor.generation < Generation::gfx10; }

  /// Word 1 without the base's bits, and word 3.
  uint32_t word1() const {
    uint32_t word = buffer.stride << 16;
    if (buffer.swizzle != 0) word |= is_new_swizzle() ? element_code() << 30 : 1u << 31;
    return word;
  }
  bool is_new_swizzle() const { return processor.generation >= Generation::gfx11; }
  bool has_element_size() const { return processor.generation < Generation::gfx9; }
  bool exists() const { return buffer.element == 4 || is_new_swizzle() || has_element_size(); }
  uint32_t element_code() const { return static_cast<uint32_t>(std::countr_zero(buffer.element)) - 1; }
  uint32_t word3() const {
    uint32_t word = test::raw_buffer_word(processor) & ~(3u << 28);
    if (!is_old()) word |= uint32_t{buffer.select} << 28;
    if (has_element_size()) word |= element_code() << 19;
    for (unsigned i = 0; buffer.swizzle != 0 && i < 4; ++i) {
      if (buffer.swizzle == 8u << i) word |= i << 21;  // INDEX_STRIDE
    }
    return word;
  }

  /// Where a dword `at` bytes behind the element's begin is.
  uint64_t place(uint64_t index, uint64_t offset, unsigned at) const {
    offset += at;
    if (buffer.swizzle == 0) return scalar_offset + index * buffer.stride + offset;
    const uint64_t row = index / buffer.swizzle, column = index % buffer.swizzle, element = buffer.element;
    return scalar_offset + (row * buffer.stride + offset / element * element) * buffer.swizzle + column * element +
           offset % element;
  }
  Select select() const {
    if (!is_old()) return buffer.select;
    if (processor.generation == Generation::gfx8) return buffer.stride != 0 && buffer.swizzle != 0 ? index_alone : raw;
    if (processor.generation < Generation::gfx8) return buffer.stride != 0 ? index_alone : raw;
    return addressing.has_index && buffer.stride != 0 ? index_alone : raw;
  }
  /// Whether it is in the buffer.
  bool is_inside(uint64_t index, uint64_t offset, unsigned at) const {
    const bool counts_bytes = processor.buffer_resources != target::BufferResources::gfx10;
    const uint64_t end = counts_bytes ? uint64_t{at} + 4 : 1;
    switch (select()) {
      case raw:
        if (buffer.swizzle != 0 && is_new_swizzle() && buffer.stride != 0) break;
        if (buffer.swizzle != 0 && !is_old()) return place(index, offset, 0) + end <= buffer.records;
        return (buffer.swizzle == 0 ? index * buffer.stride : 0) + offset + scalar_offset + end <= buffer.records;
      case no_records:
        return buffer.records != 0;
      case index_alone:
        return index < buffer.records;
      case index_and_offset:
        break;
    }
    return index < buffer.records && offset + end <= buffer.stride;
  }
};

TEST(BufferRangesOnEachGeneration, AreThoseOfTheResource) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    if (processor.generation >= Generation::gfx12_5) continue;  // whose resources have other fields
    std::vector<std::string> sources;
    for (const Addressing& addressing : addressings) {
      std::string& source = sources.emplace_back();
      unsigned reg = result;
      for (const Access& load : loads) {
        source += fmt::format("{} {}, {}\n", test::name_on(processor, load.row), test::registers('v', reg, load.words),
                              addressing.operands);
        reg += load.words;
      }
      source += fmt::format("{} {}, {}\n", test::name_on(processor, "buffer_store_dwordx2"),
                            test::registers('v', stored, 2), addressing.operands);
    }
    const auto codes = test::assemble_programs(sources, processor, machine.wave_size);
    for (unsigned way = 0; way < std::size(addressings); ++way) {
      for (const Buffer& buffer : buffers) {
        const Ranges ranges{processor, buffer, addressings[way]};
        if (!ranges.exists()) continue;
        for (const uint64_t mask : masks) {
          SCOPED_TRACE(fmt::format("{}stride {}, records {}, select {}, swizzle {}, elements of {}", sources[way],
                                   buffer.stride, buffer.records, static_cast<int>(buffer.select), buffer.swizzle,
                                   buffer.element));
          const uint64_t exec = machine.wave_size == 32 ? mask & 0xFFFF'FFFF : mask;
          std::vector<uint8_t> memory(memory_bytes);
          for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint8_t>(i * 167 + i / 256 * 13 + 0x80);
          WaveRunner runner(machine.processor, "", machine.wave_size);
          runner.wave().set_exec(exec);
          runner.set_pair(4, memory.data());
          runner.s(5) |= ranges.word1();
          runner.s(6) = buffer.records;
          runner.s(7) = ranges.word3();
          runner.s(8) = scalar_offset;
          std::vector<uint8_t> expected = memory;
          std::vector<std::array<uint32_t, 64>> results(7);
          for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
            // Far away only where that is checked.
            const Select select = ranges.select();
            const bool is_far_index = select != no_records && lane % 9 == 4;
            const bool is_far_offset = (select == raw || select == index_and_offset) && lane % 11 == 3;
            runner.v(2)[lane] = is_far_index ? 0x0010'0000 + lane : lane * 7 % 64;
            runner.v(3)[lane] = addressings[way].has_index ? lane % 3 * 4 : lane * 29 % 64 * 4;
            if (is_far_offset) runner.v(3)[lane] = 0x7FFF'FFF0;
            runner.v(stored)[lane] = 0x9E37'79B9 * (lane + 1);
            runner.v(stored + 1)[lane] = 0x85EB'CA6B * (lane + 1);
            for (unsigned i = 0; i < 7; ++i) results[i][lane] = runner.v(result + i)[lane] = 0xDEAD'BEEF;
          }
          const auto index = [&](unsigned lane) { return addressings[way].has_index ? runner.v(2)[lane] : 0u; };
          const auto offset = [&](unsigned lane) {
            return uint64_t{addressings[way].has_offset ? runner.v(3)[lane] : 0u} + addressings[way].constant;
          };
          unsigned reg = 0;
          for (const Access& load : loads) {
            for (unsigned word = 0; word < load.words; ++word, ++reg) {
              for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
                if ((exec >> lane & 1) == 0) continue;
                const bool inside = ranges.is_inside(index(lane), offset(lane), word * 4);
                const uint64_t place = ranges.place(index(lane), offset(lane), word * 4);
                results[reg][lane] = 0;
                if (inside) std::memcpy(&results[reg][lane], &memory[place], 4);
              }
            }
          }
          for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
            for (unsigned word = 0; word < 2 && (exec >> lane & 1) != 0; ++word) {
              if (!ranges.is_inside(index(lane), offset(lane), word * 4)) continue;
              const uint64_t place = ranges.place(index(lane), offset(lane), word * 4);
              std::memcpy(&expected[place], &runner.v(stored + word)[lane], 4);
            }
          }
          ASSERT_EQ(runner.run_instructions(codes[way]), WaveState::ended);
          for (unsigned i = 0; i < 7; ++i) {
            for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
              ASSERT_EQ(runner.v(result + i)[lane], results[i][lane]) << 'v' << result + i << " of lane " << lane;
            }
          }
          ASSERT_TRUE(memory == expected);
        }
      }
    }
  }
}

TEST(BufferRangesOnEachGeneration, OffsetsWrapAroundFromGfx9On) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    if (processor.generation >= Generation::gfx12_5) continue;
    const std::vector<std::string> sources = {
        fmt::format("{} v10, v3, s[4:7], s8 offen offset:20\n", test::name_on(processor, "buffer_load_dword")),
        fmt::format("{} v10, v[2:3], s[4:7], s8 idxen offen offset:20\n",
                    test::name_on(processor, "buffer_load_dword"))};
    const auto codes = test::assemble_programs(sources, processor, machine.wave_size);
    for (const bool has_index : {false, true}) {
      std::vector<uint32_t> memory(64, 0x1234'5678);
      WaveRunner runner(machine.processor, "", machine.wave_size);
      test::set_buffer(runner, 4, memory.data(), has_index ? 8 : 256, has_index ? 32 : 0);
      if (processor.buffer_resources >= target::BufferResources::gfx10) {
        runner.s(7) = (runner.s(7) & ~(3u << 28)) | (has_index ? 1u : 3u) << 28;
      }
      for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
        runner.v(2)[lane] = lane % 4;
        runner.v(3)[lane] = -16;
      }
      const bool wraps = processor.generation >= Generation::gfx9;
      if (has_index && !wraps) continue;  // far outside of any memory
      ASSERT_EQ(runner.run_instructions(codes[has_index ? 1 : 0]), WaveState::ended);
      for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
        ASSERT_EQ(runner.v(10)[lane], wraps ? 0x1234'5678u : 0u) << lane << (has_index ? " with an index" : "");
      }
    }
  }
}

TEST(BufferRangesOnEachGeneration, ThreadBuffersAreUncheckedOnCdna) {
  for (const char* name : {"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"}) {
    SCOPED_TRACE(name);
    const bool is_checked = std::string_view(name) == "gfx900" || std::string_view(name) == "gfx906";
    std::vector<uint32_t> memory(1024);
    for (uint32_t i = 0; i < memory.size(); ++i) memory[i] = i + 1;
    for (const bool has_index : {false, true}) {
      WaveRunner runner(name);
      test::set_buffer(runner, 4, memory.data(), 8, 16);
      runner.s(7) = 1u << 23;  // ADD_TID_ENABLE; the data format, which extends the stride, is 0
      ASSERT_EQ(runner.run(has_index ? "buffer_load_dword v10, v2, s[4:7], 0 idxen"
                                     : "buffer_load_dword v10, off, s[4:7], 0"),
                WaveState::ended);
      for (unsigned lane = 0; lane < 64; ++lane) {
        const bool is_inside = has_index ? lane < 8 : !is_checked || lane * 16 + 4 <= 8;
        ASSERT_EQ(runner.v(10)[lane], is_inside ? lane * 4 + 1 : 0) << lane << (has_index ? " with an index" : "");
      }
    }
  }
}

}  // namespace
}  // namespace Atoll

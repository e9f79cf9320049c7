// MUBUF and MTBUF instructions: addresses, range checks, formats, and scratch as a buffer.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "engine/wave_runner.h"

namespace Atoll {
namespace {

using machine::Fault;
using machine::WaveState;
using test::WaveRunner;

class Buffer : public testing::Test {
 protected:
  Buffer() : memory(1024) {
    for (unsigned i = 0; i < memory.size(); ++i) memory[i] = 0x01000193 * (i + 1);
  }
  /// A buffer resource in s[4:7].
  void resource(const void* base, uint32_t records, uint32_t stride = 0, uint32_t word3 = 0) {
    runner.set_pair(4, base);
    runner.s(5) = (runner.s(5) & 0xFFFF) | stride << 16;
    runner.s(6) = records;
    runner.s(7) = word3;
  }
  uint32_t& element(unsigned byte) { return memory[byte / 4]; }

  std::vector<uint32_t> memory;
  WaveRunner runner{"gfx90a"};
};

TEST_F(Buffer, AddressesAddBaseScalarIndexAndOffsets) {
  resource(memory.data(), 4096, 0);
  runner.s(8) = 64;
  for (unsigned lane = 0; lane < 64; ++lane) {
    runner.v(1)[lane] = 8 * lane;
    runner.v(2)[lane] = lane / 2;
    runner.v(3)[lane] = 4 * (lane % 2);
  }
  ASSERT_EQ(runner.run(R"(
      buffer_load_dword v10, off, s[4:7], 0 offset:16
      buffer_load_dword v11, v1, s[4:7], s8 offen offset:4
      buffer_load_dwordx2 v[12:13], v1, s[4:7], 0 offen
      s_mov_b32 s5, s5
      s_or_b32 s5, s5, 0x100000
      s_mov_b32 s6, 100
      buffer_load_dword v14, v2, s[4:7], 0 idxen
      buffer_load_dword v15, v[2:3], s[4:7], s8 idxen offen offset:8)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(runner.v(10)[lane], element(16));
    EXPECT_EQ(runner.v(11)[lane], element(64 + 8 * lane + 4));
    EXPECT_EQ(runner.v(12)[lane], element(8 * lane));
    EXPECT_EQ(runner.v(13)[lane], element(8 * lane + 4));
    EXPECT_EQ(runner.v(14)[lane], element(16 * (lane / 2)));
    EXPECT_EQ(runner.v(15)[lane], element(64 + 16 * (lane / 2) + 4 * (lane % 2) + 8));
  }
}

TEST_F(Buffer, OfSeveralMisalignedLanesOfAnAtomicTheFirstFaults) {
  resource(memory.data(), 64 * 4);
  for (unsigned lane = 0; lane < 64; ++lane) runner.v(1)[lane] = 4 * lane + (lane == 17 || lane == 40 ? 2 : 0);
  EXPECT_EQ(runner.run("buffer_atomic_add v0, v1, s[4:7], 0 offen"), WaveState::faulted);
  EXPECT_EQ(runner.wave().fault->lane, 17u);
}

TEST_F(Buffer, OutsideReadsZeroAndWritesNothing) {
  resource(memory.data(), 64 * 4 - 128);
  for (unsigned lane = 0; lane < 64; ++lane) runner.v(1)[lane] = 4 * lane;
  const std::vector<uint32_t> before = memory;
  ASSERT_EQ(runner.run(R"(
      buffer_load_dword v2, v1, s[4:7], 0 offen
      buffer_load_dwordx4 v[4:7], v1, s[4:7], 0 offen
      buffer_store_dwordx2 v[0:1], v1, s[4:7], 0 offen offset:120
      buffer_atomic_add v0, v1, s[4:7], 0 offen offset:128 glc)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(runner.v(4 + i)[lane], lane + i < 32 ? before[lane + i] : 0u);
    EXPECT_EQ(runner.v(2)[lane], lane < 32 ? before[lane] : 0);
    EXPECT_EQ(runner.v(0)[lane], 0u);
  }
  EXPECT_EQ(memory[30], 0u);
  EXPECT_EQ(memory[31], 1u);  // lane 0 wrote 0 there, lane 1 its number
  for (unsigned i = 32; i < memory.size(); ++i) EXPECT_EQ(memory[i], before[i]);
}

// Loads and stores of every width in a buffer that the code makes itself, of an odd size, with offsets of every kind,
// and of elements that are inside in part: as "Range Checking" has it, dword by dword.
struct Place {
  std::string_view operands;  ///< of the instruction, from the address on; v2 and v3 are indices and offsets
  bool has_index, has_offset;
  uint32_t scalar_offset, offset;
};
constexpr Place raw_places[] = {
    {"off, s[4:7], 0 offset:20", false, false, 0, 20},
    {"off, s[4:7], s8", false, false, 36, 0},
    {"v3, s[4:7], 0 offen", false, true, 0, 0},
    {"v3, s[4:7], s8 offen offset:12", false, true, 36, 12},
};
constexpr Place structured_places[] = {
    {"v2, s[4:7], 0 idxen", true, false, 0, 0},
    {"v[2:3], s[4:7], s8 idxen offen offset:4", true, true, 36, 4},
};
struct Width {
  std::string_view load, store;
  unsigned bytes;
};
constexpr Width widths[] = {{"ubyte", "byte", 1},      {"ushort", "short", 2},     {"dword", "dword", 4},
                            {"dwordx2", "dwordx2", 8}, {"dwordx3", "dwordx3", 12}, {"dwordx4", "dwordx4", 16}};

class BufferWidths : public Buffer {
 protected:
  static constexpr uint32_t raw_bytes = 203, stride = 12, records = 21;
  enum Offsets { in_a_row, backwards, equal, wild, pattern_count };

  void set_offsets(Offsets pattern, unsigned bytes, bool structured) {
    for (unsigned lane = 0; lane < 64; ++lane) {
      const uint32_t offsets[] = {lane * bytes, (63 - lane) * bytes, 40,
                                  lane % 11 == 3 && !structured ? 0xFFFF'FFF0 + lane % 16 : lane * 29 % 64 * 5};
      runner.v(3)[lane] = offsets[pattern];
      runner.v(2)[lane] = pattern == equal ? 7 : pattern == wild && lane % 7 == 0 ? 0x8000'0000 + lane : lane * 3 % 32;
    }
    runner.s(8) = 36;
    runner.set_pair(4, memory.data());
  }
  /// Makes the rest of the resource.
  static std::string begin(bool structured) {
    return fmt::format("s_mov_b32 s6, {}\ns_or_b32 s5, s5, {:#x}\ns_mov_b32 s7, 0\n", structured ? records : raw_bytes,
                       structured ? stride << 16 : 0);
  }
  /// Where a lane's element is, and how many of its bytes are inside.
  std::pair<uint64_t, unsigned> element(const Place& place, unsigned lane, unsigned bytes) {
    // The sum wraps around (measured on gfx950: ROCm/rocm-systems#10928).
    const uint64_t offset = static_cast<uint32_t>((place.has_offset ? runner.v(3)[lane] : 0) + place.offset);
    if (place.has_index) {
      const uint64_t index = runner.v(2)[lane];
      return {index * stride + offset + place.scalar_offset, index < records ? bytes : 0};
    }
    const uint64_t begin = offset + place.scalar_offset;
    if (begin + bytes <= raw_bytes) return {begin, bytes};
    return {begin, begin < raw_bytes ? static_cast<unsigned>(raw_bytes - begin) / 4 * 4 : 0};
  }
  static std::string rows(unsigned first, unsigned bytes) {
    return bytes <= 4 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + bytes / 4 - 1);
  }
  void check(const Place& place, const Width& width, Offsets pattern, uint64_t exec);

  uint8_t* bytes() { return reinterpret_cast<uint8_t*>(memory.data()); }
};

void BufferWidths::check(const Place& place, const Width& width, Offsets pattern, uint64_t exec) {
  for (unsigned i = 0; i < memory.size(); ++i) memory[i] = 0x01000193 * (i + 1);
  set_offsets(pattern, place.has_index ? 4 : width.bytes, place.has_index);
  runner.wave().set_exec(exec);
  const unsigned words = (width.bytes + 3) / 4;
  std::vector<uint32_t> loaded(64 * words, 0xABCD);
  for (unsigned lane = 0; lane < 64; ++lane) {
    for (unsigned word = 0; word < words; ++word) {
      runner.v(10 + word)[lane] = 0xABCD;
      runner.v(20 + word)[lane] = lane * 0x10203 + word;
    }
    if ((exec >> lane & 1) == 0) continue;
    const auto [begin, inside] = element(place, lane, width.bytes);
    uint32_t value[4]{};
    std::memcpy(value, bytes() + begin, inside);
    for (unsigned word = 0; word < words; ++word) loaded[lane * words + word] = value[word];
  }
  std::vector<uint8_t> stored(bytes(), bytes() + memory.size() * 4);
  // The last lane to store to a place wins.
  for (unsigned lane = 0; lane < 64; ++lane) {
    if ((exec >> lane & 1) == 0) continue;
    const auto [begin, inside] = element(place, lane, width.bytes);
    uint32_t value[4];
    for (unsigned word = 0; word < words; ++word) value[word] = runner.v(20 + word)[lane];
    std::memcpy(stored.data() + begin, value, inside);
  }
  const std::string source = begin(place.has_index) + fmt::format("buffer_load_{} {}, {}\nbuffer_store_{} {}, {}",
                                                                  width.load, rows(10, width.bytes), place.operands,
                                                                  width.store, rows(20, width.bytes), place.operands);
  ASSERT_EQ(runner.run(source), WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    for (unsigned word = 0; word < words; ++word) {
      ASSERT_EQ(runner.v(10 + word)[lane], loaded[lane * words + word]) << source << ", " << pattern << ", " << lane;
    }
  }
  EXPECT_TRUE(std::equal(stored.begin(), stored.end(), bytes())) << source << ", " << pattern;
}

TEST_F(BufferWidths, ReadAndWriteWhatIsInside) {
  for (const Width& width : widths) {
    for (unsigned pattern = 0; pattern < pattern_count; ++pattern) {
      for (const uint64_t exec : {~uint64_t{0}, uint64_t{0x0000'FFFE'FFFF'7FF0}}) {
        for (const Place& place : raw_places) check(place, width, static_cast<Offsets>(pattern), exec);
        for (const Place& place : structured_places) check(place, width, static_cast<Offsets>(pattern), exec);
      }
    }
  }
}

TEST_F(BufferWidths, AtomicsAreDoneInside) {
  set_offsets(in_a_row, 4, false);
  const std::vector<uint32_t> before = memory;
  for (unsigned lane = 0; lane < 64; ++lane) {
    runner.v(4)[lane] = lane + 1;
    runner.v(10)[lane] = 1000 + lane;
    runner.v(11)[lane] = before[5 + lane];
    runner.v(12)[lane] = 7;
  }
  ASSERT_EQ(runner.run(begin(false) + R"(
      buffer_atomic_add v4, v3, s[4:7], 0 offen glc
      buffer_atomic_add v12, v3, s[4:7], 0 offen offset:4
      buffer_atomic_cmpswap v[10:11], v3, s[4:7], 0 offen offset:20 glc)"),
            WaveState::ended);
  constexpr unsigned words = raw_bytes / 4;
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(runner.v(4)[lane], lane < words ? before[lane] : 0u);
    EXPECT_EQ(runner.v(12)[lane], 7u);
    // That was compared with what the second instruction had added to already.
    EXPECT_EQ(runner.v(10)[lane], lane + 5 < words ? before[lane + 5] + lane + 6 + 7 : 0u);
  }
  for (unsigned i = 0; i < memory.size(); ++i) {
    const uint32_t added = i < words ? i + 1 + (i != 0 ? 7 : 0) : 0;
    EXPECT_EQ(memory[i], before[i] + added) << i;
  }
}

TEST_F(Buffer, StructuredBuffersCountRecords) {
  resource(memory.data(), 10, 12);
  ASSERT_EQ(runner.run("buffer_load_dword v1, v0, s[4:7], 0 idxen offset:4"), WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) EXPECT_EQ(runner.v(1)[lane], lane < 10 ? element(12 * lane + 4) : 0u);
}

// The scratch resource as the runtime makes it for GFX9: swizzled, 64 lanes, lane number added.
class ScratchBuffer : public Buffer {
 protected:
  ScratchBuffer() {
    resource(runner.wave().scratch, 64 * WaveRunner::scratch_bytes_per_lane, 0, 3u << 21 | 1u << 23);
    runner.s(5) |= 1u << 31;
  }
};

TEST_F(ScratchBuffer, LanesDwordsLieSideBySide) {
  for (unsigned lane = 0; lane < 64; ++lane) runner.v(1)[lane] = 4 * (lane % 5);
  ASSERT_EQ(runner.run(R"(
      buffer_store_dword v0, off, s[4:7], 0 offset:8
      v_add_u32 v2, 100, v0
      v_add_u32 v3, 200, v0
      buffer_store_dwordx2 v[2:3], off, s[4:7], 0 offset:16
      buffer_store_byte v0, v1, s[4:7], 0 offen offset:33
      buffer_load_dwordx2 v[4:5], off, s[4:7], 0 offset:16
      buffer_load_ubyte v6, v1, s[4:7], 0 offen offset:33)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(runner.scratch(lane, 8), lane);
    EXPECT_EQ(runner.scratch(lane, 16), 100 + lane);
    EXPECT_EQ(runner.scratch(lane, 20), 200 + lane);
    EXPECT_EQ(runner.scratch(lane, 32 + 4 * (lane % 5)), lane << 8);
    EXPECT_EQ(runner.v(4)[lane], 100 + lane);
    EXPECT_EQ(runner.v(5)[lane], 200 + lane);
    EXPECT_EQ(runner.v(6)[lane], lane);
  }
}

TEST_F(ScratchBuffer, MayLookLikeAnotherBuffer) {
  ASSERT_EQ(runner.run(R"(
      s_or_b32 s7, s7, 0
      v_add_u32 v2, 100, v0
      buffer_store_dword v2, off, s[4:7], 0 offset:8
      buffer_load_dword v3, off, s[4:7], 0 offset:8)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(runner.scratch(lane, 8), 100 + lane);
    EXPECT_EQ(runner.v(3)[lane], 100 + lane);
  }
}

TEST_F(ScratchBuffer, TheScalarOffsetIsOfTheWholeWave) {
  runner.s(8) = 256 * 5;  // five dwords of all lanes
  ASSERT_EQ(runner.run("buffer_store_dword v0, off, s[4:7], s8 offset:4"), WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) EXPECT_EQ(runner.scratch(lane, 24), lane);
}

// clang 22 makes of a loop over a private array that lies at 0: it begins with the pointer before it.
TEST_F(ScratchBuffer, AddressesWrapAround) {
  for (unsigned lane = 0; lane < 64; ++lane) runner.v(1)[lane] = 0xFFFFFFFF - lane % 2;
  ASSERT_EQ(runner.run(R"(
      buffer_store_byte v0, v1, s[4:7], 0 offen offset:2
      buffer_load_ubyte v2, v1, s[4:7], 0 offen offset:2)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(runner.scratch(lane, 0), lane % 2 == 0 ? lane << 8 : lane);
    EXPECT_EQ(runner.v(2)[lane], lane);
  }
}

TEST_F(ScratchBuffer, AnAddressPastTheWavesScratchFaults) {
  runner.s(6) = 0xFFFFFFFF;
  for (unsigned lane = 0; lane < 64; ++lane) runner.v(1)[lane] = lane == 3 ? WaveRunner::scratch_bytes_per_lane : 0;
  EXPECT_EQ(runner.run("buffer_store_dword v0, v1, s[4:7], 0 offen"), WaveState::faulted);
  EXPECT_EQ(runner.wave().fault->kind, Fault::Kind::scratch_overflow);
  EXPECT_EQ(runner.wave().fault->lane, 3u);
}

TEST_F(Buffer, AtomicsReturnOldValues) {
  memory[0] = 7;
  memory[2] = 10;
  resource(memory.data(), 4096);
  for (unsigned lane = 0; lane < 64; ++lane) {
    runner.v(2)[lane] = lane + 11;
    runner.v(3)[lane] = lane + 10;
    runner.v(4)[lane] = 1;
  }
  ASSERT_EQ(
      runner.run("buffer_atomic_add v4, off, s[4:7], 0 glc\nbuffer_atomic_cmpswap v[2:3], off, s[4:7], 0 offset:8 glc"),
      WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(runner.v(4)[lane], 7 + lane);
    EXPECT_EQ(runner.v(2)[lane], 10 + lane);
  }
  EXPECT_EQ(memory[0], 71u);
  EXPECT_EQ(memory[2], 74u);
}

TEST_F(Buffer, FormatsConvertWhatTheResourceOrTheInstructionSays) {
  memory[0] = 0xFF8000FF;
  // DST_SEL xyzw, number format unorm, data format 8_8_8_8
  resource(memory.data(), 4096, 0, 4 | 5 << 3 | 6 << 6 | 7 << 9 | 0 << 12 | 10 << 15);
  ASSERT_EQ(runner.run(R"(
      buffer_load_format_xyzw v[4:7], off, s[4:7], 0
      tbuffer_load_format_x v8, off, s[4:7], 0 format:[BUF_DATA_FORMAT_16, BUF_NUM_FORMAT_SINT] offset:2
      v_mov_b32 v10, 1.0
      v_mov_b32 v11, 0.5
      v_mov_b32 v12, 0
      v_mov_b32 v13, 2.0
      buffer_store_format_xyzw v[10:13], off, s[4:7], 0 offset:16
      tbuffer_store_format_xy v[10:11], off, s[4:7], 0 format:[BUF_DATA_FORMAT_32_32, BUF_NUM_FORMAT_FLOAT] offset:24)"),
            WaveState::ended);
  EXPECT_EQ(std::bit_cast<float>(runner.v(4)[9]), 1.0f);
  EXPECT_EQ(std::bit_cast<float>(runner.v(5)[9]), 0.0f);
  EXPECT_EQ(std::bit_cast<float>(runner.v(6)[9]), 128.0f / 255.0f);
  EXPECT_EQ(std::bit_cast<float>(runner.v(7)[9]), 1.0f);
  EXPECT_EQ(runner.v(8)[9], 0xFFFFFF80u);
  EXPECT_EQ(memory[4] & 0xFF, 0xFFu);
  EXPECT_NEAR(static_cast<double>(memory[4] >> 8 & 0xFF), 127.5, 0.5);
  EXPECT_EQ(memory[4] >> 16 & 0xFF, 0u);
  EXPECT_EQ(memory[4] >> 24, 0xFFu);
  EXPECT_EQ(std::bit_cast<float>(memory[6]), 1.0f);
  EXPECT_EQ(std::bit_cast<float>(memory[7]), 0.5f);
}

TEST_F(Buffer, CacheControlIsAccepted) {
  EXPECT_EQ(runner.run("buffer_wbinvl1\nbuffer_wbinvl1_vol\nbuffer_wbl2\nbuffer_invl2"), WaveState::ended);
}

}  // namespace
}  // namespace Atoll

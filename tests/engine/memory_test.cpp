// Memory instructions of every family, against what the host reads and writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <thread>

#include "engine/wave_runner.h"
#include "machine/memory/memory.h"

namespace Atoll {
namespace {

using machine::Fault;
using machine::WaveState;
using test::WaveRunner;

uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

/// Bytes that no two places share.
std::vector<uint8_t> pattern(size_t size) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 167 + i / 256 * 13 + 0x80);
  return bytes;
}

template <typename T>
T read(const std::vector<uint8_t>& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// --- GLOBAL and FLAT ------------------------------------------------------------------------------------------------

struct Family {
  const char* prefix;
  const char* address;  ///< operands of a load after the result, with the address in v[2:3]
};
void PrintTo(const Family& family, std::ostream* out) { *out << family.prefix; }
class GlobalMemory : public testing::TestWithParam<Family> {
 protected:
  std::string op(const std::string& name, const std::string& result) const {
    return std::string(GetParam().prefix) + name + " " + result + ", v[2:3]" + GetParam().address + "\n";
  }
  std::string store(const std::string& name, const std::string& data) const {
    return std::string(GetParam().prefix) + name + " v[2:3], " + data + GetParam().address + "\n";
  }
};

TEST_P(GlobalMemory, LoadsEveryWidthFromEveryAlignment) {
  const auto memory = pattern(4096);
  for (const unsigned step : {1u, 4u, 12u, 16u, 29u, 0u}) {
    WaveRunner runner;
    runner.set_rows(2, [&](unsigned lane) { return address_of(memory.data()) + 64 + lane * step; });
    for (unsigned i = 20; i < 26; ++i) {
      for (uint32_t& lane : runner.v(i)) lane = 0xDEADBEEF;
    }
    ASSERT_EQ(runner.run(op("load_ubyte", "v4") + op("load_sbyte", "v5") + op("load_ushort", "v6") +
                         op("load_sshort", "v7") + op("load_dword", "v8") + op("load_dwordx2", "v[10:11]") +
                         op("load_dwordx3", "v[12:14]") + op("load_dwordx4", "v[16:19]") + op("load_ubyte_d16", "v20") +
                         op("load_ubyte_d16_hi", "v21") + op("load_sbyte_d16", "v22") + op("load_sbyte_d16_hi", "v23") +
                         op("load_short_d16", "v24") + op("load_short_d16_hi", "v25") + "s_waitcnt vmcnt(0)"),
              WaveState::ended);
    for (unsigned lane = 0; lane < 64; ++lane) {
      const size_t at = 64 + lane * step;
      const auto byte = read<uint8_t>(memory, at);
      const auto half = read<uint16_t>(memory, at);
      EXPECT_EQ(runner.v(4)[lane], byte);
      EXPECT_EQ(runner.v(5)[lane], static_cast<uint32_t>(static_cast<int8_t>(byte)));
      EXPECT_EQ(runner.v(6)[lane], half);
      EXPECT_EQ(runner.v(7)[lane], static_cast<uint32_t>(static_cast<int16_t>(half)));
      for (unsigned i = 0; i < 4; ++i) {
        const auto word = read<uint32_t>(memory, at + 4 * i);
        if (i < 1) EXPECT_EQ(runner.v(8 + i)[lane], word);
        if (i < 2) EXPECT_EQ(runner.v(10 + i)[lane], word);
        if (i < 3) EXPECT_EQ(runner.v(12 + i)[lane], word);
        EXPECT_EQ(runner.v(16 + i)[lane], word);
      }
      const uint32_t sign = static_cast<uint16_t>(static_cast<int8_t>(byte));
      EXPECT_EQ(runner.v(20)[lane], 0xDEAD0000u | byte);
      EXPECT_EQ(runner.v(21)[lane], 0xBEEFu | uint32_t{byte} << 16);
      EXPECT_EQ(runner.v(22)[lane], 0xDEAD0000u | sign);
      EXPECT_EQ(runner.v(23)[lane], 0xBEEFu | sign << 16);
      EXPECT_EQ(runner.v(24)[lane], 0xDEAD0000u | half);
      EXPECT_EQ(runner.v(25)[lane], 0xBEEFu | uint32_t{half} << 16);
    }
  }
}

TEST_P(GlobalMemory, StoresEveryWidthUnderExec) {
  const struct {
    const char* name;
    const char* data;
    unsigned bytes, from;  ///< the data's byte in v[8:11] that comes first
  } cases[] = {{"store_byte", "v8", 1, 0},          {"store_short", "v8", 2, 0},
               {"store_dword", "v8", 4, 0},         {"store_dwordx2", "v[8:9]", 8, 0},
               {"store_dwordx3", "v[8:10]", 12, 0}, {"store_dwordx4", "v[8:11]", 16, 0},
               {"store_byte_d16_hi", "v8", 1, 2},   {"store_short_d16_hi", "v8", 2, 2}};
  for (const auto& c : cases) {
    for (const uint64_t exec : {~uint64_t{0}, uint64_t{0x8000'00FF'0F0F'0001}}) {
      for (const unsigned step : {c.bytes, c.bytes + 3}) {
        std::vector<uint8_t> memory(2048), expected(2048);
        WaveRunner runner;
        runner.wave().set_exec(exec);
        for (unsigned lane = 0; lane < 64; ++lane) {
          uint32_t words[4];
          for (unsigned i = 0; i < 4; ++i) runner.v(8 + i)[lane] = words[i] = 0x9E3779B9 * (4 * lane + i + 1);
          if ((exec >> lane & 1) != 0) {
            std::memcpy(expected.data() + 1 + lane * step, reinterpret_cast<uint8_t*>(words) + c.from, c.bytes);
          }
        }
        runner.set_rows(2, [&](unsigned lane) { return address_of(memory.data()) + 1 + lane * step; });
        ASSERT_EQ(runner.run(store(c.name, c.data)), WaveState::ended);
        EXPECT_EQ(memory, expected) << c.name << " step " << step;
      }
    }
  }
}

TEST_P(GlobalMemory, AtomicsComputeLaneAfterLane) {
  const struct {
    const char* name;
    uint64_t start, data;
    uint64_t (*result)(uint64_t old, uint64_t data);
    bool wide;
  } cases[] = {
      {"atomic_add", 5, 3, [](uint64_t a, uint64_t b) { return a + b; }, false},
      {"atomic_sub", 5, 3, [](uint64_t a, uint64_t b) { return a - b; }, false},
      {"atomic_swap", 5, 3, [](uint64_t, uint64_t b) { return b; }, false},
      {"atomic_smax", 0xFFFFFFF0, 3,
       [](uint64_t a, uint64_t b) {
         return static_cast<uint64_t>(std::max(static_cast<int32_t>(a), static_cast<int32_t>(b)));
       },
       false},
      {"atomic_umax", 0xFFFFFFF0, 3, [](uint64_t a, uint64_t b) { return std::max(a, b); }, false},
      {"atomic_and", 0xFF, 0xFFF0, [](uint64_t a, uint64_t b) { return a & b; }, false},
      {"atomic_inc", 0, 40, [](uint64_t a, uint64_t b) { return a >= b ? 0 : a + 1; }, false},
      {"atomic_dec", 0, 40, [](uint64_t a, uint64_t b) { return a == 0 || a > b ? b : a - 1; }, false},
      {"atomic_add_x2", 0xFFFFFFFF, 3, [](uint64_t a, uint64_t b) { return a + b; }, true},
      {"atomic_xor_x2", 0x123456789ABCDEF0, 0x1111111111111111, [](uint64_t a, uint64_t b) { return a ^ b; }, true},
      {"atomic_umin_x2", 0x123456789ABCDEF0, 0x1111111111111111, [](uint64_t a, uint64_t b) { return std::min(a, b); },
       true},
  };
  for (const auto& c : cases) {
    alignas(8) uint64_t memory = c.start;
    WaveRunner runner;
    runner.set_rows(2, [&](unsigned) { return address_of(&memory); });
    runner.set_rows(4, [&](unsigned lane) { return c.data + lane; });
    const std::string data = c.wide ? "v[4:5]" : "v4", result = c.wide ? "v[6:7]" : "v6";
    const std::string glc = runner.processor() == "gfx942" ? " sc0" : " glc";
    ASSERT_EQ(runner.run(std::string(GetParam().prefix) + c.name + " " + result + ", v[2:3], " + data +
                         GetParam().address + glc),
              WaveState::ended);
    uint64_t expected = c.start;
    for (unsigned lane = 0; lane < 64; ++lane) {
      const uint64_t old = c.wide ? runner.v64(6, lane) : runner.v(6)[lane];
      EXPECT_EQ(old, c.wide ? expected : static_cast<uint32_t>(expected)) << c.name << " lane " << lane;
      expected = c.result(expected, c.data + lane);
      if (!c.wide) expected = static_cast<uint32_t>(expected);
    }
    EXPECT_EQ(c.wide ? memory : static_cast<uint32_t>(memory), expected) << c.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, GlobalMemory, testing::Values(Family{"global_", ", off"}, Family{"flat_", ""}),
                         [](const auto& info) { return info.index == 0 ? "Global" : "Flat"; });

TEST(GlobalAddress, AScalarBaseTakesAnUnsignedOffsetAndASignedImmediate) {
  const auto memory = pattern(1024);
  WaveRunner runner;
  runner.set_pair(4, memory.data() + 300);
  for (unsigned lane = 0; lane < 64; ++lane) runner.v(2)[lane] = 8 * lane;
  ASSERT_EQ(runner.run("global_load_dword v4, v2, s[4:5] offset:-44\nglobal_load_dwordx2 v[6:7], v2, s[4:5]\n"
                       "global_load_ushort v5, v2, s[4:5] offset:100"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(runner.v(4)[lane], read<uint32_t>(memory, 256 + 8 * lane));
    EXPECT_EQ(runner.v64(6, lane), read<uint64_t>(memory, 300 + 8 * lane));
    EXPECT_EQ(runner.v(5)[lane], read<uint16_t>(memory, 400 + 8 * lane));
  }
}

TEST(GlobalAddress, AccumulationRegistersAreLoadedAndStored) {
  const auto memory = pattern(256);
  std::vector<uint8_t> copy(256);
  WaveRunner runner("gfx90a");
  runner.set_pair(4, memory.data());
  runner.set_pair(6, copy.data());
  ASSERT_EQ(runner.run("v_lshlrev_b32 v1, 2, v0\nglobal_load_dword a5, v1, s[4:5]\nglobal_store_dword v1, a5, s[6:7]"),
            WaveState::ended);
  EXPECT_EQ(copy, memory);
  EXPECT_EQ(runner.a(5)[3], read<uint32_t>(memory, 12));
}

TEST(GlobalAtomics, CompareSwapFloatsAndPackedHalves) {
  alignas(8) uint32_t counter[8] = {10, 0, 0, 0, 0, 0, 0, 0};
  WaveRunner runner("gfx90a");
  runner.set_pair(4, counter);
  for (unsigned lane = 0; lane < 64; ++lane) {
    runner.v(2)[lane] = lane + 11;  // new value
    runner.v(3)[lane] = lane + 10;  // compare: succeeds in every lane in turn
    runner.v(10)[lane] = 0;
    runner.v(11)[lane] = std::bit_cast<uint32_t>(0.5f);
    runner.v(12)[lane] = 0x3C004000;  // 2, 1
    runner.v(14)[lane] = 0;
    runner.v(15)[lane] = 0x3FD00000;  // 0.25
  }
  ASSERT_EQ(runner.run(R"(
      global_atomic_cmpswap v5, v10, v[2:3], s[4:5] glc
      global_atomic_add_f32 v10, v11, s[4:5] offset:4
      global_atomic_pk_add_f16 v10, v12, s[4:5] offset:8
      global_atomic_add_f64 v10, v[14:15], s[4:5] offset:16)"),
            WaveState::ended);
  EXPECT_EQ(counter[0], 74u);
  for (unsigned lane = 0; lane < 64; ++lane) EXPECT_EQ(runner.v(5)[lane], lane + 10);
  EXPECT_EQ(std::bit_cast<float>(counter[1]), 32.0f);
  EXPECT_EQ(counter[2], 0x54005800u);  // 64, 128
  double sum;
  std::memcpy(&sum, counter + 4, sizeof sum);
  EXPECT_EQ(sum, 16.0);
}

TEST(GlobalAtomics, AddUpOverHostThreads) {
  alignas(8) uint32_t counter = 0;
  alignas(8) float sum = 0;
  const auto work = [&] {
    WaveRunner runner("gfx908");
    runner.set_pair(4, &counter);
    runner.set_pair(6, &sum);
    EXPECT_EQ(runner.run(R"(
        v_mov_b32 v1, 1
        v_mov_b32 v2, 1.0
        v_mov_b32 v3, 0
        s_movk_i32 s0, 500
      loop:
        global_atomic_add v3, v1, s[4:5]
        global_atomic_add_f32 v3, v2, s[6:7]
        s_sub_u32 s0, s0, 1
        s_cmp_lg_u32 s0, 0
        s_cbranch_scc1 loop)"),
              WaveState::ended);
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(counter, 64000u);
  EXPECT_EQ(sum, 64000.0f);
}

TEST(GlobalAtomics, AMisalignedOneFaults) {
  alignas(8) uint32_t memory[4] = {};
  WaveRunner runner;
  runner.set_rows(2, [&](unsigned lane) { return address_of(memory) + (lane == 7 ? 2 : 0); });
  EXPECT_EQ(runner.run("global_atomic_add v[2:3], v0, off"), WaveState::faulted);
  EXPECT_EQ(runner.wave().fault->kind, Fault::Kind::memory);
  EXPECT_EQ(runner.wave().fault->lane, 7u);
  EXPECT_EQ(runner.wave().fault->address, address_of(memory) + 2);
}

TEST(GlobalAtomics, OfSeveralMisalignedLanesTheFirstActiveOneFaults) {
  alignas(8) uint32_t memory[4] = {};
  WaveRunner runner;
  runner.wave().set_exec(~uint64_t{1});
  runner.set_rows(2,
                  [&](unsigned lane) { return address_of(memory) + (lane == 0 || lane == 7 || lane == 20 ? 2 : 0); });
  EXPECT_EQ(runner.run("global_atomic_add v[2:3], v0, off"), WaveState::faulted);
  EXPECT_EQ(runner.wave().fault->lane, 7u);
}

TEST(FlatMemory, LanesGoToGlobalLdsAndScratchByTheirAddress) {
  std::vector<uint32_t> memory(64);
  WaveRunner runner;
  for (unsigned lane = 0; lane < 64; ++lane) {
    memory[lane] = 1000 + lane;
    std::memcpy(runner.lds() + 4 * lane, &(const uint32_t&)uint32_t{2000 + lane}, 4);
    runner.scratch(lane, 8) = 3000 + lane;
  }
  runner.set_rows(2, [&](unsigned lane) -> uint64_t {
    if (lane % 3 == 0) return address_of(&memory[lane]);
    if (lane % 3 == 1) return (uint64_t{machine::shared_aperture_hi} << 32) + 4 * lane;
    return (uint64_t{machine::private_aperture_hi} << 32) + 8;
  });
  ASSERT_EQ(runner.run("flat_load_dword v4, v[2:3]\nv_add_u32 v5, 1, v4\nflat_store_dword v[2:3], v5\n"
                       "flat_atomic_add v6, v[2:3], v0 glc"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    uint32_t local;
    std::memcpy(&local, runner.lds() + 4 * lane, 4);
    const uint32_t value = (lane % 3 + 1) * 1000 + lane;
    EXPECT_EQ(runner.v(4)[lane], value);
    EXPECT_EQ(runner.v(6)[lane], value + 1);
    EXPECT_EQ(memory[lane], lane % 3 == 0 ? value + 1 + lane : 1000 + lane);
    EXPECT_EQ(local, lane % 3 == 1 ? value + 1 + lane : 2000 + lane);
    EXPECT_EQ(runner.scratch(lane, 8), lane % 3 == 2 ? value + 1 + lane : 3000 + lane);
  }
}

TEST(FlatMemory, WideAndUnalignedAccessesReachOverScratchDwords) {
  WaveRunner runner;
  runner.set_rows(2, [&](unsigned lane) { return (uint64_t{machine::private_aperture_hi} << 32) + 16 + lane % 4; });
  for (unsigned i = 4; i < 8; ++i) {
    for (unsigned lane = 0; lane < 64; ++lane) runner.v(i)[lane] = 0x01010101 * i + 0x10203040 * (lane % 4);
  }
  ASSERT_EQ(runner.run("flat_store_dwordx4 v[2:3], v[4:7]\nflat_load_dwordx4 v[8:11], v[2:3]\n"
                       "flat_atomic_add_x2 v[12:13], v[2:3], v[4:5] glc"),
            WaveState::faulted);  // the atomic: lanes 1 to 3 are not aligned
  for (unsigned lane = 0; lane < 64; ++lane) {
    uint8_t bytes[24], expected[24]{};
    for (unsigned i = 0; i < 6; ++i) std::memcpy(bytes + 4 * i, &runner.scratch(lane, 16 + 4 * i), 4);
    for (unsigned i = 0; i < 4; ++i) {
      EXPECT_EQ(runner.v(8 + i)[lane], runner.v(4 + i)[lane]);
      std::memcpy(expected + lane % 4 + 4 * i, &runner.v(4 + i)[lane], 4);
    }
    EXPECT_EQ(std::memcmp(bytes, expected, sizeof bytes), 0) << lane;
  }
}

TEST(FlatMemory, LdsPastTheEndReadsZeroAndDropsWrites) {
  WaveRunner runner;
  runner.set_rows(2, [&](unsigned lane) {
    return (uint64_t{machine::shared_aperture_hi} << 32) + (lane % 2 != 0 ? WaveRunner::lds_bytes - 2 : 4 * lane);
  });
  for (uint32_t& lane : runner.v(4)) lane = 9;
  for (uint32_t& lane : runner.v(5)) lane = 9;
  ASSERT_EQ(runner.run("flat_store_dword v[2:3], v4\nflat_load_dword v5, v[2:3]"), WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) EXPECT_EQ(runner.v(5)[lane], lane % 2 != 0 ? 0u : 9u);
}

// --- SCRATCH --------------------------------------------------------------------------------------------------------

TEST(Scratch, IsSwizzledByDwordsOfTheLanes) {
  WaveRunner runner("gfx942");
  runner.s(4) = 32;
  for (unsigned lane = 0; lane < 64; ++lane) runner.v(1)[lane] = 16 * (lane % 3);
  ASSERT_EQ(runner.run(R"(
      scratch_store_dword off, v0, off offset:4
      v_add_u32 v2, 100, v0
      v_add_u32 v3, 200, v0
      scratch_store_dwordx2 off, v[2:3], s4 offset:8
      scratch_store_byte v1, v0, off offset:65
      scratch_load_dword v6, off, s4 offset:12
      scratch_load_dwordx2 v[8:9], off, s4 offset:8
      scratch_store_short v1, v2, s4 offset:100
      scratch_load_ushort v7, v1, s4 offset:100)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(runner.scratch(lane, 4), lane);
    EXPECT_EQ(runner.scratch(lane, 40), 100 + lane);
    EXPECT_EQ(runner.scratch(lane, 44), 200 + lane);
    EXPECT_EQ(runner.scratch(lane, 64 + 16 * (lane % 3)), lane << 8);
    EXPECT_EQ(runner.v(6)[lane], 200 + lane);
    EXPECT_EQ(runner.v(8)[lane], 100 + lane);
    EXPECT_EQ(runner.v(9)[lane], 200 + lane);
    EXPECT_EQ(runner.v(7)[lane], 100 + lane);
  }
}

TEST(Scratch, AnAddressPastTheWavesScratchFaults) {
  WaveRunner runner("gfx942");
  for (unsigned lane = 0; lane < 64; ++lane)
    runner.v(1)[lane] = lane == 13 ? WaveRunner::scratch_bytes_per_lane - 3 : 0;
  EXPECT_EQ(runner.run("scratch_load_dword v2, v1, off"), WaveState::faulted);
  EXPECT_EQ(runner.wave().fault->kind, Fault::Kind::scratch_overflow);
  EXPECT_EQ(runner.wave().fault->lane, 13u);
  EXPECT_EQ(runner.wave().fault->address, WaveRunner::scratch_bytes_per_lane - 3);
}

// --- SMEM -----------------------------------------------------------------------------------------------------------

TEST(ScalarMemory, LoadsStoresAndOffsets) {
  std::vector<uint8_t> memory = pattern(512);
  WaveRunner runner("gfx900");
  runner.set_pair(2, memory.data());
  runner.s(5) = 64;
  ASSERT_EQ(runner.run(R"(
      s_load_dword s8, s[2:3], 0x10
      s_load_dwordx2 s[10:11], s[2:3], s5
      s_load_dwordx4 s[12:15], s[2:3], 0x20
      s_load_dwordx8 s[16:23], s[2:3], 0x0
      s_load_dwordx16 s[24:39], s[2:3], 0x80
      s_load_dword s40, s[2:3], 0x13
      s_mov_b32 s41, 0x12345678
      s_store_dword s41, s[2:3], 0x180
      s_atc_probe 0, s[2:3], 0
      s_dcache_wb)"),
            WaveState::ended);
  EXPECT_EQ(runner.s(8), read<uint32_t>(memory, 0x10));
  EXPECT_EQ(runner.wave().scalar64(10), read<uint64_t>(memory, 64));
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(runner.s(12 + i), read<uint32_t>(memory, 0x20 + 4 * i));
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(runner.s(16 + i), read<uint32_t>(memory, 4 * i));
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(runner.s(24 + i), read<uint32_t>(memory, 0x80 + 4 * i));
  EXPECT_EQ(runner.s(40), read<uint32_t>(memory, 0x10));
  EXPECT_EQ(read<uint32_t>(memory, 0x180), 0x12345678u);
}

TEST(ScalarMemory, ScratchOffsetsInRegistersCountInUnitsOf64) {
  const std::vector<uint8_t> memory = pattern(512);
  WaveRunner runner("gfx900");
  runner.set_pair(2, memory.data());
  runner.s(5) = 3;
  ASSERT_EQ(runner.run("s_scratch_load_dword s8, s[2:3], s5\ns_scratch_load_dwordx2 s[10:11], s[2:3], 0x14"),
            WaveState::ended);
  EXPECT_EQ(runner.s(8), read<uint32_t>(memory, 192));
  EXPECT_EQ(runner.wave().scalar64(10), read<uint64_t>(memory, 0x14));
}

TEST(ScalarMemory, BuffersReadZeroPastTheirEnd) {
  const std::vector<uint8_t> memory = pattern(64);
  WaveRunner runner;
  runner.set_pair(4, memory.data());
  runner.s(6) = 20;
  runner.s(7) = 0;
  ASSERT_EQ(runner.run("s_buffer_load_dwordx4 s[8:11], s[4:7], 0xc"), WaveState::ended);
  EXPECT_EQ(runner.s(8), read<uint32_t>(memory, 12));
  EXPECT_EQ(runner.s(9), read<uint32_t>(memory, 16));
  EXPECT_EQ(runner.s(10), 0u);
  EXPECT_EQ(runner.s(11), 0u);
}

TEST(ScalarMemory, AtomicsReturnTheOldValue) {
  alignas(8) uint64_t memory[2] = {41, 5};
  WaveRunner runner("gfx900");
  runner.set_pair(2, memory);
  runner.s(8) = 2;
  runner.wave().set_scalar64(12, 100);
  runner.wave().set_scalar64(14, 5);
  ASSERT_EQ(runner.run("s_atomic_add s8, s[2:3], 0x0 glc\ns_atomic_cmpswap_x2 s[12:15], s[2:3], 0x8 glc"),
            WaveState::ended);
  EXPECT_EQ(memory[0], 43u);
  EXPECT_EQ(memory[1], 100u);
  EXPECT_EQ(runner.s(8), 41u);
  EXPECT_EQ(runner.wave().scalar64(12), 5u);
}

}  // namespace
}  // namespace Atoll

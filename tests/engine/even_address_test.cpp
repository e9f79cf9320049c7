// Loads and stores whose addresses grow by the same from each lane to the next, computed from indices as compilers do
// it: extended with and without a sign, shifted, multiplied, added in halves. And where that goes wrong in the middle
// of a wave: indices and sums that wrap around, indices that are none, accesses that fail. The expected addresses are
// computed here, in 64 bits.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "engine/wave_runner.h"
#include "support/parameter_name.h"

namespace Atoll::test {

namespace {

using machine::WaveState;

constexpr uint64_t page = 4096;

/// Much address space of which only pages that were asked for can be accessed. The rest of a page holds what tells its
/// address.
class SparseMemory {
 public:
  SparseMemory() {
    begin_ =
        reinterpret_cast<uint64_t>(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  }
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;
  ~SparseMemory() { munmap(reinterpret_cast<void*>(begin_), bytes); }

  /// A multiple of 4 GiB with as much as any index reaches before and after it.
  uint64_t middle() const { return (begin_ + bytes / 2) >> 32 << 32; }

  static uint32_t word_of(uint64_t address) { return static_cast<uint32_t>((address >> 2) * 0x9E37'79B9 + 1); }
  void provide(uint64_t address) {
    const uint64_t start = address / page * page;
    auto* words = reinterpret_cast<uint32_t*>(start);
    ASSERT_EQ(mprotect(words, page, PROT_READ | PROT_WRITE), 0);
    for (uint64_t i = 0; i < page / 4; ++i) words[i] = word_of(start + i * 4);
  }
  void protect(uint64_t address) const {
    ASSERT_EQ(mprotect(reinterpret_cast<void*>(address / page * page), page, PROT_READ), 0);
  }
  static uint32_t read(uint64_t address) {
    uint32_t word;
    std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
    return word;
  }

 private:
  static constexpr uint64_t bytes = uint64_t{96} << 30;
  uint64_t begin_;
};

/// The way from v0 to an address in v[2:3]. s[0:1] is `base`, s[8:9] the `start` that indices count from.
struct Way {
  const char* name;
  const char* source;
  uint64_t (*address)(uint32_t index, uint64_t base, uint64_t start);
  const char* processor = "gfx90a";
};

uint64_t sign_extended(uint32_t word) { return static_cast<uint64_t>(int64_t{static_cast<int32_t>(word)}); }

#define ADD_BASE "v_mov_b32 v5, s1\n v_add_co_u32 v2, vcc, s0, v2\n v_addc_co_u32 v3, vcc, v5, v3, vcc\n"

constexpr Way ways[] = {
    {"without a sign", "v_mov_b32 v2, v0\n v_mov_b32 v3, 0\n v_lshlrev_b64 v[2:3], 2, v[2:3]\n" ADD_BASE,
     [](uint32_t i, uint64_t base, uint64_t) { return base + uint64_t{i} * 4; }},
    {"with a sign", "v_ashrrev_i32 v1, 31, v0\n v_lshlrev_b64 v[2:3], 2, v[0:1]\n" ADD_BASE,
     [](uint32_t i, uint64_t base, uint64_t) { return base + sign_extended(i) * 4; }},
    {"with a sign, after a sum",
     "v_subrev_u32 v0, s8, v0\n v_ashrrev_i32 v1, 31, v0\n v_lshlrev_b64 v[2:3], 2, v[0:1]\n" ADD_BASE,
     [](uint32_t i, uint64_t base, uint64_t start) {
       return base + sign_extended(i - static_cast<uint32_t>(start)) * 4;
     }},
    {"a sum of 64 bits",
     "v_mov_b32 v3, s9\n v_add_co_u32 v2, vcc, s8, v0\n v_addc_co_u32 v3, vcc, 0, v3, vcc\n"
     "v_lshlrev_b64 v[2:3], 2, v[2:3]\n" ADD_BASE,
     [](uint32_t i, uint64_t base, uint64_t start) { return base + (start + i) * 4; }},
    {"shifted in 32 bits", "v_lshlrev_b32 v2, 2, v0\n v_mov_b32 v3, 0\n" ADD_BASE,
     [](uint32_t i, uint64_t base, uint64_t) { return base + uint32_t{i * 4}; }},
    {"multiplied", "v_mul_lo_u32 v2, 4, v0\n v_mov_b32 v3, 0\n" ADD_BASE,
     [](uint32_t i, uint64_t base, uint64_t) { return base + uint32_t{i * 4}; }},
    {"multiplied to 64 bits", "v_mov_b32 v7, 4\n v_mad_u64_u32 v[2:3], s[10:11], v0, v7, s[0:1]\n",
     [](uint32_t i, uint64_t base, uint64_t) { return base + uint64_t{i} * 4; }},
    {"multiplied by what is not known",
     "v_mov_b32 v7, 7\n v_mul_lo_u32 v7, s8, v7\n v_add_u32 v2, v7, v0\n"
     "v_mov_b32 v3, 0\n v_lshlrev_b64 v[2:3], 2, v[2:3]\n" ADD_BASE,
     [](uint32_t i, uint64_t base, uint64_t start) {
       return base + uint64_t{static_cast<uint32_t>(i + 7 * static_cast<uint32_t>(start))} * 4;
     }},
    {"three at once", "v_lshl_add_u32 v2, v0, 2, s8\n v_add3_u32 v2, v2, 8, s8\n v_mov_b32 v3, 0\n" ADD_BASE,
     [](uint32_t i, uint64_t base, uint64_t start) {
       return base + static_cast<uint32_t>(i * 4 + 8 + 2 * static_cast<uint32_t>(start));
     }},
    {"a shifted sum", "v_add_lshl_u32 v2, v0, s8, 2\n v_mov_b32 v3, 0\n" ADD_BASE,
     [](uint32_t i, uint64_t base, uint64_t start) {
       return base + static_cast<uint32_t>((i + static_cast<uint32_t>(start)) * 4);
     }},
    {"a difference of 64 bits",
     "v_sub_u32 v2, 0, v0\n v_lshlrev_b32 v2, 2, v2\n v_ashrrev_i32 v3, 31, v2\n v_mov_b32 v5, s1\n"
     "v_sub_co_u32 v2, vcc, s0, v2\n v_subb_co_u32 v3, vcc, v5, v3, vcc\n",
     [](uint32_t i, uint64_t base, uint64_t) { return base - sign_extended((0 - i) * 4); }},
    {"a difference the other way round",
     "v_sub_u32 v2, 0, v0\n v_lshlrev_b32 v2, 2, v2\n v_ashrrev_i32 v3, 31, v2\n v_mov_b32 v5, s1\n"
     "v_mov_b32 v4, s0\n v_subrev_co_u32 v2, vcc, v2, v4\n v_subbrev_co_u32 v3, vcc, v3, v5, vcc\n",
     [](uint32_t i, uint64_t base, uint64_t) { return base - sign_extended((0 - i) * 4); }},
    {"the lowest bits", "v_and_b32 v2, 0x3ff, v0\n v_lshlrev_b32 v2, 2, v2\n v_mov_b32 v3, 0\n" ADD_BASE,
     [](uint32_t i, uint64_t base, uint64_t) { return base + (i & 0x3FF) * uint64_t{4}; }},
    {"packed numbers",
     "v_bfe_u32 v2, v0, 0, 10\n v_bfe_u32 v3, v0, 10, 10\n v_mul_lo_u32 v3, s8, v3\n v_add_u32 v2, v2, v3\n"
     "v_mov_b32 v3, 0\n v_lshlrev_b64 v[2:3], 2, v[2:3]\n" ADD_BASE,
     [](uint32_t i, uint64_t base, uint64_t start) {
       const uint32_t x = i & 0x3FF, y = i >> 10 & 0x3FF;
       return base + uint64_t{x + y * static_cast<uint32_t>(start)} * 4;
     }},
    {"the same for all lanes", "v_mov_b32 v2, s8\n v_mov_b32 v3, 0\n v_lshlrev_b64 v[2:3], 2, v[2:3]\n" ADD_BASE,
     [](uint32_t, uint64_t base, uint64_t start) { return base + uint64_t{static_cast<uint32_t>(start)} * 4; }},
    {"shifted and added in 64 bits", "v_mov_b32 v4, v0\n v_mov_b32 v5, 0\n v_lshl_add_u64 v[2:3], v[4:5], 2, s[0:1]\n",
     [](uint32_t i, uint64_t base, uint64_t) { return base + uint64_t{i} * 4; }, "gfx942"},
    {"moved as 64 bits",
     "v_mov_b32 v5, s9\n v_add_co_u32 v4, vcc, s8, v0\n v_addc_co_u32 v5, vcc, 0, v5, vcc\n v_mov_b64 v[6:7], v[4:5]\n"
     "v_lshl_add_u64 v[2:3], v[6:7], 2, s[0:1]\n",
     [](uint32_t i, uint64_t base, uint64_t start) { return base + (start + i) * 4; }, "gfx942"},
};

/// What v0 holds.
struct Indices {
  const char* name;
  uint32_t (*index)(uint32_t first, unsigned lane);
};
constexpr Indices indices[] = {
    {"consecutive", [](uint32_t first, unsigned lane) { return first + lane; }},
    {"consecutive but one", [](uint32_t first, unsigned lane) { return first + (lane == 37 ? 3 : lane); }},
    {"descending", [](uint32_t first, unsigned lane) { return first - lane; }},
    {"equal", [](uint32_t first, unsigned) { return first; }},
    {"every other", [](uint32_t first, unsigned lane) { return first + 2 * lane; }},
    {"of rows of 16", [](uint32_t first, unsigned lane) { return first + lane % 16 + (lane / 16 << 10); }},
};

/// Of lane 0: where 32 bits, a sign, or bits of a byte offset end in the middle of a wave, and where they don't.
constexpr uint32_t first_indices[] = {0x1000, 0xFFFF'FFFF - 36, 0x7FFF'FFFF - 36, 0x3FFF'FFFF - 20, 0x3FF - 5};
constexpr uint64_t starts[] = {8, 0xFFFF'FFE4};
constexpr uint64_t masks[] = {~uint64_t{0}, 0xFFFF'F00F'FFFF'FFFE, 0x0000'0000'FFFF'FFFF};

class EvenAddress : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { setenv("ATOLL_COMPILE", "wait", 1); }
  void TearDown() override { unsetenv("ATOLL_COMPILE"); }
};

INSTANTIATE_TEST_SUITE_P(Engines, EvenAddress, testing::Values("interpreter", "compiled"), test::NamedByParameter());

/// v6, v7: loaded from the address and after it; their sum goes back to the address.
constexpr const char* accesses =
    "global_load_dword v6, v[2:3], off\n global_load_dword v7, v[2:3], off offset:4\n s_waitcnt vmcnt(0)\n"
    "v_add_u32 v8, v6, v7\n global_store_dword v[2:3], v8, off\n";

TEST_P(EvenAddress, ComputedFromIndices) {
  SparseMemory memory;
  for (const Way& way : ways) {
    WaveRunner runner(way.processor, GetParam());
    for (const Indices& pattern : indices) {
      for (const uint32_t first : first_indices) {
        for (const uint64_t start : starts) {
          for (const uint64_t exec : masks) {
            const uint64_t base = memory.middle() - 64;  // a few lanes before a multiple of 4 GiB
            uint64_t addresses[64];
            for (unsigned lane = 0; lane < 64; ++lane) {
              // Inactive lanes hold arbitrary values.
              const bool active = (exec >> lane & 1) != 0;
              const uint32_t index = runner.v(0)[lane] = active ? pattern.index(first, lane) : lane * 0x0123'4567;
              addresses[lane] = way.address(index, base, start);
              if (!active) continue;
              memory.provide(addresses[lane]);
              memory.provide(addresses[lane] + 4);
            }
            runner.wave().set_scalar64(0, base);
            runner.wave().set_scalar64(8, start);
            runner.wave().set_exec(exec);
            for (uint32_t& lane : runner.v(6)) lane = 0xABCD;
            ASSERT_EQ(runner.run(std::string(way.source) + accesses), WaveState::ended);
            std::map<uint64_t, uint32_t> stored;
            for (unsigned lane = 0; lane < 64; ++lane) {
              const bool active = (exec >> lane & 1) != 0;
              const uint64_t address = addresses[lane];
              const uint32_t word = SparseMemory::word_of(address), next = SparseMemory::word_of(address + 4);
              ASSERT_EQ(runner.v(6)[lane], active ? word : 0xABCD)
                  << way.name << ", " << pattern.name << " from " << first << ", " << start << ", lane " << lane;
              if (active) stored[address] = word + next;
            }
            for (const auto& [address, word] : stored) ASSERT_EQ(SparseMemory::read(address), word) << way.name;
          }
        }
      }
    }
  }
}

TEST_P(EvenAddress, StoresBehindLoadsOfTheSameMemory) {
  SparseMemory memory;
  WaveRunner runner("gfx90a", GetParam());
  // All lanes load before any stores, however far from its load a lane's store is.
  const std::string source =
      "v_lshlrev_b32 v2, 2, v0\n v_add_u32 v3, s8, v2\n global_load_dword v6, v2, s[0:1]\n"
      "global_load_dwordx3 v[10:12], v2, s[0:1] offset:8\n s_mov_b32 s8, 5\n s_waitcnt vmcnt(0)\n"
      "v_add_u32 v6, v6, v12\n v_add_u32 v6, s8, v6\n global_store_dword v3, v6, s[0:1]\n";
  const uint64_t base = memory.middle();
  for (const int distance : {0, 1, 3, 4, 5, 15, 16, 17, 63, 64, 66, 67, 68, 100}) {
    for (const int sign : {1, -1}) {
      for (unsigned i = 0; i < 4; ++i) memory.provide(base + i * page);
      const uint32_t first = 512;
      for (unsigned lane = 0; lane < 64; ++lane) runner.v(0)[lane] = first + lane;
      runner.wave().set_scalar64(0, base);
      runner.s(8) = static_cast<uint32_t>(distance * sign * 4);
      ASSERT_EQ(runner.run(source), WaveState::ended);
      for (unsigned lane = 0; lane < 64; ++lane) {
        const uint64_t from = base + (first + lane) * uint64_t{4};
        const uint64_t to = from + static_cast<uint64_t>(int64_t{distance} * sign * 4);
        ASSERT_EQ(SparseMemory::read(to), SparseMemory::word_of(from) + SparseMemory::word_of(from + 16) + 5)
            << distance * sign << ", lane " << lane;
      }
    }
  }
}

TEST_P(EvenAddress, ElementsOfEverySize) {
  struct Access {
    const char* name;
    unsigned bytes, stride_bits;
  };
  SparseMemory memory;
  const uint64_t base = memory.middle();
  for (const Access access : {Access{"ubyte", 1, 0}, Access{"ushort", 2, 1}, Access{"dwordx2", 8, 3},
                              Access{"dwordx3", 12, 2}, Access{"dwordx4", 16, 4}, Access{"dwordx4", 16, 2}}) {
    for (const uint64_t exec : masks) {
      WaveRunner runner("gfx90a", GetParam());
      for (unsigned i = 0; i < 4; ++i) memory.provide(base + i * page);
      for (unsigned lane = 0; lane < 64; ++lane) runner.v(0)[lane] = 3 + lane;
      runner.wave().set_scalar64(0, base);
      runner.wave().set_exec(exec);
      const unsigned words = (access.bytes + 3) / 4;
      const auto rows = [&](unsigned from) {
        return "v[" + std::to_string(from) + ":" + std::to_string(from + words - 1) + "]";
      };
      const std::string load = std::string("global_load_") + access.name;
      ASSERT_EQ(runner.run("v_lshlrev_b32 v2, " + std::to_string(access.stride_bits) + ", v0\n" + load + " " +
                           rows(10) + ", v2, s[0:1]\n" + load + " " + rows(14) + ", v2, s[0:1] offset:20\n"),
                WaveState::ended);
      for (unsigned lane = 0; lane < 64; ++lane) {
        uint32_t expected[2][4]{};
        for (unsigned i = 0; i < 2; ++i) {
          const uint64_t from = base + ((3 + lane) << access.stride_bits) + i * 20;
          if ((exec >> lane & 1) != 0) std::memcpy(expected[i], reinterpret_cast<const void*>(from), access.bytes);
          for (unsigned word = 0; word < words; ++word) {
            ASSERT_EQ(runner.v(10 + 4 * i + word)[lane], expected[i][word]) << access.name << ", lane " << lane;
          }
        }
      }
    }
  }
}

TEST_P(EvenAddress, LdsEndsInTheMiddle) {
  WaveRunner runner("gfx90a", GetParam());
  auto* words = reinterpret_cast<uint32_t*>(runner.lds());
  constexpr uint32_t count = WaveRunner::lds_bytes / 4;
  for (const uint32_t first : {0u, count - 64, count - 63, count - 30, count - 1, 0x3FFF'FFF0u}) {
    for (uint32_t i = 0; i < count; ++i) words[i] = SparseMemory::word_of(i * 4);
    for (unsigned lane = 0; lane < 64; ++lane) runner.v(0)[lane] = first + lane;
    runner.s(8) = 0x1234;
    ASSERT_EQ(
        runner.run("v_lshlrev_b32 v2, 2, v0\n ds_read_b32 v3, v2\n v_mov_b32 v4, 16\n ds_read_b32 v5, v4 offset:4\n"
                   "s_waitcnt lgkmcnt(0)\n v_add_u32 v6, v3, v5\n ds_write_b32 v2, v6\n"),
        WaveState::ended);
    for (unsigned lane = 0; lane < 64; ++lane) {
      const uint32_t place = first + lane, wrapped = place & 0x3FFF'FFFF;  // as far as a byte offset has bits
      const uint32_t loaded = wrapped < count ? SparseMemory::word_of(wrapped * 4) : 0;
      ASSERT_EQ(runner.v(3)[lane], loaded) << first << ", lane " << lane;
      if (wrapped < count) {
        ASSERT_EQ(words[wrapped], loaded + SparseMemory::word_of(20)) << first << ", lane " << lane;
      }
    }
  }
}

TEST_P(EvenAddress, FaultsAreWhereTheProgramHasThem) {
  SparseMemory memory;
  WaveRunner runner("gfx90a", GetParam());
  // Scalars change between the accesses, also by themselves.
  const std::string source =
      "v_add_u32 v0, s8, v0\n"                    // +0
      "v_lshlrev_b32 v2, 2, v0\n"                 // +4
      "global_load_dword v6, v2, s[0:1]\n"        // +8
      "s_add_u32 s8, s8, 3\n"                     // +16
      "s_load_dword s0, s[4:5], 0x0\n"            // +20
      "s_waitcnt vmcnt(0) lgkmcnt(0)\n"           // +28
      "v_add_u32 v6, s0, v6\n"                    // +32
      "v_add_u32 v6, s8, v6\n"                    // +36
      "global_store_dword v2, v6, s[2:3]\n"       // +40
      "s_add_u32 s8, s8, 3\n v_mov_b32 v0, 0\n";  // +48
  const uint64_t readable = memory.middle(), writable = readable + 8 * page, scalar = readable + 16 * page;
  const auto begin = [&](unsigned lanes_before_end_of_page) {
    for (unsigned lane = 0; lane < 64; ++lane) runner.v(0)[lane] = lane;
    runner.s(8) = static_cast<uint32_t>(page / 4) - lanes_before_end_of_page;
    runner.wave().set_scalar64(0, readable);
    runner.wave().set_scalar64(2, writable);
    runner.wave().set_scalar64(4, scalar);
    runner.wave().set_exec(~uint64_t{0});
  };
  memory.provide(scalar);
  memory.provide(readable);
  memory.provide(writable);
  for (const unsigned lanes : {0u, 1u, 16u, 21u, 48u, 63u}) {
    begin(lanes);
    const uint32_t start = runner.s(8);
    auto fault = runner.run_into_fault(source);
    ASSERT_TRUE(fault);
    EXPECT_EQ(runner.wave().pc, runner.code_address() + 8);
    EXPECT_EQ(fault->address / page * page, readable + page) << "some lane's: the host loads many at once";
    EXPECT_FALSE(fault->is_write);
    EXPECT_EQ(runner.s(8), start) << "nothing after the load was done";
    EXPECT_EQ(runner.v(2)[lanes], page);

    memory.provide(readable + page);
    begin(lanes);
    fault = runner.run_into_fault(source);
    ASSERT_TRUE(fault);
    EXPECT_EQ(runner.wave().pc, runner.code_address() + 40);
    EXPECT_EQ(fault->address / page * page, writable + page) << "some lane's, as for loads";
    EXPECT_TRUE(fault->is_write);
    EXPECT_EQ(runner.s(8), start + 3);
    EXPECT_EQ(runner.s(0), SparseMemory::word_of(scalar));
    EXPECT_EQ(runner.v(6)[lanes], SparseMemory::word_of(readable + page) + SparseMemory::word_of(scalar) + start + 3);
    ASSERT_EQ(mprotect(reinterpret_cast<void*>(readable + page), page, PROT_NONE), 0);
  }
}

}  // namespace

}  // namespace Atoll::test

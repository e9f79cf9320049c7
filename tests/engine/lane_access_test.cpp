// Loads and stores of a wave's lanes, whatever their addresses are to each other: neighbours, equal, scattered, not
// aligned, across a boundary of 4 GiB, at the end of what is mapped. The expected values follow from the order of a
// wave: every lane is done with an instruction before any comes to the next, and among the lanes of one the last store
// to a place is what stays.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "engine/wave_runner.h"
#include "support/parameter_name.h"

namespace Atoll::test {

namespace {

using machine::WaveState;

constexpr uint64_t page = 4096;

/// Readable and writable memory with nothing before and after it.
class Mapping {
 public:
  explicit Mapping(uint64_t bytes, uint64_t end_at = 0) : bytes_(bytes) {
    const uint64_t size = bytes + 2 * page;
    void* wish = end_at == 0 ? nullptr : reinterpret_cast<void*>(end_at - bytes - page);
    whole_ = static_cast<uint8_t*>(mmap(wish, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    mprotect(whole_ + page, bytes, PROT_READ | PROT_WRITE);
    for (uint64_t i = 0; i < bytes; ++i) data()[i] = static_cast<uint8_t>(i * 37 + i / 256 * 11 + 5);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { munmap(whole_, bytes_ + 2 * page); }

  uint8_t* data() { return whole_ + page; }
  uint64_t begin() { return reinterpret_cast<uint64_t>(data()); }
  uint64_t end() { return begin() + bytes_; }
  std::vector<uint8_t> copy() { return {data(), data() + bytes_}; }

 private:
  uint64_t bytes_;
  uint8_t* whole_;
};

struct Form {
  const char* name;  ///< after load_ or store_
  unsigned bytes;
  bool sign = false;
};
constexpr Form loads[] = {{"ubyte", 1}, {"sbyte", 1, true}, {"ushort", 2},   {"sshort", 2, true},
                          {"dword", 4}, {"dwordx2", 8},     {"dwordx3", 12}, {"dwordx4", 16}};
constexpr Form stores[] = {{"byte", 1}, {"short", 2}, {"dword", 4}, {"dwordx2", 8}, {"dwordx3", 12}, {"dwordx4", 16}};

/// How the lanes' elements lie: the distance of each from the first one's place.
struct Pattern {
  const char* name;
  int64_t (*place)(unsigned lane, unsigned bytes);
};
constexpr Pattern patterns[] = {
    {"neighbours", [](unsigned lane, unsigned bytes) { return int64_t{lane} * bytes; }},
    {"neighbours, not aligned", [](unsigned lane, unsigned bytes) { return 3 + int64_t{lane} * bytes; }},
    {"equal", [](unsigned, unsigned) { return int64_t{64}; }},
    {"equal in each chunk", [](unsigned lane, unsigned) { return int64_t{lane / 16} * 20; }},
    {"backwards", [](unsigned lane, unsigned bytes) { return int64_t{63 - lane} * bytes; }},
    {"scattered", [](unsigned lane, unsigned) { return int64_t{(lane * 29 + 7) % 64 * 23}; }},
    {"overlapping", [](unsigned lane, unsigned bytes) { return int64_t{lane} * (bytes + 1) / 2; }},
    {"neighbours but one", [](unsigned lane, unsigned bytes) { return int64_t{lane == 37 ? 0 : lane} * bytes; }},
};

constexpr uint64_t masks[] = {~uint64_t{0}, 0x0000'FFFE'FFFF'7FF0, 0x8000'0000'0001'0001, 0xFFFF'0000'FFFF'0000};

/// The words that a load makes of the bytes at `from`.
std::vector<uint32_t> loaded(const Form& form, const uint8_t* from) {
  std::vector<uint32_t> words((form.bytes + 3) / 4);
  std::memcpy(words.data(), from, form.bytes);
  if (form.sign) {
    words[0] = form.bytes == 1 ? static_cast<uint32_t>(static_cast<int8_t>(words[0]))
                               : static_cast<uint32_t>(static_cast<int16_t>(words[0]));
  }
  return words;
}

constexpr uint32_t untouched = 0xABCD'0123;

void fill_untouched(WaveRunner& runner, unsigned first, unsigned count) {
  for (unsigned reg = first; reg < first + count; ++reg) {
    for (uint32_t& lane : runner.v(reg)) lane = untouched;
  }
}

uint32_t data_word(unsigned lane, unsigned word) { return 0x0101'0000 * (word + 1) + lane * 0x0203 + 0x4567; }

class LaneAccess : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { setenv("ATOLL_COMPILE", "wait", 1); }
  void TearDown() override { unsetenv("ATOLL_COMPILE"); }
};

INSTANTIATE_TEST_SUITE_P(Engines, LaneAccess, testing::Values("interpreter", "compiled"), test::NamedByParameter());

TEST_P(LaneAccess, GlobalLoadsOfEveryPattern) {
  WaveRunner runner("gfx90a", GetParam());
  Mapping memory(4 * page);
  for (const Pattern& pattern : patterns) {
    for (const uint64_t exec : masks) {
      // All forms in one go: v[2i:2i+1] are addresses, s[4:5] the same for 32-bit offsets in v[40+i].
      std::string source;
      unsigned reg = 64;
      for (unsigned i = 0; i < std::size(loads); ++i) {
        for (unsigned lane = 0; lane < 64; ++lane) {
          const int64_t place = pattern.place(lane, loads[i].bytes);
          const uint64_t address = memory.begin() + static_cast<uint64_t>(place);
          runner.v(2 + 2 * i)[lane] = static_cast<uint32_t>(address);
          runner.v(3 + 2 * i)[lane] = static_cast<uint32_t>(address >> 32);
          runner.v(40 + i)[lane] = static_cast<uint32_t>(place + 1000);
        }
        for (const bool scalar : {false, true}) {
          const unsigned words = (loads[i].bytes + 3) / 4;
          source += "global_load_" + std::string(loads[i].name) + " v[" + std::to_string(reg) + ":" +
                    std::to_string(reg + words - 1) + "], " +
                    (scalar ? "v" + std::to_string(40 + i) + ", s[4:5]"
                            : "v[" + std::to_string(2 + 2 * i) + ":" + std::to_string(3 + 2 * i) + "], off") +
                    " offset:16\n";
          reg += 4;
        }
      }
      fill_untouched(runner, 64, reg - 64);
      runner.wave().set_scalar64(4, memory.begin() - 1000);
      runner.wave().set_exec(exec);
      ASSERT_EQ(runner.run(source + "s_waitcnt vmcnt(0)"), WaveState::ended);
      reg = 64;
      for (const Form& form : loads) {
        for (unsigned twice = 0; twice < 2; ++twice) {
          for (unsigned lane = 0; lane < 64; ++lane) {
            const auto words = loaded(form, memory.data() + pattern.place(lane, form.bytes) + 16);
            for (unsigned word = 0; word < words.size(); ++word) {
              ASSERT_EQ(runner.v(reg + word)[lane], (exec >> lane & 1) != 0 ? words[word] : untouched)
                  << form.name << ", " << pattern.name << ", EXEC " << std::hex << exec << ", lane " << lane;
            }
          }
          reg += 4;
        }
      }
    }
  }
}

TEST_P(LaneAccess, GlobalStoresOfEveryPattern) {
  WaveRunner runner("gfx90a", GetParam());
  for (unsigned word = 0; word < 4; ++word) {
    for (unsigned lane = 0; lane < 64; ++lane) runner.v(200 + word)[lane] = data_word(lane, word);
  }
  constexpr unsigned apart = 4096;
  for (const Pattern& pattern : patterns) {
    for (const uint64_t exec : masks) {
      Mapping memory(std::size(stores) * apart);
      std::vector<uint8_t> expected = memory.copy();
      std::string source;
      for (unsigned i = 0; i < std::size(stores); ++i) {
        const unsigned bytes = stores[i].bytes;
        for (unsigned lane = 0; lane < 64; ++lane) {
          const int64_t place = i * apart + pattern.place(lane, bytes);
          const uint64_t address = memory.begin() + static_cast<uint64_t>(place);
          runner.v(2 + 2 * i)[lane] = static_cast<uint32_t>(address);
          runner.v(3 + 2 * i)[lane] = static_cast<uint32_t>(address >> 32);
          if ((exec >> lane & 1) == 0) continue;
          uint32_t words[4];
          for (unsigned word = 0; word < 4; ++word) words[word] = data_word(lane, word);
          std::memcpy(&expected[static_cast<size_t>(place) + 8], words, bytes);
        }
        source += "global_store_" + std::string(stores[i].name) + " v[" + std::to_string(2 + 2 * i) + ":" +
                  std::to_string(3 + 2 * i) + "], v[200:" + std::to_string(200 + (bytes + 3) / 4 - 1) +
                  "], off offset:8\n";
      }
      runner.wave().set_exec(exec);
      ASSERT_EQ(runner.run(source), WaveState::ended);
      ASSERT_EQ(memory.copy(), expected) << pattern.name << ", EXEC " << std::hex << exec;
    }
  }
}

TEST_P(LaneAccess, LanesThatAreNotActiveTouchNothing) {
  WaveRunner runner("gfx90a", GetParam());
  Mapping memory(page);
  // The last active lane's element is the last of the page; those after it are not there.
  for (const unsigned active : {64u, 63u, 40u, 16u, 1u}) {
    std::string source;
    unsigned reg = 64;
    for (unsigned i = 0; i < std::size(loads); ++i) {
      runner.set_rows(2 + 2 * i,
                      [&](unsigned lane) { return memory.end() - (int64_t{active} - lane) * loads[i].bytes; });
      const unsigned words = (loads[i].bytes + 3) / 4;
      source += "global_load_" + std::string(loads[i].name) + " v[" + std::to_string(reg) + ":" +
                std::to_string(reg + words - 1) + "], v[" + std::to_string(2 + 2 * i) + ":" +
                std::to_string(3 + 2 * i) + "], off\n";
      reg += 4;
    }
    source += "s_waitcnt vmcnt(0)\n";
    std::vector<uint8_t> expected = memory.copy();
    for (unsigned i = 0; i < std::size(stores); ++i) {
      const unsigned bytes = stores[i].bytes;
      runner.set_rows(32 + 2 * i, [&](unsigned lane) { return memory.end() - (int64_t{active} - lane) * bytes; });
      source += "global_store_" + std::string(stores[i].name) + " v[" + std::to_string(32 + 2 * i) + ":" +
                std::to_string(33 + 2 * i) + "], v[200:" + std::to_string(200 + (bytes + 3) / 4 - 1) + "], off\n";
      for (unsigned lane = 0; lane < active; ++lane) {
        uint32_t words[4];
        for (unsigned word = 0; word < 4; ++word) runner.v(200 + word)[lane] = words[word] = data_word(lane, word);
        std::memcpy(&expected[page - (active - lane) * bytes], words, bytes);
      }
    }
    runner.wave().set_exec(active == 64 ? ~uint64_t{0} : (uint64_t{1} << active) - 1);
    const std::vector<uint8_t> before = memory.copy();
    const auto fault = runner.run_into_fault(source);
    ASSERT_FALSE(fault) << active << " lanes, at " << runner.wave().pc - runner.code_address();
    ASSERT_EQ(memory.copy(), expected);
    reg = 64;
    for (const Form& form : loads) {
      for (unsigned lane = 0; lane < active; ++lane) {
        const auto words = loaded(form, &before[page - (active - lane) * form.bytes]);
        for (unsigned word = 0; word < words.size(); ++word) ASSERT_EQ(runner.v(reg + word)[lane], words[word]);
      }
      reg += 4;
    }
  }
}

/// A multiple of 4 GiB with nothing within more than 4 GiB before it, and 4 GiB after it. Where that is, is not the
/// same in every process: sanitizers have memory of their own.
uint64_t free_boundary() {
  constexpr uint64_t step = 0x1'0000'0000;
  void* area = mmap(nullptr, 4 * step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (area == MAP_FAILED) return 0;
  munmap(area, 4 * step);
  return reinterpret_cast<uint64_t>(area) / step * step + 3 * step;
}

TEST_P(LaneAccess, AddressesAcrossFourGibibytes) {
  WaveRunner runner("gfx90a", GetParam());
  const uint64_t boundary = free_boundary();
  Mapping memory(2 * page, boundary + page);
  ASSERT_EQ(memory.begin(), boundary - page);
  // Lane 20's element is the first after the boundary; then lanes whose low words go around it and the high ones
  // don't, as the sum of 32 bits of a byte offset would.
  Mapping other(page, boundary - 0x1'0000'0000 + page);
  ASSERT_EQ(other.begin(), boundary - 0x1'0000'0000);
  runner.set_rows(2, [&](unsigned lane) { return boundary + (int64_t{lane} - 20) * 4; });
  runner.set_rows(4, [&](unsigned lane) {
    const uint64_t address = boundary + (int64_t{lane} - 20) * 4;
    return lane < 20 ? address : address - 0x1'0000'0000;
  });
  ASSERT_EQ(runner.run("global_load_dword v6, v[2:3], off\n global_load_dword v7, v[4:5], off\n s_waitcnt vmcnt(0)\n"
                       "v_add_u32 v8, v6, v7\n global_store_dword v[2:3], v8, off"),
            WaveState::ended);
  const std::vector<uint8_t> now = memory.copy();
  Mapping fresh(2 * page);
  for (unsigned lane = 0; lane < 64; ++lane) {
    const uint64_t place = page + lane * uint64_t{4} - 80;
    uint32_t first, second, sum;
    std::memcpy(&first, fresh.data() + place, 4);
    std::memcpy(&second, lane < 20 ? fresh.data() + place : other.data() + (place - page), 4);
    std::memcpy(&sum, &now[place], 4);
    EXPECT_EQ(sum, first + second) << lane;
  }
}

TEST_P(LaneAccess, FaultsAreWhereTheProgramHasThem) {
  WaveRunner runner("gfx90a", GetParam());
  Mapping memory(page);
  // v[2:3]: good for all lanes. v[4:5]: lanes 37 and 50 have no memory. v[6:7]: lane 33 has none. In the order of the
  // wave the first access of v[4:5] fails, and its first lane is 37, although a chunk with lane 33 could come to
  // v[6:7].
  const auto good = [&](unsigned lane) { return memory.begin() + lane * uint64_t{4}; };
  runner.set_rows(2, good);
  runner.set_rows(4, [&](unsigned lane) { return lane == 37 || lane == 50 ? memory.end() + lane : good(lane); });
  runner.set_rows(6, [&](unsigned lane) { return lane == 33 ? memory.end() : good(lane); });
  runner.set_rows(8, [&](unsigned lane) { return lane == 20 ? 0x10 : good(lane); });
  const std::string before =
      "v_add_u32 v20, 1, v20\n"                // +0
      "v_add_co_u32 v2, vcc, 4, v2\n"          // +4
      "v_addc_co_u32 v3, vcc, 0, v3, vcc\n"    // +8
      "global_load_dword v10, v[2:3], off\n";  // +12
  const std::string after = "v_add_u32 v20, 1, v20\n v_mov_b32 v4, 0\n v_mov_b32 v5, 0\n";
  auto fault = runner.run_into_fault(
      before + "global_load_dword v11, v[4:5], off\nglobal_load_dword v12, v[6:7], off\n" + after);
  ASSERT_TRUE(fault);
  EXPECT_EQ(runner.wave().pc, runner.code_address() + 20);
  EXPECT_EQ(fault->address, memory.end() + 37);
  EXPECT_FALSE(fault->is_write);
  EXPECT_EQ(runner.v64(4, 37), memory.end() + 37) << "the report works the address out again";
  EXPECT_NE(runner.wave().exec() >> 37 & 1, 0u);

  // A store, after instructions that change its operands, and a second one that would fail for an earlier lane.
  runner.set_rows(2, good);
  fault = runner.run_into_fault(before +                                 // 20 bytes
                                "v_add_co_u32 v4, vcc, 0, v4\n"          // +20
                                "global_store_dword v[4:5], v20, off\n"  // +24
                                "global_store_dword v[8:9], v20, off\n" +
                                after);
  ASSERT_TRUE(fault);
  EXPECT_EQ(runner.wave().pc, runner.code_address() + 24);
  EXPECT_EQ(fault->address, memory.end() + 37);
  EXPECT_TRUE(fault->is_write);
  EXPECT_EQ(runner.v64(4, 37), memory.end() + 37);
}

// Found by random programs.
TEST_P(LaneAccess, FaultsLeaveWhatLanesReadOfOthersBefore) {
  WaveRunner runner("gfx90a", GetParam());
  Mapping memory(page);
  // Lane 50's load fails; its chunk has read lanes of the chunk that is done with both instructions by then.
  const uint64_t bad = memory.end();
  runner.set_rows(4, [&](unsigned lane) { return lane == 50 ? bad : memory.begin() + lane * uint64_t{4}; });
  for (unsigned lane = 0; lane < 64; ++lane) {
    runner.v(12)[lane] = (lane ^ 48) * 4;
    runner.v(14)[lane] = 1000 + lane;
    runner.v(13)[lane] = 0;
  }
  const auto fault = runner.run_into_fault(
      "ds_bpermute_b32 v13, v12, v14\n"  // +0
      "s_waitcnt lgkmcnt(0)\n"           // +8
      "global_load_dword v11, v[4:5], off\n"
      "v_mov_b32 v4, 0\n v_mov_b32 v5, 0\n");
  ASSERT_TRUE(fault);
  EXPECT_EQ(runner.wave().pc, runner.code_address() + 12);
  EXPECT_EQ(fault->address, bad);
  for (unsigned lane = 50; lane < 64; ++lane) EXPECT_EQ(runner.v(13)[lane], 1000 + (lane ^ 48)) << lane;
}

TEST_P(LaneAccess, FaultsOfScalarLoadsBetweenThoseOfLanes) {
  WaveRunner runner("gfx90a", GetParam());
  Mapping memory(page);
  const auto good = [&](unsigned lane) { return memory.begin() + lane * uint64_t{4}; };
  runner.set_rows(2, good);
  runner.set_rows(4, [&](unsigned lane) { return lane == 37 ? memory.end() + lane : good(lane); });
  const std::string source =
      "v_add_u32 v20, s8, v20\n"              // +0
      "global_load_dword v10, v[2:3], off\n"  // +4
      "global_load_dword v11, v[4:5], off\n"  // +12
      "s_load_dword s8, s[4:5], 0x0\n"        // +20
      "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
      "v_add_u32 v12, s8, v10\n"
      "v_mov_b32 v4, 0\n v_mov_b32 v5, 0\n";
  // The lanes' load comes first, be the scalar one as bad.
  for (const uint64_t scalar_address : {memory.begin(), memory.end()}) {
    runner.wave().set_scalar64(4, scalar_address);
    runner.s(8) = 1000;
    const auto fault = runner.run_into_fault(source);
    ASSERT_TRUE(fault);
    EXPECT_EQ(runner.wave().pc, runner.code_address() + 12);
    EXPECT_EQ(fault->address, memory.end() + 37);
  }
  // When it is bad alone, everything before it has been done.
  runner.set_rows(4, good);
  runner.s(8) = 7;
  for (uint32_t& lane : runner.v(20)) lane = 1;
  for (uint32_t& lane : runner.v(11)) lane = 0;
  const std::vector<uint8_t> bytes = memory.copy();
  const auto fault = runner.run_into_fault(source);
  ASSERT_TRUE(fault);
  EXPECT_EQ(runner.wave().pc, runner.code_address() + 20);
  EXPECT_EQ(fault->address, memory.end());
  EXPECT_EQ(runner.v(20)[63], 8u);
  uint32_t word;
  std::memcpy(&word, &bytes[size_t{63} * 4], 4);
  EXPECT_EQ(runner.v(11)[63], word);
}

TEST_P(LaneAccess, InstructionsAreCountedUpToAFault) {
  // A loop of 100 rounds; then an access that the host refuses, and one past the end of scratch, which it would not.
  const std::string before =
      "s_movk_i32 s4, 100\nagain:\n s_sub_u32 s4, s4, 1\n s_cmp_lg_u32 s4, 0\n s_cbranch_scc1 again\n"
      "v_mov_b32 v2, s8\n v_mov_b32 v3, 0\n";
  for (const char* const access : {"global_load_dword v4, v[2:3], off", "scratch_load_dword v4, v2, off"}) {
    WaveRunner runner("gfx90a", GetParam());
    runner.s(8) = 0x8000;
    runner.run_into_fault(before + access);
    EXPECT_EQ(runner.wave().pc, runner.code_address() + 24) << access;
    EXPECT_EQ(runner.wave().instructions, 1u + 3 * 100 + 3) << access;
  }
}

TEST_P(LaneAccess, EveryLaneIsDoneWithAnInstructionBeforeTheNext) {
  WaveRunner runner("gfx90a", GetParam());
  Mapping memory(page);
  const std::vector<uint8_t> before = memory.copy();
  const auto word = [](const std::vector<uint8_t>& bytes, unsigned i) {
    uint32_t value;
    std::memcpy(&value, &bytes[i * 4], 4);
    return value;
  };
  // a[i + 17] = a[i], then v5 = a[i + 40] with what other lanes have just written, then a[i] = v5.
  runner.set_rows(2, [&](unsigned lane) { return memory.begin() + lane * uint64_t{4}; });
  ASSERT_EQ(runner.run("global_load_dword v4, v[2:3], off\n s_waitcnt vmcnt(0)\n"
                       "global_store_dword v[2:3], v4, off offset:68\n s_waitcnt vmcnt(0)\n"
                       "global_load_dword v5, v[2:3], off offset:160\n s_waitcnt vmcnt(0)\n"
                       "global_store_dword v[2:3], v5, off\n s_waitcnt vmcnt(0)\n"
                       "global_store_dword v[2:3], v0, off offset:4"),
            WaveState::ended);
  std::vector<uint8_t> expected = before;
  for (unsigned i = 0; i < 64; ++i) std::memcpy(&expected[(i + 17) * 4], &before[i * 4], 4);
  const std::vector<uint8_t> shifted = expected;
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(runner.v(5)[i], word(shifted, i + 40));
  for (unsigned i = 0; i < 64; ++i) std::memcpy(&expected[i * 4], &shifted[(i + 40) * 4], 4);
  for (uint32_t i = 0; i < 64; ++i) std::memcpy(&expected[(i + 1) * 4], &i, 4);
  EXPECT_EQ(memory.copy(), expected);

  // The same in LDS, where each lane also writes two elements: all first ones come before all second ones.
  for (unsigned i = 0; i < WaveRunner::lds_bytes; ++i) runner.lds()[i] = before[i % page];
  expected.assign(runner.lds(), runner.lds() + WaveRunner::lds_bytes);
  ASSERT_EQ(runner.run("v_lshlrev_b32 v6, 2, v0\n v_add_u32 v8, 100, v0\n v_add_u32 v9, 200, v0\n"
                       "ds_read_b32 v4, v6\n s_waitcnt lgkmcnt(0)\n"
                       "ds_write_b32 v6, v4 offset:68\n"
                       "ds_read_b32 v5, v6 offset:160\n s_waitcnt lgkmcnt(0)\n"
                       "ds_write2_b32 v6, v8, v9 offset0:64 offset1:47"),
            WaveState::ended);
  const std::vector<uint8_t> lds = expected;
  for (unsigned i = 0; i < 64; ++i) std::memcpy(&expected[(i + 17) * 4], &lds[i * 4], 4);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(runner.v(5)[i], word(expected, i + 40));
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t value = i + 100;
    std::memcpy(&expected[(i + 64) * 4], &value, 4);
  }
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t value = i + 200;
    std::memcpy(&expected[(i + 47) * 4], &value, 4);
  }
  EXPECT_EQ(std::vector<uint8_t>(runner.lds(), runner.lds() + WaveRunner::lds_bytes), expected);
}

TEST_P(LaneAccess, LdsOfEveryPatternAndPastItsEnd) {
  WaveRunner runner("gfx90a", GetParam());
  constexpr uint32_t size = WaveRunner::lds_bytes;
  constexpr Form forms[] = {{"u8", 1},  {"i8", 1, true}, {"u16", 2},  {"i16", 2, true},
                            {"b32", 4}, {"b64", 8},      {"b96", 12}, {"b128", 16}};
  // Where the first lane's element is: inside; so that the last lanes are outside; and so that the instruction's offset
  // takes the sum around 32 bits.
  for (const uint32_t begin : {0u, size - 64u, size - 700u, 0u - 20u}) {
    for (const Pattern& pattern : patterns) {
      for (const uint64_t exec : {masks[0], masks[1]}) {
        for (uint32_t i = 0; i < size; ++i) runner.lds()[i] = static_cast<uint8_t>(i * 31 + i / 256 * 7 + 3);
        std::vector<uint8_t> expected(runner.lds(), runner.lds() + size);
        std::string source;
        unsigned reg = 64;
        const auto place = [&](unsigned lane, unsigned bytes, uint32_t offset) {
          return begin + static_cast<uint32_t>(pattern.place(lane, bytes)) + offset;
        };
        for (unsigned i = 0; i < std::size(forms); ++i) {
          for (unsigned lane = 0; lane < 64; ++lane) runner.v(2 + i)[lane] = place(lane, forms[i].bytes, 0);
          const unsigned words = (forms[i].bytes + 3) / 4;
          source += "ds_read_" + std::string(forms[i].name) + " v[" + std::to_string(reg) + ":" +
                    std::to_string(reg + words - 1) + "], v" + std::to_string(2 + i) + " offset:24\n";
          reg += 4;
        }
        source += "ds_read2_b32 v[40:41], v6 offset0:1 offset1:9\n ds_read2st64_b64 v[44:47], v7 offset0:0 offset1:1\n";
        source +=
            "s_waitcnt lgkmcnt(0)\n ds_write_b8 v2, v0 offset:1\n ds_write_b64 v7, v[200:201] offset:8\n"
            "ds_write_b96 v8, v[200:202] offset:40\n ds_write_b128 v9, v[200:203] offset:80\n";
        fill_untouched(runner, 40, reg - 40);
        for (unsigned word = 0; word < 4; ++word) {
          for (unsigned lane = 0; lane < 64; ++lane) runner.v(200 + word)[lane] = data_word(lane, word);
        }
        const std::vector<uint8_t> before = expected;
        const auto read = [&](const Form& form, uint32_t at) {
          static constexpr uint8_t zeros[16]{};
          return loaded(form, uint64_t{at} + form.bytes <= size ? &before[at] : zeros);
        };
        const auto write = [&](unsigned form, uint32_t offset) {
          for (unsigned lane = 0; lane < 64; ++lane) {
            const uint32_t at = place(lane, forms[form].bytes, offset);
            if ((exec >> lane & 1) == 0 || uint64_t{at} + forms[form].bytes > size) continue;
            uint32_t words[4];
            for (unsigned word = 0; word < 4; ++word) words[word] = data_word(lane, word);
            if (form == 0) words[0] = lane;
            std::memcpy(&expected[at], words, forms[form].bytes);
          }
        };
        write(0, 1);
        write(5, 8);
        write(6, 40);
        write(7, 80);
        runner.wave().set_exec(exec);
        for (unsigned lane = 0; lane < 64; ++lane) runner.v(0)[lane] = lane;
        ASSERT_EQ(runner.run(source), WaveState::ended);
        const auto check = [&](unsigned first, const std::vector<uint32_t>& words, unsigned lane, const char* what) {
          for (unsigned word = 0; word < words.size(); ++word) {
            ASSERT_EQ(runner.v(first + word)[lane], (exec >> lane & 1) != 0 ? words[word] : untouched)
                << what << ", " << pattern.name << " from " << begin << ", EXEC " << std::hex << exec << ", lane "
                << lane;
          }
        };
        for (unsigned lane = 0; lane < 64; ++lane) {
          reg = 64;
          for (const Form& form : forms) {
            check(reg, read(form, place(lane, form.bytes, 24)), lane, form.name);
            reg += 4;
          }
          check(40, read(forms[4], place(lane, 4, 4)), lane, "read2, first");
          check(41, read(forms[4], place(lane, 4, 36)), lane, "read2, second");
          check(44, read(forms[5], place(lane, 8, 0)), lane, "read2st64, first");
          check(46, read(forms[5], place(lane, 8, 512)), lane, "read2st64, second");
        }
        ASSERT_EQ(std::vector<uint8_t>(runner.lds(), runner.lds() + size), expected) << pattern.name << begin;
      }
    }
  }
}

TEST_P(LaneAccess, LoadsFaultThoughNobodyNeedsTheirResult) {
  const char* sources[] = {
      "global_load_dword v10, v[2:3], off\nv_mov_b32 v10, v20",
      "flat_load_dword v10, v[2:3]\nv_mov_b32 v10, v20",
      "global_load_dwordx4 v[10:13], v[2:3], off\nv_mov_b32 v10, 0\nv_mov_b32 v11, 0\nv_mov_b32 v12, 0\nv_mov_b32 v13, "
      "0",
      // What is computed of it is not needed, either.
      "global_load_dword v10, v[2:3], off\nv_add_f32 v11, v10, v20\nv_mov_b32 v10, 0\nv_mov_b32 v11, 0",
      "global_load_ubyte v10, v[2:3], off\ns_barrier\nv_mov_b32 v10, v20\ns_barrier\nv_mov_b32 v10, 0",
      "s_mov_b32 s4, 5\nagain:\nglobal_load_dword v10, v[2:3], off\nv_mov_b32 v10, v20\n"
      "s_sub_u32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 again",
  };
  for (const std::string source : sources) {
    WaveRunner runner("gfx90a", GetParam());
    Mapping memory(page);
    runner.set_rows(2, [&](unsigned lane) { return lane == 37 ? memory.end() + 64 : memory.begin() + lane * 4; });
    const auto fault = runner.run_into_fault(source);
    ASSERT_TRUE(fault) << source;
    EXPECT_EQ(fault->address, memory.end() + 64) << source;
  }
}

TEST_P(LaneAccess, HalvesOfRegisters) {
  WaveRunner runner("gfx90a", GetParam());
  Mapping memory(page);
  runner.set_rows(2, [&](unsigned lane) { return memory.begin() + (lane * 7 % 64) * uint64_t{3}; });
  fill_untouched(runner, 10, 8);
  const std::vector<uint8_t> before = memory.copy();
  ASSERT_EQ(runner.run("global_load_ubyte_d16 v10, v[2:3], off\n global_load_ubyte_d16_hi v11, v[2:3], off\n"
                       "global_load_sbyte_d16 v12, v[2:3], off\n global_load_sbyte_d16_hi v13, v[2:3], off\n"
                       "global_load_short_d16 v14, v[2:3], off\n global_load_short_d16_hi v15, v[2:3], off\n"
                       "s_waitcnt vmcnt(0)\n v_mov_b32 v16, 0x12345678\n"
                       "global_store_byte_d16_hi v[2:3], v16, off offset:1024\n"
                       "global_store_short_d16_hi v[2:3], v16, off offset:2048"),
            WaveState::ended);
  std::vector<uint8_t> expected = before;
  for (unsigned lane = 0; lane < 64; ++lane) {
    const unsigned at = lane * 7 % 64 * 3;
    const uint32_t byte = before[at], word = before[at] | before[at + 1] << 8;
    const uint32_t extended = static_cast<uint16_t>(static_cast<int8_t>(before[at]));
    const uint32_t low = untouched & 0xFFFF, high = untouched & 0xFFFF'0000;
    EXPECT_EQ(runner.v(10)[lane], high | byte);
    EXPECT_EQ(runner.v(11)[lane], low | byte << 16);
    EXPECT_EQ(runner.v(12)[lane], high | extended);
    EXPECT_EQ(runner.v(13)[lane], low | extended << 16);
    EXPECT_EQ(runner.v(14)[lane], high | word);
    EXPECT_EQ(runner.v(15)[lane], low | word << 16);
    expected[1024 + at] = 0x34;
    expected[2048 + at] = 0x34;
    expected[2048 + at + 1] = 0x12;
  }
  EXPECT_EQ(memory.copy(), expected);
}

}  // namespace

}  // namespace Atoll::test

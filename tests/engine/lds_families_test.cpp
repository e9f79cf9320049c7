// Accesses of LDS with two places, those that M0 and the lane's number place, and those that count lanes, on each
// generation, in waves of 32 and 64 lanes. What is expected is computed here on a copy of LDS, by the ISA guides'
// pseudo-code of each: what is outside of LDS reads as 0 and is not written. Accesses of one place are in
// load_store_families_test.cpp, atomics in atomic_families_test.cpp.
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
using test::Machine;
using test::registers;
using test::WaveRunner;

constexpr uint64_t masks[] = {~uint64_t{0}, 0xF7FF'FFFE'DFFF'7FF9, 0x0000'0100'0002'0001, 0};

/// LDS as it is to become.
class Lds {
 public:
  explicit Lds(uint8_t* lds) : bytes_(WaveRunner::lds_bytes) {
    for (size_t i = 0; i < bytes_.size(); ++i) lds[i] = bytes_[i] = static_cast<uint8_t>(i * 89 + i / 256 * 7 + 3);
  }
  uint64_t load(uint32_t address, unsigned bytes) const {
    uint64_t value = 0;
    if (uint64_t{address} + bytes <= bytes_.size()) std::memcpy(&value, &bytes_[address], bytes);
    return value;
  }
  void store(uint32_t address, unsigned bytes, uint64_t value) {
    if (uint64_t{address} + bytes <= bytes_.size()) std::memcpy(&bytes_[address], &value, bytes);
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

struct Accesses {
  explicit Accesses(const Machine& machine);
  void of_two_places();
  void of_the_lanes_number();
  void that_count_lanes();
  void that_exchange_on_a_condition();

  bool is_on(uint64_t exec, unsigned lane) const { return lane < lanes && (exec >> lane & 1) != 0; }
  void set_exec(uint64_t exec) { runner.wave().set_exec(lanes == 32 ? exec & 0xFFFF'FFFF : exec); }
  void expect_lds() { EXPECT_EQ(std::memcmp(runner.lds(), lds.bytes().data(), WaveRunner::lds_bytes), 0) << "LDS"; }

  const target::Processor& processor;
  unsigned lanes;
  WaveRunner runner;
  Lds lds;
};

Accesses::Accesses(const Machine& machine)
    : processor(*target::find_processor(machine.processor)),
      lanes(machine.wave_size),
      runner(machine.processor, "", lanes),
      lds(runner.lds()) {
  for (unsigned reg = 8; reg < 180; ++reg) {
    for (unsigned lane = 0; lane < 64; ++lane) runner.v(reg)[lane] = 0x9E37'79B9 * (reg * 64 + lane + 1);
  }
}

/// DS_READ2, DS_WRITE2, DS_WRXCHG2 and their ST64.
void Accesses::of_two_places() {
  enum Kind : uint8_t { load, store, exchange };
  struct Pair {
    std::string_view row;
    Kind kind;
    unsigned bytes, unit;  ///< of an element, of the offsets
    unsigned first, second;
  };
  constexpr Pair pairs[] = {
      {"ds_read2_b32", load, 4, 4, 1, 230},           {"ds_read2st64_b32", load, 4, 256, 11, 3},
      {"ds_read2_b64", load, 8, 8, 64, 255},          {"ds_read2st64_b64", load, 8, 512, 7, 0},
      {"ds_write2_b32", store, 4, 4, 0, 200},         {"ds_write2st64_b32", store, 4, 256, 4, 13},
      {"ds_write2_b64", store, 8, 8, 130, 64},        {"ds_write2st64_b64", store, 8, 512, 1, 5},
      {"ds_wrxchg2_rtn_b32", exchange, 4, 4, 140, 3}, {"ds_wrxchg2st64_rtn_b32", exchange, 4, 256, 6, 14},
      {"ds_wrxchg2_rtn_b64", exchange, 8, 8, 1, 190}, {"ds_wrxchg2st64_rtn_b64", exchange, 8, 512, 6, 2},
  };
  // Registers: addresses in v1, all inside, and v2, data in v[10:11] and v[12:13].
  struct Step {
    const Pair* pair;
    unsigned address, result;
  };
  std::vector<Step> steps;
  std::string source;
  unsigned result = 20;
  for (const unsigned address : {1u, 2u}) {
    for (const Pair& pair : pairs) {
      const std::string name = test::name_on(processor, pair.row);
      ASSERT_FALSE(name.empty()) << pair.row;
      const unsigned words = pair.bytes / 4;
      source += name + " ";
      if (pair.kind != store) source += registers('v', result, 2 * words) + ", ";
      source += fmt::format("v{}", address);
      if (pair.kind != load) {
        source += fmt::format(", {}, {}", registers('v', 10, words), registers('v', 12, words));
      }
      source += fmt::format(" offset0:{} offset1:{}\n", pair.first, pair.second);
      steps.push_back({&pair, address, result});
      result += 4;
    }
  }
  for (const uint64_t exec : masks) {
    lds = Lds(runner.lds());
    set_exec(exec);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned place = (lane * 29 + 7) % 64 * 8;
      runner.v(1)[lane] = place;
      const uint32_t others[] = {place, 3072 + place, 0x8000 + place, 0x0FFF'FFF8};
      runner.v(2)[lane] = others[lane % 4];
    }
    struct Expected {
      unsigned reg, lane;
      uint32_t value;
    };
    std::vector<Expected> expected;
    for (const auto& [pair, address, first] : steps) {
      const unsigned words = pair->bytes / 4;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        uint64_t values[] = {runner.v64(first, lane), runner.v64(first + 2, lane)};
        if (words == 1) values[1] = values[0] >> 32;
        if (is_on(exec, lane)) {
          const uint32_t places[] = {runner.v(address)[lane] + pair->first * pair->unit,
                                     runner.v(address)[lane] + pair->second * pair->unit};
          for (unsigned i = 0; i < 2; ++i) {
            if (pair->kind != store) values[i] = lds.load(places[i], pair->bytes);
            if (pair->kind != load) lds.store(places[i], pair->bytes, runner.v64(10 + 2 * i, lane));
          }
        }
        for (unsigned word = 0; pair->kind != store && word < 2 * words; ++word) {
          const auto value = static_cast<uint32_t>(values[word / words] >> 32 * (word % words));
          expected.push_back({first + word, lane, value});
        }
      }
    }
    ASSERT_EQ(runner.run(source), WaveState::ended);
    for (const auto& [reg, lane, value] : expected) {
      ASSERT_EQ(runner.v(reg)[lane], value)
          << steps[(reg - 20) / 4].pair->row << ", v" << reg << " of lane " << lane << ", EXEC " << exec;
    }
    expect_lds();
  }
}

/// DS_READ_ADDTID_B32, DS_WRITE_ADDTID_B32: at M0[15:0] and the offset, a dword for each lane.
void Accesses::of_the_lanes_number() {
  const std::string read = test::name_on(processor, "ds_read_addtid_b32");
  const std::string write = test::name_on(processor, "ds_write_addtid_b32");
  ASSERT_FALSE(read.empty() || write.empty());
  const std::string source = fmt::format(
      "s_mov_b32 m0, 0x12340104\n{0} v20 offset:8\n{1} v10 offset:2000\n{0} v21 offset:2000\n"
      "s_mov_b32 m0, {2}\n{0} v22 offset:4\n{1} v11 offset:4\n",
      read, write, WaveRunner::lds_bytes - 64);
  for (const uint64_t exec : masks) {
    lds = Lds(runner.lds());
    set_exec(exec);
    std::array<uint32_t, 64> expected[3];
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned i = 0; i < 3; ++i) expected[i][lane] = runner.v(20 + i)[lane];
      if (!is_on(exec, lane)) continue;
      expected[0][lane] = static_cast<uint32_t>(lds.load(0x10C + 4 * lane, 4));
      lds.store(0x104 + 2000 + 4 * lane, 4, runner.v(10)[lane]);
      expected[1][lane] = runner.v(10)[lane];
      const uint32_t last = WaveRunner::lds_bytes - 60 + 4 * lane;
      expected[2][lane] = static_cast<uint32_t>(lds.load(last, 4));
      lds.store(last, 4, runner.v(11)[lane]);
    }
    ASSERT_EQ(runner.run(source), WaveState::ended);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned i = 0; i < 3; ++i) ASSERT_EQ(runner.v(20 + i)[lane], expected[i][lane]) << i << ' ' << lane;
    }
    expect_lds();
  }
}

/// DS_APPEND, DS_CONSUME: the word at M0 and the offset counts the lanes that are on. The guide of RDNA4 does not name
/// M0; LLVM sets it for all generations.
void Accesses::that_count_lanes() {
  const std::string append = test::name_on(processor, "ds_append"), consume = test::name_on(processor, "ds_consume");
  ASSERT_FALSE(append.empty() || consume.empty());
  const std::string source =
      fmt::format("s_mov_b32 m0, 1000\n{0} v20 offset:4\n{1} v21 offset:24\n{0} v22 offset:4\n", append, consume);
  for (const uint64_t exec : masks) {
    lds = Lds(runner.lds());
    set_exec(exec);
    const auto count = static_cast<uint32_t>(__builtin_popcountll(runner.wave().exec()));
    const auto appended = static_cast<uint32_t>(lds.load(1004, 4)), consumed = static_cast<uint32_t>(lds.load(1024, 4));
    lds.store(1004, 4, appended + 2 * count);
    lds.store(1024, 4, consumed - count);
    const uint32_t results[] = {appended, consumed, appended + count};
    std::array<uint32_t, 64> expected[3];
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned i = 0; i < 3; ++i) expected[i][lane] = is_on(exec, lane) ? results[i] : runner.v(20 + i)[lane];
    }
    ASSERT_EQ(runner.run(source), WaveState::ended);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned i = 0; i < 3; ++i) ASSERT_EQ(runner.v(20 + i)[lane], expected[i][lane]) << i << ' ' << lane;
    }
    expect_lds();
  }
}

/// DS_CONDXCHG32_RTN_B64: words whose new value has bit 31 are stored, without it. DS_NOP leaves everything as it is.
void Accesses::that_exchange_on_a_condition() {
  const std::string name = test::name_on(processor, "ds_condxchg32_rtn_b64");
  const std::string nop = test::name_on(processor, "ds_nop");
  ASSERT_EQ(name.empty(), processor.generation < target::Generation::gfx7);
  ASSERT_EQ(nop.empty(), name.empty());
  if (name.empty()) return;
  const std::string source =
      fmt::format("{0} v[20:21], v1, v[10:11] offset:1024\n{1}\n{0} v[22:23], v2, v[12:13]\n{1}\n", name, nop);
  for (const uint64_t exec : masks) {
    lds = Lds(runner.lds());
    set_exec(exec);
    std::array<uint32_t, 64> expected[4];
    for (unsigned lane = 0; lane < lanes; ++lane) {
      runner.v(1)[lane] = (lane * 29 + 7) % 64 * 8 + lane % 8;  // the lower three bits count for nothing
      runner.v(2)[lane] = lane % 3 == 0 ? 0x3000 : 2048 + lane * 8;
      for (unsigned i = 0; i < 4; ++i) {
        expected[i][lane] = runner.v(20 + i)[lane];
        if (!is_on(exec, lane)) continue;
        const uint32_t address = (i < 2 ? runner.v(1)[lane] + 1024 : runner.v(2)[lane]) & 0xFFF8;
        const uint32_t value = runner.v(10 + i)[lane];
        expected[i][lane] = static_cast<uint32_t>(lds.load(address + i % 2 * 4, 4));
        if (value >> 31 != 0) lds.store(address + i % 2 * 4, 4, value & 0x7FFF'FFFF);
      }
    }
    ASSERT_EQ(runner.run(source), WaveState::ended);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned i = 0; i < 4; ++i) ASSERT_EQ(runner.v(20 + i)[lane], expected[i][lane]) << i << ' ' << lane;
    }
    expect_lds();
  }
}

TEST(LdsOnEachGeneration, OfTwoPlaces) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    ASSERT_NO_FATAL_FAILURE(Accesses(machine).of_two_places());
  }
}
TEST(LdsOnEachGeneration, OfTheLanesNumber) {
  for (const Machine& machine : test::machines_from_gfx9) {
    SCOPED_TRACE(test::name_of_machine(machine));
    ASSERT_NO_FATAL_FAILURE(Accesses(machine).of_the_lanes_number());
  }
}
TEST(LdsOnEachGeneration, ThatCountLanes) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    ASSERT_NO_FATAL_FAILURE(Accesses(machine).that_count_lanes());
  }
}
TEST(LdsOnEachGeneration, ThatExchangeOnACondition) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    ASSERT_NO_FATAL_FAILURE(Accesses(machine).that_exchange_on_a_condition());
  }
}

}  // namespace
}  // namespace Atoll

// Integer atomics of a wave's lanes on LDS and on memory, in every width, with and without results, wherever the lanes'
// words are to each other: the same for all, shared by some, each its own, not in LDS at all. The expected values
// follow from the ISA guides' pseudo-code of each operation, done for one lane after the other, lowest first.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "engine/wave_runner.h"
#include "support/parameter_name.h"

namespace Atoll {
namespace {

using machine::WaveState;
using test::WaveRunner;

/// `data` and `data2` in the order of the instruction's registers; numbers are of `bits` bits.
using Operation = uint64_t (*)(uint64_t old, uint64_t data, uint64_t data2, unsigned bits);

int64_t as_signed(uint64_t value, unsigned bits) { return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits); }

struct Atomic {
  std::string_view name;  ///< of DS without its type, of GLOBAL without its width
  std::string_view type;  ///< of DS: the letter before the width
  Operation operation;
  unsigned operands = 1;
};

constexpr Atomic on_lds[] = {
    {"add", "u", [](uint64_t old, uint64_t data, uint64_t, unsigned) { return old + data; }},
    {"sub", "u", [](uint64_t old, uint64_t data, uint64_t, unsigned) { return old - data; }},
    {"rsub", "u", [](uint64_t old, uint64_t data, uint64_t, unsigned) { return data - old; }},
    {"inc", "u", [](uint64_t old, uint64_t data, uint64_t, unsigned) { return old >= data ? 0 : old + 1; }},
    {"dec", "u",
     [](uint64_t old, uint64_t data, uint64_t, unsigned) { return old == 0 || old > data ? data : old - 1; }},
    {"min", "i",
     [](uint64_t old, uint64_t data, uint64_t, unsigned bits) {
       return as_signed(data, bits) < as_signed(old, bits) ? data : old;
     }},
    {"max", "i",
     [](uint64_t old, uint64_t data, uint64_t, unsigned bits) {
       return as_signed(data, bits) > as_signed(old, bits) ? data : old;
     }},
    {"min", "u", [](uint64_t old, uint64_t data, uint64_t, unsigned) { return std::min(old, data); }},
    {"max", "u", [](uint64_t old, uint64_t data, uint64_t, unsigned) { return std::max(old, data); }},
    {"and", "b", [](uint64_t old, uint64_t data, uint64_t, unsigned) { return old & data; }},
    {"or", "b", [](uint64_t old, uint64_t data, uint64_t, unsigned) { return old | data; }},
    {"xor", "b", [](uint64_t old, uint64_t data, uint64_t, unsigned) { return old ^ data; }},
    {"mskor", "b", [](uint64_t old, uint64_t mask, uint64_t data, unsigned) { return (old & ~mask) | data; }, 2},
    {"cmpst", "b",
     [](uint64_t old, uint64_t compared, uint64_t data, unsigned) { return old == compared ? data : old; }, 2},
    {"wrxchg", "b", [](uint64_t, uint64_t data, uint64_t, unsigned) { return data; }},
};

constexpr Atomic on_memory[] = {
    {"add", "", [](uint64_t old, uint64_t data, uint64_t, unsigned) { return old + data; }},
    {"sub", "", [](uint64_t old, uint64_t data, uint64_t, unsigned) { return old - data; }},
    {"inc", "", [](uint64_t old, uint64_t data, uint64_t, unsigned) { return old >= data ? 0 : old + 1; }},
    {"dec", "",
     [](uint64_t old, uint64_t data, uint64_t, unsigned) { return old == 0 || old > data ? data : old - 1; }},
    {"smin", "",
     [](uint64_t old, uint64_t data, uint64_t, unsigned bits) {
       return as_signed(data, bits) < as_signed(old, bits) ? data : old;
     }},
    {"smax", "",
     [](uint64_t old, uint64_t data, uint64_t, unsigned bits) {
       return as_signed(data, bits) > as_signed(old, bits) ? data : old;
     }},
    {"umin", "", [](uint64_t old, uint64_t data, uint64_t, unsigned) { return std::min(old, data); }},
    {"umax", "", [](uint64_t old, uint64_t data, uint64_t, unsigned) { return std::max(old, data); }},
    {"and", "", [](uint64_t old, uint64_t data, uint64_t, unsigned) { return old & data; }},
    {"or", "", [](uint64_t old, uint64_t data, uint64_t, unsigned) { return old | data; }},
    {"xor", "", [](uint64_t old, uint64_t data, uint64_t, unsigned) { return old ^ data; }},
    {"swap", "", [](uint64_t, uint64_t data, uint64_t, unsigned) { return data; }},
    {"cmpswap", "",
     [](uint64_t old, uint64_t data, uint64_t compared, unsigned) { return old == compared ? data : old; }, 2},
};

/// Which of the words a lane's atomic is on.
struct Pattern {
  std::string_view name;
  uint32_t (*word)(unsigned lane);
};
constexpr Pattern patterns[] = {
    {"one for all", [](unsigned) { return 3u; }},
    {"one for each", [](unsigned lane) { return 63 - lane; }},
    {"a few", [](unsigned lane) { return lane * 7 % 5; }},
    {"pairs", [](unsigned lane) { return lane / 2; }},
    {"one in each chunk", [](unsigned lane) { return lane / 16 * 2; }},
};
constexpr Pattern patterns_with_outside[] = {
    {"some outside", [](unsigned lane) { return lane % 9 == 4 ? 100'000 + lane : lane % 3; }},
    {"nearly outside", [](unsigned lane) { return WaveRunner::lds_bytes / 8 - 32 + lane; }},
    {"all outside", [](unsigned lane) { return 1'000'000 + lane; }},
};

constexpr uint64_t masks[] = {~uint64_t{0}, 0x0000'FFFE'FFFF'7FF0, 0x8000'0000'0001'0001, 0};

/// Numbers near each other and near the edges, so that each comparison goes both ways.
uint64_t number(unsigned i, unsigned salt) {
  switch ((i * 5 + salt) % 7) {
    case 0:
      return 0x8000'0000'8000'0000;
    case 1:
      return ~uint64_t{0} - i % 3;
    default:
      return (i * 2654435761u + salt) % 11;
  }
}

/// A wave whose lanes do one atomic on words of 8 bytes' distance: v1 (v[2:3]) says where, v[4:5] and v[6:7] have the
/// operands, v[8:9] take the results.
class Trial {
 public:
  Trial(const Atomic& atomic, unsigned bits, bool returns, const Pattern& pattern, uint64_t exec)
      : atomic_(atomic), bits_(bits), returns_(returns), pattern_(pattern), exec_(exec) {
    runner_.wave().set_exec(exec);
    for (unsigned lane = 0; lane < 64; ++lane) {
      set(4, lane, number(lane, 1));
      set(6, lane, number(lane, 4));
      set(8, lane, 0x1234'5678'9ABC'DEF0);
    }
  }

  /// `words`: those that there are.
  void expect(const std::string& source, uint8_t* memory, unsigned words) {
    for (unsigned i = 0; i < words; ++i) {
      const uint64_t value = number(i, 0);
      std::memcpy(memory + i * 8, &value, 8);
    }
    std::vector<uint8_t> expected(memory, memory + words * 8);
    std::map<unsigned, uint64_t> results;
    for (unsigned lane = 0; lane < 64; ++lane) {
      if ((exec_ >> lane & 1) == 0) continue;
      uint64_t old = 0;
      if (pattern_.word(lane) < words) {
        uint8_t* place = expected.data() + pattern_.word(lane) * 8;
        std::memcpy(&old, place, bits_ / 8);
        const uint64_t updated = atomic_.operation(old, get(4, lane) & all(), get(atomic_data2(), lane) & all(), bits_);
        std::memcpy(place, &updated, bits_ / 8);
      }
      results[lane] = old;
    }
    ASSERT_EQ(runner_.run(source), WaveState::ended) << source;
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), memory)) << source << ", " << pattern_.name;
    for (unsigned lane = 0; lane < 64; ++lane) {
      const bool changes = returns_ && results.contains(lane);
      const uint64_t before = 0x1234'5678'9ABC'DEF0;
      const uint64_t result = changes ? results[lane] | (before & ~all()) : before;
      ASSERT_EQ(runner_.v64(8, lane), result) << source << ", " << pattern_.name << ", lane " << lane;
    }
  }

  std::string rows(unsigned first, unsigned words) const {
    return words == 1 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + words - 1);
  }
  unsigned words() const { return bits_ / 32; }
  WaveRunner& runner() { return runner_; }
  void set(unsigned row, unsigned lane, uint64_t value) {
    runner_.v(row)[lane] = static_cast<uint32_t>(value);
    runner_.v(row + 1)[lane] = static_cast<uint32_t>(value >> 32);
  }
  /// The second operand is after the first for GLOBAL.
  unsigned atomic_data2() const { return atomic_.type.empty() ? 4 + words() : 6; }

 private:
  uint64_t get(unsigned row, unsigned lane) { return runner_.v64(row, lane); }
  uint64_t all() const { return ~uint64_t{0} >> (64 - bits_); }

  const Atomic& atomic_;
  unsigned bits_;
  bool returns_;
  const Pattern& pattern_;
  uint64_t exec_;
  WaveRunner runner_{"gfx90a"};
};

void try_on_lds(const Atomic& atomic, unsigned bits, bool returns, const Pattern& pattern, uint64_t exec,
                const std::string& before = {}) {
  Trial trial(atomic, bits, returns, pattern, exec);
  for (unsigned lane = 0; lane < 64; ++lane) trial.runner().v(1)[lane] = pattern.word(lane) * 8;
  std::string source = before + fmt::format("ds_{}{}_{}{} ", atomic.name, returns ? "_rtn" : "", atomic.type, bits);
  if (returns) source += trial.rows(8, trial.words()) + ", ";
  source += "v1, " + trial.rows(4, trial.words());
  if (atomic.operands == 2) source += ", " + trial.rows(6, trial.words());
  trial.expect(source, trial.runner().lds(), WaveRunner::lds_bytes / 8);
}

void try_on_memory(const Atomic& atomic, unsigned bits, bool returns, const Pattern& pattern, uint64_t exec) {
  Trial trial(atomic, bits, returns, pattern, exec);
  std::vector<uint64_t> memory(64);
  for (unsigned lane = 0; lane < 64; ++lane) {
    trial.set(2, lane, reinterpret_cast<uint64_t>(&memory[pattern.word(lane)]));
  }
  std::string source = fmt::format("global_atomic_{}{} ", atomic.name, bits == 64 ? "_x2" : "");
  if (returns) source += trial.rows(8, trial.words()) + ", ";
  source += "v[2:3], " + trial.rows(4, trial.words() * atomic.operands) + ", off" + (returns ? " glc" : "");
  trial.expect(source, reinterpret_cast<uint8_t*>(memory.data()), 64);
}

class Atomics : public testing::TestWithParam<unsigned> {};

TEST_P(Atomics, OnLdsAreDoneLaneAfterLane) {
  for (const Atomic& atomic : on_lds) {
    for (const bool returns : {false, true}) {
      if (!returns && atomic.name == "wrxchg") continue;  // that is a store
      for (const uint64_t exec : masks) try_on_lds(atomic, GetParam(), returns, patterns[0], exec);
      for (const Pattern& pattern : patterns) try_on_lds(atomic, GetParam(), returns, pattern, masks[0]);
      for (const Pattern& pattern : patterns_with_outside) {
        try_on_lds(atomic, GetParam(), returns, pattern, masks[0]);
      }
    }
  }
}

TEST_P(Atomics, OnLdsInLargeCode) {
  for (const Atomic& atomic : on_lds) {
    for (const Pattern& pattern : {patterns[2], patterns_with_outside[0]}) {
      try_on_lds(atomic, GetParam(), true, pattern, masks[0], ".rept 500\nv_nop\n.endr\n");
    }
  }
}

TEST_P(Atomics, OnMemoryAreDoneLaneAfterLane) {
  for (const Atomic& atomic : on_memory) {
    for (const bool returns : {false, true}) {
      for (const uint64_t exec : masks) try_on_memory(atomic, GetParam(), returns, patterns[0], exec);
      for (const Pattern& pattern : patterns) try_on_memory(atomic, GetParam(), returns, pattern, masks[0]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, Atomics, testing::Values(32u, 64u), test::NamedByParameter());

}  // namespace
}  // namespace Atoll

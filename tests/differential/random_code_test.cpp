// Random machine code must leave the same state behind whichever way it is run: by the interpreter, by the compiled
// engine, at every level of host vectors.
//
// A program is a number, for a processor. More of them than the few of every run, for an hour say, from number 1000 on:
//     ATOLL_FUZZ_SECONDS=3600 ATOLL_FUZZ_SEED=1000 build/bin/test_random_code
// and one again:
//     ATOLL_FUZZ_SEED=1234 ATOLL_FUZZ_PROGRAMS=1 build/bin/test_random_code --gtest_filter='*gfx90a'
// (gfx90a_sramecc: as a GPU with SRAM ECC). ATOLL_FUZZ_PRINT=1 prints every program. Where engines differ, the program
// is made smaller as long as they do, and printed with the difference.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <span>

#include "differential/fuzz_grid.h"
#include "engine/engines.h"
#include "engine/interpreter/interpreter.h"
#include "semantics/host_vectors.h"
#include "support/command.h"
#include "target/target.h"

namespace Atoll::target {
void PrintTo(const Target& target, std::ostream* out);
void PrintTo(const Target& target, std::ostream* out) {
  *out << target.processor->name << " wave" << unsigned{target.wave_size};
  if (target.d16_loads_clear) *out << " sramecc+";
}
}  // namespace Atoll::target

namespace Atoll::test {
namespace {

/// Compiling a program takes longer than running it many times.
constexpr unsigned states_per_program = 6;
/// Programs of a run without further wishes: one of every shape (random_code.cpp).
constexpr uint64_t usual_programs = 16;

/// Shares of instructions that may be interpreted: code in modes that are not compiled, and fallbacks.
constexpr double max_interpreted = 0.6, max_fallbacks = 0.2;

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// One GFX8 processor and those of GFX9, and those that can have it with SRAM ECC as well.
std::vector<target::Target> gfx9_targets() {
  std::vector<target::Target> found;
  for (const target::Processor& processor : target::processors()) {
    if (processor.generic || !(processor.name.starts_with("gfx9") || processor.name == "gfx803")) continue;
    found.emplace_back(processor);
    if (!processor.supports_sramecc) continue;
    found.emplace_back(processor);
    found.back().d16_loads_clear = true;
  }
  return found;
}
/// One processor of each later generation, for each size of its waves.
std::vector<target::Target> rdna_targets() {
  std::vector<target::Target> found;
  for (const char* name : {"gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1170", "gfx1201", "gfx1250", "gfx1251"}) {
    const target::Target target(*target::find_processor(name));
    for (const unsigned wave_size : {32, 64}) {
      if (target.processor->has_wave_size(wave_size)) found.push_back(target.with_wave_size(wave_size));
    }
  }
  return found;
}
/// Whether a processor gets the programs of every shape in each run: one of each generation. The others are nearly one
/// of these: some programs are enough for what is different. (`make fuzz` gives all of them as many as the time lets.)
bool is_a_sample(const target::Target& target) {
  constexpr std::string_view sample[] = {"gfx900",  "gfx90a",  "gfx942",  "gfx1010",
                                         "gfx1030", "gfx1100", "gfx1201", "gfx1250"};
  return !target.d16_loads_clear && std::ranges::find(sample, target.processor->name) != std::end(sample);
}
std::string name_of(const target::Target& target) {
  std::string name(target.processor->name);
  if (target.processor->has_wave_size(32)) name += fmt::format("_wave{}", target.wave_size);
  return name + (target.d16_loads_clear ? "_sramecc" : "");
}

uint64_t state_number(uint64_t seed, unsigned state) { return seed * states_per_program + state; }

/// Code that runs to its end: without the units at which a wave faults. Of some programs only those that the engines
/// lack are left out, and not what faults for its address.
RandomCode runnable_code(const target::Target& target, uint64_t seed, FuzzGrid& grid, machine::Engine& engine) {
  RandomCode code = random_code(target, seed);
  for (unsigned state = 0; state < states_per_program; ++state) {
    for (;;) {
      engine.code_changed(0, ~uint64_t{0});
      const FinalState end = grid.run(engine, code, state_number(seed, state));
      if (!end.fault) break;
      if (code.may_fault && end.fault->kind != machine::Fault::Kind::illegal_instruction) break;
      const auto place = static_cast<uint32_t>(end.fault->pc / 4);
      const auto guilty = std::ranges::find_if(
          code.units, [&](const RandomCode::Unit& unit) { return std::ranges::find(unit, place) != unit.end(); });
      if (guilty == code.units.end()) break;
      code = code.without({guilty, 1});
    }
  }
  return code;
}

class RandomCodeTest : public testing::TestWithParam<target::Target> {
 protected:
  RandomCodeTest() : grid_(GetParam()), interpreter_(engine::make_interpreter(GetParam())) {
    setenv("ATOLL_COMPILE", "wait", 1);
    setenv("ATOLL_CACHE", "off", 1);
    const auto make = engine::find_engine("compiled");
    if (make) {
      compiled_ = (*make)(GetParam());
    } else {
      ADD_FAILURE() << make.error().message;
    }
  }

  void forget_code() {
    interpreter_->code_changed(0, ~uint64_t{0});
    compiled_->code_changed(0, ~uint64_t{0});
  }
  /// The compiled engine gives waves back and gets them again, every now and then or all the time.
  FinalState translated(const RandomCode& code, uint64_t state) {
    constexpr uint64_t turns[] = {10, 300, 10'000};
    FinalState end = grid_.run(*compiled_, code, state, turns[state % std::size(turns)]);
    instructions_ += end.instructions;
    return end;
  }

  /// Runs a program in both engines. Returns whether they agree, and prints the difference.
  bool agree(uint64_t seed) {
    const uint64_t endless = endless_compilations(), instructions = instructions_, interpreted = interpreted_now();
    const bool agreed = compare(seed);
    if (endless_compilations() != endless) {
      fmt::print("{}, program {}: {}\n", name_of(GetParam()), seed, is_endless);
      instructions_ = instructions;
      interpreted_apart_ += interpreted_now() - interpreted;
    }
    return agreed;
  }

  bool compare(uint64_t seed) {
    const RandomCode code = runnable_code(GetParam(), seed, grid_, *interpreter_);
    if (setting("ATOLL_FUZZ_PRINT", 0) != 0) fmt::print("program {}\n{}", seed, code.disassembly(GetParam()));
    forget_code();
    for (unsigned i = 0; i < states_per_program; ++i) {
      const uint64_t state = state_number(seed, i);
      const FinalState expected = grid_.run(*interpreter_, code, state);
      if (expected.is_endless()) return true;
      if (expected.difference(translated(code, state)).empty()) continue;
      const RandomCode small = smallest(code, state);
      forget_code();
      const std::string difference = grid_.run(*interpreter_, small, state).difference(translated(small, state));
      ADD_FAILURE() << name_of(GetParam()) << ", program " << seed << ", state " << i << ", " << small.waves
                    << " waves, " << small.groups << " work-groups: the interpreter and the compiled engine differ\n"
                    << small.disassembly(GetParam()) << difference;
      return false;
    }
    return true;
  }

  bool differs(const RandomCode& code, uint64_t state) {
    forget_code();
    const FinalState expected = grid_.run(*interpreter_, code, state);
    return !expected.is_endless() && !expected.difference(translated(code, state)).empty();
  }

  /// Leaves out as many units as can be, many at a time first.
  RandomCode smallest(RandomCode code, uint64_t state) {
    std::vector<RandomCode::Unit> units = code.units;
    for (size_t size = std::max<size_t>(1, units.size() / 2); size != 0; size /= 2) {
      for (bool smaller = true; smaller;) {
        smaller = false;
        for (size_t end = units.size(); end != 0; end -= std::min(end, size)) {
          const size_t begin = end - std::min(end, size);
          RandomCode candidate = code.without(std::span(units).subspan(begin, end - begin));
          if (!differs(candidate, state)) continue;
          code = std::move(candidate);
          units.erase(units.begin() + static_cast<ptrdiff_t>(begin), units.begin() + static_cast<ptrdiff_t>(end));
          smaller = true;
        }
        if (size != 1) break;
      }
    }
    return code;
  }

  /// Requests over which LLVM was given up.
  uint64_t endless_compilations() const {
    const auto failures = compiled_->report().failures;
    const auto found = failures.find(is_endless);
    return found != failures.end() ? found->second : 0;
  }
  uint64_t interpreted_now() const { return grid_.interpreted_instructions() - interpreted_apart_; }

  /// Says what has been done, and fails if that is too little.
  void report(uint64_t first, uint64_t programs) const {
    const machine::EngineReport report = compiled_->report();
    for (const auto& [reason, times] : report.failures) {
      if (reason == is_endless) continue;
      ADD_FAILURE() << "not compiled, so not compared: " << reason << ", " << times << " times";
    }
    uint64_t translated = 0, fallbacks = 0;
    double seconds = 0;
    for (const machine::EngineReport::Translation& translation : report.translations) {
      translated += translation.instructions;
      fallbacks += translation.fallbacks;
      seconds += translation.seconds;
    }
    const double interpreted = static_cast<double>(interpreted_now()) / static_cast<double>(instructions_);
    const double in_fallbacks = static_cast<double>(fallbacks) / static_cast<double>(translated);
    fmt::print(
        "{}: programs {} to {}, {} instructions run, {:.1f}% of them interpreted; {} translated in {:.1f} s, {:.1f}% "
        "of them as interpreter fallbacks; {} waves begun by translated code\n",
        name_of(GetParam()), first, first + programs - 1, instructions_, 100 * interpreted, translated, seconds,
        100 * in_fallbacks, grid_.waves_begun_in_series());
    if (programs < usual_programs) return;
    EXPECT_LE(interpreted, max_interpreted) << "of instructions: there is too little to compare";
    EXPECT_LE(in_fallbacks, max_fallbacks);
  }

  static constexpr const char* is_endless = "LLVM does not come to an end";

  FuzzGrid grid_;
  std::unique_ptr<machine::Engine> interpreter_, compiled_;
  uint64_t instructions_ = 0;       ///< that the compiled engine ran, of code that could be compiled
  uint64_t interpreted_apart_ = 0;  ///< of the others
};

TEST_P(RandomCodeTest, EnginesAgree) {
  if (compiled_ == nullptr) return;
  const uint64_t first = setting("ATOLL_FUZZ_SEED", 1), seconds = setting("ATOLL_FUZZ_SECONDS", 0);
  const uint64_t few = is_a_sample(GetParam()) ? usual_programs : usual_programs / 4;
  const uint64_t programs = setting("ATOLL_FUZZ_PROGRAMS", seconds != 0 ? ~uint64_t{0} : few);
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(seconds) / (gfx9_targets().size() + rdna_targets().size());
  unsigned failures = 0;
  uint64_t done = 0;
  while (done < programs && failures < 3) {
    if (seconds != 0 && std::chrono::steady_clock::now() >= end) break;
    if (!agree(first + done++)) ++failures;
  }
  report(first, done);
}

/// Digests of what the interpreter makes of programs, a line for each.
std::string digests(const target::Target& target, uint64_t first, uint64_t count) {
  FuzzGrid grid(target);
  const auto engine = engine::make_interpreter(target);
  std::string text;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const RandomCode code = runnable_code(target, seed, grid, *engine);
    engine->code_changed(0, ~uint64_t{0});
    for (unsigned i = 0; i < states_per_program; ++i) {
      const FinalState end = grid.run(*engine, code, state_number(seed, i));
      text += fmt::format("program {} state {}: {:016x}\n", seed, i, end.digest());
    }
  }
  return text;
}

/// As above in a process at another level of host vectors, which an environment variable selects.
class RandomCodeLevels : public testing::TestWithParam<target::Target> {};

TEST_P(RandomCodeLevels, Agree) {
  const uint64_t first = setting("ATOLL_FUZZ_SEED", 1);
  const uint64_t count = setting("ATOLL_FUZZ_PROGRAMS", is_a_sample(GetParam()) ? 40 : 10);
  const std::string own = digests(GetParam(), first, count);
  if (const char* file = std::getenv("ATOLL_FUZZ_DIGESTS")) return write_file(file, own);
  const TemporaryDirectory directory;
  for (const semantics::HostVectors level : semantics::available_host_vectors()) {
    if (level == semantics::host_vectors()) continue;
    const std::string file = directory / std::string(name(level));
    const CommandResult result = run_command(fmt::format(
        "ATOLL_HOST_VECTORS={} ATOLL_FUZZ_DIGESTS={} /proc/{}/exe --gtest_filter='*RandomCodeLevels.Agree/{}' 2>&1",
        name(level), file, getpid(), name_of(GetParam())));
    ASSERT_EQ(result.exit_code, 0) << result.output;
    const std::vector<uint8_t> bytes = read_bytes(file);
    EXPECT_EQ(std::string(bytes.begin(), bytes.end()), own) << name(level);
  }
}

INSTANTIATE_TEST_SUITE_P(Gfx9, RandomCodeLevels, testing::ValuesIn(gfx9_targets()),
                         [](const auto& target) { return name_of(target.param); });

INSTANTIATE_TEST_SUITE_P(Gfx9, RandomCodeTest, testing::ValuesIn(gfx9_targets()),
                         [](const auto& target) { return name_of(target.param); });

INSTANTIATE_TEST_SUITE_P(Rdna, RandomCodeLevels, testing::ValuesIn(rdna_targets()),
                         [](const auto& target) { return name_of(target.param); });

INSTANTIATE_TEST_SUITE_P(Rdna, RandomCodeTest, testing::ValuesIn(rdna_targets()),
                         [](const auto& target) { return name_of(target.param); });

}  // namespace
}  // namespace Atoll::test

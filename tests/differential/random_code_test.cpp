// Random machine code must leave the same state behind whichever way it is run: by the interpreter, by the compiled
// engine, at every level of host vectors.
//
// A program is a number, for a processor. More of them than the few of every run, for an hour say, from number 1000 on:
//     ATOLL_FUZZ_SECONDS=3600 ATOLL_FUZZ_SEED=1000 build/bin/test_random_code
// and one again:
//     ATOLL_FUZZ_SEED=1234 ATOLL_FUZZ_PROGRAMS=1 build/bin/test_random_code --gtest_filter='*gfx90a'
// ATOLL_FUZZ_PRINT=1 prints every program. Where engines differ, the program is made smaller as long as they do, and
// printed with the difference.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "differential/fuzz_wave.h"
#include "engine/engines.h"
#include "engine/interpreter.h"
#include "semantics/host_vectors.h"
#include "support/command.h"
#include "target/processor.h"

namespace Atoll::test {
namespace {

constexpr unsigned program_length = 40, states_per_program = 3;

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::vector<const target::Processor*> gfx9_processors() {
  std::vector<const target::Processor*> found;
  for (const target::Processor& processor : target::processors()) {
    using enum target::Generation;
    if (processor.generic) continue;
    if (processor.name.starts_with("gfx9")) found.push_back(&processor);
  }
  return found;
}

uint64_t state_number(uint64_t seed, unsigned state) { return seed * states_per_program + state; }

/// Code that runs to its end: without the units at which a wave faults. Of some programs only those that the engines
/// lack are left out, and not what faults for its address.
RandomCode runnable_code(const target::Processor& processor, uint64_t seed, FuzzWave& wave, machine::Engine& engine) {
  const bool may_fault = seed % 8 == 0;
  RandomCode code = random_code(processor, seed, program_length);
  for (unsigned state = 0; state < states_per_program; ++state) {
    for (;;) {
      engine.code_changed(0, ~uint64_t{0});
      const FinalState end = wave.run(engine, code, state_number(seed, state));
      if (end.state != machine::WaveState::faulted) break;
      if (may_fault && end.fault != machine::Fault::Kind::illegal_instruction) break;
      const auto place = static_cast<uint32_t>(end.pc / 4);
      const auto guilty = std::ranges::find_if(
          code.units, [&](const RandomCode::Unit& unit) { return std::ranges::find(unit, place) != unit.end(); });
      if (guilty == code.units.end()) break;
      code = code.without(*guilty);
    }
  }
  return code;
}

class RandomCodeTest : public testing::TestWithParam<const target::Processor*> {
 protected:
  RandomCodeTest() : wave_(processor_), interpreter_(engine::make_interpreter(processor_)) {
    setenv("ATOLL_COMPILE", "wait", 1);
    setenv("ATOLL_CACHE", "off", 1);
    const auto make = engine::find_engine("compiled");
    if (make) {
      compiled_ = (*make)(processor_);
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
    return wave_.run(*compiled_, code, state, state % 2 == 0 ? 10 : 1000);
  }

  /// Whether the engines agree on a program; tells what happened where they don't.
  bool agree(uint64_t seed) {
    const RandomCode code = runnable_code(processor_, seed, wave_, *interpreter_);
    if (setting("ATOLL_FUZZ_PRINT", 0) != 0) fmt::print("program {}\n{}", seed, code.disassembly(processor_));
    forget_code();
    for (unsigned i = 0; i < states_per_program; ++i) {
      const uint64_t state = state_number(seed, i);
      const FinalState expected = wave_.run(*interpreter_, code, state);
      if (expected.state == machine::WaveState::ready) return true;
      if (translated(code, state) == expected) continue;
      const RandomCode small = smallest(code, state);
      forget_code();
      const std::string difference = wave_.run(*interpreter_, small, state).difference(translated(small, state));
      ADD_FAILURE() << processor_.name << ", program " << seed << ", state " << i
                    << ": the interpreter and the compiled engine differ\n"
                    << small.disassembly(processor_) << difference;
      return false;
    }
    return true;
  }

  RandomCode smallest(RandomCode code, uint64_t state) {
    std::vector<RandomCode::Unit> units = code.units;
    for (bool smaller = true; smaller;) {
      smaller = false;
      for (size_t i = units.size(); i-- > 0;) {
        RandomCode candidate = code.without(units[i]);
        forget_code();
        const FinalState expected = wave_.run(*interpreter_, candidate, state);
        if (expected.state == machine::WaveState::ready || translated(candidate, state) == expected) continue;
        code = std::move(candidate);
        units.erase(units.begin() + static_cast<ptrdiff_t>(i));
        smaller = true;
      }
    }
    return code;
  }

  const target::Processor& processor_ = *GetParam();
  FuzzWave wave_;
  std::unique_ptr<machine::Engine> interpreter_, compiled_;
};

TEST_P(RandomCodeTest, EnginesAgree) {
  if (compiled_ == nullptr) return;
  const uint64_t first = setting("ATOLL_FUZZ_SEED", 1), seconds = setting("ATOLL_FUZZ_SECONDS", 0);
  const uint64_t programs = setting("ATOLL_FUZZ_PROGRAMS", seconds != 0 ? ~uint64_t{0} : 12);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds) / gfx9_processors().size();
  unsigned failures = 0;
  uint64_t done = 0;
  while (done < programs && failures < 3) {
    if (seconds != 0 && std::chrono::steady_clock::now() >= end) break;
    if (!agree(first + done++)) ++failures;
  }
  RecordProperty("programs", static_cast<int>(done));
  for (const auto& [reason, times] : compiled_->report().failures) {
    if (reason == "LLVM does not come to an end") continue;
    ADD_FAILURE() << "not compiled, so not compared: " << reason << ", " << times << " times";
  }
}

/// Digests of what the interpreter makes of programs, a line for each.
std::string digests(const target::Processor& processor, uint64_t first, uint64_t count) {
  FuzzWave wave(processor);
  const auto engine = engine::make_interpreter(processor);
  std::string text;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const RandomCode code = runnable_code(processor, seed, wave, *engine);
    engine->code_changed(0, ~uint64_t{0});
    for (unsigned i = 0; i < states_per_program; ++i) {
      const FinalState end = wave.run(*engine, code, state_number(seed, i));
      text += fmt::format("program {} state {}: {:016x}\n", seed, i, end.digest());
    }
  }
  return text;
}

/// The same of a process at another level of host vectors: this program, asked for them by a variable.
class RandomCodeLevels : public testing::TestWithParam<const target::Processor*> {};

TEST_P(RandomCodeLevels, Agree) {
  const uint64_t first = setting("ATOLL_FUZZ_SEED", 1), count = setting("ATOLL_FUZZ_PROGRAMS", 40);
  const std::string own = digests(*GetParam(), first, count);
  if (const char* file = std::getenv("ATOLL_FUZZ_DIGESTS")) return write_file(file, own);
  const TemporaryDirectory directory;
  for (const semantics::HostVectors level : semantics::available_host_vectors()) {
    if (level == semantics::host_vectors()) continue;
    const std::string file = directory / std::string(name(level));
    const CommandResult result = run_command(fmt::format(
        "ATOLL_HOST_VECTORS={} ATOLL_FUZZ_DIGESTS={} /proc/{}/exe --gtest_filter='*RandomCodeLevels.Agree/{}' 2>&1",
        name(level), file, getpid(), GetParam()->name));
    ASSERT_EQ(result.exit_code, 0) << result.output;
    const std::vector<uint8_t> bytes = read_bytes(file);
    EXPECT_EQ(std::string(bytes.begin(), bytes.end()), own) << name(level);
  }
}

INSTANTIATE_TEST_SUITE_P(Gfx9, RandomCodeLevels, testing::ValuesIn(gfx9_processors()),
                         [](const auto& processor) { return std::string(processor.param->name); });

INSTANTIATE_TEST_SUITE_P(Gfx9, RandomCodeTest, testing::ValuesIn(gfx9_processors()),
                         [](const auto& processor) { return std::string(processor.param->name); });

}  // namespace
}  // namespace Atoll::test

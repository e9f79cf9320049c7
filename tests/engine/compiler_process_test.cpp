// The compiler process: that it does its work, and that the program does not notice it.
#include "engine/compiled/compiler_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>

#include "engine/compiled/compilations.h"
#include "engine/compiled/compiler_channel.h"
#include "engine/compiled/control_flow.h"
#include "engine/compiled/translation_cache.h"
#include "engine/wave_runner.h"
#include "support/command.h"
#include "target/processor.h"

namespace Atoll::test {

namespace {

using engine::Compilation;
using engine::Compilations;
using engine::CompilerProcess;

/// A request for a piece of code that adds `number` to v0.
std::vector<uint8_t> request(unsigned number, unsigned additions = 1) {
  static std::vector<std::vector<uint8_t>> codes;        // they are read at their place
  static const unsigned other = std::random_device()();  // than in the run before, which the cache may know
  std::string text;
  for (unsigned i = 0; i < additions; ++i) text += "v_add_u32 v0, " + std::to_string(other + number) + ", v0\n";
  codes.push_back(assemble(text + "s_endpgm", "gfx90a"));
  const target::Processor& processor = *target::find_processor("gfx90a");
  const auto begin = reinterpret_cast<uint64_t>(codes.back().data());
  const auto flow = engine::follow(begin, {}, begin, begin + codes.back().size(), processor);
  EXPECT_TRUE(flow.has_value());
  return engine::TranslationRequest::serialise(processor, *flow, begin, other + number);
}

bool exists(pid_t process) { return kill(process, 0) == 0; }

/// Whether it becomes so. On a host that is busy, compilations in idle time may take a minute to begin.
template <typename Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 12'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

std::vector<CompilerProcess::Answer> answers_of(CompilerProcess& compiler) {
  std::vector<CompilerProcess::Answer> answers;
  EXPECT_TRUE(soon([&] { return !(answers = compiler.take_answers()).empty(); }));
  return answers;
}

/// Runs `work` in a child process, and yields its exit code or minus the signal that ended it.
template <typename Work>
int in_child(Work work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// Requests code, and returns whether it arrived.
int compiles(unsigned number) {
  const auto compilation = Compilations::of_process().ask(request(number), 1, {});
  Compilations::of_process().wait(*compilation);
  return compilation->code != nullptr ? 0 : 1;
}

/// Until nothing is in a hurry any more. A fork asks anew for what the process has asked for, too.
void await_urgent() {
  while (Compilations::of_process().urgent() != 0) {
    Compilations::of_process().look();
    std::this_thread::yield();
  }
}

int children_ended = 0;

}  // namespace

TEST(CompilerProcess, AnswersWithCode) {
  auto compiler = CompilerProcess::start("");
  ASSERT_TRUE(compiler.has_value()) << compiler.error().message;
  const auto slot = (*compiler)->post(request(1), false);
  ASSERT_TRUE(slot.has_value());
  const auto answers = answers_of(**compiler);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].slot, *slot);
  ASSERT_TRUE(answers[0].is_code);
  const auto code = engine::TranslatedCode::parse(answers[0].bytes);
  ASSERT_TRUE(code.has_value());
  EXPECT_EQ(code->instructions, 2U);
  EXPECT_EQ(code->entries.size(), 1U);
}

TEST(CompilerProcess, ForgetsWhatHasBeenSpentOnCodeThatItCompiles) {
  const TemporaryDirectory directory;
  const std::vector<uint8_t> asked = request(std::random_device()());
  const engine::TranslationCache cache = [&] {
    const std::string before = getenv("ATOLL_CACHE") != nullptr ? getenv("ATOLL_CACHE") : "";
    setenv("ATOLL_CACHE", directory.path().c_str(), 1);
    auto there = engine::TranslationCache::from_environment().value().value();
    before.empty() ? unsetenv("ATOLL_CACHE") : setenv("ATOLL_CACHE", before.c_str(), 1);
    return there;
  }();
  cache.past_runs().add(engine::hash(asked), 1'000);
  cache.past_runs().add(1, 1'000);
  auto compiler = CompilerProcess::start(directory.path().string());
  ASSERT_TRUE(compiler.has_value());
  ASSERT_TRUE((*compiler)->post(asked, true).has_value());
  EXPECT_EQ(answers_of(**compiler).size(), 1U);
  EXPECT_EQ(cache.past_runs().spent(engine::hash(asked)), 0U);
  EXPECT_EQ(cache.past_runs().spent(1), 1'000U);
}

TEST(CompilerProcess, SaysWhatIsWrongWithARequest) {
  auto compiler = CompilerProcess::start("");
  ASSERT_TRUE(compiler.has_value());
  std::vector<uint8_t> damaged = request(2);
  damaged.resize(damaged.size() / 2);
  ASSERT_TRUE((*compiler)->post(damaged, true).has_value());
  const auto answers = answers_of(**compiler);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_FALSE(answers[0].is_code);
  EXPECT_EQ(std::string(answers[0].bytes.begin(), answers[0].bytes.end()), "a damaged request for a translation");
}

TEST(CompilerProcess, IsNoChildOfTheProgramAndTakesNoDescriptor) {
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const std::vector<uint8_t> asked = request(3);  // by a child of this program's own
  struct sigaction counting{};
  struct sigaction before{};
  counting.sa_handler = [](int) { ++children_ended; };
  sigaction(SIGCHLD, &counting, &before);
  const auto open_before = descriptors();
  auto compiler = CompilerProcess::start("");
  ASSERT_TRUE(compiler.has_value());
  EXPECT_EQ(descriptors(), open_before);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
  ASSERT_TRUE((*compiler)->post(asked, true).has_value());
  EXPECT_EQ(answers_of(**compiler).size(), 1U);
  kill((*compiler)->process(), SIGKILL);
  EXPECT_TRUE(soon([&] { return (*compiler)->health() == CompilerProcess::Health::died; }));
  EXPECT_EQ(children_ended, 0);
  sigaction(SIGCHLD, &before, nullptr);
}

TEST(CompilerProcess, GivesWayToTheProgramAndNotOnlyToItself) {
  auto compiler = CompilerProcess::start("");
  ASSERT_TRUE(compiler.has_value());
  const pid_t process = (*compiler)->process();
  const auto autogroup_of = [](const std::string& which) {
    std::ifstream file("/proc/" + which + "/autogroup");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(autogroup_of(std::to_string(process)), autogroup_of("self"));
  EXPECT_EQ(getsid(process), getsid(0));
  EXPECT_NE(getpgid(process), getpgrp()) << "Ctrl-C would end it";
}

TEST(CompilerProcess, EndsWhenTheProgramIsKilled) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int result = in_child([&] {
    auto compiler = CompilerProcess::start("");
    if (!compiler) return 1;
    (*compiler)->post(request(4), true);
    answers_of(**compiler);
    const pid_t process = (*compiler)->process();
    if (write(ends[1], &process, sizeof process) != sizeof process) return 2;
    return kill(getpid(), SIGKILL);
  });
  EXPECT_EQ(result, -SIGKILL);
  pid_t process = 0;
  ASSERT_EQ(read(ends[0], &process, sizeof process), static_cast<ssize_t>(sizeof process));
  EXPECT_TRUE(soon([&] { return !exists(process); }));
  close(ends[0]);
  close(ends[1]);
}

TEST(CompilerProcess, FinishesForTheCacheWhatTheProgramLeaves) {
  std::string cache = testing::TempDir() + "atoll-cache-XXXXXX";
  ASSERT_NE(mkdtemp(cache.data()), nullptr);
  const std::vector<uint8_t> asked = request(4);
  const int result = in_child([&] {
    auto compiler = CompilerProcess::start(cache);
    if (!compiler) return 1;
    const auto slot = (*compiler)->post(asked, false);
    if (!soon([&] { return (*compiler)->was_begun(*slot) || (*compiler)->answers() != 0; })) return 2;
    return kill(getpid(), SIGKILL);
  });
  EXPECT_EQ(result, -SIGKILL);
  setenv("ATOLL_CACHE", cache.c_str(), 1);
  const auto kept = engine::TranslationCache::from_environment();
  unsetenv("ATOLL_CACHE");
  ASSERT_TRUE(kept.has_value() && kept->has_value());
  EXPECT_TRUE(soon([&] { return (*kept)->find(asked).has_value(); }));
  std::filesystem::remove_all(cache);
}

TEST(CompilerProcess, HurriesWhenItIsToldTo) {
  auto compiler = CompilerProcess::start("");
  ASSERT_TRUE(compiler.has_value());
  const auto slot = (*compiler)->post(request(5), false);
  ASSERT_TRUE(slot.has_value());
  (*compiler)->set_priority(*slot);
  EXPECT_TRUE(answers_of(**compiler).front().is_code);
  // Whichever of the threads that were at it was second says nothing.
  const auto next = (*compiler)->post(request(6), true);
  ASSERT_TRUE(next.has_value());
  EXPECT_TRUE(answers_of(**compiler).front().is_code);
  EXPECT_EQ((*compiler)->answers(), 2U);
}

TEST(CompilerProcess, HurriesPastThoseThatWaitForTheirTurn) {
  auto compiler = CompilerProcess::start("");
  ASSERT_TRUE(compiler.has_value());
  constexpr unsigned some_seconds = 100'000;
  const unsigned at_once =
      std::clamp(std::thread::hardware_concurrency() / 2, 1U, engine::CompilerChannel::slot_count - 1);
  for (unsigned i = 0; i < at_once; ++i) {
    ASSERT_TRUE((*compiler)->post(request(20 + i, some_seconds), false).has_value());
  }
  const auto waiting = (*compiler)->post(request(19), false);
  ASSERT_TRUE(waiting.has_value());
  EXPECT_TRUE(soon([&] { return (*compiler)->was_begun(*waiting); }));
  (*compiler)->set_priority(*waiting);
  const auto answers = answers_of(**compiler);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].slot, *waiting);
  EXPECT_TRUE(answers[0].is_code);
}

TEST(CompilerProcess, IsStartedAgainWhenItWasKilled) {
  ASSERT_EQ(compiles(5), 0);
  const pid_t first = Compilations::of_process().compiler();
  ASSERT_NE(first, 0);
  kill(first, SIGKILL);
  ASSERT_TRUE(soon([&] { return !exists(first); }));
  EXPECT_EQ(compiles(6), 0);
  EXPECT_NE(Compilations::of_process().compiler(), first);
}

TEST(CompilerProcess, AForkHasItsOwn) {
  ASSERT_EQ(compiles(7), 0);
  const pid_t first = Compilations::of_process().compiler();
  EXPECT_EQ(in_child([&] { return compiles(8) != 0 || Compilations::of_process().compiler() == first ? 1 : 0; }), 0);
  EXPECT_EQ(compiles(9), 0);
  EXPECT_EQ(Compilations::of_process().compiler(), first);
}

TEST(CompilerProcess, OutlivesEveryDescriptor) {
  const std::vector<uint8_t> asked = request(10);
  EXPECT_EQ(in_child([&] {
              if (compiles(11) != 0) return 1;
              closefrom(0);
              const auto compilation = Compilations::of_process().ask(asked, 1, {});
              Compilations::of_process().wait(*compilation);
              return compilation->code != nullptr ? 0 : 2;
            }),
            0);
}

TEST(Compilations, NobodyMakesRoomForWhatIsNotInAHurry) {
  EXPECT_EQ(in_child([] {
              auto& compilations = Compilations::of_process();
              const auto compilation = compilations.ask(request(20), 1, {});
              await_urgent();
              unsigned asked = 0;
              const bool has_slept = compilations.yield_to_compiler(64, [&] { return ++asked != 0; });
              return !has_slept && asked == 0 && compilations.urgent() == 0 ? 0 : 1;
            }),
            0);
}

TEST(Compilations, AThreadMakesRoomUntilTheCodeIsThere) {
  EXPECT_EQ(in_child([] {
              auto& compilations = Compilations::of_process();
              // By what it should cost, it may take as long as it likes.
              const auto compilation = compilations.ask(request(21, 200), 1, {.interpreted = 1'000'000'000'000});
              await_urgent();
              compilations.set_priority(*compilation);
              if (compilations.urgent() != 1) return 1;
              const unsigned threads = std::max(2U, std::thread::hardware_concurrency());
              compilations.yield_to_compiler(threads, [] { return true; });
              if (!compilation->done || compilation->code == nullptr) return 2;
              return compilations.urgent() == 0 ? 0 : 3;
            }),
            0);
}

TEST(Compilations, NoMoreThreadsMakeRoomThanTheCompilerHasUseFor) {
  EXPECT_EQ(in_child([] {
              auto& compilations = Compilations::of_process();
              const auto compilation = compilations.ask(request(22, 2'000), 1, {.interpreted = 1'000'000'000'000});
              compilations.set_priority(*compilation);
              const unsigned threads = std::max(2U, std::thread::hardware_concurrency());
              if (compilations.yield_to_compiler(1, [] { return true; })) return 1;  // the only one goes on
              std::atomic<bool> sleeps = false, may_sleep = true;
              std::thread first([&] {
                unsigned asked = 0;
                compilations.yield_to_compiler(threads, [&] {
                  if (++asked == 2) sleeps = true;
                  return may_sleep.load();
                });
                sleeps = true;  // or the code is there already
              });
              while (!sleeps) std::this_thread::yield();
              const bool second = compilations.yield_to_compiler(threads, [] { return true; });
              may_sleep = false;
              first.join();
              return second ? 2 : 0;
            }),
            0);
}

TEST(CompilerProcess, WhereThereIsNoneTheInterpreterGoesOn) {
  EXPECT_EQ(in_child([&] {
              setenv("ATOLL_COMPILER", "/nowhere/atoll-compiler", 1);
              const auto compilation = Compilations::of_process().ask(request(12), 1, {});
              if (Compilations::of_process().compiler() != 0) return 0;  // one runs already: nothing to be seen
              Compilations::of_process().wait(*compilation);
              if (compilation->code != nullptr || !compilation->failure.contains("/nowhere/atoll-compiler")) return 1;
              WaveRunner runner;
              if (runner.run("v_add_u32 v0, 1, v0") != machine::WaveState::ended) return 2;
              return runner.v(0)[5] == 6 ? 0 : 3;
            }),
            0);
}

}  // namespace Atoll::test

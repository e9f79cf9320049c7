// hsa: see checking.h.
#include "hsa/checking.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "hsa/runtime.h"
#include "hsa/status.h"

namespace Atoll::hsa {

namespace {

std::atomic<int> wanted_exit_code{0};  ///< by findings; 0: none
std::atomic<int> exit_status{-1};      ///< with which the program ends; -1: not known yet

/// The program with its arguments, for a report's reader.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::ranges::replace(text, '\0', ' ');
  return text;
}

/// Memory that kernels may use and that was not allocated from a pool: locked, mapped, shared, signals.
std::optional<std::pair<uint64_t, uint64_t>> known_memory(uint64_t address) {
  Runtime* const runtime = Runtime::get();
  if (runtime == nullptr) return std::nullopt;
  if (const auto record = runtime->find_memory(reinterpret_cast<const void*>(address))) {
    const uint64_t begin = address - record->address < record->size ? record->address : record->agent_address;
    return std::pair(begin, begin + record->size);
  }
  if (const auto range = runtime->svm.find(address)) return range;
  return memory_of_signals(address);
}

/// Runs after all functions that the program has registered with atexit, as it is the loader's part of the end.
__attribute__((destructor)) void set_exit_code() {
  const int code = wanted_exit_code;
  if (code == 0 || exit_status != 0) return;
  std::fflush(nullptr);
  _exit(code);
}

}  // namespace

support::Result<std::unique_ptr<observe::Checkers>> make_checkers(const observe::Options& options) {
  observe::Surroundings surroundings;
  surroundings.known = known_memory;
  surroundings.program = command_line();
  return observe::Checkers::create(options, std::move(surroundings));
}

void finish_checks(observe::Checkers& checkers) {
  if (const auto written = checkers.finish(); !written) fmt::print(stderr, "atoll: {}\n", written.error().message);
  if (checkers.findings().errors() != 0) wanted_exit_code = checkers.options().exit_code.value_or(0);
}

void watch_exit_code() {
  on_exit([](int status, void*) { exit_status = status; }, nullptr);
}

void forget_findings() { wanted_exit_code = 0; }

}  // namespace Atoll::hsa

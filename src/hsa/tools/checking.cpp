#include "hsa/tools/checking.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "hsa/interface/status.h"
#include "hsa/runtime.h"
#include "hsa/tools/hip_calls.h"
#include "machine/report/process_record.h"

namespace Atoll::hsa {

namespace {

std::atomic<int> wanted_exit_code{0};   ///< by findings; 0: none
std::atomic<uint64_t> errors_found{0};  ///< findings that are no notes
std::atomic<int> exit_status{-1};       ///< with which the program ends; -1: not known yet
std::atomic<pid_t> this_process{0};     ///< a child of vfork() has the same memory

/// The exit code in place of `status`, by what was found. Called from _exit(), so from signal handlers, too.
int exit_code_for(int status) {
  const int code = wanted_exit_code.load(std::memory_order_relaxed);
  const bool has_found = errors_found.load(std::memory_order_relaxed) != 0 && this_process == getpid();
  return status == 0 && code != 0 && has_found ? code : status;
}

void found(const observe::Finding& finding) {
  if (!finding.is_note) errors_found.fetch_add(1);
  if (auto* const record = machine::ProcessRecord::current())
    record->add_finding(observe::summary_line(finding), !finding.is_note);
}

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
  if (exit_status != 0) return;
  const int code = exit_code_for(0);
  if (code == 0) return;
  std::fflush(nullptr);
  _exit(code);
}

/// The runtime's checkers; null: there is none.
observe::Checkers* checkers_now() {
  Runtime* const runtime = Runtime::get();
  return runtime == nullptr ? nullptr : runtime->checkers.get();
}

constexpr HipCallListener hip_call_listener{
    .refused_free =
        [](const char* function, uint64_t address) {
          if (auto* const checkers = checkers_now()) checkers->refused_free(address, function);
        },
    .refused_copy =
        [](const char* function, uint64_t destination, uint64_t source, uint64_t bytes) {
          if (auto* const checkers = checkers_now()) checkers->refused_copy({destination, source, bytes, function});
        },
    .allocated_in_stream =
        [](const char* function, uint64_t address, uint64_t bytes) {
          if (auto* const checkers = checkers_now()) checkers->allocated_in_stream(address, bytes, function);
        },
    .freed_in_stream =
        [](const char* function, uint64_t address) {
          if (auto* const checkers = checkers_now()) checkers->freed_in_stream(address, function);
        },
};

}  // namespace

void listen_to_hip_calls() {
  using Listener = std::atomic<const HipCallListener*>;
  if (auto* const slot = static_cast<Listener*>(dlsym(RTLD_DEFAULT, "atoll_hip_calls")))
    slot->store(&hip_call_listener);
}

support::Result<std::unique_ptr<observe::Checkers>> make_checkers(const observe::Options& options) {
  observe::CheckerContext surroundings;
  surroundings.known = known_memory;
  surroundings.program = command_line();
  listen_to_hip_calls();
  surroundings.found = found;
  return observe::Checkers::create(options, std::move(surroundings));
}

void finish_checks(observe::Checkers& checkers) {
  if (const auto written = checkers.finish(); !written) fmt::print(stderr, "atoll: {}\n", written.error().message);
}

void watch_exit_code(int code) {
  wanted_exit_code = code;
  this_process = getpid();
  static std::atomic_flag watches;  // in a fork, too
  if (watches.test_and_set()) return;
  on_exit([](int status, void*) { exit_status = status; }, nullptr);
  using ExitStatus = std::atomic<int (*)(int)>;
  if (auto* const hook = static_cast<ExitStatus*>(dlsym(RTLD_DEFAULT, "atoll_exit_status"))) hook->store(exit_code_for);
}

void forget_findings() {
  wanted_exit_code = 0;
  errors_found = 0;
}

}  // namespace Atoll::hsa

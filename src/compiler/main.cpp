// compiler: the program atoll-compiler, which translates GPU machine code to host code for the compiled engine.
//
// This is where LLVM is: in a process of its own, it cannot collide with an LLVM that the program has (HIP brings one),
// its crashes and its memory are not the program's, and it need not be gone before exit() may run.
//
// The engine starts it (engine/compiled/compiler_process.h) with shared memory, through which requests come and
// answers go (compiler_channel.h). Some threads compile; the first one watches whether the program is still there.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "compiler/compile.h"
#include "compiler/measure.h"
#include "engine/compiled/build_fingerprint.h"
#include "engine/compiled/compiler_channel.h"
#include "engine/compiled/translation_cache.h"

namespace Atoll::compiler {

namespace {

using engine::CompilerChannel;
using State = CompilerChannel::SlotState;

std::atomic<uint32_t> busy{0};

/// What a thread compiles. The first thread sees to it that it comes to an end: LLVM has loops that never do.
struct Task {
  clockid_t clock{};              ///< the thread's processor time
  std::atomic<int64_t> end{0};    ///< seconds on that clock; 0: there is nothing that has to end
  std::atomic<uint32_t> slot{0};  ///< of the request

  int64_t seconds() const {
    timespec time{};
    clock_gettime(clock, &time);
    return time.tv_sec;
  }
};
std::array<Task, CompilerChannel::slot_count> tasks;

/// Many times what compiling takes.
int64_t most_seconds(uint64_t instructions) { return 5 + static_cast<int64_t>(instructions / 200); }

void answer(CompilerChannel& channel, uint32_t number, bool is_code, std::span<const uint8_t> bytes) {
  CompilerChannel::Slot& slot = channel.slots[number];
  slot.is_code = is_code;
  slot.size = bytes.size();
  std::memcpy(channel.data(number), bytes.data(), bytes.size());
  slot.state.store(State::answered, std::memory_order_release);
  channel.answers.fetch_add(1);
  engine::futex_wake(channel.answers);
}

/// Stores an answer; now and then, looks whether the cache has become too large.
void keep(const engine::TranslationCache& cache, std::span<const uint8_t> request, std::span<const uint8_t> code) {
  constexpr uint32_t stores_per_trim = 64;
  static std::atomic<uint32_t> stores{0};
  cache.store(request, code);
  if (stores.fetch_add(1) % stores_per_trim == 0) cache.trim();
}

void carry_out(CompilerChannel& channel, uint32_t number, Task& task, HostCompiler& host,
               const std::optional<engine::TranslationCache>& cache) {
  const auto refuse = [&](std::string_view why) {
    answer(channel, number, false, {reinterpret_cast<const uint8_t*>(why.data()), why.size()});
  };
  const uint64_t size = std::min(channel.slots[number].size, CompilerChannel::slot_bytes);
  const std::vector<uint8_t> asked(channel.data(number), channel.data(number) + size);
  const auto request = engine::TranslationRequest::parse(asked);
  if (!request) return refuse(request.error().message);
  task.slot = number;
  task.end = task.seconds() + most_seconds(request->flow.instructions);
  const auto code = compile(*request, host);
  if (task.end.exchange(0) == 0) return;  // too late: it has been answered
  if (!code) return refuse(code.error().message);
  const auto bytes = code->serialise();
  if (bytes.size() > CompilerChannel::slot_bytes) return refuse("the host code is too large");
  answer(channel, number, true, bytes);
  if (cache) keep(*cache, asked, bytes);
}

void work(CompilerChannel& channel, Task& task) {
  pthread_getcpuclockid(pthread_self(), &task.clock);
  auto host = HostCompiler::create();
  const auto cache = engine::TranslationCache::from_environment().value_or(std::nullopt);
  for (;;) {
    const uint32_t seen = channel.posted.load();
    bool idle = true;
    for (uint32_t number = 0; number < CompilerChannel::slot_count; ++number) {
      State asked = State::asked;
      if (channel.slots[number].state.load() != State::asked) continue;
      busy.fetch_add(1);
      if (channel.slots[number].state.compare_exchange_strong(asked, State::taken)) {
        idle = false;
        if (host) {
          carry_out(channel, number, task, **host, cache);
        } else {
          const std::string& why = host.error().message;
          answer(channel, number, false, {reinterpret_cast<const uint8_t*>(why.data()), why.size()});
        }
      }
      busy.fetch_sub(1);
    }
    if (idle) engine::futex_wait(channel.posted, seen, 60'000);
  }
}

/// Whether some request waits or is worked on.
bool has_work(const CompilerChannel& channel) {
  if (busy.load() != 0) return true;
  for (const auto& slot : channel.slots) {
    if (slot.state.load() == State::asked) return true;
  }
  return false;
}

/// Answers a request that takes too long. Its thread cannot be stopped but with the whole process: true.
bool give_up(CompilerChannel& channel) {
  for (Task& task : tasks) {
    const int64_t end = task.end.load();
    if (end == 0 || task.seconds() <= end || task.end.exchange(0) == 0) continue;
    constexpr std::string_view why = "LLVM does not come to an end";
    answer(channel, task.slot, false, {reinterpret_cast<const uint8_t*>(why.data()), why.size()});
    return true;
  }
  return false;
}

int serve() {
  signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  void* memory =
      mmap(nullptr, CompilerChannel::bytes, PROT_READ | PROT_WRITE, MAP_SHARED, CompilerChannel::descriptor, 0);
  if (memory == MAP_FAILED) return 1;
  close(CompilerChannel::descriptor);
  auto& channel = *static_cast<CompilerChannel*>(memory);
  if (channel.fingerprint != engine::build_fingerprint()) {
    channel.compiler.store(CompilerChannel::Compiler::refuses);
    return 1;
  }
  // Where memory runs out, this process is to go and not the program.
  if (const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); score >= 0) {
    [[maybe_unused]] const auto written = write(score, "500", 3);
    close(score);
  }
  // Readable when the program has ended; where the system has no such thing, it is looked for now and then.
  const auto program = static_cast<int>(syscall(SYS_pidfd_open, channel.program, 0));
  pthread_mutex_lock(&channel.life);
  channel.compiler.store(CompilerChannel::Compiler::running);
  for (uint32_t i = 0; i < channel.threads; ++i) std::thread(work, std::ref(channel), std::ref(tasks[i])).detach();

  constexpr int look_milliseconds = 1000, looks_before_leaving = 5;
  int idle_looks = 0;
  for (uint32_t seen = channel.posted.load();; seen = channel.posted.load()) {
    pollfd watched{program, POLLIN, 0};
    if (poll(&watched, 1, look_milliseconds) > 0) _exit(0);
    if (kill(channel.program, 0) != 0 && errno == ESRCH) _exit(0);
    if (give_up(channel)) {
      channel.compiler.store(CompilerChannel::Compiler::leaving);
      break;
    }
    const bool idle = channel.posted.load() == seen && !has_work(channel);
    idle_looks = idle ? idle_looks + 1 : 0;
    if (idle_looks < looks_before_leaving) continue;
    channel.compiler.store(CompilerChannel::Compiler::leaving);
    if (channel.posted.load() == seen) break;
    channel.compiler.store(CompilerChannel::Compiler::running);
  }
  pthread_mutex_unlock(&channel.life);
  _exit(0);
}

}  // namespace

}  // namespace Atoll::compiler

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 1 && arguments[0] == "--serve") return Atoll::compiler::serve();
  if ((arguments.size() == 3 || arguments.size() == 4) && arguments[0] == "--measure") {
    return Atoll::compiler::measure(arguments[1], arguments[2], arguments.size() == 4 ? arguments[3] : "");
  }
  std::fputs(
      "atoll-compiler is started by Atoll when kernels are worth compiling. What compiling costs:\n"
      "  atoll-compiler --measure FILE GPU [PART-OF-KERNEL-NAME]\n",
      stderr);
  return 2;
}

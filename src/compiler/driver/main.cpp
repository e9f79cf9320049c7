// compiler: the program atoll-compiler, which translates GPU machine code to host code for the compiled engine.
//
// This is where LLVM is: in a process of its own, it cannot collide with an LLVM that the program has (HIP brings one),
// its crashes and its memory are not the program's, and it need not be gone before exit() may run.
//
// The engine starts it (engine/compiled/compiler_process.h) with shared memory, through which requests come and
// answers go (compiler_channel.h). Each request has a thread, or several if it is large, which leave the host's
// processors to the program and everybody else until the engine is in a hurry. The first thread watches whether the
// program is still there.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "compiler/driver/compile.h"
#include "compiler/driver/measure.h"
#include "engine/compiled/build_fingerprint.h"
#include "engine/compiled/compiler_channel.h"
#include "engine/compiled/translation_cache.h"

namespace Atoll::compiler {

namespace {

using engine::CompilerChannel;
using State = CompilerChannel::SlotState;

/// A compiling thread. The first thread enforces a time limit, because some of LLVM's loops do not terminate.
struct Worker {
  const pid_t thread = gettid();
  clockid_t clock{};  ///< the thread's processor time
  int64_t end = 0;    ///< seconds on that clock

  int64_t seconds() const {
    timespec time{};
    clock_gettime(clock, &time);
    return time.tv_sec;
  }
};

/// A request that was taken.
struct Job {
  uint32_t slot = 0;
  std::vector<uint8_t> request;
  bool hurried = false;  ///< a thread of full priority is at it
  bool begun = false;    ///< a thread is at it
  std::atomic<bool> answered{false};
};

/// What is under way.
std::mutex mutex;  ///< of what follows
std::list<std::shared_ptr<Job>> jobs;
std::list<std::pair<Worker, std::shared_ptr<Job>>> workers;
unsigned idle_jobs = 0;  ///< threads that give way and are at work
std::condition_variable idle_place;
bool program_ended = false;

/// Only when the host has nothing else to do.
void give_way(pid_t thread) {
  const sched_param none{};
  sched_setscheduler(thread, SCHED_IDLE, &none);
}

/// The opposite, where the system allows it: false otherwise.
bool take_full_priority(pid_t thread) {
  const sched_param none{};
  return sched_setscheduler(thread, SCHED_OTHER, &none) == 0;
}

/// Many times what compiling takes.
int64_t max_seconds(uint64_t instructions) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  constexpr int64_t as_long = 10;  // code that sanitizers watch is several times slower
#else
  constexpr int64_t as_long = 1;
#endif
  return as_long * (5 + static_cast<int64_t>(instructions / 200));
}

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

/// Enters the calling thread among the workers for as long as it lives.
class AtWork {
 public:
  explicit AtWork(const std::shared_ptr<Job>& job) {
    const std::lock_guard lock(mutex);
    workers.emplace_back(Worker{}, job);
    job->begun = true;
  }
  ~AtWork() {
    const std::lock_guard lock(mutex);
    std::erase_if(workers, [](const auto& worker) { return worker.first.thread == gettid(); });
  }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
};

/// Starts the time limit for the calling worker, for that many instructions.
void watch(uint64_t instructions) {
  const std::lock_guard lock(mutex);
  Worker& worker = std::ranges::find(workers, gettid(), [](const auto& each) { return each.first.thread; })->first;
  pthread_getcpuclockid(pthread_self(), &worker.clock);
  worker.end = worker.seconds() + max_seconds(instructions);
}

/// Waits for a place among the threads that give way; false: a thread of full priority has begun with the job
/// meanwhile. On a busy host such threads hardly get on, and each has an LLVM of its own: without a limit there were
/// forty of them, with more than a GiB.
bool take_idle_place(Job& job) {
  std::unique_lock lock(mutex);
  idle_place.wait(lock,
                  [&] { return job.hurried || idle_jobs < std::max(1U, std::thread::hardware_concurrency() / 2); });
  if (job.hurried) return false;
  ++idle_jobs;
  return true;
}

/// The host's processors are for all jobs that are under way. An urgent job takes no more of their time for being at
/// several: it ends the sooner.
unsigned threads_of_a_job() {
  const std::lock_guard lock(mutex);
  const auto under_way = static_cast<size_t>(std::ranges::count_if(jobs, [](const auto& job) { return job->begun; }));
  return static_cast<unsigned>(std::thread::hardware_concurrency() / std::max<size_t>(1, under_way));
}

void carry_out(CompilerChannel& channel, const std::shared_ptr<Job>& job,
               const std::optional<engine::TranslationCache>& cache) {
  const auto say = [&](bool is_code, std::span<const uint8_t> bytes) {
    if (job->answered.exchange(true)) return false;
    answer(channel, job->slot, is_code, bytes);
    return true;
  };
  const auto refuse = [&](std::string_view why) {
    (void)say(false, {reinterpret_cast<const uint8_t*>(why.data()), why.size()});
  };
  const auto request = engine::TranslationRequest::parse(job->request);
  if (!request) return refuse(request.error().message);
  // What code has been found worth is spent now, and if nothing comes of it, it has to be found worth as much again.
  if (cache) cache->past_runs().forget(engine::hash(job->request));
  watch(request->flow.instructions);
  auto host = HostCompiler::create();
  if (!host) return refuse(host.error().message);
  WorkerPool pool{.threads = threads_of_a_job()};
  // With the priority of this thread.
  pool.start = [&](std::function<void()> work) {
    return std::thread([&, work = std::move(work)] {
      const AtWork at_work(job);
      watch(request->flow.instructions);
      work();
    });
  };
  const auto code = compile(*request, **host, [&] { return !job->answered.load(); }, pool);
  if (!code) return refuse(code.error().message);
  const auto bytes = code->serialise();
  if (bytes.size() > CompilerChannel::slot_bytes) return refuse("the host code is too large");
  if (!say(true, bytes) || !cache) return;
  // The cache may have been removed together with the program that requested it.
  std::error_code error;
  if (std::filesystem::exists(cache->directory(), error)) keep(*cache, job->request, bytes);
}

/// With the mutex held: has a thread of its own execute the job.
void begin(CompilerChannel& channel, const std::shared_ptr<Job>& job, bool urgent,
           const std::optional<engine::TranslationCache>& cache) {
  if (urgent) {
    job->hurried = true;
    idle_place.notify_all();
  }
  std::thread([&channel, &cache, job, urgent] {
    if (!urgent) {
      give_way(gettid());
      if (!take_idle_place(*job)) return;
    }
    {
      const AtWork at_work(job);
      carry_out(channel, job, cache);
    }
    const std::lock_guard lock(mutex);
    jobs.remove(job);
    if (urgent) return;
    --idle_jobs;
    idle_place.notify_all();
  }).detach();
}

/// Raises the job's threads to full priority. The caller holds the mutex. Returns false if there are none, or it is not
/// permitted.
bool urgent_workers(const std::shared_ptr<Job>& job) {
  if (!job->begun) return false;
  for (const auto& [worker, its_job] : workers) {
    if (its_job == job && !take_full_priority(worker.thread)) return false;
  }
  job->hurried = true;
  return true;
}

/// Takes requests as they come.
[[noreturn]] void take_requests(CompilerChannel& channel, const std::optional<engine::TranslationCache>& cache) {
  for (;;) {
    const uint32_t seen = channel.posted.load();
    {
      const std::lock_guard lock(mutex);
      for (uint32_t number = 0; number < CompilerChannel::slot_count && !program_ended; ++number) {
        CompilerChannel::Slot& slot = channel.slots[number];
        State asked = State::asked;
        if (!slot.state.compare_exchange_strong(asked, State::taken)) continue;
        auto& job = jobs.emplace_back(std::make_shared<Job>());
        job->slot = number;
        const uint64_t size = std::min(slot.size, CompilerChannel::slot_bytes);
        job->request.assign(channel.data(number), channel.data(number) + size);
        begin(channel, job, slot.urgent.load(), cache);
      }
      for (const auto& job : jobs) {
        if (job->hurried || job->answered || program_ended || !channel.slots[job->slot].urgent.load()) continue;
        // A thread at idle priority usually cannot be raised again (sched(7), "SCHED_IDLE"; RLIMIT_NICE). A second
        // thread then starts over, and the first to finish answers.
        if (!urgent_workers(job)) begin(channel, job, true, cache);
      }
    }
    engine::futex_wait(channel.posted, seen, 60'000);
  }
}

/// Whether some request waits or is worked on.
bool has_work(const CompilerChannel& channel) {
  const std::lock_guard lock(mutex);
  if (!jobs.empty()) return true;
  for (const auto& slot : channel.slots) {
    if (slot.state.load() == State::asked) return true;
  }
  return false;
}

/// Answers a request that takes too long. Its thread cannot be stopped but with the whole process: true.
bool give_up(CompilerChannel& channel) {
  const std::lock_guard lock(mutex);
  for (const auto& [worker, job] : workers) {
    if (worker.end == 0 || worker.seconds() <= worker.end || job->answered.exchange(true)) continue;
    constexpr std::string_view why = "LLVM does not come to an end";
    answer(channel, job->slot, false, {reinterpret_cast<const uint8_t*>(why.data()), why.size()});
    return true;
  }
  return false;
}

/// Without the program: what has been begun is finished for the cache, unless that takes long.
[[noreturn]] void finish(CompilerChannel& channel, bool has_cache) {
  constexpr int max_looks = 600, look_milliseconds = 100;
  alarm(2 * max_looks * look_milliseconds / 1000);  // in case a thread that hangs holds the mutex
  {
    const std::lock_guard lock(mutex);
    program_ended = true;
    for (const auto& [worker, job] : workers) give_way(worker.thread);
  }
  const auto is_at_work = [] {
    const std::lock_guard lock(mutex);
    return !jobs.empty();
  };
  for (int looks = 0; has_cache && looks < max_looks && is_at_work() && !give_up(channel); ++looks) {
    poll(nullptr, 0, look_milliseconds);
  }
  _exit(0);
}

int serve() {
  signal(SIGPIPE, SIG_DFL);
  alarm(0);  // it has become the compiler (engine/compiled/compiler_process.cpp)
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
  auto cache = engine::TranslationCache::from_environment().value_or(std::nullopt);
  if (cache && !cache->make()) cache.reset();
  std::thread([&] { take_requests(channel, cache); }).detach();

  constexpr int look_milliseconds = 1000, looks_before_leaving = 5;
  int idle_looks = 0;
  for (uint32_t seen = channel.posted.load();; seen = channel.posted.load()) {
    pollfd watched{program, POLLIN, 0};
    if (poll(&watched, 1, look_milliseconds) > 0) finish(channel, cache.has_value());
    if (kill(channel.program, 0) != 0 && errno == ESRCH) finish(channel, cache.has_value());
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
  const bool names_kernels = arguments.size() == 3 || arguments.size() == 4;
  const std::string part = arguments.size() == 4 ? arguments[3] : "";
  constexpr std::string_view dump_ir = "--dump-ir";
  if (names_kernels && arguments[0] == "--measure") return Atoll::compiler::measure(arguments[1], arguments[2], part);
  if (names_kernels && arguments[0] == "--dump-regions")
    return Atoll::compiler::print_regions(arguments[1], arguments[2], part);
  if (names_kernels && arguments[0] == dump_ir) return Atoll::compiler::print_ir(arguments[1], arguments[2], part, "");
  if (names_kernels && arguments[0].starts_with("--dump-ir="))
    return Atoll::compiler::print_ir(arguments[1], arguments[2], part, arguments[0].substr(dump_ir.size() + 1));
  std::fputs(
      "atoll-compiler is started by Atoll when kernels are worth compiling. What compiling costs and makes:\n"
      "  atoll-compiler --measure FILE GPU [PART-OF-KERNEL-NAME]\n"
      "  atoll-compiler --dump-regions FILE GPU [PART-OF-KERNEL-NAME]\n"
      "  atoll-compiler --dump-ir[=STEP] FILE GPU [PART-OF-KERNEL-NAME]\n"
      "STEP is lowering, optimise, slow-paths, mask-scalarization or mask-expansion; by default, the LLVM IR after "
      "each.\n"
      "ATOLL_COMPILE_LIMIT=ADDRESS leaves instructions from that address on to the interpreter.\n",
      stderr);
  return 2;
}

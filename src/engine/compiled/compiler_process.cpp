// engine/compiled: starts and monitors the compiler process.
//
// The calling thread creates a process that shares its memory, creates the compiler process and ends at once, so that
// the compiler is not a child of the program. The first process has no exit signal, hence it is invisible to wait() and
// sends no SIGCHLD. No memory is copied, however large the program is.
#include "engine/compiled/compiler_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <new>

#include "engine/compiled/build_fingerprint.h"
#include "support/environment.h"

namespace Atoll::engine {

namespace {

namespace fs = std::filesystem;
using support::ErrorKind;
using support::fail;

/// What the new processes work with; in the memory of the thread that starts them, which waits meanwhile.
struct Launch {
  const char* path;
  char* const* arguments;
  char* const* environment;
  int channel;
  volatile pid_t compiler;
  volatile int error;
};

[[noreturn]] void become_compiler(Launch& launch) {
  // Only system calls: this is the program's memory, and the program's other threads run.
  // Out of reach of Ctrl-C, but in the program's session: Linux shares processors out among sessions first
  // (sched(7), "The autogroup feature"), and threads that give way do so only within theirs.
  setpgid(0, 0);
  const int null = open("/dev/null", O_RDWR);
  const int channel = fcntl(launch.channel, F_DUPFD, 10);  // out of the way
  if (null >= 0 && channel >= 0) {
    for (int descriptor = 0; descriptor < CompilerChannel::descriptor; ++descriptor) dup2(null, descriptor);
    dup2(channel, CompilerChannel::descriptor);
    syscall(SYS_close_range, CompilerChannel::descriptor + 1, ~0U, 0);
    // A program that never becomes the compiler ends all the same: the compiler itself turns this off.
    alarm(CompilerChannel::seconds_to_start);
    if (chdir("/") == 0) execve(launch.path, launch.arguments, launch.environment);
  }
  launch.error = errno;
  _exit(127);
}

/// vfork() with a selectable exit signal: the new process uses this thread's stack and memory, and the thread resumes
/// when it has ended or executed another program.
[[gnu::always_inline]] inline long fork_in_memory() {
  long result;
  register long fifth asm("r8") = 0;
  register long fourth asm("r10") = 0;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(SYS_clone), "D"(CLONE_VM | CLONE_VFORK), "S"(0), "d"(0), "r"(fourth), "r"(fifth)
               : "rcx", "r11", "memory");
  return result;
}

[[gnu::noinline]] void launch_compiler(Launch& launch) {
  const long child = fork_in_memory();
  if (child < 0) launch.error = static_cast<int>(-child);
  if (child == 0) become_compiler(launch);
  launch.compiler = static_cast<pid_t>(child);
}

[[noreturn, gnu::noinline]] void launch_and_exit(Launch& launch) {
  launch_compiler(launch);
  _exit(0);
}

/// Returns in the program only, when the compiler's program has begun or `launch.error` says why not.
[[gnu::noinline]] void launch_detached(Launch& launch) {
  const long between = fork_in_memory();
  if (between == 0) launch_and_exit(launch);
  if (between < 0) {
    launch.error = static_cast<int>(-between);
    return;
  }
  while (waitpid(static_cast<pid_t>(between), nullptr, __WALL) < 0 && errno == EINTR) {
  }
}

/// Returns the program's environment without variables that would load code into the compiler, preceded by this one. In
/// set-user-ID programs it is the only one.
std::vector<char*> compiler_environment(std::string& first) {
  if (getauxval(AT_SECURE) != 0) return {first.data(), nullptr};
  std::vector<char*> variables{first.data()};
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const bool drop = text.starts_with("LD_PRELOAD=") || text.starts_with("LD_AUDIT=") ||
                      text.starts_with(std::string_view(first).substr(0, first.find('=') + 1));
    if (!drop) variables.push_back(*variable);
  }
  variables.push_back(nullptr);
  return variables;
}

support::Result<CompilerChannel*> make_channel(int& descriptor) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < CompilerChannel::bytes) {
    return fail(ErrorKind::system, "the limit on file sizes (ulimit -f) leaves no room for the compiler's memory");
  }
  descriptor = memfd_create("atoll-compiler", MFD_CLOEXEC);
  if (descriptor < 0) return fail(ErrorKind::system, "no memory file for the compiler: {}", std::strerror(errno));
  void* memory = MAP_FAILED;
  if (ftruncate(descriptor, static_cast<off_t>(CompilerChannel::bytes)) == 0) {
    memory = mmap(nullptr, CompilerChannel::bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  }
  if (memory == MAP_FAILED) return fail(ErrorKind::system, "no memory for the compiler: {}", std::strerror(errno));
  madvise(memory, CompilerChannel::bytes, MADV_DONTDUMP);
  auto* channel = new (memory) CompilerChannel{};
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&channel->life, &attributes);
  pthread_mutexattr_destroy(&attributes);
  return channel;
}

}  // namespace

support::Result<std::string> find_compiler() {
  if (const char* path = support::environment_variable(support::Setting::compiler); path != nullptr && *path != '\0') {
    if (access(path, X_OK) != 0) return fail(ErrorKind::not_found, "ATOLL_COMPILER={}: {}", path, std::strerror(errno));
    return fs::absolute(path).string();
  }
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&find_compiler), &here) == 0 || here.dli_fname == nullptr) {
    return fail(ErrorKind::system, "Atoll cannot find its own file");
  }
  std::error_code error;
  fs::path directory = fs::canonical(here.dli_fname, error).parent_path();
  if (error) directory = fs::read_symlink("/proc/self/exe", error).parent_path();  // the name may be relative to a cwd
  for (; directory.has_relative_path(); directory = directory.parent_path()) {
    const fs::path candidate = directory / "libexec/atoll/atoll-compiler";
    if (access(candidate.c_str(), X_OK) == 0) return candidate.string();
  }
  return fail(ErrorKind::not_found, "there is no libexec/atoll/atoll-compiler beside {}: is the installation complete?",
              here.dli_fname);
}

support::Result<std::unique_ptr<CompilerProcess>> CompilerProcess::start(const std::string& cache) {
  const auto path = find_compiler();
  if (!path) return std::unexpected(path.error());
  int descriptor = -1;
  const auto channel = make_channel(descriptor);
  if (!channel) {
    if (descriptor >= 0) close(descriptor);
    return std::unexpected(channel.error());
  }
  std::unique_ptr<CompilerProcess> process(new CompilerProcess);
  process->channel_ = *channel;
  process->channel_->fingerprint = build_fingerprint();
  process->channel_->program = getpid();

  std::string cache_variable = "ATOLL_CACHE=" + (cache.empty() ? "off" : cache);
  std::vector<char*> environment = compiler_environment(cache_variable);
  char name[] = "atoll-compiler";
  char serve[] = "--serve";
  char* arguments[] = {name, serve, nullptr};
  Launch launch{path->c_str(), arguments, environment.data(), descriptor, 0, 0};
  // The program's signal handlers must not run in the new processes.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int cancel_state;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
  launch_detached(launch);
  pthread_setcancelstate(cancel_state, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(descriptor);
  if (launch.error != 0) return fail(ErrorKind::system, "cannot start {}: {}", *path, std::strerror(launch.error));
  process->pid_ = launch.compiler;
  clock_gettime(CLOCK_MONOTONIC, &process->started_);
  return process;
}

CompilerProcess::~CompilerProcess() { munmap(channel_, CompilerChannel::bytes); }

std::optional<uint32_t> CompilerProcess::post(std::span<const uint8_t> request, bool urgent) {
  using enum CompilerChannel::SlotState;
  if (request.size() > CompilerChannel::slot_bytes) return std::nullopt;
  for (uint32_t number = 0; number < CompilerChannel::slot_count; ++number) {
    CompilerChannel::Slot& slot = channel_->slots[number];
    if (slot.state.load(std::memory_order_relaxed) != free) continue;
    std::memcpy(channel_->data(number), request.data(), request.size());
    slot.size = request.size();
    slot.urgent.store(urgent, std::memory_order_relaxed);
    slot.state.store(asked, std::memory_order_release);
    channel_->posted.fetch_add(1);
    futex_wake(channel_->posted);
    return number;
  }
  return std::nullopt;
}

void CompilerProcess::set_priority(uint32_t slot) {
  channel_->slots[slot].urgent.store(true);
  channel_->posted.fetch_add(1);
  futex_wake(channel_->posted);
}

std::vector<CompilerProcess::Answer> CompilerProcess::take_answers() {
  using enum CompilerChannel::SlotState;
  std::vector<Answer> answers;
  for (uint32_t number = 0; number < CompilerChannel::slot_count; ++number) {
    CompilerChannel::Slot& slot = channel_->slots[number];
    if (slot.state.load(std::memory_order_acquire) != answered) continue;
    uint8_t* data = channel_->data(number);
    const uint64_t size = std::min(slot.size, CompilerChannel::slot_bytes);
    answers.push_back({number, slot.is_code != 0, {data, data + size}});
    madvise(data, CompilerChannel::slot_bytes, MADV_REMOVE);
    slot.state.store(free, std::memory_order_relaxed);
  }
  return answers;
}

CompilerProcess::Health CompilerProcess::health() {
  using enum CompilerChannel::Compiler;
  const auto says = channel_->compiler.load();
  if (says == refuses) return Health::refuses;
  if (says == starting) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const bool late = now.tv_sec - started_.tv_sec > CompilerChannel::seconds_to_start;
    return late || (kill(pid_, 0) != 0 && errno == ESRCH) ? Health::died : Health::well;
  }
  const int lock = pthread_mutex_trylock(&channel_->life);
  if (lock == EBUSY) return Health::well;
  if (lock == EOWNERDEAD) pthread_mutex_consistent(&channel_->life);
  pthread_mutex_unlock(&channel_->life);
  return channel_->compiler.load() == leaving ? Health::left : Health::died;
}

bool CompilerProcess::was_begun(uint32_t slot) const {
  return channel_->slots[slot].state.load() == CompilerChannel::SlotState::taken;
}

}  // namespace Atoll::engine

#include "tools/supervise.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "machine/report/process_record.h"

namespace Atoll::tools {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

/// All signals but those that a fault of this process raises.
sigset_t handled_signals() {
  sigset_t set;
  sigfillset(&set);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&set, fault);
  return set;
}

/// In the child: becomes the program. The error goes through the pipe, which a successful execv() closes.
[[noreturn]] void become(const std::string& path, const std::vector<char*>& arguments, const sigset_t& mask,
                         sighandler_t child_handler, pid_t supervisor, int pipe) {
  // A killed supervisor takes the program with it, as it has the process ID that others know.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != supervisor) _exit(1);
  std::signal(SIGCHLD, child_handler);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execv(path.c_str(), arguments.data());
  const int error = errno;
  static_cast<void>(!write(pipe, &error, sizeof error));
  _exit(127);
}

/// Passes a signal on, unless the child has it already: the kernel sends those of a terminal to the process group.
void forward(const siginfo_t& info, pid_t child) {
  const bool is_by_process = info.si_code <= 0;
  if (!is_by_process || info.si_pid == child) return;
  if (info.si_code == SI_QUEUE)
    sigqueue(child, info.si_signo, info.si_value);
  else
    kill(child, info.si_signo);
}

/// Waits for the child's end, and returns its status.
int wait_for(pid_t child, const sigset_t& handled) {
  for (;;) {
    siginfo_t info{};
    if (sigwaitinfo(&handled, &info) < 0) continue;
    if (info.si_signo != SIGCHLD) {
      forward(info, child);
      continue;
    }
    int status = 0;
    while (waitpid(child, &status, WNOHANG | WUNTRACED) == child) {
      if (!WIFSTOPPED(status)) return status;
      kill(getpid(), SIGSTOP);  // until a SIGCONT, which the child gets from the terminal or from forward()
    }
  }
}

/// Prints the report that a process left unprinted.
void report(machine::LeftRecord record) {
  if (!record.statistics.empty()) {
    if (record.statistics != machine::statistics_as_table) {
      if (const auto written = machine::write_statistics(record.gpus, record.statistics, record.process); !written)
        fmt::print(stderr, "atoll: {}\n", written.error().message);
    } else {
      const bool are_several = record.gpus.size() > 1;
      for (machine::GpuStatistics& gpu : record.gpus)
        std::fputs(machine::statistics_table(std::move(gpu), are_several).c_str(), stderr);
    }
  }
  if (record.errors != 0)
    fmt::print(stderr, "atoll: {} finding{} in process {}\n{}", record.errors, record.errors == 1 ? "" : "s",
               record.process, record.findings);
}

/// Ends this process by the signal that has ended the child, which alone leaves a core file.
[[noreturn]] void end_by(int signal) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  std::signal(signal, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  raise(signal);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  _exit(128 + signal);
}

}  // namespace

Result<int> supervise(const std::string& path, const std::vector<char*>& arguments,
                      const std::filesystem::path& records, int exit_code) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail(ErrorKind::system, "cannot make a pipe: {}", std::strerror(errno));
  std::fflush(nullptr);
  const sigset_t handled = handled_signals();
  sigset_t mask;
  sigprocmask(SIG_BLOCK, &handled, &mask);
  const sighandler_t child_handler = std::signal(SIGCHLD, SIG_DFL);  // children of a process that ignores it vanish
  const pid_t self = getpid(), child = fork();
  if (child == 0) become(path, arguments, mask, child_handler, self, ends[1]);
  close(ends[1]);
  int error = child < 0 ? errno : 0;
  if (child > 0 && read(ends[0], &error, sizeof error) != sizeof error) error = 0;
  close(ends[0]);
  if (error != 0) {
    if (child > 0) waitpid(child, nullptr, 0);
    return fail(ErrorKind::system, "cannot run {}: {}", path, std::strerror(error));
  }
  const int status = wait_for(child, handled);
  uint64_t errors = 0;
  for (machine::LeftRecord& record : machine::LeftRecord::read_all(records)) {
    errors += record.errors;
    if (!record.is_reported && record.has_ended) report(std::move(record));
  }
  std::error_code ignored;
  std::filesystem::remove_all(records, ignored);
  if (WIFSIGNALED(status)) end_by(WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  return code == 0 && errors != 0 ? exit_code : code;
}

}  // namespace Atoll::tools

#include "whole_program.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>

#include "measure.h"

namespace Atoll::bench {

namespace fs = std::filesystem;

namespace {

double processor_seconds(const rusage& usage) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Kills the processes that the program left behind, which are children of this process now, and returns their
/// processor time.
double end_what_is_left() {
  double processor = 0;
  const std::string list = fmt::format("/proc/self/task/{}/children", getpid());
  for (;;) {
    std::ifstream children(list);
    if (!children) die(list + " cannot be read");
    for (pid_t child = 0; children >> child;) kill(child, SIGKILL);
    rusage usage{};
    if (wait4(-1, nullptr, 0, &usage) < 0) return processor;
    processor += processor_seconds(usage);
  }
}

}  // namespace

void adopt_what_is_left() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

Taken run_program(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  Taken taken;
  const auto start = std::chrono::steady_clock::now();
  const pid_t program = fork();
  if (program < 0) die("cannot start another process");
  if (program == 0) {
    const int null = open("/dev/null", O_WRONLY);
    if (null >= 0) dup2(null, STDOUT_FILENO);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  for (pid_t ended = 0; ended != program;) {
    int status = 0;
    rusage usage{};
    ended = wait4(-1, &status, 0, &usage);
    taken.processor += processor_seconds(usage);
    if (ended == program && status != 0) die(fmt::format("{} failed", fmt::join(command, " ")));
  }
  taken.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  taken.processor += end_what_is_left();
  return taken;
}

RunDirectory::RunDirectory() {
  std::string name = (fs::temp_directory_path() / "atoll-bench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) die("no directory in the one for temporary files");
  directory_ = name;
}

RunDirectory::~RunDirectory() { fs::remove_all(directory_); }

}  // namespace Atoll::bench

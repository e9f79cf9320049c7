// A program that makes one mistake on the GPU, and then ends in the way that its command line names. The tests look at
// what `atoll run` reports.
//
//     run_endings KERNELS.co WAY
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <thread>

#include "hsa/program.h"

using namespace Atoll::test;

namespace {

/// Runs the kernel, whose waves race.
void work(const char* path) {
  ATOLL_MUST(hsa_init);
  const Gpu gpu;
  std::ifstream file(path, std::ios::binary);
  const std::vector<uint8_t> code((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const Kernels kernels(gpu, code);
  FailingQueue queue(gpu);
  auto* data = static_cast<uint32_t*>(Gpu::allocate(gpu.device, 4096));
  auto** arguments = static_cast<uint32_t**>(Gpu::allocate(gpu.kernarg, 64));
  *arguments = data;
  const hsa_signal_t done = make_signal(1);
  queue.submit(FailingQueue::dispatch(kernels.object("racy.kd"), static_cast<void*>(arguments), 128, 128, done));
  queue.await(done);
}

char* const no_arguments[] = {const_cast<char*>("true"), nullptr};
constexpr const char* other = "/bin/true";

void in_child(const std::function<void()>& child) {
  const pid_t pid = fork();
  if (pid == 0) {
    child();
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  std::fprintf(stderr, "child: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

}  // namespace

int main(int, char** arguments) try {
  const char* const kernels = arguments[1];
  const std::string way = arguments[2];
  if (way == "child-exit" || way == "child-_exit") {  // the child alone works
    in_child([&] {
      work(kernels);
      if (way == "child-exit") std::exit(0);
    });
    return 0;
  }
  work(kernels);
  const std::map<std::string, std::function<void()>> ways{
      {"return", [] {}},
      {"exit", [] { std::exit(0); }},
      {"_exit", [] { _exit(0); }},
      {"_Exit", [] { std::_Exit(0); }},
      {"quick_exit", [] { std::quick_exit(0); }},
      {"exit_group", [] { syscall(SYS_exit_group, 0); }},
      {"exit-5", [] { _exit(5); }},
      {"abort", [] { std::abort(); }},
      {"SIGSEGV", [] { raise(SIGSEGV); }},
      {"SIGTERM", [] { raise(SIGTERM); }},
      {"SIGKILL", [] { raise(SIGKILL); }},
      {"execl", [] { execl(other, "true", nullptr); }},
      {"execlp", [] { execlp("true", "true", nullptr); }},
      {"execle", [] { execle(other, "true", nullptr, environ); }},
      {"execv", [] { execv(other, no_arguments); }},
      {"execvp", [] { execvp("true", no_arguments); }},
      {"execvpe", [] { execvpe("true", no_arguments, environ); }},
      {"execve", [] { execve(other, no_arguments, environ); }},
      {"execve-empty",
       [] {
         char* const nothing[] = {nullptr};
         execve(other, no_arguments, nothing);
       }},
      {"fexecve", [] { fexecve(open(other, O_RDONLY), no_arguments, environ); }},
      {"exec-fails", [] { execl("/nowhere", "nowhere", nullptr); }},
      {"fork", [] { in_child([] {}); }},
      {"fork-exit", [] { in_child([] { std::exit(0); }); }},
      {"vfork",
       [] {
         const pid_t pid = vfork();
         if (pid == 0) {
           execv(other, no_arguments);
           _exit(127);
         }
         waitpid(pid, nullptr, 0);
       }},
      {"vfork-_exit",
       [] {
         const pid_t pid = vfork();
         if (pid == 0) _exit(0);
         int status = 0;
         waitpid(pid, &status, 0);
         std::fprintf(stderr, "child: %d\n", WEXITSTATUS(status));
       }},
      {"posix_spawn",
       [] {
         pid_t pid = 0;
         if (posix_spawn(&pid, other, nullptr, nullptr, no_arguments, environ) == 0) waitpid(pid, nullptr, 0);
       }},
      {"pthread_exit",
       [] {
         std::thread([] {
           usleep(100'000);
           std::exit(0);
         }).detach();
         pthread_exit(nullptr);
       }},
      {"pthread_exit-last",
       [] {
         hsa_shut_down();
         pthread_exit(nullptr);
       }},
      {"shut-down-_exit",
       [] {
         hsa_shut_down();
         _exit(0);
       }},
  };
  const auto found = ways.find(way);
  if (found == ways.end()) return 99;
  found->second();
  return 0;
} catch (const Refused& refused) {
  std::fprintf(stderr, "%s: %d\n", refused.call, refused.status);
  return 98;
}

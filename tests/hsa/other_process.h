// A second process for tests of what processes share: the test program itself, which runs one of its disabled tests.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

namespace Atoll::test {

class OtherProcess {
 public:
  /// Starts the test "Suite.DISABLED_Name". What it needs to know is in the environment, descriptors without
  /// FD_CLOEXEC are its own too.
  explicit OtherProcess(const std::string& test) {
    const std::string filter = "--gtest_filter=" + test;
    child_ = fork();
    if (child_ == 0) {
      execl("/proc/self/exe", "other process", filter.c_str(), "--gtest_also_run_disabled_tests", nullptr);
      _exit(127);
    }
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;
  ~OtherProcess() {
    if (child_ > 0) wait();
  }
  /// How it ends: 0 when its test passed.
  int wait() {
    int status = -1;
    waitpid(std::exchange(child_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t child_ = -1;
};

/// Bytes for another process, by a variable of its environment.
template <typename T>
  requires std::is_trivially_copyable_v<T>
void pass_on(const char* variable, const T& value) {
  std::string digits;
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  for (size_t i = 0; i < sizeof value; ++i) {
    digits += "0123456789abcdef"[bytes[i] >> 4];
    digits += "0123456789abcdef"[bytes[i] & 15];
  }
  setenv(variable, digits.c_str(), 1);
}

template <typename T>
  requires std::is_trivially_copyable_v<T>
T passed_on(const char* variable) {
  T value{};
  const char* digits = std::getenv(variable);
  if (digits == nullptr || std::strlen(digits) != 2 * sizeof value) std::abort();
  auto* bytes = reinterpret_cast<uint8_t*>(&value);
  for (size_t i = 0; i < sizeof value; ++i) {
    const char pair[3] = {digits[2 * i], digits[2 * i + 1], '\0'};
    bytes[i] = static_cast<uint8_t>(std::strtoul(pair, nullptr, 16));
  }
  return value;
}

}  // namespace Atoll::test

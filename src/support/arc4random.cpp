// support: arc4random(), so that what is installed runs with glibc 2.35, the C library of Ubuntu 22.04.
//
// The static C++ library takes it for std::random_device. glibc has it since 2.36, and it was the only symbol of that
// version that Atoll's files needed.
#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

// NOLINTNEXTLINE(bugprone-reserved-identifier): the C library's name
extern "C" __attribute__((visibility("hidden"))) uint32_t arc4random() noexcept {
  uint32_t value = 0;
  // The kernel gives so few bytes at once or not at all.
  while (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value))
    if (errno != EINTR) std::abort();
  return value;
}

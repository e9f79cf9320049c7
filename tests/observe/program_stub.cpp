// A program that calls HIP, as a library, since the checkers take the test's own code for Atoll's.
#include <functional>

#define EXPORTED extern "C" __attribute__((visibility("default")))

extern "C" void hipMalloc(const std::function<void()>& allocate);
extern "C" void hipStreamCreate(const std::function<void()>& allocate);

EXPORTED void allocates(const std::function<void()>& allocate) {
  hipMalloc(allocate);
  asm volatile("" ::: "memory");
}
EXPORTED void creates_a_stream(const std::function<void()>& allocate) {
  hipStreamCreate(allocate);
  asm volatile("" ::: "memory");
}

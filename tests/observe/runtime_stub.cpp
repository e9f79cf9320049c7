// A library with the name of HIP's. Like those of HIP 6 and 7, its exported functions jump to functions without a name.
#include <functional>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

__attribute__((noinline)) void hidden(const std::function<void()>& allocate) {
  allocate();
  asm volatile("" ::: "memory");  // not a jump: this function has a frame
}

}  // namespace

EXPORTED void hipMalloc(const std::function<void()>& allocate) { [[clang::musttail]] return hidden(allocate); }
EXPORTED void hipStreamCreate(const std::function<void()>& allocate) { [[clang::musttail]] return hidden(allocate); }

// A program for raised_rights_test.cpp, which gives it more rights than whoever starts it: prints what the engine takes
// from the environment.
#include <sys/auxv.h>

#include <fmt/format.h>

#include "engine/compiled/compiler_process.h"
#include "engine/compiled/translation_cache.h"

#if __has_feature(address_sanitizer)
// It looks for leaks by ptrace(), which no process may do to one with other rights.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
#endif

int main() {
  const auto cache = Atoll::engine::TranslationCache::from_environment();
  const auto compiler = Atoll::engine::find_compiler();
  fmt::print("raised: {}\n", getauxval(AT_SECURE) != 0);
  fmt::print("cache: {}\n", cache && *cache ? (*cache)->directory().string() : "none");
  fmt::print("compiler: {}\n", compiler ? *compiler : "none");
}

// Fuzzers of what reads bytes from outside. Each file *_fuzzer.cpp has one, for libFuzzer's entry: it gives the reader
// any bytes, and follows whatever the reader hands out, so that the sanitizers see what points outside. A reader may
// refuse everything; it may not crash, hang, or contradict itself.
//
// In the build "fuzz" (CMakePresets.json) libFuzzer is linked to them (tests/fuzz/run); in every other build replay.cpp
// is, which makes them tests: the kept corpus and some thousand changed copies of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include "target/processor.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace Atoll::test {

/// Ends the program as a crash does when what must hold does not.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// Reads all of some bytes, for the sanitizers.
inline void touch(std::span<const uint8_t> bytes) {
  uint8_t sum = 0;
  for (const uint8_t byte : bytes) sum = static_cast<uint8_t>(sum + byte);
  asm volatile("" : : "r"(sum));
}
inline void touch(std::string_view text) {
  touch(std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

/// The processor that the first byte of an input stands for.
inline const target::Processor& processor_of(uint8_t byte) {
  const auto all = target::processors();
  return all[byte % all.size()];
}

}  // namespace Atoll::test

// What the wrong programs share. Each has run(mended): with false it makes its mistake, with true it does the same
// right. The line of the mistake ends in a comment that says what is to be found there:
//
//     out[i] = i;  // FINDING: memory out-of-bounds
//
// check_case.py runs the program both ways and compares.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

void run(bool mended);

inline void must(hipError_t error, const char* what) {
  if (error == hipSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, hipGetErrorString(error));
  std::exit(3);
}
#define HIP(call) must(call, #call)

template <typename T>
T* allocate(size_t count) {
  T* memory = nullptr;
  HIP(hipMalloc(reinterpret_cast<void**>(&memory), count * sizeof(T)));
  HIP(hipMemset(memory, 0, count * sizeof(T)));
  return memory;
}

inline void finish() {
  HIP(hipGetLastError());
  HIP(hipDeviceSynchronize());
}

int main(int argc, char** argv) {
  run(argc > 1 && std::strcmp(argv[1], "mended") == 0);
  return 0;
}

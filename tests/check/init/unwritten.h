// Common parts of the wrong programs about uninitialized memory.
#pragma once

#include "../case.h"

/// Memory that nobody has written.
template <typename T>
T* unwritten(size_t count) {
  T* memory = nullptr;
  HIP(hipMalloc(reinterpret_cast<void**>(&memory), count * sizeof(T)));
  return memory;
}

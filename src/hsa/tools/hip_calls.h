// hsa: what the library of HIP's functions (hip_calls.cpp) reports to the runtime. It is a library of its own without
// the C++ library, so this is a table of functions.
#pragma once

#include <cstdint>

namespace Atoll::hsa {

struct HipCallListener {
  /// HIP has refused to free memory.
  void (*refused_free)(const char* function, uint64_t address);
  /// HIP has refused a copy, or a fill (source 0).
  void (*refused_copy)(const char* function, uint64_t destination, uint64_t source, uint64_t bytes);
  /// Memory of a pool of HIP's belongs to the program from a place in a stream on, or no longer does.
  void (*allocated_in_stream)(const char* function, uint64_t address, uint64_t bytes);
  void (*freed_in_stream)(const char* function, uint64_t address);
};

/// Has the checkers notified of these calls, if the library is loaded.
void listen_to_hip_calls();

}  // namespace Atoll::hsa

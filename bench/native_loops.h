// Kernels of kernels.cl as plain loops of the host: what a second thread of this host gives to code that has no
// launches and no work-groups is a measure of what it can give to Atoll.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace Atoll::bench {

/// Where a kernel's arguments lie: the memory of buffers, the bytes of numbers.
using NativeArguments = std::vector<void*>;

struct NativeLoop {
  std::string_view kernel;
  size_t items_of_a_piece;  ///< a thread does whole pieces, of so many work-items each
  /// Does the pieces [begin, end).
  void (*run)(const NativeArguments& arguments, size_t begin, size_t end);
};

/// The loop for a kernel; null for most.
const NativeLoop* native_loop(std::string_view kernel);

/// As many multiplications and additions as a processor can do, so many rounds; returns their sum.
float multiply_and_add(int rounds);

}  // namespace Atoll::bench

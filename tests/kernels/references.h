// The kernels of this directory as the test knows them: name, and what the host says of it. Kernels of the .h files are
// those files compiled for the host (host_kernels.cpp); for the others there is a function that does the same without
// lanes, local memory or atomics (*_references.cpp).
#pragma once

#include <span>

#include "target/processor.h"

namespace Atoll::test {

/// One launch. `out` is 0 in the beginning.
struct Launch {
  const unsigned* in;
  unsigned* out;
  unsigned items;
  unsigned wave_size;
  const target::Processor* processor;
};

struct Kernel {
  const char* name;
  void (*expect)(const Launch&);
};

std::span<const Kernel> integer_kernels();
std::span<const Kernel> float_kernels();
std::span<const Kernel> control_flow_kernels();
std::span<const Kernel> memory_kernels();
std::span<const Kernel> algorithm_kernels();
std::span<const Kernel> recent_kernels();
std::span<const Kernel> class_kernels();
std::span<const Kernel> register_kernels();

std::span<const Kernel> brain_kernels();

std::span<const Kernel> group_kernels();
std::span<const Kernel> atomic_kernels();

std::span<const Kernel> wave_kernels();
std::span<const Kernel> permlane_kernels();    ///< of those of waves.c, what GFX10 has and later ones
std::span<const Kernel> permlane64_kernels();  ///< GFX11 and later ones in waves of 64
std::span<const Kernel> dot_kernels();
std::span<const Kernel> gfx11_matrix_kernels();
std::span<const Kernel> gfx12_matrix_kernels();
std::span<const Kernel> deep_matrix_kernels();

}  // namespace Atoll::test

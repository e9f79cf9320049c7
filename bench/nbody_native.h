// The n-body kernel of kernels.cl written by hand for this host's vector unit: what Atoll is compared with.
#pragma once

#include <cstddef>

namespace Atoll::bench {

/// The accelerations of bodies [begin, end) by all `count` bodies. A body is x, y, z and mass; an acceleration x, y, z
/// and 0. `begin` and `end` are multiples of `native_nbody_step`. Lanes that the host has not are done one after the
/// other.
void native_nbody(const float* bodies, float* accelerations, size_t count, size_t begin, size_t end);

inline constexpr size_t native_nbody_step = 64;

/// "AVX-512", "AVX2" or "portable": what it was compiled to.
const char* native_vector_unit();

}  // namespace Atoll::bench

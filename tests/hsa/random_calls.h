// Calls of the HSA API with random arguments: handles of things that are there, are gone or never were, sizes at their
// limits, null pointers.
#pragma once

#include <cstdint>

namespace Atoll::test {

/// Makes `count` calls, which `seed` determines, and prints how many by what came of them. 0 if each returned a status
/// that HSA has; what it must not do is crash.
int random_calls(uint64_t seed, uint64_t count);

}  // namespace Atoll::test

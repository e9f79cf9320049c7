// Byte sequences that cover the encoding space: every opcode value of every encoding of a family, the other bits
// random.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "isa/oracle.h"

namespace Atoll::isa::test {

/// Sequences of 8 (a few of 16) bytes for the GFX9 family's encodings, at least `each` of them for each opcode value,
/// the same for the same seed. Bits are shaped so that many sequences are instructions, and so that the oracle survives
/// them.
std::vector<Bytes> gfx9_patterns(unsigned each, uint64_t seed);

/// Instructions whose immediate has names (counters, messages, hardware registers, index modes, lane swizzles) with
/// many of its values: all small ones, and some of the others.
std::vector<Bytes> gfx9_immediates();

}  // namespace Atoll::isa::test

// semantics: the levels of the host's vector instructions (host_isa.h), and the one in use.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "support/error.h"

namespace Atoll::semantics {

/// A level has the instructions of all before it. avx512 means F, BW, CD, DQ and VL, avx2 also FMA, F16C and BMI: the
/// x86-64-v4 and x86-64-v3 of the x86-64 psABI. Portable code runs on every x86-64 processor.
enum class HostVectors : uint8_t { portable, avx2, avx512 };

/// The levels that this host has, the narrowest first.
std::span<const HostVectors> available_host_vectors();

std::string_view name(HostVectors level);
/// The name of the x86-64 psABI for processors with the level, as compilers know it: "x86-64-v3".
std::string_view psabi_name(HostVectors level);

/// Returns the level that the environment variable ATOLL_HOST_VECTORS names, or the widest available one if it is
/// unset or empty. Returns an error if no such level exists or the host lacks it.
support::Result<HostVectors> wanted_host_vectors();

/// Returns the level in use, fixed at the first call. The code that starts a machine checks wanted_host_vectors()
/// before. Without that check, an invalid setting selects the widest level.
HostVectors host_vectors();

}  // namespace Atoll::semantics

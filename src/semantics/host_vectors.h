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

/// The level that the environment variable ATOLL_HOST_VECTORS asks for by name, the widest available one where it is
/// unset or empty. An error if there is no such level, or the host lacks it.
support::Result<HostVectors> wanted_host_vectors();

/// The level in use: the wanted one when first asked, and ever after. Whoever starts a machine checks
/// wanted_host_vectors() before; where nobody did and it is an error, this is the widest level.
HostVectors host_vectors();

}  // namespace Atoll::semantics

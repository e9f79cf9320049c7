// object: writing offload bundles (bundle.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "object/bundle.h"
#include "support/error.h"

namespace Atoll::object {

enum class Compression : uint8_t { none, zlib, zstd };

/// A bundle of the entries in their order, each at a multiple of `alignment` (a power of two). Runtimes look at the
/// entry of the host, which comes first and is empty: see host_entry_id.
support::Result<std::vector<uint8_t>> write_bundle(std::span<const BundleEntry> entries, uint64_t alignment,
                                                   Compression compression);

inline constexpr const char* host_entry_id = "host-x86_64-unknown-linux--";

}  // namespace Atoll::object

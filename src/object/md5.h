// object: the MD5 digest, which compressed offload bundles carry of what they unpack to. Source: RFC 1321.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace Atoll::object {

std::array<uint8_t, 16> md5(std::span<const uint8_t> bytes);

}  // namespace Atoll::object

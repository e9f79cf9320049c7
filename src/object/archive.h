// object: static libraries (.a), in which objects with code for GPUs may lie.
// Source: the format of GNU ar (a header of 60 bytes before each member, long names in the member "//").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/error.h"

namespace Atoll::object {

struct ArchiveMember {
  std::string name;
  std::span<const uint8_t> bytes;
};

bool is_archive(std::span<const uint8_t> file);

/// The members of an archive without its symbol table. Thin archives, which hold names alone, are refused.
support::Result<std::vector<ArchiveMember>> read_archive(std::span<const uint8_t> file);

}  // namespace Atoll::object

// object: metadata as its authors write it (YAML) to what a code object holds (MessagePack).
// Source: user guide, "Code Object Metadata"; the text form is that of .amdgpu_metadata.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace Atoll::object {

/// Any document: maps sorted by key, numbers in as few bytes as they take. Scalars that read as integers, booleans or
/// floating-point numbers become these, quoted or not.
support::Result<std::vector<uint8_t>> yaml_to_message_pack(std::string_view yaml);

/// The document of a PAL code object's note (.amdgpu_pal_metadata): registers have numbers for keys, with names after
/// them or not, and a document without pipelines gets one, without registers.
support::Result<std::vector<uint8_t>> pal_metadata_from_yaml(std::string_view yaml);

/// The document of a code object's metadata note: checked for what it must hold.
support::Result<std::vector<uint8_t>> metadata_from_yaml(std::string_view yaml);

}  // namespace Atoll::object

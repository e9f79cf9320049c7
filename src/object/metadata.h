// object: code object metadata: the MessagePack map in the NT_AMDGPU_METADATA note, which tells of each kernel what
// arguments it takes and what it needs.
// Source: user guide, "Code Object V3 and Above Metadata", and the additions of V4 and V5.
#pragma once

#include <cstdint>
#include <span>

#include "object/code_object.h"
#include "object/elf_file.h"
#include "support/error.h"

namespace Atoll::object {

/// Reads the note's descriptor. Keys that Atoll does not know are left alone, as the user guide allows vendors
/// their own; keys that it knows must have their type.
support::Result<Metadata> read_metadata(std::span<const uint8_t> note);

/// The same of the note in a code object or relocatable; metadata without kernels if there is no such note.
support::Result<Metadata> read_metadata(const ElfFile& file);

}  // namespace Atoll::object

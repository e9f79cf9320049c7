// object: code object metadata: the MessagePack map in the NT_AMDGPU_METADATA note, with the arguments and
// requirements of each kernel. Source: user guide, "Code Object V3 and Above Metadata", and the additions of V4
// and V5.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "object/code_object.h"
#include "object/elf_file.h"
#include "support/error.h"

namespace Atoll::object {

/// Reads the note's descriptor. Keys that Atoll does not know are left alone, as the user guide allows vendors
/// their own; keys that it knows must have their type.
support::Result<Metadata> read_metadata(std::span<const uint8_t> note);

/// Reads a note with metadata, of V2 or later; nothing for other notes.
support::Result<std::optional<Metadata>> read_metadata(const ElfNote& note);

/// Reads all notes of a code object or relocatable; metadata without kernels if it has no such note.
support::Result<Metadata> read_metadata(const ElfFile& file);

/// A file that was linked from several has a note of each.
void append_metadata(Metadata& all, Metadata more);

}  // namespace Atoll::object

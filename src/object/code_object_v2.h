// object: what is special to code object V2: the notes that say its version and its target, metadata in YAML, and
// kernels that begin with an amd_kernel_code_t instead of having a descriptor.
// Source: user guide, "Code Object V2 Note Records" and "Code Object V2 Metadata".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "object/code_object.h"
#include "object/elf_file.h"
#include "object/kernel_code.h"
#include "target/target_id.h"

namespace Atoll::object {

/// Describes a note of the owner AMD: "2.1", "AMD:AMDGPU:9:0:1"; empty for metadata and unknown notes.
std::string note_text(const ElfNote& note);

/// The target in the ISA version note.
support::Result<target::TargetId> read_target_v2(const ElfFile& file);

struct KernelCodeSymbol {
  std::string_view name;
  RawKernelCode code;
};

/// Returns the kernels among these symbols, in the same order. Kernels that are not completely in the file are
/// left out.
std::vector<KernelCodeSymbol> read_kernel_codes(const ElfFile& file, std::span<const ElfSymbol> symbols);

bool has_wave32(const RawKernelCode& code);

/// Reads the text of a metadata note. As in later versions, unknown keys are left alone. Arguments get the offsets that
/// their sizes and alignments make.
support::Result<Metadata> read_metadata_v2(std::string_view yaml);

}  // namespace Atoll::object

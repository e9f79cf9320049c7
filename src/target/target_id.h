// target: target IDs, "gfx90a:sramecc+:xnack-", and whether code for one runs on a GPU of another.
// Source: user guide, "Target ID", "Embedding Bundled Code Objects" and "Generic Processor Versioning".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/error.h"
#include "target/processor.h"

namespace Atoll::target {

struct TargetId {
  const Processor* processor = nullptr;
  Setting xnack = Setting::unsupported;
  Setting sramecc = Setting::unsupported;
  uint8_t generic_version = 0;  ///< of a generic processor's code object

  /// "gfx90a:sramecc+:xnack-": the canonical form, features in alphabetical order, `any` left out.
  std::string to_string() const;
};

/// Parses "gfx90a:xnack-" and also the full form "amdgcn-amd-amdhsa--gfx90a:xnack-". An error says which part is
/// wrong and what would be right.
support::Result<TargetId> parse_target_id(std::string_view text);

/// The target ID that an ELF header's e_flags, EI_ABIVERSION say (code object V3 to V6).
support::Result<TargetId> target_id_of_flags(uint32_t e_flags, uint8_t abi_version);

/// The reverse: the e_flags of code for a target in a code object of this EI_ABIVERSION.
uint32_t flags_of_target_id(const TargetId& id, uint8_t abi_version);

/// Code object V2 names its target by an ISA version in a note, AMD:AMDGPU:9:0:1, in which xnack counts as a stepping
/// of its own where a processor has the choice.
IsaVersion isa_version_in_v2(IsaVersion version, Setting xnack);

/// The reverse.
support::Result<TargetId> target_id_of_v2(const IsaVersion& version);

/// Whether code built for `code` may run on a GPU that is `gpu`; the error says why not.
support::Result<void> check_runs_on(const TargetId& code, const TargetId& gpu);

}  // namespace Atoll::target

// target: target triples, which stand before target IDs in bundles, metadata and assembly text.
#pragma once

#include <optional>
#include <string_view>

namespace Atoll::target {

/// A target triple with what follows it: "amdgcn-amd-amdhsa--gfx90a:xnack-", "amdgcn-amd-amdhsa-unknown-gfx90a" or,
/// from LLVM 23 on, "amdgpu9.0a-amd-amdhsa--gfx90a", whose architecture has the processor's version or that of its
/// family. Sources: user guide, "Target Triples"; llvm/llvm-project#206480.
struct TargetTriple {
  std::string_view architecture;  ///< "amdgcn" or "amdgpu"
  std::string_view subarch;       ///< "9.0a", "9.4", "12"; empty in older triples
  std::string_view os;            ///< "amdhsa"
  std::string_view target;        ///< "gfx90a:xnack-"; may be empty if the subarchitecture says it
};

/// Returns nothing for text that does not begin with a triple.
std::optional<TargetTriple> read_triple(std::string_view text);

}  // namespace Atoll::target

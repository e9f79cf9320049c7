// Processors that LLVM 22 does not know, and the one whose place they take where a test asks it. What LLVM's main
// branch says of them: llvm/docs/AMDGPUUsage.rst, "Processors", llvm/lib/TargetParser/AMDGPUTargetParser.cpp.
#pragma once

#include <string_view>

#include "target/processor.h"

namespace Atoll::test {

/// Whether it is a processor of GFX11.7: GFX11.5 with some of GFX12's instructions.
inline bool is_gfx11_7(std::string_view processor) {
  return processor.starts_with("gfx117") || processor == "gfx11-7-generic";
}

inline bool is_known_to_llvm(std::string_view processor) {
  return processor != "gfx1154" && !is_gfx11_7(processor) && processor != "gfx12-5-generic";
}

/// The processor, or the one that LLVM 22 knows and that it is like: the same but for its number (gfx1154,
/// gfx12-5-generic), or but for what tests/isa/newer_processors.cpp lists (GFX11.7).
inline std::string_view llvm_processor(std::string_view processor) {
  if (processor == "gfx1154") return "gfx1153";
  if (processor == "gfx12-5-generic") return "gfx1250";
  return is_gfx11_7(processor) ? "gfx1150" : processor;
}

/// The feature that makes LLVM 22 name halves of registers on that processor as later versions do by default. Empty
/// where it does so anyway.
inline std::string_view halves_feature(std::string_view processor) {
  const target::Processor* known = target::find_processor(processor);
  return known != nullptr && known->generation >= target::Generation::gfx12 ? "+real-true16" : "";
}

}  // namespace Atoll::test

// library: Mesa3D's configuration sections as JSON, for describe_code().
#pragma once

#include <span>

#include <nlohmann/json.hpp>

#include "object/elf_file.h"
#include "support/error.h"
#include "target/processor.h"

namespace Atoll::library {

/// Describes the shaders of .AMDGPU.config: symbol, stage, registers with their fields, spills, contradictions.
support::Result<nlohmann::ordered_json> describe_mesa(const object::ElfFile& file,
                                                      std::span<const object::ElfSymbol> symbols,
                                                      const target::Processor& processor);

}  // namespace Atoll::library

// library: PAL metadata as JSON, for describe_code().
#pragma once

#include <span>

#include <nlohmann/json.hpp>

#include "object/elf_file.h"
#include "object/gpu_registers.h"
#include "target/processor.h"

namespace Atoll::library {

/// Describes each PAL note: its form and version; per pipeline the registers with their fields, the user data with what
/// PAL loads, stages and functions; the whole document; contradictions with the processor and the code.
support::Result<nlohmann::ordered_json> describe_pal(const object::ElfFile& file,
                                                     std::span<const object::ElfSymbol> symbols,
                                                     const target::Processor& processor);

/// Describes a register's value: number, name and fields.
nlohmann::ordered_json describe_register(uint32_t number, uint32_t value, target::Generation generation);

}  // namespace Atoll::library

// object: the devices that AMD's Catalyst driver compiles for, by the numbers in its containers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "target/processor.h"

namespace Atoll::object::catalyst {

/// Instruction sets of the devices.
enum class Family : uint8_t { r600, r700, evergreen, northern_islands, gcn };

std::string_view name_of(Family family);  ///< "Evergreen"

struct Device {
  uint16_t elf_machine;              ///< e_machine of the outer file, of OpenCL 1.x
  std::optional<uint32_t> encoding;  ///< machine in the encoding dictionary; nothing where unknown
  std::string_view name;             ///< as in metadata, "tahiti"
  Family family;
  std::string_view processor;  ///< "gfx600"; empty before GCN
};

std::span<const Device> devices();
const Device* find_device(uint16_t elf_machine);          ///< or nullptr
const Device* find_device_of_encoding(uint32_t machine);  ///< or nullptr
const Device* find_device(std::string_view name);         ///< by its name or processor, or nullptr

/// Returns whether a processor is one that Catalyst's OpenCL 2.0 compiled for: GFX7 to GFX9.
bool has_opencl_2(const target::Processor& processor);

/// Returns the versions whose kernels a processor runs, "1.x" and "2.0".
std::vector<std::string_view> opencl_versions(const target::Processor& processor);

/// The machine of AMD IL in the encoding dictionary.
constexpr uint32_t encoding_amd_il = 0x19;

}  // namespace Atoll::object::catalyst

// object: the numbers of ELF files as words, where AMDGPU's code objects have them.
// Source: System V ABI; user guide, "ELF Code Object"; llvm/BinaryFormat/ELF.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace Atoll::object {

// Each gives what readelf calls the number, or the number itself if it has no name here.
std::string file_type_name(uint16_t type);     ///< "DYN"
std::string os_abi_name(uint8_t os_abi);       ///< "amdhsa"
std::string segment_type_name(uint32_t type);  ///< "LOAD"
std::string section_type_name(uint32_t type);  ///< "PROGBITS"
std::string symbol_type_name(uint8_t type);    ///< "FUNC"
std::string symbol_binding_name(uint8_t binding);
std::string symbol_visibility_name(uint8_t visibility);
std::string note_type_name(std::string_view owner, uint32_t type);  ///< "NT_AMDGPU_METADATA"
std::string segment_flags(uint32_t flags);                          ///< "R-X"
std::string section_flags(uint64_t flags);                          ///< "AX"

}  // namespace Atoll::object

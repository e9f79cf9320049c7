// object: relocatable objects, as an assembler writes them and a linker reads them (ELF ET_REL).
//
// The layout in the file is LLVM's: the sections' bytes, the symbol table, the relocations, the names, the headers.
// Source: System V ABI; user guide, "ELF Code Object".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/error.h"

namespace Atoll::object {

/// Bytes that the assembler's sections and each of the linker's may have in a file. It is checked before memory is
/// taken: a mistaken `.org` or `.fill` must not take the host's. Sections without bytes in the file may be larger.
inline constexpr uint64_t largest_content = uint64_t{1} << 28;

struct RelocatableRelocation {
  uint64_t offset;  ///< in the section
  uint32_t symbol;  ///< index into Relocatable::symbols; 0: none
  uint32_t type;    ///< R_AMDGPU_*
  int64_t addend;
};

struct RelocatableSection {
  std::string name;
  uint32_t type = 0;  ///< SHT_*
  uint64_t flags = 0, entry_size = 0, alignment = 1;
  std::vector<uint8_t> bytes;
  uint64_t size = 0;             ///< of its bytes, or of what it would have (SHT_NOBITS)
  uint32_t link = 0, info = 0;   ///< link: index into Relocatable::sections plus 1 (SHF_LINK_ORDER); 0: none
  bool link_to_symbols = false;  ///< link names the symbol table
  uint32_t group = 0;            ///< index into Relocatable::groups plus 1; 0: none
  std::vector<RelocatableRelocation> relocations;
};

struct RelocatableSymbol {
  std::string name;
  uint64_t value = 0, size = 0;
  uint8_t type = 0, binding = 0, visibility = 0;
  /// 0: undefined; up to the number of sections: that one, counted from 1; else special_section says it.
  uint32_t section = 0;
  uint16_t special_section = 0;  ///< SHN_ABS, SHN_COMMON, SHN_AMDGPU_LDS
  uint32_t group = 0;            ///< of a name that is nothing but a group's: that group, counted from 1
};

/// Sections that belong together; of comdat groups with the same name, a linker keeps one.
struct RelocatableGroup {
  uint32_t symbol = 0;  ///< index into Relocatable::symbols: its name is the group's
  bool comdat = false;
};

struct Relocatable {
  uint8_t os_abi = 0, abi_version = 0;
  uint32_t flags = 0;  ///< e_flags
  std::vector<RelocatableSection> sections;
  std::vector<RelocatableGroup> groups;
  std::vector<RelocatableSymbol> symbols;  ///< index 0 is the null symbol; the local ones come first
};

std::vector<uint8_t> write_relocatable(const Relocatable& object);

/// Reads a relocatable object of write_relocatable() or of any compiler. Symbols refer to sections of the result,
/// which do not include those that hold symbols, names and relocations.
support::Result<Relocatable> read_relocatable(std::span<const uint8_t> file);

}  // namespace Atoll::object

// object: names of ELF's numbers (elf_names.h).
#include "object/elf_names.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "object/elf.h"

namespace Atoll::object {

namespace {

struct Name {
  uint64_t value;
  std::string_view name;
};

std::string name_in(std::span<const Name> names, uint64_t value) {
  const auto found = std::ranges::find(names, value, &Name::value);
  return found == names.end() ? fmt::format("{:#x}", value) : std::string(found->name);
}

}  // namespace

std::string file_type_name(uint16_t type) {
  constexpr Name names[] = {{ET_NONE, "NONE"}, {ET_REL, "REL"}, {ET_EXEC, "EXEC"}, {ET_DYN, "DYN"}, {ET_CORE, "CORE"}};
  return name_in(names, type);
}

std::string os_abi_name(uint8_t os_abi) {
  constexpr Name names[] = {{ELFOSABI_NONE, "none"},
                            {elf::osabi_amdgpu_hsa, "amdhsa"},
                            {elf::osabi_amdgpu_pal, "amdpal"},
                            {elf::osabi_amdgpu_mesa3d, "mesa3d"}};
  return name_in(names, os_abi);
}

std::string segment_type_name(uint32_t type) {
  constexpr Name names[] = {{PT_NULL, "NULL"},     {PT_LOAD, "LOAD"},           {PT_DYNAMIC, "DYNAMIC"},
                            {PT_INTERP, "INTERP"}, {PT_NOTE, "NOTE"},           {PT_PHDR, "PHDR"},
                            {PT_TLS, "TLS"},       {PT_GNU_STACK, "GNU_STACK"}, {PT_GNU_RELRO, "GNU_RELRO"}};
  return name_in(names, type);
}

std::string section_type_name(uint32_t type) {
  constexpr Name names[] = {{SHT_NULL, "NULL"},
                            {SHT_PROGBITS, "PROGBITS"},
                            {SHT_SYMTAB, "SYMTAB"},
                            {SHT_STRTAB, "STRTAB"},
                            {SHT_RELA, "RELA"},
                            {SHT_HASH, "HASH"},
                            {SHT_DYNAMIC, "DYNAMIC"},
                            {SHT_NOTE, "NOTE"},
                            {SHT_NOBITS, "NOBITS"},
                            {SHT_REL, "REL"},
                            {SHT_DYNSYM, "DYNSYM"},
                            {SHT_INIT_ARRAY, "INIT_ARRAY"},
                            {SHT_FINI_ARRAY, "FINI_ARRAY"},
                            {SHT_GROUP, "GROUP"},
                            {SHT_SYMTAB_SHNDX, "SYMTAB_SHNDX"},
                            {SHT_GNU_HASH, "GNU_HASH"},
                            {elf::sht_llvm_addrsig, "LLVM_ADDRSIG"}};
  return name_in(names, type);
}

std::string symbol_type_name(uint8_t type) {
  constexpr Name names[] = {{STT_NOTYPE, "NOTYPE"}, {STT_OBJECT, "OBJECT"},
                            {STT_FUNC, "FUNC"},     {STT_SECTION, "SECTION"},
                            {STT_FILE, "FILE"},     {STT_COMMON, "COMMON"},
                            {STT_TLS, "TLS"},       {elf::stt_amdgpu_hsa_kernel, "AMDGPU_HSA_KERNEL"}};
  return name_in(names, type);
}

std::string symbol_binding_name(uint8_t binding) {
  constexpr Name names[] = {{STB_LOCAL, "LOCAL"}, {STB_GLOBAL, "GLOBAL"}, {STB_WEAK, "WEAK"}};
  return name_in(names, binding);
}

std::string symbol_visibility_name(uint8_t visibility) {
  constexpr Name names[] = {
      {STV_DEFAULT, "DEFAULT"}, {STV_INTERNAL, "INTERNAL"}, {STV_HIDDEN, "HIDDEN"}, {STV_PROTECTED, "PROTECTED"}};
  return name_in(names, visibility);
}

std::string note_type_name(std::string_view owner, uint32_t type) {
  constexpr Name amd[] = {{elf::nt_amd_hsa_code_object_version, "NT_AMD_HSA_CODE_OBJECT_VERSION"},
                          {2, "NT_AMD_HSA_HSAIL"},
                          {elf::nt_amd_hsa_isa_version, "NT_AMD_HSA_ISA_VERSION"},
                          {elf::nt_amd_hsa_metadata, "NT_AMD_HSA_METADATA"},
                          {elf::nt_amd_hsa_isa_name, "NT_AMD_HSA_ISA_NAME"},
                          {12, "NT_AMD_PAL_METADATA"}};
  constexpr Name amdgpu[] = {{elf::nt_amdgpu_metadata, "NT_AMDGPU_METADATA"}};
  if (owner == "AMD") return name_in(amd, type);
  if (owner == "AMDGPU") return name_in(amdgpu, type);
  return name_in({}, type);
}

std::string segment_flags(uint32_t flags) {
  return {(flags & PF_R) != 0 ? 'R' : '-', (flags & PF_W) != 0 ? 'W' : '-', (flags & PF_X) != 0 ? 'X' : '-'};
}

std::string section_flags(uint64_t flags) {
  constexpr Name names[] = {{SHF_WRITE, "W"},   {SHF_ALLOC, "A"},      {SHF_EXECINSTR, "X"},        {SHF_MERGE, "M"},
                            {SHF_STRINGS, "S"}, {SHF_INFO_LINK, "I"},  {SHF_LINK_ORDER, "L"},       {SHF_GROUP, "G"},
                            {SHF_TLS, "T"},     {SHF_COMPRESSED, "C"}, {uint64_t{SHF_EXCLUDE}, "E"}};
  std::string text;
  for (const Name& each : names)
    if ((flags & each.value) != 0) text += each.name;
  return text;
}

}  // namespace Atoll::object

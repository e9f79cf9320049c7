// object: the ELF format, as far as code objects and the programs that carry them use it: structures as they lie in
// a 64-bit little-endian file, and the numbers in them. The generic part is the host's <elf.h>.
// Source: System V ABI; user guide, "ELF Code Object"; llvm/BinaryFormat/ELF.h.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>

namespace Atoll::object::elf {

constexpr uint16_t em_amdgpu = 224;
constexpr uint8_t osabi_amdgpu_hsa = 64, osabi_amdgpu_pal = 65, osabi_amdgpu_mesa3d = 66;
constexpr uint8_t abi_version_v2 = 0, abi_version_v3 = 1;  ///< of amdhsa
constexpr uint32_t nt_amdgpu_metadata = 32;
/// Note types of code object V2, whose notes have the owner AMD.
constexpr uint32_t nt_amd_hsa_code_object_version = 1, nt_amd_hsa_isa_version = 3, nt_amd_hsa_metadata = 10,
                   nt_amd_hsa_isa_name = 11;
constexpr uint16_t shn_amdgpu_lds = 0xff00;
constexpr uint8_t stt_amdgpu_hsa_kernel = 10;  ///< of code object V2: a kernel that begins with an amd_kernel_code_t
constexpr uint32_t sht_llvm_addrsig = 0x6FFF4C03;

constexpr uint8_t symbol_type(const Elf64_Sym& symbol) { return symbol.st_info & 0xF; }
constexpr uint8_t symbol_binding(const Elf64_Sym& symbol) { return symbol.st_info >> 4; }
constexpr uint8_t symbol_visibility(const Elf64_Sym& symbol) { return symbol.st_other & 3; }

/// The header of a file for GPUs, all but the places and numbers of its tables.
inline Elf64_Ehdr header_of(uint16_t type, uint8_t os_abi, uint8_t abi_version, uint32_t flags) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_ident[EI_OSABI] = os_abi;
  header.e_ident[EI_ABIVERSION] = abi_version;
  header.e_type = type;
  header.e_machine = em_amdgpu;
  header.e_version = EV_CURRENT;
  header.e_flags = flags;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  return header;
}

}  // namespace Atoll::object::elf

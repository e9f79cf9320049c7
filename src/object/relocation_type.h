// object: the relocations of AMDGPU objects.
// Source: user guide, "Relocation Records"; llvm/BinaryFormat/ELFRelocs/AMDGPU.def.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

namespace Atoll::object {

/// S: the symbol's address, A: the addend, P: the relocated place, GOT: the address of the symbol's slot in the global
/// offset table, B: what the code object is loaded at.
enum RelocationType : uint32_t {
  R_AMDGPU_NONE = 0,
  R_AMDGPU_ABS32_LO = 1,       ///< the low half of S + A
  R_AMDGPU_ABS32_HI = 2,       ///< the high half
  R_AMDGPU_ABS64 = 3,          ///< S + A
  R_AMDGPU_REL32 = 4,          ///< S + A - P
  R_AMDGPU_REL64 = 5,          ///< S + A - P
  R_AMDGPU_ABS32 = 6,          ///< S + A
  R_AMDGPU_GOTPCREL = 7,       ///< GOT + A - P
  R_AMDGPU_GOTPCREL32_LO = 8,  ///< the low half of it
  R_AMDGPU_GOTPCREL32_HI = 9,  ///< the high half
  R_AMDGPU_REL32_LO = 10,      ///< the low half of S + A - P
  R_AMDGPU_REL32_HI = 11,      ///< the high half
  R_AMDGPU_RELATIVE64 = 13,    ///< B + A
  R_AMDGPU_REL16 = 14,         ///< (S + A - P - 4) / 4, in 16 bits: a branch
};

/// "R_AMDGPU_REL32_LO", or "" for a number that is none.
constexpr std::string_view relocation_name(uint32_t type) {
  constexpr std::string_view names[] = {"R_AMDGPU_NONE",
                                        "R_AMDGPU_ABS32_LO",
                                        "R_AMDGPU_ABS32_HI",
                                        "R_AMDGPU_ABS64",
                                        "R_AMDGPU_REL32",
                                        "R_AMDGPU_REL64",
                                        "R_AMDGPU_ABS32",
                                        "R_AMDGPU_GOTPCREL",
                                        "R_AMDGPU_GOTPCREL32_LO",
                                        "R_AMDGPU_GOTPCREL32_HI",
                                        "R_AMDGPU_REL32_LO",
                                        "R_AMDGPU_REL32_HI",
                                        "",
                                        "R_AMDGPU_RELATIVE64",
                                        "R_AMDGPU_REL16"};
  return type < std::size(names) ? names[type] : std::string_view();
}

/// How many bytes a relocation writes.
constexpr unsigned relocated_bytes(uint32_t type) {
  switch (type) {
    case R_AMDGPU_NONE:
      return 0;
    case R_AMDGPU_REL16:
      return 2;
    case R_AMDGPU_ABS64:
    case R_AMDGPU_REL64:
    case R_AMDGPU_RELATIVE64:
      return 8;
    default:
      return 4;
  }
}

}  // namespace Atoll::object

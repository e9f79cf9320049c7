// object: the container of Catalyst's OpenCL 2.0.
//
// The outer file's machine gives the width, 32 or 64 bits. Its symbols name each kernel's metadata, a binary record
// with the arguments: "__OpenCL_&__OpenCL_NAME_kernel_metadata". Code is in .text in one of two forms. Since driver
// 1912.05 .text is an ELF file of HSA's first code object version with a symbol "&__OpenCL_NAME_kernel" per kernel.
// Before, each kernel has a symbol "__ISA_&__OpenCL_NAME_kernel_binary" in .text: a stub, whose first dword is its
// size, then the setup record. The setup record is HSA's amd_kernel_code_t (kernel_code.h) in both. Source:
// CLRX/CLRX-mirror's documentation and public binaries of its tests, in which all this was measured.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "object/catalyst_abi.h"
#include "object/elf_file.h"
#include "object/kernel_code.h"
#include "support/error.h"
#include "target/processor.h"

namespace Atoll::object::catalyst {

constexpr uint16_t em_cl2_32 = 0xAF5A, em_cl2_64 = 0xAF5B;

/// An argument as the metadata describes it.
struct Cl2Argument {
  std::string_view name, type_name;
  ArgumentShape shape;
  uint32_t offset = 0;          ///< as the compiler wrote it; of images and samplers, 0 or the resource's number
  uint32_t size = 0;            ///< vector length, resource number or structure size
  uint32_t type = 0, kind = 0;  ///< the record's own numbers
  std::string_view space;       ///< of pointers: "local", "global", "constant"
  std::string_view access;      ///< of images: "read_only", "write_only", "read_write"
  bool is_const = false, is_restrict = false, is_volatile = false;
};

struct Cl2Kernel {
  std::string_view name;
  std::span<const uint8_t> metadata, isa_metadata, stub;
  std::array<uint32_t, 3> required_work_group_size{};
  std::vector<Cl2Argument> arguments;  ///< the setup arguments included, whose names begin with "_."
  RawKernelCode setup{};
  std::span<const uint8_t> code;  ///< empty when the file has metadata only
  uint64_t code_offset = 0;       ///< of the code in .hsatext
};

/// A relocation of .hsatext. Types have the numbers of R_AMDGPU_ABS32_LO and R_AMDGPU_ABS32_HI.
struct Cl2Relocation {
  uint64_t offset;
  uint32_t type;
  std::string_view section;  ///< of the symbol
  int64_t addend;            ///< the symbol's value included
};

struct Cl2Container {
  ElfFile file;
  bool is_64_bit = false;
  const target::Processor* processor = nullptr;  ///< nullptr where neither flags nor a note name it
  std::string_view compile_options, acl_version;
  std::vector<Cl2Kernel> kernels;
  std::span<const uint8_t> inner;  ///< the inner ELF file; empty in the older form
  std::span<const uint8_t> read_only_data, global_data, sampler_data;
  uint64_t bss_bytes = 0;
  std::vector<Cl2Relocation> relocations;  ///< of code
  size_t num_relocations = 0;              ///< of code and data

  const Cl2Kernel* find_kernel(std::string_view name) const;
};

bool is_cl2_container(std::span<const uint8_t> file);

/// Reads a container. `file` must outlive the result.
support::Result<Cl2Container> read_cl2_container(std::span<const uint8_t> file);

}  // namespace Atoll::object::catalyst

// object: shaders of Mesa3D objects (OS ABI mesa3d, as LLVM writes them for radeonsi and clover).
//
// Section .AMDGPU.config has pairs of a register's byte offset and its value, a group for each function, in the order
// of the code. Each group begins with the stage's *_PGM_RSRC1. Two numbers are no registers: 4 and 8 count spilled
// SGPRs and VGPRs. Compute kernels begin with an amd_kernel_code_t of 256 bytes besides, which names their user SGPRs.
// Source: Mesa 25.0, ac_binary.c and ac_rtld.c; LLVM 22, AMDGPUAsmPrinter.cpp (EmitProgramInfoSI).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "object/elf_file.h"
#include "object/gpu_registers.h"
#include "object/kernel_code.h"
#include "support/error.h"

namespace Atoll::object {

struct MesaRegister {
  uint32_t number;  ///< in dwords; the file has bytes
  uint32_t value;
};

struct MesaShader {
  std::string_view symbol;
  HardwareStage stage;
  std::vector<MesaRegister> registers;
  std::optional<uint32_t> spilled_sgprs, spilled_vgprs;
  std::optional<RawKernelCode> kernel_code;  ///< of a compute kernel

  std::optional<uint32_t> register_value(uint32_t number) const;
};

inline constexpr std::string_view mesa_config_section = ".AMDGPU.config";

/// Reads the section; no shaders if the file lacks it. A truncated section, a group without its stage's
/// registers, a register twice in a group, and groups without functions are errors.
support::Result<std::vector<MesaShader>> read_mesa_config(const ElfFile& file, std::span<const ElfSymbol> symbols,
                                                          target::Generation generation);

/// Returns a message for each register that the processor does not have.
std::vector<std::string> mesa_contradictions(const std::vector<MesaShader>& shaders, const ElfFile& file,
                                             std::span<const ElfSymbol> symbols, const target::Processor& processor);

}  // namespace Atoll::object

// tools: what `atoll inspect` and `atoll disasm` show of Catalyst's OpenCL binaries.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "support/error.h"

namespace Atoll::tools {

struct CatalystRequest {
  std::string file, kernel;  ///< an empty kernel name stands for all
  bool json = false;
  bool bytes = false;  ///< disasm: address and bytes after each instruction
};

/// True for a container of Catalyst's, of OpenCL 1.x or 2.0.
bool is_catalyst(std::span<const uint8_t> file);

support::Result<int> inspect_catalyst(const CatalystRequest& request, std::span<const uint8_t> file);

/// Prints the code of kernels as text below what the container says about them, or JSON. Refuses kernels without GCN
/// code by the device's name.
support::Result<int> disassemble_catalyst(const CatalystRequest& request, std::span<const uint8_t> file);

}  // namespace Atoll::tools

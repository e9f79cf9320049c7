// Compute shaders in LLVM IR, made from a table of parameters: operation, source of the second operand, storage that
// the first one passes through, and the dimensions of the grid. Results are computed by the host.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "atoll/atoll.h"

namespace Atoll::test {

/// The origin of the second operand.
enum class Source : uint8_t {
  plain,         ///< an SGPR; the metadata has no user data registers
  mapped,        ///< an SGPR that the metadata maps to a user data entry
  spilled,       ///< the spill table
  shader_table,  ///< the per-shader table, in the code's data
  grid_table,    ///< the grid's dimensions in work-groups
  descriptor,    ///< a buffer resource in the spill table
};

/// The way of the first operand from memory to the operation.
enum class Storage : uint8_t {
  none,
  lds,      ///< another work-item of the work-group loads it
  scratch,  ///< an array in scratch
  both,
  chain,          ///< arguments of an amdgpu_cs_chain function
  dynamic_vgprs,  ///< the same, which allocates VGPRs (GFX12)
};

struct ShaderCase {
  std::string name;
  unsigned operation;  ///< index in operations()
  Source source;
  Storage storage;
  unsigned dimensions;  ///< of the grid, 1 to 3
  unsigned wave_size;   ///< 0: the compiler's default
};

/// A processor and its properties that the shaders' text depends on.
struct ShaderTarget {
  const char* gpu;
  bool has_wave32, has_ids_in_ttmps, has_flat_scratch;
  uint32_t buffer_word3;  ///< of a raw buffer resource
};

const std::vector<ShaderTarget>& shader_targets();
const std::vector<ShaderCase>& shader_cases();

/// Returns whether the processor can execute the shader.
bool runs_on(const ShaderCase& shader, const ShaderTarget& target);
std::string ir_of(const ShaderCase& shader, const ShaderTarget& target);

/// Compiles IR with llc for an operating system of the triple. Returns the object's path, or the compiler's messages.
Expected<std::string> compile_ir(const std::string& ir, const std::string& directory, std::string_view triple,
                                 std::string_view gpu, unsigned wave_size);

/// Compiles, launches and compares. Returns what is wrong; empty if all results are the host's.
std::string run_case(const ShaderCase& shader, const ShaderTarget& target, const Gpu& gpu,
                     const std::string& directory);

/// Returns the IR of kernels in clover's form.
std::string mesa_kernels();
/// Compiles, launches and compares those that Mesa3D can launch.
std::string run_mesa_kernels(const ShaderTarget& target, const Gpu& gpu, const std::string& directory);

}  // namespace Atoll::test

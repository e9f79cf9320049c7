// object: names and bit fields of the GPU's own registers that PAL metadata and Mesa's configuration sections set.
//
// A register's number is its dword offset in the GPU's register space: COMPUTE_PGM_RSRC1 is 0x2e12, which Mesa writes
// as byte offset 0xb848. Numbers and fields differ by generation, so each row of the table has a first and a last one.
// Source: Mesa 25.0, src/amd/registers; LLVM 22, AMDGPUPALMetadata.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "target/processor.h"

namespace Atoll::object {

struct RegisterField {
  std::string_view name;
  uint8_t low_bit, bits;

  constexpr uint32_t of(uint32_t value) const {
    return value >> low_bit & static_cast<uint32_t>((uint64_t{1} << bits) - 1);
  }
};

struct GpuRegister {
  uint32_t number;
  std::string name;                       ///< "COMPUTE_PGM_RSRC1"
  std::span<const RegisterField> fields;  ///< empty: the register is one number
  /// Position in a series: 5 for COMPUTE_USER_DATA_5.
  std::optional<uint32_t> index;

  const RegisterField* find_field(std::string_view field) const;
};

/// Returns the register of that number on processors of that generation, or nothing if the table has none.
std::optional<GpuRegister> find_register(uint32_t number, target::Generation generation);

/// Returns the number of a register by its name on processors of that generation.
std::optional<uint32_t> register_number(std::string_view name, target::Generation generation);

/// The hardware's shader stages, in the order of PAL's metadata.
enum class HardwareStage : uint8_t { ls, hs, es, gs, vs, ps, cs };
inline constexpr unsigned num_hardware_stages = 7;
std::string_view stage_name(HardwareStage stage);                    ///< "cs"
std::optional<HardwareStage> find_stage(std::string_view name);      ///< by "cs" or ".cs"
bool has_stage(HardwareStage stage, target::Generation generation);  ///< LS and ES until GFX8, VS until GFX10.3

/// Which user data register of which stage a register is.
struct UserDataRegister {
  HardwareStage stage;
  uint32_t index;
};
std::optional<UserDataRegister> user_data_register(const GpuRegister& gpu_register);

}  // namespace Atoll::object

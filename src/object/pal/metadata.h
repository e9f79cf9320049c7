// object: metadata of PAL code objects (OS ABI amdpal): shaders of Vulkan and DirectX drivers.
//
// Two notes carry it. NT_AMDGPU_METADATA of owner AMDGPU holds a MessagePack map; versions 2.x list hardware registers
// by number, 3.x name most of them by key. NT_AMD_PAL_METADATA of owner AMD, the older form, is pairs of a register's
// number and its value; numbers from 0x10000000 on are PAL's own keys. All are read into the same structures.
// Source: user guide, "AMDPAL Code Object Metadata" and "User Data"; GPUOpen-Drivers/pal, palPipelineAbi.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "object/elf_file.h"
#include "object/gpu_registers.h"
#include "object/message_pack.h"
#include "support/error.h"

namespace Atoll::object {

struct PalRegisterValue {
  uint32_t number, value;
};

/// A user data register and what PAL loads into it: the value of COMPUTE_USER_DATA_5 is such a mapping, not a number.
struct PalUserData {
  HardwareStage stage;
  uint32_t sgpr;
  uint32_t mapping;
};

struct PalStage {  ///< an entry of .hardware_stages
  HardwareStage stage = HardwareStage::cs;
  std::string entry_point, entry_point_symbol;
  std::optional<uint32_t> scratch_bytes, lds_bytes, vgprs, agprs, sgprs, wave_size, user_sgprs, float_mode, exceptions,
      shared_vgprs, dynamic_vgprs_saved, vgpr_limit, sgpr_limit;
  std::optional<bool> scratch, ieee_mode, wgp_mode, mem_ordered, forward_progress, debug_mode, trap_handler, fp16_ovfl,
      round_robin;
  std::optional<std::array<uint32_t, 3>> work_group_size;
};

struct PalFunction {  ///< an entry of .shader_functions
  std::string name;
  std::optional<uint32_t> lds_bytes, stack_bytes, vgprs, sgprs;
};

/// .compute_registers, of version 3: what COMPUTE_PGM_RSRC2 enables.
struct PalComputeRegisters {
  std::optional<bool> tgid_x, tgid_y, tgid_z, tg_size, dynamic_vgprs;
  std::optional<uint32_t> work_item_ids;
};

struct PalPipeline {
  std::string name, type, api;
  std::optional<uint32_t> user_data_limit, spill_threshold;
  std::vector<PalRegisterValue> registers;
  std::vector<PalStage> stages;
  std::vector<PalFunction> functions;
  std::vector<PalUserData> user_data;
  std::optional<PalComputeRegisters> compute_registers;

  const PalStage* find_stage(HardwareStage stage) const;
  std::optional<uint32_t> register_value(uint32_t number) const;
};

enum class PalNote : uint8_t { message_pack, register_pairs };

struct PalMetadata {
  PalNote form = PalNote::message_pack;
  /// 2.6 where the note has no amdpal.version, as in LLVM.
  uint32_t version_major = 2, version_minor = 6;
  std::vector<PalPipeline> pipelines;
  MessagePack document;                 ///< of a MessagePack note: all of it
  std::vector<PalRegisterValue> pairs;  ///< of a note of pairs: all of it
  /// Keys that no version has, with the map that they are in: ".hardware_stages.cs.vgpr_cuont".
  std::vector<std::string> unknown_keys;
};

inline constexpr uint32_t nt_amd_pal_metadata = 12;  ///< of owner AMD
/// Numbers in a note of pairs from this one on are PAL's keys, not registers.
inline constexpr uint32_t first_pal_key = 0x10000000;

/// Reads one note. Keys of another type than documented, values out of range and cut notes are errors. User data
/// registers are recognised by the processor's generation.
support::Result<PalMetadata> read_pal_metadata(const ElfNote& note, target::Generation generation);

/// Returns the metadata of all PAL notes of a file.
support::Result<std::vector<PalMetadata>> read_pal_metadata(const ElfFile& file, target::Generation generation);

/// Names one of PAL's keys in a note of pairs: "CS_SCRATCH_BYTE_SIZE". Empty for unknown numbers.
std::string_view pal_key_name(uint32_t number);

/// The source of a user data register.
enum class UserDataKind : uint8_t {
  entry,          ///< the dword that the application set as user data entry `index`
  global_table,   ///< low half of the global table's address
  shader_table,   ///< low half of the per-shader table's address
  spill_table,    ///< low half of the address of the user data entries in memory
  work_groups,    ///< address of the grid's dimensions, in this register and the next
  other,          ///< known to PAL by name, only for graphics or deprecated
  pipeline_link,  ///< low half of the address of symbol _amdgpu_pipelineLink<index>
  unlinked,       ///< resolved by the compiler's own linker before PAL sees the object
  unmapped,
  unknown
};
struct UserDataMapping {
  UserDataKind kind;
  uint32_t index = 0;
  std::string name;  ///< "GlobalTable", "user data entry 3"
};
UserDataMapping user_data_mapping(uint32_t value);

}  // namespace Atoll::object

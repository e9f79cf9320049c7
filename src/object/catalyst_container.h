// object: the container of Catalyst's OpenCL 1.x, an ELF file with an ELF file for each kernel inside.
//
// The outer file's machine names the device. Its symbols name pieces of its sections: "__OpenCL_NAME_metadata" (text,
// catalyst_metadata.h), "__OpenCL_NAME_header", "__OpenCL_NAME_kernel" (the inner file), "__OpenCL_N_global" (constant
// data). The inner file begins with an encoding dictionary, a program header of its own type: one encoding for AMD IL,
// maybe, and one for the device. Each encoding has notes of the owner "ATI CAL", .text, .data and a symbol table. The
// note PROGINFO has pairs of an address and a value, which are the registers that the driver sets for a launch.
// Source: CLRX/CLRX-mirror's documentation of the format, and public binaries (CLRX's tests, Multi2Sim's
// m2s-bench-amdsdk-2.5-src), in which all this was measured.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "object/catalyst_devices.h"
#include "object/catalyst_metadata.h"
#include "object/elf_file.h"
#include "support/error.h"

namespace Atoll::object::catalyst {

constexpr uint16_t em_ati_cal = 0x7D;  ///< of inner files
constexpr uint8_t osabi_ati_cal = 100;
constexpr uint32_t pt_encoding_dictionary = 0x70000002;

/// Types of notes of the owner "ATI CAL".
enum class CalNoteType : uint32_t {
  program_info = 1,
  inputs,
  outputs,
  conditional_output,
  float_constants,
  integer_constants,
  boolean_constants,
  early_exit,
  global_buffers,
  constant_buffers,
  input_samplers,
  persistent_buffers,
  scratch_buffers,
  sub_constant_buffers,
  uav_mailbox_size,
  uav,
  uav_operation_mask,
};

/// Returns "ATI_PROGINFO"; nothing for an unknown type.
std::optional<std::string_view> cal_note_name(uint32_t type);

struct CalNote {
  uint32_t type;
  std::span<const uint8_t> description;
};

struct ProgramInfoEntry {
  uint32_t address, value;
};

/// User data classes: what a range of user SGPRs holds. Names and numbers as in CLRX's documentation. These are the
/// classes of OpenCL kernels.
enum class DataClass : uint32_t {
  immediate_resource = 0,  ///< the descriptor itself
  immediate_sampler = 1,
  immediate_constant_buffer = 2,
  immediate_uav = 4,
  resource_table = 17,  ///< address of a table of descriptors
  sampler_table = 19,
  constant_buffer_table = 20,
  uav_table = 23,
  internal_global_table = 24,
};
std::optional<std::string_view> user_data_class_name(uint32_t number);
std::optional<uint32_t> find_user_data_class(std::string_view name);

struct UserData {
  uint32_t data_class, api_slot, first_sgpr, num_sgprs;
};

/// The decoded note PROGINFO.
struct ProgramInfo {
  std::vector<UserData> user_data;
  uint32_t vgprs = 0, sgprs = 0;           ///< used by the kernel
  uint32_t max_vgprs = 0, max_sgprs = 0;   ///< available to it
  uint32_t float_mode = 0, ieee_mode = 0;  ///< bits 0-7 of MODE, and its bit 9
  uint32_t scratch_dwords = 0;             ///< per work-item
  uint32_t compute_pgm_rsrc2 = 0;
  std::array<uint32_t, 3> work_group_size{};
  uint32_t lds_bytes = 0;                 ///< per work-group
  std::vector<ProgramInfoEntry> entries;  ///< all, in their order
};

/// Registers by their address in PROGINFO.
namespace program_info {
constexpr uint32_t num_user_data = 0x80001000, user_data = 0x80001001, max_user_data = 16, vgprs = 0x80001041,
                   sgprs = 0x80001042, float_mode = 0x80001043, ieee_mode = 0x80001044, scratch = 0x80001045,
                   max_sgprs = 0x80001863, max_vgprs = 0x80001864, rsrc2 = 0x2E13, group_x = 0x8000001C,
                   lds_bytes = 0x80000082;
}  // namespace program_info

support::Result<ProgramInfo> read_program_info(std::span<const uint8_t> note);

/// Code for one machine in an inner file.
struct Encoding {
  uint32_t machine, type, flags;
  std::span<const uint8_t> bytes;  ///< all of the encoding
  std::vector<CalNote> notes;
  std::span<const uint8_t> text, data;
  std::vector<ElfSymbol> symbols;

  bool is_amd_il() const { return machine == encoding_amd_il; }
  const Device* device() const { return find_device_of_encoding(machine); }
  const CalNote* find(CalNoteType type) const;
};

struct Kernel {
  std::string_view name;  ///< as in the source, "DCT"
  std::span<const uint8_t> header, image;
  std::string_view metadata_text;
  std::optional<MetadataText> metadata;
  std::string_view amd_il;  ///< AMD IL text, of .amdil
  std::vector<Encoding> encodings;

  const KernelText* text() const;  ///< the kernel's block of the metadata, or nullptr
  const Encoding* gcn() const;     ///< the encoding of a GCN device, or nullptr
};

struct GlobalData {
  uint32_t id;  ///< constant buffer
  std::span<const uint8_t> bytes;
};

struct Container {
  ElfFile file;
  const Device* device = nullptr;
  bool is_64_bit = false;
  std::string_view compile_options, driver;
  std::vector<GlobalData> global_data;
  std::vector<Kernel> kernels;

  const Kernel* find_kernel(std::string_view name) const;
};

/// True for an ELF file whose machine is a device of the table. Costs no reading.
bool is_container(std::span<const uint8_t> file);

/// Reads a container. `file` must outlive the result. What the container cannot mean is an error that names it.
support::Result<Container> read_container(std::span<const uint8_t> file);

}  // namespace Atoll::object::catalyst

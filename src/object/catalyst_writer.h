// object: writing Catalyst's containers of OpenCL 1.x and 2.0. What read_container() and read_cl2_container() read of
// the result is what was given. AMD IL, LLVM IR and the compiler's own sections are not written.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "object/catalyst_cl2.h"
#include "object/catalyst_container.h"
#include "support/error.h"

namespace Atoll::object::catalyst {

struct CalNoteSource {
  uint32_t type;
  std::vector<uint8_t> description;
};

struct KernelSource {
  std::string name, metadata;
  std::vector<uint8_t> header, text, data;
  std::vector<CalNoteSource> notes;
};

struct GlobalDataSource {
  uint32_t id;
  std::vector<uint8_t> bytes;
};

struct ContainerSource {
  const Device* device = nullptr;
  bool is_64_bit = false;
  std::string compile_options, driver;
  std::vector<GlobalDataSource> global_data;
  std::vector<KernelSource> kernels;
};

/// Returns the note ATI_PROGINFO with these values. `entries` and the maximum of registers are filled in.
std::vector<uint8_t> write_program_info(const ProgramInfo& info);

/// Error: the device's number in the encoding dictionary is unknown.
support::Result<std::vector<uint8_t>> write_container(const ContainerSource& source);

/// An argument of OpenCL 2.0. Texts are as in Cl2Argument.
struct Cl2ArgumentSource {
  std::string name{}, type_name{}, space{}, access{};
  ArgumentShape shape{};
  uint32_t number = 0;  ///< an image's or sampler's number, a structure's size
  bool is_const = false, is_restrict = false, is_volatile = false;
};

struct Cl2KernelSource {
  std::string name;
  std::array<uint32_t, 3> required_work_group_size{};
  std::vector<Cl2ArgumentSource> arguments;  ///< without the setup arguments
  std::vector<uint8_t> code;                 ///< setup record first
  std::vector<Cl2Relocation> relocations;    ///< offsets from the setup record on
};

struct Cl2ContainerSource {
  const target::Processor* processor = nullptr;
  bool is_64_bit = true;
  std::string compile_options, acl_version;
  std::vector<uint8_t> read_only_data, global_data, sampler_data;
  uint64_t bss_bytes = 0;
  std::vector<Cl2KernelSource> kernels;
};

/// Writes the form with an inner ELF file. Error: an argument of a type that the metadata has no number for.
support::Result<std::vector<uint8_t>> write_cl2_container(const Cl2ContainerSource& source);

}  // namespace Atoll::object::catalyst

// Containers of Catalyst's OpenCL 2.0, built byte by byte for tests. Places of fields are CLRX's.
#pragma once

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "object/catalyst_files.h"
#include "object/kernel_code.h"

namespace Atoll::test {

struct Cl2TestArgument {
  std::string name = {}, type_name = {};
  uint32_t size = 1, type = 0, space = 0, is_pointer = 0, flags = 0, kind = 4, is_const = 0;
};

/// The metadata record. Places of fields are CLRX's: the 64-bit form has wider sizes.
inline Bytes cl2_metadata(bool wide, const std::vector<Cl2TestArgument>& arguments) {
  const unsigned word = wide ? 8 : 4;
  Bytes record(wide ? 0xA8 : 0x70);
  const auto put = [&](Bytes& to, size_t at, uint64_t value) { std::memcpy(to.data() + at, &value, word); };
  put(record, 0, record.size());
  for (unsigned i = 0; i < 3; ++i) put(record, (wide ? 0x38 : 0x30) + i * word, 8u << i);
  put(record, wide ? 0x60 : 0x48, 3);
  put(record, wide ? 0x68 : 0x4C, 2);
  put(record, wide ? 0xA0 : 0x68, arguments.size());
  record = joined({record, bytes_of(std::string_view("abc\0de\0", 7))});
  Bytes texts;
  for (const Cl2TestArgument& argument : arguments) {
    Bytes entry(wide ? 0x58 : 0x40);
    put(entry, 0, entry.size());
    put(entry, word, argument.name.size());
    put(entry, 2 * word, argument.type_name.size());
    const uint32_t fields[] = {
        argument.size,    0, 0, argument.type, 0, 0, argument.space, argument.is_pointer, argument.flags, argument.kind,
        argument.is_const};
    std::memcpy(entry.data() + 5 * word, fields, sizeof fields);
    record.insert(record.end(), entry.begin(), entry.end());
    texts = joined({texts, bytes_of(argument.name + '\0' + argument.type_name + '\0')});
  }
  return joined({record, Bytes(wide ? 0x58 : 0x40), texts});
}

/// A setup record with these enabled user SGPRs, and code behind it.
struct Cl2Setup {
  uint32_t lds_bytes = 512, scratch_bytes = 0, work_group_ids = 0, work_item_ids = 0;
};

inline Bytes cl2_kernel(uint32_t properties, uint32_t user_sgprs, const Bytes& code = words({0xBF810000}),
                        const Cl2Setup& setup = {}) {
  object::RawKernelCode record{};
  const auto set = [&](std::string_view field, uint64_t value) { object::kernel_code_field(field).set(record, value); };
  set("kernel_code_entry_byte_offset", 256);
  set("user_sgpr_count", user_sgprs);
  set("granulated_wavefront_sgpr_count", 3);
  set("granulated_workitem_vgpr_count", 5);
  set("float_mode", 0xC0);
  set("workgroup_group_segment_byte_size", setup.lds_bytes);
  set("workitem_private_segment_byte_size", setup.scratch_bytes);
  set("enable_sgpr_private_segment_wave_byte_offset", setup.scratch_bytes != 0 ? 1 : 0);
  set("enable_sgpr_workgroup_id_x", setup.work_group_ids > 0 ? 1 : 0);
  set("enable_sgpr_workgroup_id_y", setup.work_group_ids > 1 ? 1 : 0);
  set("enable_sgpr_workgroup_id_z", setup.work_group_ids > 2 ? 1 : 0);
  set("enable_vgpr_workitem_id", setup.work_item_ids);
  record[56] = static_cast<uint8_t>(properties);
  return joined({Bytes(record.begin(), record.end()), code});
}

template <typename Types>
Bytes cl2_older_container(const Bytes& record, const Bytes& kernel, uint32_t flags = 6) {
  const Bytes stub = joined({words({8, 0}), kernel});
  return elf_file<Types>(Types::elf_class == ELFCLASS64 ? 0xAF5B : 0xAF5A,
                         {{".comment", SHT_PROGBITS, bytes_of("-cl-std=CL2.0AMD-COMP-LIB")},
                          {".rodata", SHT_PROGBITS, record},
                          {".text", SHT_PROGBITS, stub}},
                         {{"__OpenCL_compiler_options", ".comment", 0, 13},
                          {"acl_version_string", ".comment", 13, 12},
                          {"__OpenCL_&__OpenCL_k_kernel_metadata", ".rodata", 0, record.size()},
                          {"__ISA_&__OpenCL_k_kernel_binary", ".text", 0, stub.size(), STT_FUNC}},
                         flags);
}

/// The form with an inner ELF file, whose note has the processor's version.
template <typename Types>
Bytes cl2_newer_container(const Bytes& record, const Bytes& kernel, const std::array<uint32_t, 3>& version) {
  const Bytes isa = joined({words({4, 27, 3}),
                            bytes_of(std::string_view("AMD\0", 4)),
                            {4, 0, 7, 0},
                            words({version[0], version[1], version[2]}),
                            bytes_of(std::string_view("AMD\0AMDGPU\0\0", 12))});
  const Bytes inner = elf_file<Elf64Types>(0xE0,
                                           {{".hsatext", SHT_PROGBITS, kernel},
                                            {".note", SHT_NOTE, isa},
                                            {".hsadata_readonly_agent", SHT_PROGBITS, Bytes(12)}},
                                           {{"&__OpenCL_k_kernel", ".hsatext", 0, kernel.size(), 10}}, 0, 64);
  return elf_file<Types>(Types::elf_class == ELFCLASS64 ? 0xAF5B : 0xAF5A,
                         {{".rodata", SHT_PROGBITS, record}, {".text", SHT_PROGBITS, inner}},
                         {{"__OpenCL_&__OpenCL_k_kernel_metadata", ".rodata", 0, record.size()}}, 14);
}

}  // namespace Atoll::test

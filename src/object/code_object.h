// object: code objects, the ELF files that hold GPU machine code: reading them, from V2 to V6, as clang writes them.
//
// A CodeObject is checked when it is made: every offset, size and index that later code follows lies inside
// the file. It refers to the bytes that it was read from and does not own them. What is special to V2, whose kernels
// are described in another way, is in code_object_v2.h. Source: user guide, "ELF Code Object", "Code Object Metadata",
// "Kernel Descriptor".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "object/kernel_descriptor.h"
#include "support/error.h"
#include "target/target_id.h"

namespace Atoll::object {

struct ElfFile;

struct Segment {     ///< a PT_LOAD program header; they come in the order of their addresses and don't overlap
  uint64_t address;  ///< virtual, relative to the load address
  uint64_t memory_size;
  std::span<const uint8_t> bytes;  ///< what the file holds of it; the rest is zero
  bool writable, executable;
  uint64_t alignment;
};

/// A symbol of the dynamic symbol table. A defined one lies inside the segments, unless it is absolute.
struct Symbol {
  std::string_view name;
  uint64_t value, size;
  uint8_t type, binding, visibility;  ///< STT_*, STB_*, STV_*
  bool defined;
};

struct Relocation {  ///< dynamic: .rela.dyn
  uint64_t offset;
  uint32_t type;    ///< R_AMDGPU_*
  uint32_t symbol;  ///< index into CodeObject::symbols, 0 for none
  int64_t addend;
};

enum class ArgumentKind : uint8_t {
  by_value,
  global_buffer,
  dynamic_shared_pointer,
  image,
  sampler,
  pipe,
  queue,
  hidden_global_offset_x,
  hidden_global_offset_y,
  hidden_global_offset_z,
  hidden_none,
  hidden_printf_buffer,
  hidden_hostcall_buffer,
  hidden_default_queue,
  hidden_completion_action,
  hidden_multigrid_sync_arg,
  hidden_block_count_x,
  hidden_block_count_y,
  hidden_block_count_z,
  hidden_group_size_x,
  hidden_group_size_y,
  hidden_group_size_z,
  hidden_remainder_x,
  hidden_remainder_y,
  hidden_remainder_z,
  hidden_grid_dims,
  hidden_heap_v1,
  hidden_dynamic_lds_size,
  hidden_private_base,
  hidden_shared_base,
  hidden_queue_ptr,
  unknown
};

struct KernelArgument {
  std::string name, type_name;
  ArgumentKind kind = ArgumentKind::unknown;
  std::string kind_name;  ///< the metadata's own word, for what `unknown` is
  uint32_t offset = 0, size = 0;
  uint32_t pointee_align = 0;
  std::string address_space, access, actual_access;
  std::string value_type;  ///< of older compilers: "f32"
  bool is_const = false, is_restrict = false, is_volatile = false, is_pipe = false;
};

struct KernelMetadata {      ///< one entry of amdhsa.kernels
  std::string name, symbol;  ///< "vadd", "vadd.kd" ("vadd@kd" in V2)
  std::vector<KernelArgument> arguments;
  uint32_t kernarg_segment_size = 0, kernarg_segment_align = 0;
  uint32_t group_segment_fixed_size = 0, private_segment_fixed_size = 0;
  uint32_t wavefront_size = 64, max_flat_workgroup_size = 1024;
  uint32_t sgpr_count = 0, vgpr_count = 0, agpr_count = 0, sgpr_spill_count = 0, vgpr_spill_count = 0;
  std::optional<std::array<uint32_t, 3>> required_workgroup_size, workgroup_size_hint;
  std::array<uint32_t, 3> max_workgroups{};                 ///< in each dimension; 0 where the code does not say
  std::optional<std::array<uint32_t, 3>> cluster_dims;      ///< work-groups of a cluster (GFX12.5)
  std::optional<std::array<uint32_t, 2>> language_version;  ///< major, minor
  std::string language, device_enqueue_symbol, vec_type_hint, kind = "normal";
  bool uses_dynamic_stack = false, uniform_work_group_size = false;
  std::optional<bool> workgroup_processor_mode;  ///< work-groups have both CUs of a work-group processor

  std::string_view code_symbol() const;    ///< the name of the symbol that its code has
  std::string_view object_symbol() const;  ///< and of the one that dispatches name: its descriptor; in V2, its code
};

struct Metadata {
  uint32_t version_major = 0, version_minor = 0;
  std::string target;  ///< amdhsa.target
  std::vector<std::string> printf_formats;
  std::vector<KernelMetadata> kernels;
};

struct CodeObject {
  std::span<const uint8_t> file;
  unsigned version = 0;  ///< 2 to 6; V5 and V6 differ in the ELF header only
  target::TargetId target;
  uint32_t e_flags = 0;
  std::vector<Segment> segments;
  std::vector<Symbol> symbols;    ///< index 0 is the null symbol
  std::vector<Symbol> functions;  ///< code symbols by address: of .symtab, or of the dynamic table without one
  std::vector<Relocation> relocations;
  Metadata metadata;
  uint64_t memory_size = 0;  ///< of all segments, from address 0

  const Symbol* find_symbol(std::string_view name) const;          ///< by its whole name, defined or not
  const KernelMetadata* find_kernel(std::string_view name) const;  ///< by name, with or without ".kd"
  bool is_kernel(const Symbol& symbol) const;                      ///< a descriptor, or in V2 a kernel
  /// The descriptor of such a symbol, or what in V2 says the same; nothing when it is not all in the file.
  std::optional<RawKernelDescriptor> descriptor_of(const Symbol& symbol) const;
};

/// Reads a loadable code object (ET_DYN). `file` must outlive the result.
support::Result<CodeObject> read_code_object(std::span<const uint8_t> file);

/// The target that the code object at the start of `file` was built for. That is in its header, and in V2 in a note.
support::Result<target::TargetId> read_target(std::span<const uint8_t> file);
support::Result<target::TargetId> read_target(const ElfFile& file);

/// The size of the ELF image that starts at `start` by its own headers, for callers that are given only a pointer:
/// they pass a span as large as may be, of which only what the headers point to is read.
support::Result<uint64_t> elf_image_size(std::span<const uint8_t> start);

}  // namespace Atoll::object

// object: from MessagePack to Metadata. Each map has a table of its keys and of where their values go.
#include "object/metadata.h"

#include "object/code_object_v2.h"

#include <algorithm>
#include <array>
#include <exception>
#include <msgpack.hpp>

namespace Atoll::object {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

struct KindName {
  std::string_view name;
  ArgumentKind kind;
};
constexpr std::array argument_kinds{
    KindName{"by_value", ArgumentKind::by_value},
    KindName{"global_buffer", ArgumentKind::global_buffer},
    KindName{"dynamic_shared_pointer", ArgumentKind::dynamic_shared_pointer},
    KindName{"image", ArgumentKind::image},
    KindName{"sampler", ArgumentKind::sampler},
    KindName{"pipe", ArgumentKind::pipe},
    KindName{"queue", ArgumentKind::queue},
    KindName{"hidden_global_offset_x", ArgumentKind::hidden_global_offset_x},
    KindName{"hidden_global_offset_y", ArgumentKind::hidden_global_offset_y},
    KindName{"hidden_global_offset_z", ArgumentKind::hidden_global_offset_z},
    KindName{"hidden_none", ArgumentKind::hidden_none},
    KindName{"hidden_printf_buffer", ArgumentKind::hidden_printf_buffer},
    KindName{"hidden_hostcall_buffer", ArgumentKind::hidden_hostcall_buffer},
    KindName{"hidden_default_queue", ArgumentKind::hidden_default_queue},
    KindName{"hidden_completion_action", ArgumentKind::hidden_completion_action},
    KindName{"hidden_multigrid_sync_arg", ArgumentKind::hidden_multigrid_sync_arg},
    KindName{"hidden_block_count_x", ArgumentKind::hidden_block_count_x},
    KindName{"hidden_block_count_y", ArgumentKind::hidden_block_count_y},
    KindName{"hidden_block_count_z", ArgumentKind::hidden_block_count_z},
    KindName{"hidden_group_size_x", ArgumentKind::hidden_group_size_x},
    KindName{"hidden_group_size_y", ArgumentKind::hidden_group_size_y},
    KindName{"hidden_group_size_z", ArgumentKind::hidden_group_size_z},
    KindName{"hidden_remainder_x", ArgumentKind::hidden_remainder_x},
    KindName{"hidden_remainder_y", ArgumentKind::hidden_remainder_y},
    KindName{"hidden_remainder_z", ArgumentKind::hidden_remainder_z},
    KindName{"hidden_grid_dims", ArgumentKind::hidden_grid_dims},
    KindName{"hidden_heap_v1", ArgumentKind::hidden_heap_v1},
    KindName{"hidden_dynamic_lds_size", ArgumentKind::hidden_dynamic_lds_size},
    KindName{"hidden_private_base", ArgumentKind::hidden_private_base},
    KindName{"hidden_shared_base", ArgumentKind::hidden_shared_base},
    KindName{"hidden_queue_ptr", ArgumentKind::hidden_queue_ptr},
};

// How deep the documented maps go is five: root, kernels, a kernel, its arguments, an argument. The limits keep a
// garbled note from asking for more memory than its own size could fill.
constexpr size_t deepest = 16;

using Value = msgpack::object;

std::string_view text_of(const Value& value) { return {value.via.str.ptr, value.via.str.size}; }

// One reader for each type that a value may have. False: it has another.
bool get(const Value& value, std::string& out) {
  if (value.type != msgpack::type::STR) return false;
  out = text_of(value);
  return true;
}
bool get(const Value& value, bool& out) {
  if (value.type == msgpack::type::BOOLEAN)
    out = value.via.boolean;
  else if (value.type == msgpack::type::POSITIVE_INTEGER)  // .uniform_work_group_size is one
    out = value.via.u64 != 0;
  else
    return false;
  return true;
}
bool get(const Value& value, uint32_t& out) {
  if (value.type != msgpack::type::POSITIVE_INTEGER || value.via.u64 > UINT32_MAX) return false;
  out = static_cast<uint32_t>(value.via.u64);
  return true;
}
bool get(const Value& value, std::vector<std::string>& out) {
  if (value.type != msgpack::type::ARRAY) return false;
  out.resize(value.via.array.size);
  for (uint32_t i = 0; i < value.via.array.size; i++)
    if (!get(value.via.array.ptr[i], out[i])) return false;
  return true;
}
template <size_t N>
bool get(const Value& value, std::array<uint32_t, N>& out) {
  if (value.type != msgpack::type::ARRAY || value.via.array.size != N) return false;
  for (size_t i = 0; i < N; i++)
    if (!get(value.via.array.ptr[i], out[i])) return false;
  return true;
}
template <typename T>
bool get(const Value& value, std::optional<T>& out) {
  return get(value, out.emplace());
}

Result<void> read_map(const Value& map, std::string_view what, auto&& on_entry) {
  if (map.type != msgpack::type::MAP) return fail(ErrorKind::invalid_file, "metadata: {} is not a map", what);
  for (uint32_t i = 0; i < map.via.map.size; i++) {
    const auto& [key, value] = map.via.map.ptr[i];
    if (key.type != msgpack::type::STR) return fail(ErrorKind::invalid_file, "metadata: {} has a non-string key", what);
    if (!on_entry(text_of(key), value))
      return fail(ErrorKind::invalid_file, "metadata: {} of {} has a value of the wrong type or size", text_of(key),
                  what);
  }
  return {};
}

Result<KernelArgument> read_argument(const Value& map, std::string_view kernel, size_t index) {
  KernelArgument argument;
  auto ok = read_map(map, fmt::format("argument {} of kernel {}", index, kernel),
                     [&](std::string_view key, const Value& value) {
                       if (key == ".name") return get(value, argument.name);
                       if (key == ".type_name") return get(value, argument.type_name);
                       if (key == ".size") return get(value, argument.size);
                       if (key == ".offset") return get(value, argument.offset);
                       if (key == ".value_kind") return get(value, argument.kind_name);
                       if (key == ".pointee_align") return get(value, argument.pointee_align);
                       if (key == ".address_space") return get(value, argument.address_space);
                       if (key == ".access") return get(value, argument.access);
                       if (key == ".actual_access") return get(value, argument.actual_access);
                       if (key == ".is_const") return get(value, argument.is_const);
                       if (key == ".is_restrict") return get(value, argument.is_restrict);
                       if (key == ".is_volatile") return get(value, argument.is_volatile);
                       if (key == ".is_pipe") return get(value, argument.is_pipe);
                       if (key == ".value_type") return get(value, argument.value_type);
                       return true;
                     });
  if (!ok) return std::unexpected(ok.error());
  const auto kind = std::ranges::find(argument_kinds, argument.kind_name, &KindName::name);
  if (kind != argument_kinds.end()) argument.kind = kind->kind;
  return argument;
}

Result<KernelMetadata> read_kernel(const Value& map, size_t index) {
  KernelMetadata kernel;
  const Value* arguments = nullptr;
  auto ok = read_map(map, fmt::format("kernel {}", index), [&](std::string_view key, const Value& value) {
    if (key == ".name") return get(value, kernel.name);
    if (key == ".symbol") return get(value, kernel.symbol);
    if (key == ".language") return get(value, kernel.language);
    if (key == ".language_version") return get(value, kernel.language_version);
    if (key == ".vec_type_hint") return get(value, kernel.vec_type_hint);
    if (key == ".cluster_dims") return get(value, kernel.cluster_dims);
    if (key == ".workgroup_processor_mode") return get(value, kernel.workgroup_processor_mode);
    if (key == ".kind") return get(value, kernel.kind);
    if (key == ".device_enqueue_symbol") return get(value, kernel.device_enqueue_symbol);
    if (key == ".kernarg_segment_size") return get(value, kernel.kernarg_segment_size);
    if (key == ".kernarg_segment_align") return get(value, kernel.kernarg_segment_align);
    if (key == ".group_segment_fixed_size") return get(value, kernel.group_segment_fixed_size);
    if (key == ".private_segment_fixed_size") return get(value, kernel.private_segment_fixed_size);
    if (key == ".wavefront_size") return get(value, kernel.wavefront_size);
    if (key == ".max_flat_workgroup_size") return get(value, kernel.max_flat_workgroup_size);
    if (key == ".sgpr_count") return get(value, kernel.sgpr_count);
    if (key == ".vgpr_count") return get(value, kernel.vgpr_count);
    if (key == ".agpr_count") return get(value, kernel.agpr_count);
    if (key == ".sgpr_spill_count") return get(value, kernel.sgpr_spill_count);
    if (key == ".vgpr_spill_count") return get(value, kernel.vgpr_spill_count);
    if (key == ".reqd_workgroup_size") return get(value, kernel.required_workgroup_size);
    if (key == ".workgroup_size_hint") return get(value, kernel.workgroup_size_hint);
    if (key == ".uses_dynamic_stack") return get(value, kernel.uses_dynamic_stack);
    if (key == ".uniform_work_group_size") return get(value, kernel.uniform_work_group_size);
    // LLVM to 22 at least writes "workgroups", the user guide "work_groups".
    if (key == ".max_num_workgroups_x" || key == ".max_num_work_groups_x") return get(value, kernel.max_workgroups[0]);
    if (key == ".max_num_workgroups_y" || key == ".max_num_work_groups_y") return get(value, kernel.max_workgroups[1]);
    if (key == ".max_num_workgroups_z" || key == ".max_num_work_groups_z") return get(value, kernel.max_workgroups[2]);
    if (key == ".args") {
      arguments = &value;
      return value.type == msgpack::type::ARRAY;
    }
    return true;
  });
  if (!ok) return std::unexpected(ok.error());
  if (kernel.name.empty() || kernel.symbol.empty())
    return fail(ErrorKind::invalid_file, "metadata: kernel {} lacks its .name or .symbol", index);
  for (uint32_t i = 0; arguments != nullptr && i < arguments->via.array.size; i++) {
    auto argument = read_argument(arguments->via.array.ptr[i], kernel.name, i);
    if (!argument) return std::unexpected(argument.error());
    if (uint64_t{argument->offset} + argument->size > kernel.kernarg_segment_size)
      return fail(ErrorKind::invalid_file,
                  "metadata: argument {} of kernel {} ends at byte {} of a kernel argument segment of {}", i,
                  kernel.name, uint64_t{argument->offset} + argument->size, kernel.kernarg_segment_size);
    kernel.arguments.push_back(std::move(*argument));
  }
  return kernel;
}

}  // namespace

Result<Metadata> read_metadata(std::span<const uint8_t> note) {
  msgpack::object_handle handle;
  try {  // the library's way to say that the bytes are no MessagePack
    const size_t most = note.size();
    handle = msgpack::unpack(reinterpret_cast<const char*>(note.data()), note.size(), nullptr, nullptr,
                             msgpack::unpack_limit(most, most, most, most, most, deepest));
  } catch (const std::exception&) {
    return fail(ErrorKind::invalid_file, "the metadata note is not valid MessagePack");
  }

  Metadata metadata;
  std::array<uint32_t, 2> version{};
  const Value* kernels = nullptr;
  auto ok = read_map(handle.get(), "the root", [&](std::string_view key, const Value& value) {
    if (key == "amdhsa.version") return get(value, version);
    if (key == "amdhsa.target") return get(value, metadata.target);
    if (key == "amdhsa.printf") return get(value, metadata.printf_formats);
    if (key == "amdhsa.kernels") {
      kernels = &value;
      return value.type == msgpack::type::ARRAY;
    }
    return true;
  });
  if (!ok) return std::unexpected(ok.error());
  metadata.version_major = version[0];
  metadata.version_minor = version[1];
  if (metadata.version_major != 1)
    return fail(ErrorKind::unsupported, "metadata: version {}.{} is not one that Atoll reads (1.x is)", version[0],
                version[1]);
  for (uint32_t i = 0; kernels != nullptr && i < kernels->via.array.size; i++) {
    auto kernel = read_kernel(kernels->via.array.ptr[i], i);
    if (!kernel) return std::unexpected(kernel.error());
    metadata.kernels.push_back(std::move(*kernel));
  }
  return metadata;
}

void append_metadata(Metadata& all, Metadata more) {
  all.version_major = more.version_major;
  all.version_minor = more.version_minor;
  if (all.target.empty()) all.target = std::move(more.target);
  std::ranges::move(more.printf_formats, std::back_inserter(all.printf_formats));
  std::ranges::move(more.kernels, std::back_inserter(all.kernels));
}

Result<std::optional<Metadata>> read_metadata(const ElfNote& note) {
  if (note.type == elf::nt_amdgpu_metadata && note.owner == "AMDGPU") return read_metadata(note.description);
  if (note.type != elf::nt_amd_hsa_metadata || note.owner != "AMD") return std::nullopt;
  const std::string_view text(reinterpret_cast<const char*>(note.description.data()), note.description.size());
  return read_metadata_v2(text.substr(0, text.find('\0')));
}

Result<Metadata> read_metadata(const ElfFile& file) {
  Metadata all;
  for (const ElfNote& note : read_notes(file)) {
    auto metadata = read_metadata(note);
    if (!metadata) return std::unexpected(metadata.error());
    if (*metadata) append_metadata(all, std::move(**metadata));
  }
  return all;
}

}  // namespace Atoll::object

// object: what is special to code object V2 (code_object_v2.h).
#include "object/code_object_v2.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "object/yaml.h"
#include "support/bytes.h"

namespace Atoll::object {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

/// The contents of an ISA version note.
struct IsaNote {
  std::string_view vendor, architecture;
  target::IsaVersion version;
};

std::optional<IsaNote> read_isa_note(const ElfNote& note) {
  struct Raw {
    uint16_t vendor_size, architecture_size;  // with the zeros at their ends
    uint32_t major, minor, stepping;
  };
  if (note.owner != "AMD" || note.type != elf::nt_amd_hsa_isa_version) return std::nullopt;
  const auto raw = support::read<Raw>(note.description, 0);
  if (!raw) return std::nullopt;
  const auto vendor = support::read_text(note.description, sizeof *raw);
  const auto architecture = support::read_text(note.description, sizeof *raw + raw->vendor_size);
  if (!vendor || !architecture) return std::nullopt;
  return IsaNote{.vendor = *vendor, .architecture = *architecture, .version = {raw->major, raw->minor, raw->stepping}};
}

// From here on metadata. One reader for each type that a value may have. False: it has another.
bool get(const YAML::Node& node, std::string& out) {
  if (!node.IsScalar()) return false;
  out = node.Scalar();
  return true;
}
bool get(const YAML::Node& node, uint32_t& out) {
  if (!node.IsScalar()) return false;
  const std::string& text = node.Scalar();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}
bool get(const YAML::Node& node, bool& out) {
  if (!node.IsScalar() || (node.Scalar() != "true" && node.Scalar() != "false")) return false;
  out = node.Scalar() == "true";
  return true;
}
bool get(const YAML::Node& node, std::vector<std::string>& out) {
  if (!node.IsSequence()) return false;
  for (const YAML::Node& each : node)
    if (!get(each, out.emplace_back())) return false;
  return true;
}
template <size_t N>
bool get(const YAML::Node& node, std::array<uint32_t, N>& out) {
  if (!node.IsSequence() || node.size() != N) return false;
  return std::ranges::equal(node, out, [](const YAML::Node& each, uint32_t& value) { return get(each, value); });
}
/// No size is required where all three are 0.
bool get(const YAML::Node& node, std::optional<std::array<uint32_t, 3>>& out) {
  std::array<uint32_t, 3> sizes{};
  if (!get(node, sizes)) return false;
  if (sizes != std::array<uint32_t, 3>{}) out = sizes;
  return true;
}

Result<void> read_map(const YAML::Node& map, std::string_view what, auto&& on_entry) {
  if (!map.IsMap()) return fail(ErrorKind::invalid_file, "metadata: {} is not a map", what);
  for (const auto& entry : map) {
    const YAML::Node &key = entry.first, &value = entry.second;
    if (!key.IsScalar()) return fail(ErrorKind::invalid_file, "metadata: {} has a non-string key", what);
    if (!on_entry(key.Scalar(), value))
      return fail(ErrorKind::invalid_file, "metadata: {} of {} has a value of the wrong type or size", key.Scalar(),
                  what);
  }
  return {};
}

struct KindName {
  std::string_view name;
  ArgumentKind kind;
};
constexpr KindName argument_kinds[] = {
    {"ByValue", ArgumentKind::by_value},
    {"GlobalBuffer", ArgumentKind::global_buffer},
    {"DynamicSharedPointer", ArgumentKind::dynamic_shared_pointer},
    {"Sampler", ArgumentKind::sampler},
    {"Image", ArgumentKind::image},
    {"Pipe", ArgumentKind::pipe},
    {"Queue", ArgumentKind::queue},
    {"HiddenGlobalOffsetX", ArgumentKind::hidden_global_offset_x},
    {"HiddenGlobalOffsetY", ArgumentKind::hidden_global_offset_y},
    {"HiddenGlobalOffsetZ", ArgumentKind::hidden_global_offset_z},
    {"HiddenNone", ArgumentKind::hidden_none},
    {"HiddenPrintfBuffer", ArgumentKind::hidden_printf_buffer},
    {"HiddenHostcallBuffer", ArgumentKind::hidden_hostcall_buffer},
    {"HiddenDefaultQueue", ArgumentKind::hidden_default_queue},
    {"HiddenCompletionAction", ArgumentKind::hidden_completion_action},
    {"HiddenMultiGridSyncArg", ArgumentKind::hidden_multigrid_sync_arg},
};

Result<KernelArgument> read_argument(const YAML::Node& map, const std::string& what, uint32_t& end) {
  KernelArgument argument;
  uint32_t alignment = 1;
  auto ok = read_map(map, what, [&](const std::string& key, const YAML::Node& value) {
    if (key == "Name") return get(value, argument.name);
    if (key == "TypeName") return get(value, argument.type_name);
    if (key == "Size") return get(value, argument.size);
    if (key == "Align") return get(value, alignment) && std::has_single_bit(alignment);
    if (key == "ValueKind") return get(value, argument.kind_name);
    if (key == "PointeeAlign") return get(value, argument.pointee_align);
    if (key == "AddrSpaceQual") return get(value, argument.address_space);
    if (key == "AccQual") return get(value, argument.access);
    if (key == "ActualAccQual") return get(value, argument.actual_access);
    if (key == "IsConst") return get(value, argument.is_const);
    if (key == "IsRestrict") return get(value, argument.is_restrict);
    if (key == "IsVolatile") return get(value, argument.is_volatile);
    if (key == "IsPipe") return get(value, argument.is_pipe);
    if (key == "ValueType") return get(value, argument.value_type);
    return true;
  });
  if (!ok) return std::unexpected(ok.error());
  const auto kind = std::ranges::find(argument_kinds, argument.kind_name, &KindName::name);
  if (kind != std::end(argument_kinds)) argument.kind = kind->kind;
  const uint64_t offset = support::align_up(end, alignment);
  if (offset + argument.size > UINT32_MAX) return fail(ErrorKind::invalid_file, "metadata: {} is too large", what);
  argument.offset = static_cast<uint32_t>(offset);
  end = argument.offset + argument.size;
  return argument;
}

/// The three maps in a kernel's: its attributes and what its code takes.
bool read_attribute(const std::string& key, const YAML::Node& value, KernelMetadata& kernel) {
  if (key == "ReqdWorkGroupSize") return get(value, kernel.required_workgroup_size);
  if (key == "WorkGroupSizeHint") return get(value, kernel.workgroup_size_hint);
  if (key == "VecTypeHint") return get(value, kernel.vec_type_hint);
  if (key == "RuntimeHandle") return get(value, kernel.device_enqueue_symbol);
  return true;
}
bool read_property(const std::string& key, const YAML::Node& value, KernelMetadata& kernel) {
  if (key == "KernargSegmentSize") return get(value, kernel.kernarg_segment_size);
  if (key == "KernargSegmentAlign") return get(value, kernel.kernarg_segment_align);
  if (key == "GroupSegmentFixedSize") return get(value, kernel.group_segment_fixed_size);
  if (key == "PrivateSegmentFixedSize") return get(value, kernel.private_segment_fixed_size);
  if (key == "WavefrontSize") return get(value, kernel.wavefront_size);
  if (key == "NumSGPRs") return get(value, kernel.sgpr_count);
  if (key == "NumVGPRs") return get(value, kernel.vgpr_count);
  if (key == "MaxFlatWorkGroupSize") return get(value, kernel.max_flat_workgroup_size);
  if (key == "IsDynamicCallStack") return get(value, kernel.uses_dynamic_stack);
  if (key == "NumSpilledSGPRs") return get(value, kernel.sgpr_spill_count);
  if (key == "NumSpilledVGPRs") return get(value, kernel.vgpr_spill_count);
  return true;
}

Result<KernelMetadata> read_kernel(const YAML::Node& map, size_t index) {
  const std::string what = fmt::format("kernel {}", index);
  KernelMetadata kernel;
  YAML::Node attributes(YAML::NodeType::Map), properties(YAML::NodeType::Map), arguments(YAML::NodeType::Sequence);
  auto ok = read_map(map, what, [&](const std::string& key, const YAML::Node& value) {
    if (key == "Name") return get(value, kernel.name);
    if (key == "SymbolName") return get(value, kernel.symbol);
    if (key == "Language") return get(value, kernel.language);
    if (key == "LanguageVersion") return get(value, kernel.language_version.emplace());
    if (key == "Attrs") attributes.reset(value);
    if (key == "CodeProps") properties.reset(value);
    if (key == "Args") arguments.reset(value);
    return true;
  });
  if (ok)
    ok = read_map(attributes, what + ", attributes",
                  [&](const std::string& key, const YAML::Node& value) { return read_attribute(key, value, kernel); });
  if (ok)
    ok = read_map(properties, what + ", code properties",
                  [&](const std::string& key, const YAML::Node& value) { return read_property(key, value, kernel); });
  if (!ok) return std::unexpected(ok.error());
  if (kernel.name.empty() || kernel.symbol.empty())
    return fail(ErrorKind::invalid_file, "metadata: {} lacks its Name or SymbolName", what);
  if (!arguments.IsSequence())
    return fail(ErrorKind::invalid_file, "metadata: the arguments of {} are not a list", what);
  uint32_t end = 0;
  for (const YAML::Node& each : arguments) {
    auto argument =
        read_argument(each, fmt::format("argument {} of kernel {}", kernel.arguments.size(), kernel.name), end);
    if (!argument) return std::unexpected(argument.error());
    kernel.arguments.push_back(std::move(*argument));
  }
  if (kernel.kernarg_segment_size == 0) kernel.kernarg_segment_size = end;
  if (end > kernel.kernarg_segment_size)
    return fail(ErrorKind::invalid_file,
                "metadata: the arguments of kernel {} end at byte {} of a kernel argument segment of {}", kernel.name,
                end, kernel.kernarg_segment_size);
  return kernel;
}

}  // namespace

std::string note_text(const ElfNote& note) {
  if (note.owner != "AMD") return {};
  if (note.type == elf::nt_amd_hsa_code_object_version) {
    const auto version = support::read<std::array<uint32_t, 2>>(note.description, 0);
    return version ? fmt::format("{}.{}", (*version)[0], (*version)[1]) : std::string();
  }
  if (note.type == elf::nt_amd_hsa_isa_name) {
    const std::string_view name(reinterpret_cast<const char*>(note.description.data()), note.description.size());
    return std::string(name.substr(0, name.find('\0')));
  }
  const auto isa = read_isa_note(note);
  if (!isa) return {};
  return fmt::format("{}:{}:{}:{}:{}", isa->vendor, isa->architecture, isa->version.major, isa->version.minor,
                     isa->version.stepping);
}

Result<target::TargetId> read_target_v2(const ElfFile& file) {
  for (const ElfNote& note : read_notes(file)) {
    const auto isa = read_isa_note(note);
    if (!isa) continue;
    if (isa->vendor != "AMD" || isa->architecture != "AMDGPU")
      return fail(ErrorKind::unsupported, "code object V2 for {}, not for AMD:AMDGPU", note_text(note));
    return target::target_id_of_v2(isa->version);
  }
  return fail(ErrorKind::invalid_file, "code object V2 without the note that contains its target");
}

std::vector<KernelCodeSymbol> read_kernel_codes(const ElfFile& file, std::span<const ElfSymbol> symbols) {
  std::vector<KernelCodeSymbol> kernels;
  for (const ElfSymbol& symbol : symbols) {
    if (elf::symbol_type(symbol.raw) != elf::stt_amdgpu_hsa_kernel) continue;
    if (symbol.raw.st_shndx == SHN_UNDEF || symbol.raw.st_shndx >= file.sections.size()) continue;
    const ElfSection& section = file.sections[symbol.raw.st_shndx];
    const auto code = support::read<RawKernelCode>(section.bytes, symbol.raw.st_value - section.header.sh_addr);
    if (code) kernels.push_back({symbol.name, *code});
  }
  return kernels;
}

bool has_wave32(const RawKernelCode& code) { return kernel_code_field("wavefront_size").of(code) == 5; }

Result<Metadata> read_metadata_v2(std::string_view yaml) {
  const auto root = read_yaml(yaml);
  if (!root) return support::within("the metadata note is not valid YAML", root.error());
  Metadata metadata;
  std::array<uint32_t, 2> version{};
  YAML::Node kernels(YAML::NodeType::Sequence);
  auto ok = read_map(*root, "the root", [&](const std::string& key, const YAML::Node& value) {
    if (key == "Version") return get(value, version);
    if (key == "Printf") return get(value, metadata.printf_formats);
    if (key == "Kernels") kernels.reset(value);
    return true;
  });
  if (!ok) return std::unexpected(ok.error());
  if (!kernels.IsSequence()) return fail(ErrorKind::invalid_file, "metadata: the kernels are not a list");
  metadata.version_major = version[0];
  metadata.version_minor = version[1];
  for (const YAML::Node& each : kernels) {
    auto kernel = read_kernel(each, metadata.kernels.size());
    if (!kernel) return std::unexpected(kernel.error());
    metadata.kernels.push_back(std::move(*kernel));
  }
  return metadata;
}

}  // namespace Atoll::object

// object: Catalyst's containers as code objects V2 (catalyst_code.h).
#include "object/catalyst_code.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <string>

#include "object/elf.h"
#include "object/link.h"
#include "object/relocatable.h"
#include "object/relocation_type.h"
#include "support/bytes.h"
#include "target/target_id.h"

namespace Atoll::object::catalyst {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

constexpr std::string_view container_section = ".catalyst";
constexpr uint64_t code_alignment = 256;  ///< of amd_kernel_code_t

/// A scalar of YAML in double quotes.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (c < ' ' || c > '~')
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

struct MetadataLine {
  std::string_view name;
  std::string type_name;
  std::string_view kind;  ///< ValueKind of code object V2
  uint32_t offset, size;
  std::string_view space = {}, access = {};
  bool is_const = false;
};

/// The metadata of one kernel in YAML. Offsets of V2 follow from sizes, so that gaps are hidden arguments.
class MetadataWriter {
 public:
  MetadataWriter(const LaunchInfo& launch, const std::array<uint32_t, 3>& required_size, uint32_t argument_bytes) {
    const KernelDescriptor& state = launch.state;
    text_ = fmt::format("  - Name: {0}\n    SymbolName: {1}\n    Language: OpenCL C\n", quoted(launch.name),
                        quoted(launch.name + "@kd"));
    if (std::ranges::any_of(required_size, [](uint32_t size) { return size != 0; }))
      text_ += fmt::format("    Attrs:\n      ReqdWorkGroupSize: [{}]\n", fmt::join(required_size, ", "));
    text_ += fmt::format(
        "    CodeProps:\n      KernargSegmentSize: {}\n      KernargSegmentAlign: 16\n      GroupSegmentFixedSize: {}\n"
        "      PrivateSegmentFixedSize: {}\n      WavefrontSize: 64\n      NumSGPRs: {}\n      NumVGPRs: {}\n"
        "      MaxFlatWorkGroupSize: 1024\n",
        argument_bytes, state.group_segment_fixed_size, state.private_segment_fixed_size, state.sgprs, state.vgprs);
  }

  Result<void> add(const MetadataLine& line) {
    if (line.offset < end_)
      return fail(ErrorKind::invalid_file, "argument {} at byte {} overlaps the one before it, which ends at byte {}",
                  line.name, line.offset, end_);
    if (!has_arguments_) text_ += "    Args:\n";
    has_arguments_ = true;
    if (line.offset > end_)
      text_ += fmt::format("      - Size: {}\n        Align: 1\n        ValueKind: HiddenNone\n", line.offset - end_);
    text_ += fmt::format("      - Size: {}\n        Align: 1\n        ValueKind: {}\n", line.size, line.kind);
    if (!line.name.empty()) text_ += fmt::format("        Name: {}\n", quoted(line.name));
    if (!line.type_name.empty()) text_ += fmt::format("        TypeName: {}\n", quoted(line.type_name));
    if (!line.space.empty()) text_ += fmt::format("        AddrSpaceQual: {}\n", line.space);
    if (!line.access.empty()) text_ += fmt::format("        AccQual: {}\n", line.access);
    if (line.is_const) text_ += "        IsConst: true\n";
    end_ = line.offset + line.size;
    return {};
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  uint32_t end_ = 0;
  bool has_arguments_ = false;
};

std::string_view value_kind_of(const Cl2Argument& argument) {
  switch (argument.shape.type) {
    case ArgumentType::pointer:
      return argument.space == "local" ? "DynamicSharedPointer" : "GlobalBuffer";
    case ArgumentType::structure:
    case ArgumentType::image:
    case ArgumentType::sampler:
      return "GlobalBuffer";  // passed by their address
    case ArgumentType::queue:
    case ArgumentType::event:
      return "Queue";
    case ArgumentType::pipe:
      return "Pipe";
    default:
      return "ByValue";
  }
}

/// Returns AccQual, which only images have.
std::string_view access_name(std::string_view access) {
  if (access.empty()) return {};
  if (access == "read_only" || access == "RO") return "ReadOnly";
  return access == "write_only" || access == "WO" ? "WriteOnly" : "ReadWrite";
}

constexpr std::string_view setup_argument_kinds[] = {"HiddenGlobalOffsetX", "HiddenGlobalOffsetY",
                                                     "HiddenGlobalOffsetZ", "HiddenPrintfBuffer",
                                                     "HiddenDefaultQueue",  "HiddenCompletionAction"};

Result<std::string> metadata_of(const LaunchInfo& launch, const Cl2Kernel& kernel) {
  // Drivers round the size up; a record may also promise more than the layout needs.
  const uint32_t size = std::max(launch.argument_layout.size, launch.state.kernarg_size);
  MetadataWriter writer(launch, kernel.required_work_group_size, size);
  for (size_t i = 0; i < launch.argument_layout.setup.size(); ++i) {
    const ArgumentPlace& place = launch.argument_layout.setup[i];
    const MetadataLine line{
        .name = {}, .type_name = {}, .kind = setup_argument_kinds[i], .offset = place.offset, .size = place.size};
    if (auto ok = writer.add(line); !ok) return std::unexpected(ok.error());
  }
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const ArgumentPlace& place = launch.argument_layout.arguments[i];
    const Cl2Argument& argument = launch.arguments[i];
    constexpr std::pair<std::string_view, std::string_view> spaces[] = {
        {"local", "Local"}, {"global", "Global"}, {"constant", "Constant"}};
    const auto* const space =
        std::ranges::find(spaces, argument.space, &std::pair<std::string_view, std::string_view>::first);
    const auto added = writer.add({.name = argument.name,
                                   .type_name = std::string(argument.type_name),
                                   .kind = value_kind_of(argument),
                                   .offset = place.offset,
                                   .size = place.size,
                                   .space = space == std::end(spaces) ? std::string_view() : space->second,
                                   .access = access_name(argument.access),
                                   .is_const = argument.is_const});
    if (!added) return std::unexpected(added.error());
  }
  return writer.text();
}

/// An address takes 8 bytes of its slot until a launch replaces it by an offset.
constexpr uint32_t address_bytes = 8;

Result<std::string> metadata_of(const LaunchInfo& launch, const KernelText* text) {
  std::array<uint32_t, 3> required{};
  std::vector<std::string_view> types;
  if (text != nullptr) {
    if (const MetadataToken* size = text->find("cws"))
      required = {size->number("x"), size->number("y"), size->number("z")};
    for (const MetadataToken& token : text->tokens)
      if (token.is("reflection")) types.push_back(token.text("type"));
  }
  MetadataWriter writer(launch, required, launch.constant_buffer_1_bytes);
  for (size_t i = 0; i < launch.constant_arguments.size(); ++i) {
    const MetadataArgument& argument = launch.constant_arguments[i];
    MetadataLine line{.name = argument.name,
                      .type_name = i < types.size() ? std::string(types[i]) : std::string(),
                      .kind = "ByValue",
                      .offset = argument.offset,
                      .size = 0,
                      .is_const = argument.access == "RO"};
    switch (argument.token) {
      case ArgumentToken::value:
        line.size = metadata_value_bytes(argument.type, argument.count).value_or(0);
        break;
      case ArgumentToken::pointer:
        line.kind = is_local_memory(argument.memory) ? "DynamicSharedPointer" : "GlobalBuffer";
        line.space = is_local_memory(argument.memory) ? "Local" : "Global";
        line.size = is_local_memory(argument.memory) ? 4 : address_bytes;
        if (line.type_name.empty()) line.type_name = argument.type + "*";
        break;
      case ArgumentToken::image:
        line.kind = "GlobalBuffer";
        line.size = address_bytes;
        line.access = access_name(argument.access);
        if (line.type_name.empty()) line.type_name = argument.type == "3D" ? "image3d_t" : "image2d_t";
        break;
      case ArgumentToken::sampler:
        line.size = 4;  // the sampler's value
        line.type_name = "uint";
        break;
      case ArgumentToken::counter:
        line.kind = "Counter";  // no launch can pass it
        line.size = 4;
        break;
    }
    if (auto ok = writer.add(line); !ok) return std::unexpected(ok.error());
  }
  return writer.text();
}

void append_note(std::vector<uint8_t>& notes, uint32_t type, std::span<const uint8_t> content) {
  constexpr std::string_view owner("AMD\0", 4);
  const auto pad = [&] { notes.resize(support::align_up(notes.size(), 4)); };
  support::append(notes, static_cast<uint32_t>(owner.size()));
  support::append(notes, static_cast<uint32_t>(content.size()));
  support::append(notes, type);
  notes.insert(notes.end(), owner.begin(), owner.end());
  notes.insert(notes.end(), content.begin(), content.end());
  pad();
}

std::vector<uint8_t> notes_of(const target::Processor& processor, std::string_view metadata) {
  std::vector<uint8_t> notes, version, isa;
  for (const uint32_t part : {2u, 1u}) support::append(version, part);
  constexpr std::string_view vendor("AMD\0", 4), architecture("AMDGPU\0", 7);
  support::append(isa, static_cast<uint16_t>(vendor.size()));
  support::append(isa, static_cast<uint16_t>(architecture.size()));
  const target::IsaVersion number = target::isa_version_in_v2(target::isa_version(processor), target::Setting::off);
  for (const uint32_t part : {number.major, number.minor, number.stepping}) support::append(isa, part);
  isa.insert(isa.end(), vendor.begin(), vendor.end());
  isa.insert(isa.end(), architecture.begin(), architecture.end());
  append_note(notes, elf::nt_amd_hsa_code_object_version, version);
  append_note(notes, elf::nt_amd_hsa_isa_version, isa);
  append_note(notes, elf::nt_amd_hsa_metadata, {reinterpret_cast<const uint8_t*>(metadata.data()), metadata.size()});
  return notes;
}

/// Collects kernels and data, and links them.
class CodeObjectWriter {
 public:
  explicit CodeObjectWriter(std::span<const uint8_t> container) : container_(container) {
    object_.os_abi = elf::osabi_amdgpu_hsa;
    object_.abi_version = elf::abi_version_v2;
    object_.symbols.emplace_back();
    text_.name = ".hsatext";
    text_.type = SHT_PROGBITS;
    text_.flags = SHF_ALLOC | SHF_EXECINSTR;
    text_.alignment = code_alignment;
  }

  /// Adds a section of data; returns its symbol's index, or 0 for a section without bytes.
  uint32_t add_data(std::string_view name, std::span<const uint8_t> bytes, uint64_t size, bool is_writable) {
    if (size == 0) return 0;
    RelocatableSection section;
    section.name = name;
    section.type = bytes.empty() ? SHT_NOBITS : SHT_PROGBITS;
    section.flags = SHF_ALLOC | (is_writable ? SHF_WRITE : 0u);
    section.alignment = 256;
    section.bytes.assign(bytes.begin(), bytes.end());
    section.size = size;
    data_.push_back(std::move(section));
    // The code's section comes first, then the data's.
    object_.symbols.push_back({.name = {},
                               .type = STT_SECTION,
                               .binding = STB_LOCAL,
                               .section = static_cast<uint32_t>(1 + data_.size()),
                               .special_section = 0});
    return static_cast<uint32_t>(object_.symbols.size() - 1);
  }

  /// Adds a kernel; returns the offset of its first instruction.
  uint64_t add_kernel(const LaunchInfo& launch) {
    RawKernelCode record = launch.setup;
    kernel_code_field("kernel_code_entry_byte_offset").set(record, sizeof record);
    text_.bytes.resize(support::align_up(text_.bytes.size(), code_alignment));
    kernels_.push_back({.name = launch.name,
                        .value = text_.bytes.size(),
                        .size = sizeof record + launch.code.size(),
                        .type = elf::stt_amdgpu_hsa_kernel,
                        .binding = STB_GLOBAL,
                        .section = 1,
                        .special_section = 0});
    text_.bytes.insert(text_.bytes.end(), record.begin(), record.end());
    const uint64_t entry = text_.bytes.size();
    text_.bytes.insert(text_.bytes.end(), launch.code.begin(), launch.code.end());
    return entry;
  }

  void add_relocation(const RelocatableRelocation& relocation) { text_.relocations.push_back(relocation); }

  Result<std::vector<uint8_t>> write(const target::Processor& processor, std::string_view metadata) {
    text_.size = text_.bytes.size();
    object_.sections.push_back(std::move(text_));
    for (RelocatableSection& each : data_) object_.sections.push_back(std::move(each));
    RelocatableSection notes;
    notes.name = ".note";
    notes.type = SHT_NOTE;
    notes.flags = SHF_ALLOC;
    notes.alignment = 4;
    notes.bytes = notes_of(processor, metadata);
    notes.size = notes.bytes.size();
    object_.sections.push_back(std::move(notes));
    RelocatableSection whole;
    whole.name = container_section;
    whole.type = SHT_PROGBITS;
    whole.alignment = 8;
    whole.bytes.assign(container_.begin(), container_.end());
    whole.size = whole.bytes.size();
    object_.sections.push_back(std::move(whole));
    for (RelocatableSymbol& each : kernels_) object_.symbols.push_back(std::move(each));
    target::TargetId target;
    target.processor = &processor;
    object_.flags = target::flags_of_target_id(target, elf::abi_version_v3);
    const LinkInput input{.name = "Catalyst container", .object = std::move(object_)};
    return link({&input, 1});
  }

 private:
  std::span<const uint8_t> container_;
  Relocatable object_;
  RelocatableSection text_;
  std::vector<RelocatableSection> data_;
  std::vector<RelocatableSymbol> kernels_;
};

constexpr std::string_view metadata_head = "---\nVersion: [ 1, 0 ]\nKernels:\n", metadata_tail = "...\n";

Result<std::vector<uint8_t>> convert(const Cl2Container& container, std::span<const uint8_t> bytes) {
  CodeObjectWriter writer(bytes);
  const std::pair<std::string_view, uint32_t> symbols[] = {
      {".hsadata_readonly_agent",
       writer.add_data(".hsadata_readonly_agent", container.read_only_data, container.read_only_data.size(), false)},
      {".hsaimage_samplerinit",
       writer.add_data(".hsaimage_samplerinit", container.sampler_data, container.sampler_data.size(), false)},
      {".hsadata_global_agent",
       writer.add_data(".hsadata_global_agent", container.global_data, container.global_data.size(), true)},
      {".hsabss_global_agent", writer.add_data(".hsabss_global_agent", {}, container.bss_bytes, true)}};
  std::string metadata(metadata_head);
  size_t num_relocated = 0;
  for (const Cl2Kernel& kernel : container.kernels) {
    const auto launch = launch_info(container, kernel);
    if (!launch) return std::unexpected(launch.error());
    const auto text = metadata_of(*launch, kernel);
    if (!text) return support::within(fmt::format("kernel {}", kernel.name), text.error());
    metadata += *text;
    const uint64_t entry = writer.add_kernel(*launch);
    for (const Cl2Relocation& each : container.relocations) {
      if (each.offset < kernel.code_offset || each.offset - kernel.code_offset >= kernel.code.size()) continue;
      const auto* const symbol =
          std::ranges::find(symbols, each.section, &std::pair<std::string_view, uint32_t>::first);
      if (symbol == std::end(symbols) || symbol->second == 0 ||
          (each.type != R_AMDGPU_ABS32_LO && each.type != R_AMDGPU_ABS32_HI) ||
          kernel.code.size() - (each.offset - kernel.code_offset) < sizeof(uint32_t))
        return fail(ErrorKind::unsupported, "kernel {}: relocation of type {} against section '{}' at byte {}",
                    kernel.name, each.type, each.section, each.offset);
      writer.add_relocation({.offset = entry + (each.offset - kernel.code_offset),
                             .symbol = symbol->second,
                             .type = each.type,
                             .addend = each.addend});
      ++num_relocated;
    }
  }
  if (num_relocated != container.num_relocations)
    return fail(ErrorKind::unsupported, "{} of {} relocations are not in a kernel's code",
                container.num_relocations - num_relocated, container.num_relocations);
  return writer.write(*container.processor, metadata + std::string(metadata_tail));
}

Result<std::vector<uint8_t>> convert(const Container& container, std::span<const uint8_t> bytes) {
  CodeObjectWriter writer(bytes);
  std::string metadata(metadata_head);
  const target::Processor* processor = nullptr;
  for (const Kernel& kernel : container.kernels) {
    const auto launch = launch_info(container, kernel);
    if (!launch) return std::unexpected(launch.error());
    const auto text = metadata_of(*launch, kernel.text());
    if (!text) return support::within(fmt::format("kernel {}", kernel.name), text.error());
    metadata += *text;
    if (processor != nullptr && processor != launch->processor)
      return fail(ErrorKind::invalid_file, "kernel {} is for {}, others for {}", kernel.name, launch->processor->name,
                  processor->name);
    processor = launch->processor;
    writer.add_kernel(*launch);
  }
  return writer.write(*processor, metadata + std::string(metadata_tail));
}

}  // namespace

bool is_catalyst(std::span<const uint8_t> file) { return is_cl2_container(file) || is_container(file); }

Result<std::vector<uint8_t>> make_code_object(std::span<const uint8_t> bytes) {
  const auto no_kernels = [] { return fail(ErrorKind::not_found, "the Catalyst container has no kernels"); };
  if (is_cl2_container(bytes)) {
    const auto container = read_cl2_container(bytes);
    if (!container) return std::unexpected(container.error());
    if (container->kernels.empty()) return no_kernels();
    return convert(*container, bytes);
  }
  const auto container = read_container(bytes);
  if (!container) return std::unexpected(container.error());
  if (container->kernels.empty()) return no_kernels();
  return convert(*container, bytes);
}

std::optional<std::span<const uint8_t>> container_of(std::span<const uint8_t> code_object) {
  const auto file = read_elf_file(code_object);
  if (!file) return std::nullopt;
  const ElfSection* const section = file->find_section(container_section);
  return section == nullptr ? std::nullopt : std::optional(section->bytes);
}

const LaunchInfo* ConstantBufferCode::find(std::string_view kernel) const {
  const auto found = std::ranges::find(kernels, kernel, &LaunchInfo::name);
  return found == kernels.end() ? nullptr : &*found;
}

Result<std::optional<ConstantBufferCode>> constant_buffer_code(std::span<const uint8_t> code_object) {
  const auto bytes = container_of(code_object);
  if (!bytes || !is_container(*bytes)) return std::nullopt;
  auto container = read_container(*bytes);
  if (!container) return std::unexpected(container.error());
  ConstantBufferCode code{.container = std::move(*container), .kernels = {}};
  for (const Kernel& kernel : code.container.kernels) {
    auto launch = launch_info(code.container, kernel);
    if (!launch) return std::unexpected(launch.error());
    code.kernels.push_back(std::move(*launch));
  }
  return code;
}

}  // namespace Atoll::object::catalyst

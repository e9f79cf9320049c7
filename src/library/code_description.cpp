// library: descriptions of code objects (code_description.h).
#include "library/code_description.h"

#include <algorithm>

#include <fmt/format.h>

#include "library/kernel_names.h"
#include "library/mesa_description.h"
#include "library/pal_description.h"
#include "object/code_object.h"
#include "object/code_object_v2.h"
#include "object/descriptor_meaning.h"
#include "object/elf_names.h"
#include "object/kernel_symbols.h"
#include "object/metadata.h"
#include "object/occupancy.h"
#include "object/relocation_type.h"

namespace Atoll::library {

namespace {

using Json = nlohmann::ordered_json;
using object::ElfFile;
using object::ElfSection;
using object::ElfSymbol;
using object::KernelMetadata;
using object::KernelSymbol;
using target::Processor;

/// Names come from the file, and JSON is UTF-8.
std::string text(std::string_view name) {
  std::string result(name);
  for (char& c : result)
    if (static_cast<unsigned char>(c) >= 0x80 || static_cast<unsigned char>(c) < 0x20) c = '?';
  return result;
}

std::string_view setting_name(target::Setting setting) {
  constexpr std::string_view names[] = {"unsupported", "any", "off", "on"};
  return names[static_cast<size_t>(setting)];
}

class Description {
 public:
  Description(const ElfFile& file, Json& json) : file_(file), json_(json) {}

  void header() {
    const Elf64_Ehdr& header = file_.header;
    Json out;
    out["type"] = object::file_type_name(header.e_type);
    out["os_abi"] = object::os_abi_name(header.e_ident[EI_OSABI]);
    out["abi_version"] = header.e_ident[EI_ABIVERSION];
    if (header.e_ident[EI_OSABI] == object::elf::osabi_amdgpu_hsa)
      out["code_object_version"] = header.e_ident[EI_ABIVERSION] + 2;
    out["flags"] = header.e_flags;
    const auto target = object::read_target(file_);
    if (!target && is_without_processor()) {
      processor_ = target::find_processor("gfx600");  // what LLVM compiles for where no processor is named
      out["processor"] = "none";
      json_["header"] = std::move(out);
      return;
    }
    if (!target) {
      json_["header"] = std::move(out);
      return wrong("the target", target.error());
    }
    processor_ = target->processor;
    json_["target"] = target->to_string();
    out["processor"] = target->processor->name;
    out["xnack"] = setting_name(target->xnack);
    out["sramecc"] = setting_name(target->sramecc);
    if (target->processor->generic) out["generic_version"] = target->generic_version;
    json_["header"] = std::move(out);
  }

  void segments() {
    for (const Elf64_Phdr& each : file_.segments) {
      json_["segments"].push_back({{"type", object::segment_type_name(each.p_type)},
                                   {"offset", each.p_offset},
                                   {"address", each.p_vaddr},
                                   {"file_bytes", each.p_filesz},
                                   {"memory_bytes", each.p_memsz},
                                   {"flags", object::segment_flags(each.p_flags)},
                                   {"alignment", each.p_align}});
    }
  }

  void sections() {
    for (size_t i = 1; i < file_.sections.size(); ++i) {
      const Elf64_Shdr& header = file_.sections[i].header;
      json_["sections"].push_back({{"name", text(file_.sections[i].name)},
                                   {"type", object::section_type_name(header.sh_type)},
                                   {"address", header.sh_addr},
                                   {"offset", header.sh_offset},
                                   {"bytes", header.sh_size},
                                   {"flags", object::section_flags(header.sh_flags)},
                                   {"alignment", header.sh_addralign}});
    }
  }

  void notes() {
    for (const object::ElfNote& note : object::read_notes(file_)) {
      Json one{{"owner", text(note.owner)},
               {"type", object::note_type_name(note.owner, note.type)},
               {"bytes", note.description.size()}};
      if (const std::string words = object::note_text(note); !words.empty()) one["text"] = text(words);
      json_["notes"].push_back(std::move(one));
    }
  }

  void symbols() {
    for (const ElfSection& section : file_.sections) {
      if (section.header.sh_type != SHT_SYMTAB && section.header.sh_type != SHT_DYNSYM) continue;
      const auto table = object::read_symbols(file_, section);
      if (!table) {
        wrong("symbols", table.error());
        continue;
      }
      for (size_t i = 1; i < table->size(); ++i) {
        const ElfSymbol& symbol = (*table)[i];
        json_["symbols"].push_back(
            {{"table", text(section.name)},
             {"name", text(symbol.name)},
             {"value", symbol.raw.st_value},
             {"bytes", symbol.raw.st_size},
             {"type", object::symbol_type_name(object::elf::symbol_type(symbol.raw))},
             {"binding", object::symbol_binding_name(object::elf::symbol_binding(symbol.raw))},
             {"visibility", object::symbol_visibility_name(object::elf::symbol_visibility(symbol.raw))},
             {"section", place_of(symbol.raw.st_shndx)}});
      }
      if (section.header.sh_type == SHT_SYMTAB || symbols_.empty()) symbols_ = *table;
    }
  }

  void relocations() {
    for (const ElfSection& section : file_.sections) {
      if (section.header.sh_type != SHT_RELA && section.header.sh_type != SHT_REL) continue;
      std::vector<ElfSymbol> names;
      if (section.header.sh_link < file_.sections.size())
        names = object::read_symbols(file_, file_.sections[section.header.sh_link]).value_or(std::vector<ElfSymbol>());
      for (const Elf64_Rela& each : object::read_relocations(section)) {
        const auto type = static_cast<uint32_t>(ELF64_R_TYPE(each.r_info));
        const size_t symbol = ELF64_R_SYM(each.r_info);
        const std::string_view name = object::relocation_name(type);
        json_["relocations"].push_back({{"table", text(section.name)},
                                        {"offset", each.r_offset},
                                        {"type", name.empty() ? fmt::format("{}", type) : std::string(name)},
                                        {"symbol", symbol < names.size() ? name_of(names[symbol]) : std::string()},
                                        {"addend", each.r_addend}});
      }
    }
  }

  /// Adds what only objects for one operating system have. True if the file has HSA's metadata instead.
  bool system_metadata() {
    const uint8_t os_abi = file_.header.e_ident[EI_OSABI];
    if (os_abi != object::elf::osabi_amdgpu_pal && os_abi != object::elf::osabi_amdgpu_mesa3d) return true;
    json_["kernels"] = Json::array();
    if (processor_ == nullptr) return false;
    const bool pal = os_abi == object::elf::osabi_amdgpu_pal;
    auto described = pal ? describe_pal(file_, symbols_, *processor_) : describe_mesa(file_, symbols_, *processor_);
    if (!described)
      wrong(pal ? "the PAL metadata" : "the Mesa3D configuration", described.error());
    else
      json_[pal ? "pal" : "mesa3d"] = std::move(*described);
    return false;
  }

  void kernels(const std::string& wanted, uint32_t work_group_size) {
    if (!system_metadata()) return;
    const auto metadata = object::read_metadata(file_);
    if (!metadata) {
      wrong("the metadata", metadata.error());
    } else if (metadata->version_major == 0) {  // no version has this number: there is none
      json_["metadata"] = nullptr;
    } else {
      json_["metadata"] = {{"version", fmt::format("{}.{}", metadata->version_major, metadata->version_minor)},
                           {"target", text(metadata->target)}};
      for (const std::string& format : metadata->printf_formats) json_["metadata"]["printf"].push_back(text(format));
    }
    json_["kernels"] = Json::array();
    const auto add = [&](std::string_view name, auto describe_how) {
      if (!wanted.empty() && name != wanted) return;
      const KernelMetadata* known = nullptr;
      if (metadata) {
        const auto found = std::ranges::find(metadata->kernels, name, &KernelMetadata::code_symbol);
        if (found != metadata->kernels.end()) known = &*found;
      }
      Json kernel;
      kernel["name"] = text(name);
      if (std::string readable = demangled(std::string(name)); readable != name) kernel["signature"] = text(readable);
      if (known != nullptr) describe(*known, kernel);
      if (processor_ != nullptr) describe_how(known, kernel);
      json_["kernels"].push_back(std::move(kernel));
    };
    for (const KernelSymbol& kernel : object::read_kernel_symbols(file_, symbols_)) {
      add(kernel.name, [&](const KernelMetadata* known, Json& out) {
        describe_descriptor(kernel.descriptor, known, work_group_size, out);
      });
    }
    for (const object::KernelCodeSymbol& kernel : object::read_kernel_codes(file_, symbols_)) {
      add(kernel.name, [&](const KernelMetadata* known, Json& out) {
        describe_kernel_code(kernel.code, known, work_group_size, out);
      });
    }
  }

 private:
  void wrong(const char* what, const support::Error& error) {
    json_["errors"].push_back(fmt::format("{}: {}", what, error.message));
  }

  /// True for objects that LLVM made without a processor's name, which HSA does not allow.
  bool is_without_processor() const {
    constexpr uint32_t machine_mask = 0xFF;
    return (file_.header.e_flags & machine_mask) == 0 &&
           file_.header.e_ident[EI_OSABI] != object::elf::osabi_amdgpu_hsa;
  }

  std::string place_of(uint16_t index) const {
    if (index == SHN_UNDEF) return "UND";
    if (index == SHN_ABS) return "ABS";
    if (index == SHN_COMMON) return "COM";
    if (index == object::elf::shn_amdgpu_lds) return "LDS";
    return index < file_.sections.size() ? text(file_.sections[index].name) : fmt::format("{}", index);
  }

  std::string name_of(const ElfSymbol& symbol) const {
    return object::elf::symbol_type(symbol.raw) == STT_SECTION ? place_of(symbol.raw.st_shndx) : text(symbol.name);
  }

  void describe_descriptor(const object::RawKernelDescriptor& raw, const KernelMetadata* metadata,
                           uint32_t work_group_size, Json& out) const {
    const auto decoded = object::decode_kernel_descriptor(raw, *processor_);
    if (!decoded) out["error"] = decoded.error().message;
    object::KernelResources resources{.vgprs = 0,
                                      .sgprs = 0,
                                      .lds_bytes = raw.group_segment_fixed_size,
                                      .wave32 = object::has_wave32(raw, *processor_)};
    if (decoded) {
      resources.vgprs = decoded->vgprs + (processor_->unified_vgprs ? uint32_t{decoded->agprs} : 0);
      resources.sgprs = decoded->sgprs;
      resources.wgp_mode = decoded->wgp_mode;
    }
    describe_resources(resources, raw.private_segment_fixed_size, decoded.has_value(), metadata, work_group_size, out);
    out["descriptor"] = describe(raw);
  }

  void describe_kernel_code(const object::RawKernelCode& code, const KernelMetadata* metadata, uint32_t work_group_size,
                            Json& out) const {
    const auto value = [&](std::string_view field) {
      return static_cast<uint32_t>(object::kernel_code_field(field).of(code));
    };
    const object::KernelResources resources{.vgprs = std::max(value("workitem_vgpr_count"), 1u),
                                            .sgprs = std::max(value("wavefront_sgpr_count"), 1u),
                                            .lds_bytes = value("workgroup_group_segment_byte_size"),
                                            .wave32 = object::has_wave32(code),
                                            .wgp_mode = value("enable_wgp_mode") != 0};
    describe_resources(resources, value("workitem_private_segment_byte_size"), true, metadata, work_group_size, out);
    for (const object::KernelCodeField& field : object::kernel_code_fields()) {
      Json one{{"bit", field.bit}, {"bits", field.width}, {"name", field.name}, {"value", field.of(code)}};
      if (const std::string meaning = object::meaning_of(field, code, *processor_); !meaning.empty())
        one["meaning"] = meaning;
      out["kernel_code"].push_back(std::move(one));
    }
  }

  /// What a kernel takes, and the occupancy that it has with that. The metadata is nearer the truth, which is rounded
  /// up in what the packet processor reads.
  void describe_resources(object::KernelResources resources, uint32_t scratch_bytes, bool known,
                          const KernelMetadata* metadata, uint32_t work_group_size, Json& out) const {
    out["lds_bytes"] = resources.lds_bytes;
    out["scratch_bytes"] = scratch_bytes;
    out["wave_size"] = resources.wave32 ? 32 : 64;
    if (metadata != nullptr) {
      resources.vgprs = std::max(metadata->vgpr_count, 1u);
      resources.sgprs = std::max(metadata->sgpr_count, 1u);
      resources.work_group_size = metadata->max_flat_workgroup_size;
    }
    if (work_group_size != 0) resources.work_group_size = work_group_size;
    if (known || metadata != nullptr) out["occupancy"] = occupancy(resources);
  }

  void describe(const KernelMetadata& kernel, Json& out) {
    if (!kernel.language.empty()) out["language"] = text(kernel.language);
    if (kernel.language_version) out["language_version"] = *kernel.language_version;
    if (kernel.kind != "normal") out["kind"] = text(kernel.kind);
    out["vgprs"] = kernel.vgpr_count;
    if (processor_ != nullptr && processor_->has_agprs) out["agprs"] = kernel.agpr_count;
    out["sgprs"] = kernel.sgpr_count;
    out["vgpr_spills"] = kernel.vgpr_spill_count;
    out["sgpr_spills"] = kernel.sgpr_spill_count;
    out["uses_dynamic_stack"] = kernel.uses_dynamic_stack;
    out["max_work_group_size"] = kernel.max_flat_workgroup_size;
    if (kernel.required_workgroup_size) out["required_work_group_size"] = *kernel.required_workgroup_size;
    if (kernel.workgroup_size_hint) out["work_group_size_hint"] = *kernel.workgroup_size_hint;
    if (!kernel.vec_type_hint.empty()) out["vector_type_hint"] = text(kernel.vec_type_hint);
    if (kernel.cluster_dims) out["cluster_dims"] = *kernel.cluster_dims;
    if (kernel.workgroup_processor_mode) out["work_group_processor_mode"] = *kernel.workgroup_processor_mode;
    if (std::ranges::any_of(kernel.max_workgroups, [](uint32_t most) { return most != 0; }))
      for (const uint32_t most : kernel.max_workgroups)
        out["max_work_groups"].push_back(most != 0 ? Json(most) : Json());
    if (kernel.uniform_work_group_size) out["uniform_work_group_size"] = true;
    out["kernarg_bytes"] = kernel.kernarg_segment_size;
    out["kernarg_alignment"] = kernel.kernarg_segment_align;
    out["arguments"] = Json::array();
    for (const object::KernelArgument& argument : kernel.arguments) {
      Json one{{"offset", argument.offset}, {"bytes", argument.size}, {"kind", text(argument.kind_name)}};
      const std::pair<const char*, const std::string*> texts[] = {{"name", &argument.name},
                                                                  {"type", &argument.type_name},
                                                                  {"address_space", &argument.address_space},
                                                                  {"access", &argument.access},
                                                                  {"actual_access", &argument.actual_access},
                                                                  {"value_type", &argument.value_type}};
      for (const auto& [key, value] : texts)
        if (!value->empty()) one[key] = text(*value);
      if (argument.pointee_align != 0) one["pointee_alignment"] = argument.pointee_align;
      const std::pair<const char*, bool> flags[] = {{"const", argument.is_const},
                                                    {"restrict", argument.is_restrict},
                                                    {"volatile", argument.is_volatile},
                                                    {"pipe", argument.is_pipe}};
      for (const auto& [key, value] : flags)
        if (value) one[key] = true;
      out["arguments"].push_back(std::move(one));
    }
  }

  /// On every processor that runs the code: one, or those that a generic one stands for.
  Json occupancy(const object::KernelResources& resources) const {
    Json list = Json::array();
    for (const Processor& each : target::processors()) {
      if (&each != processor_ && each.generic_processor != processor_->name) continue;
      if (each.generic) continue;
      const object::Occupancy result = object::occupancy_of(resources, each);
      Json one{{"processor", each.name},
               {"work_group_size", resources.work_group_size},
               {"waves_per_simd", result.waves},
               {"max_waves_per_simd", result.out_of}};
      for (const object::OccupancyLimit& limit : result.limits) {
        one["limits"][std::string(limit.what)] = limit.waves;
        if (result.waves < result.out_of && result.is_limited_by(limit)) one["limited_by"].push_back(limit.what);
      }
      list.push_back(std::move(one));
    }
    return list;
  }

  Json describe(const object::RawKernelDescriptor& raw) const {
    using namespace object::descriptor_field;
    Json out{{"GROUP_SEGMENT_FIXED_SIZE", raw.group_segment_fixed_size},
             {"PRIVATE_SEGMENT_FIXED_SIZE", raw.private_segment_fixed_size},
             {"KERNARG_SIZE", raw.kernarg_size},
             {"KERNEL_CODE_ENTRY_BYTE_OFFSET", raw.kernel_code_entry_byte_offset}};
    for (const object::DescriptorField* field : all) {
      if (!field->exists(*processor_) && field->exists != nowhere) continue;
      Json one{{"word", object::word_name(field->word)},
               {"low_bit", field->shift},
               {"bits", field->width},
               {"name", field->name},
               {"value", field->of(raw)}};
      if (const std::string meaning = object::meaning_of(*field, raw, *processor_); !meaning.empty())
        one["meaning"] = meaning;
      if (!field->directive.empty()) one["directive"] = field->directive;
      out["fields"].push_back(std::move(one));
    }
    return out;
  }

  const ElfFile& file_;
  Json& json_;
  const Processor* processor_ = nullptr;
  std::vector<ElfSymbol> symbols_;
};

}  // namespace

support::Result<Json> describe_code(const object::FoundCodeObject& code, const std::string& kernel,
                                    uint32_t work_group_size) {
  const auto file = object::read_elf_file(code.bytes);
  if (!file) return std::unexpected(file.error());
  Json json{{"where", text(code.where)}, {"id", text(code.id)}, {"bytes", code.bytes.size()}};
  Description description(*file, json);
  description.header();
  description.segments();
  description.sections();
  description.notes();
  description.symbols();
  description.relocations();
  description.kernels(kernel, work_group_size);
  return json;
}

}  // namespace Atoll::library

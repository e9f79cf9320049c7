// tools: Catalyst's OpenCL binaries, described (catalyst_description.h).
#include "tools/catalyst_description.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assembler/catalyst/catalyst_text.h"
#include "assembler/disassembly/disassembly.h"
#include "object/catalyst_cl2.h"
#include "object/catalyst_code.h"
#include "object/catalyst_container.h"
#include "object/catalyst_launch.h"
#include "object/relocation_type.h"
#include "support/bytes.h"
#include "tools/files.h"

namespace Atoll::tools {

namespace catalyst = object::catalyst;
using support::ErrorKind;
using support::fail;
using support::Result;
using Json = nlohmann::ordered_json;

namespace {

Json describe(const catalyst::MetadataArgument& argument) {
  static constexpr const char* tokens[] = {"value", "pointer", "image", "sampler", "counter"};
  Json json = {{"token", tokens[static_cast<size_t>(argument.token)]},
               {"name", argument.name},
               {"type", argument.type},
               {"count", argument.count},
               {"constant_buffer", argument.constant_buffer},
               {"offset", argument.offset}};
  if (!argument.memory.empty()) json["memory"] = argument.memory;
  if (!argument.access.empty()) json["access"] = argument.access;
  if (argument.token != catalyst::ArgumentToken::value) json["id"] = argument.id;
  if (argument.alignment != 0) json["alignment"] = argument.alignment;
  return json;
}

Json describe(const catalyst::KernelText& text) {
  Json json = {{"name", text.name}, {"tokens", Json::array()}, {"arguments", Json::array()}};
  for (const catalyst::MetadataToken& token : text.tokens) {
    Json fields = {{"token", token.kind->name}};
    if (!token.kind->word.empty()) fields["word"] = token.kind->word;
    if (!token.kind->fields.empty() && token.kind->fields[0].type == catalyst::FieldType::list) {
      fields["ids"] = token.numbers();
    } else {
      for (size_t i = 0; i < token.values.size(); ++i) {
        const catalyst::TokenField& field = token.kind->fields[i];
        if (field.type == catalyst::FieldType::number)
          fields[std::string(field.name)] = token.number(field.name);
        else
          fields[std::string(field.name)] = token.values[i];
      }
    }
    json["tokens"].push_back(std::move(fields));
  }
  for (const catalyst::PrintfFormat& format : text.printf_formats)
    json["printf"].push_back(
        {{"id", format.id}, {"argument_sizes", format.argument_sizes}, {"format", format.format()}});
  for (const catalyst::MetadataArgument& argument : text.arguments()) json["arguments"].push_back(describe(argument));
  return json;
}

Json describe(const catalyst::MetadataText& text) {
  Json json = {{"functions", Json::array()}};
  for (const catalyst::KernelText& each : text.kernels) json["functions"].push_back(describe(each));
  for (const catalyst::DataSegment& segment : text.data) {
    Json data = {{"bytes", segment.size}};
    if (segment.constant_buffer) data["constant_buffer"] = *segment.constant_buffer;
    for (const catalyst::DataVector& vector : segment.vectors)
      data["vectors"].push_back({{"type", vector.type}, {"offset", vector.offset}, {"values", vector.values}});
    json["data"].push_back(std::move(data));
  }
  return json;
}

Json describe(const catalyst::ProgramInfo& info) {
  Json json = {{"vgprs", info.vgprs},
               {"sgprs", info.sgprs},
               {"max_vgprs", info.max_vgprs},
               {"max_sgprs", info.max_sgprs},
               {"float_mode", info.float_mode},
               {"ieee_mode", info.ieee_mode},
               {"scratch_bytes", uint64_t{info.scratch_dwords} * 4},
               {"lds_bytes", info.lds_bytes},
               {"compute_pgm_rsrc2", info.compute_pgm_rsrc2},
               {"work_group_size", info.work_group_size},
               {"user_data", Json::array()},
               {"entries", Json::array()}};
  for (const catalyst::UserData& data : info.user_data)
    json["user_data"].push_back({{"class", *catalyst::user_data_class_name(data.data_class)},
                                 {"api_slot", data.api_slot},
                                 {"first_sgpr", data.first_sgpr},
                                 {"num_sgprs", data.num_sgprs}});
  for (const catalyst::ProgramInfoEntry& entry : info.entries)
    json["entries"].push_back({{"address", entry.address}, {"value", entry.value}});
  return json;
}

/// Describes what a launch of a kernel needs, or why it cannot be launched.
Json describe(const Result<catalyst::LaunchInfo>& launch) {
  if (!launch) return {{"refused", launch.error().message}};
  const object::KernelDescriptor& state = launch->state;
  Json json = {{"processor", launch->processor->name},
               {"vgprs", state.vgprs},
               {"sgprs", state.sgprs},
               {"user_sgprs", state.user_sgprs},
               {"lds_bytes", state.group_segment_fixed_size},
               {"scratch_bytes", state.private_segment_fixed_size}};
  if (launch->constant_buffer_1_bytes != 0) json["constant_buffer_1_bytes"] = launch->constant_buffer_1_bytes;
  for (const catalyst::UserSgprRange& range : launch->user_sgprs.ranges)
    json["user_data"].push_back(
        {{"holds", name_of(range.what)}, {"first_sgpr", range.first}, {"num_sgprs", range.count}});
  if (launch->argument_layout.size != 0) json["argument_buffer_bytes"] = launch->argument_layout.size;
  for (size_t i = 0; i < launch->argument_layout.setup.size(); ++i)
    json["argument_buffer"].push_back({{"name", catalyst::setup_arguments()[i]},
                                       {"offset", launch->argument_layout.setup[i].offset},
                                       {"bytes", launch->argument_layout.setup[i].size}});
  for (size_t i = 0; i < launch->arguments.size(); ++i)
    json["argument_buffer"].push_back({{"name", launch->arguments[i].name},
                                       {"offset", launch->argument_layout.arguments[i].offset},
                                       {"bytes", launch->argument_layout.arguments[i].size}});
  return json;
}

Result<Json> describe(const catalyst::Encoding& encoding) {
  Json json = {{"machine", encoding.machine}, {"type", encoding.type}, {"bytes", encoding.bytes.size()}};
  if (encoding.is_amd_il()) json["language"] = "AMD IL";
  if (const catalyst::Device* device = encoding.device()) {
    json["device"] = device->name;
    json["processor"] = device->processor;
  }
  json["text_bytes"] = encoding.text.size();
  json["data_bytes"] = encoding.data.size();
  for (const catalyst::CalNote& note : encoding.notes) {
    json["notes"].push_back({{"type", note.type},
                             {"name", catalyst::cal_note_name(note.type).value_or("unknown")},
                             {"bytes", note.description.size()}});
  }
  if (const catalyst::CalNote* note = encoding.find(catalyst::CalNoteType::program_info);
      note != nullptr && !note->description.empty()) {
    const auto info = catalyst::read_program_info(note->description);
    if (!info) return std::unexpected(info.error());
    json["program_info"] = describe(*info);
  }
  for (const object::ElfSymbol& symbol : encoding.symbols)
    if (!symbol.name.empty())
      json["symbols"].push_back(
          {{"name", symbol.name}, {"value", symbol.raw.st_value}, {"section", symbol.raw.st_shndx}});
  return json;
}

Result<Json> describe(const catalyst::Kernel& kernel) {
  Json json = {{"name", kernel.name}, {"bytes", kernel.image.size()}};
  if (!kernel.header.empty()) json["header"] = fmt::format("{:02x}", fmt::join(kernel.header, ""));
  if (!kernel.amd_il.empty()) json["amd_il_bytes"] = kernel.amd_il.size();
  if (kernel.metadata) json["metadata"] = describe(*kernel.metadata);
  json["encodings"] = Json::array();
  for (const catalyst::Encoding& encoding : kernel.encodings) {
    auto described = describe(encoding);
    if (!described) return support::within(fmt::format("kernel {}", kernel.name), described.error());
    json["encodings"].push_back(std::move(*described));
  }
  return json;
}

Result<Json> describe(const catalyst::Container& container, const std::string& kernel) {
  Json json = {{"format", "Catalyst OpenCL 1.x"},
               {"device", container.device->name},
               {"family", name_of(container.device->family)}};
  if (!container.device->processor.empty()) json["processor"] = container.device->processor;
  json["bits"] = container.is_64_bit ? 64 : 32;
  json["driver"] = container.driver;
  json["compile_options"] = container.compile_options;
  for (const object::ElfSection& section : container.file.sections)
    if (!section.name.empty())
      json["sections"].push_back(
          {{"name", section.name}, {"offset", section.header.sh_offset}, {"bytes", section.bytes.size()}});
  for (const catalyst::GlobalData& data : container.global_data)
    json["global_data"].push_back({{"constant_buffer", data.id}, {"bytes", data.bytes.size()}});
  json["kernels"] = Json::array();
  for (const catalyst::Kernel& each : container.kernels) {
    if (!kernel.empty() && each.name != kernel) continue;
    auto described = describe(each);
    if (!described) return std::unexpected(described.error());
    (*described)["launch"] = describe(catalyst::launch_info(container, each));
    json["kernels"].push_back(std::move(*described));
  }
  if (!kernel.empty() && json["kernels"].empty()) return fail(ErrorKind::not_found, "no kernel named '{}'", kernel);
  return json;
}

Json describe(const catalyst::Cl2Container& container, const catalyst::Cl2Kernel& kernel) {
  Json json = {{"name", kernel.name},
               {"code_bytes", kernel.code.size()},
               {"required_work_group_size", kernel.required_work_group_size},
               {"arguments", Json::array()}};
  for (const catalyst::Cl2Argument& argument : kernel.arguments) {
    static constexpr const char* types[] = {"int8",    "int16", "int32", "int64",   "float16",   "float32", "float64",
                                            "pointer", "queue", "image", "sampler", "structure", "pipe",    "event"};
    Json described = {{"name", argument.name},
                      {"type_name", argument.type_name},
                      {"type", types[static_cast<size_t>(argument.shape.type)]},
                      {"elements", argument.shape.elements}};
    if (!argument.space.empty()) described["space"] = argument.space;
    if (!argument.access.empty()) described["access"] = argument.access;
    if (argument.is_const) described["const"] = true;
    if (argument.is_restrict) described["restrict"] = true;
    if (argument.is_volatile) described["volatile"] = true;
    json["arguments"].push_back(std::move(described));
  }
  if (!kernel.code.empty())
    for (const object::KernelCodeField& field : object::kernel_code_fields())
      json["kernel_code"][std::string(field.name)] = field.of(kernel.setup);
  json["launch"] = describe(catalyst::launch_info(container, kernel));
  return json;
}

Result<Json> describe(const catalyst::Cl2Container& container, const std::string& kernel) {
  Json json = {{"format", "Catalyst OpenCL 2.0"}};
  if (container.processor != nullptr) json["processor"] = container.processor->name;
  json["bits"] = container.is_64_bit ? 64 : 32;
  json["code"] = container.inner.empty() ? "one file section per kernel" : "inner ELF file";
  json["acl_version"] = container.acl_version;
  json["compile_options"] = container.compile_options;
  json["read_only_data_bytes"] = container.read_only_data.size();
  json["global_data_bytes"] = container.global_data.size();
  json["bss_bytes"] = container.bss_bytes;
  json["sampler_data_bytes"] = container.sampler_data.size();
  json["relocations"] = container.num_relocations;
  json["kernels"] = Json::array();
  for (const catalyst::Cl2Kernel& each : container.kernels)
    if (kernel.empty() || each.name == kernel) json["kernels"].push_back(describe(container, each));
  if (!kernel.empty() && json["kernels"].empty()) return fail(ErrorKind::not_found, "no kernel named '{}'", kernel);
  return json;
}

/// Prints a JSON value as indented lines: objects by key, arrays of objects one element a line.
void print_tree(const Json& json, unsigned indent) {
  for (const auto& [key, value] : json.items()) {
    if (value.is_array() && !value.empty() && value[0].is_object()) {
      fmt::print("{:{}}{} ({})\n", "", indent, key, value.size());
      for (const Json& element : value) {
        const bool nested = std::ranges::any_of(element, [](const Json& each) { return each.is_structured(); });
        if (nested) {
          print_tree(element, indent + 2);
          continue;
        }
        std::string line;
        for (const auto& [name, field] : element.items())
          line += fmt::format("{}{} {}", line.empty() ? "" : ", ", name,
                              field.is_string() ? field.get<std::string>() : field.dump());
        fmt::print("{:{}}{}\n", "", indent + 2, line);
      }
    } else if (value.is_object()) {
      fmt::print("{:{}}{}\n", "", indent, key);
      print_tree(value, indent + 2);
    } else {
      fmt::print("{:{}}{:<20}{}\n", "", indent, key, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
}

std::string dump(const Json& json, int indent) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

/// Returns the GCN code of a kernel, or the reason why it has none.
Result<const catalyst::Encoding*> code_of(const catalyst::Container& container, const catalyst::Kernel& kernel) {
  if (container.device->family != catalyst::Family::gcn)
    return fail(ErrorKind::unsupported, "kernel {}: {} bytes of {} code for {}; disassembling it is not supported",
                kernel.name, kernel.image.size(), name_of(container.device->family), container.device->name);
  const catalyst::Encoding* encoding = kernel.gcn();
  if (encoding == nullptr)
    return fail(ErrorKind::unsupported, "kernel {}: only AMD IL ({} bytes); disassembling it is not supported",
                kernel.name, kernel.encodings.empty() ? kernel.amd_il.size() : kernel.encodings[0].text.size());
  return encoding;
}

const target::Processor& processor_of(const catalyst::Encoding& encoding) {
  return *target::find_processor(encoding.device()->processor);
}

void append_bytes(std::string& out, std::span<const uint8_t> bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const uint8_t first = bytes[at];
    size_t run = 1;
    while (at + run < bytes.size() && bytes[at + run] == first) ++run;
    if (run >= 16) {
      out += fmt::format("\t.fill {}, 1, {:#x}\n", run, first);
      at += run;
      continue;
    }
    const size_t count = std::min<size_t>(16, bytes.size() - at);
    out += fmt::format("\t.byte {:#x}\n", fmt::join(bytes.subspan(at, count), ", "));
    at += count;
  }
}

/// Appends a kernel's code. The section's heading is left out: its directive names it. Labels are written as the
/// assembler reads them.
void append_code(std::string& out, std::span<const uint8_t> code, const target::Processor& processor, bool bytes) {
  auto section = assembler::disassemble(code, processor, 64, 0);
  const auto labels = std::exchange(section.headings, {});
  append_text(out, section, bytes, {}, [&](std::string& text, uint64_t address) {
    for (const assembler::Heading& label : labels)
      if (label.address == address) (text += label.name) += ":\n";
  });
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) >= 0x7F)
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  out += '"';
}

void append_quoted_directive(std::string& out, std::string_view directive, std::string_view text) {
  if (text.empty()) return;
  (out += directive) += ' ';
  append_quoted(out, text);
  out += '\n';
}

Result<void> append_kernel(std::string& out, const catalyst::Container& container, const catalyst::Kernel& kernel,
                           bool bytes) {
  const auto encoding = code_of(container, kernel);
  if (!encoding) return std::unexpected(encoding.error());
  (out += "\n.catalyst_kernel ") += kernel.name;
  out += '\n';
  if (!kernel.header.empty()) {
    out += ".catalyst_header\n";
    append_bytes(out, kernel.header);
  }
  if (!kernel.metadata_text.empty()) {
    out += ".catalyst_metadata\n";
    for (std::string_view rest = kernel.metadata_text; !rest.empty();) {
      const size_t end = rest.find('\n');
      const bool has_end = end != std::string_view::npos;
      append_quoted_directive(out, "\t.ascii", rest.substr(0, has_end ? end + 1 : end));
      rest = has_end ? rest.substr(end + 1) : std::string_view();
    }
  }
  for (const catalyst::CalNote& note : (*encoding)->notes) {
    const auto name = catalyst::cal_note_name(note.type);
    out += name ? fmt::format(".catalyst_note {}\n", *name) : fmt::format(".catalyst_note {}\n", note.type);
    if (note.description.size() % 4 != 0) {
      append_bytes(out, note.description);
      continue;
    }
    const bool pairs = note.type == static_cast<uint32_t>(catalyst::CalNoteType::program_info);
    for (uint64_t at = 0; const auto word = support::read<uint32_t>(note.description, at); at += 4) {
      const auto second = pairs ? support::read<uint32_t>(note.description, at + 4) : std::nullopt;
      out += second ? fmt::format("\t.long {:#x}, {:#x}\n", *word, *second) : fmt::format("\t.long {:#x}\n", *word);
      if (second) at += 4;
    }
  }
  if (!(*encoding)->data.empty()) {
    out += ".catalyst_data\n";
    append_bytes(out, (*encoding)->data);
  }
  out += ".catalyst_text\n";
  append_code(out, (*encoding)->text, processor_of(**encoding), bytes);
  return {};
}

Result<int> disassemble(const CatalystRequest& request, const catalyst::Container& container) {
  std::string out;
  if (request.json) {
    Json all = Json::array();
    for (const catalyst::Kernel& kernel : container.kernels) {
      if (!request.kernel.empty() && kernel.name != request.kernel) continue;
      const auto encoding = code_of(container, kernel);
      if (!encoding) return std::unexpected(encoding.error());
      const auto section = assembler::disassemble((*encoding)->text, processor_of(**encoding), 64, 0);
      std::string text;
      append_text(text, section, false);
      all.push_back({{"kernel", kernel.name}, {"processor", processor_of(**encoding).name}, {"text", text}});
    }
    if (!request.kernel.empty() && all.empty())
      return fail(ErrorKind::not_found, "no kernel named '{}'", request.kernel);
    if (auto ok = write_standard_output(dump(all, 2) + "\n"); !ok) return std::unexpected(ok.error());
    return 0;
  }
  out += fmt::format(".catalyst_target \"{}\", {}\n", container.device->name, container.is_64_bit ? 64 : 32);
  append_quoted_directive(out, ".catalyst_driver", container.driver);
  append_quoted_directive(out, ".catalyst_options", container.compile_options);
  for (const catalyst::GlobalData& data : container.global_data) {
    out += fmt::format(".catalyst_global {}\n", data.id);
    append_bytes(out, data.bytes);
  }
  bool any = false;
  for (const catalyst::Kernel& kernel : container.kernels) {
    if (!request.kernel.empty() && kernel.name != request.kernel) continue;
    any = true;
    if (auto ok = append_kernel(out, container, kernel, request.bytes); !ok) return std::unexpected(ok.error());
  }
  if (!any && !request.kernel.empty()) return fail(ErrorKind::not_found, "no kernel named '{}'", request.kernel);
  if (auto ok = write_standard_output(out); !ok) return std::unexpected(ok.error());
  return 0;
}

/// Appends what precedes the kernels of an OpenCL 2.0 container.
void append_container(std::string& out, const catalyst::Cl2Container& container) {
  out += fmt::format(".catalyst_target \"{}\", {}, \"OpenCL 2.0\"\n", container.processor->name,
                     container.is_64_bit ? 64 : 32);
  append_quoted_directive(out, ".catalyst_driver", container.acl_version);
  append_quoted_directive(out, ".catalyst_options", container.compile_options);
  const std::pair<std::string_view, std::span<const uint8_t>> pieces[] = {
      {".catalyst_read_only_data", container.read_only_data},
      {".catalyst_samplers", container.sampler_data},
      {".catalyst_global", container.global_data}};
  for (const auto& [directive, bytes] : pieces) {
    if (bytes.empty()) continue;
    (out += directive) += '\n';
    append_bytes(out, bytes);
  }
  if (container.bss_bytes != 0) out += fmt::format(".catalyst_bss {}\n", container.bss_bytes);
}

/// Appends a kernel of OpenCL 2.0, whose code is `text`.
void append_kernel(std::string& out, const catalyst::Cl2Container& container, const catalyst::Cl2Kernel& kernel,
                   const std::string& text) {
  out += fmt::format("\n.catalyst_kernel {}\n", kernel.name);
  const auto& size = kernel.required_work_group_size;
  if (size != std::array<uint32_t, 3>{}) out += fmt::format(".catalyst_work_group_size {}\n", fmt::join(size, ", "));
  for (const catalyst::Cl2Argument& argument : kernel.arguments)
    if (!argument.name.starts_with("_.")) out += ".catalyst_argument " + assembler::argument_text(argument) + "\n";
  for (const catalyst::Cl2Relocation& each : container.relocations) {
    if (each.offset < kernel.code_offset || each.offset - kernel.code_offset >= kernel.code.size()) continue;
    out += fmt::format(".catalyst_relocation {}, {}, {}, {}\n", each.offset - kernel.code_offset,
                       each.type == object::R_AMDGPU_ABS32_LO ? "lo" : "hi", each.section, each.addend);
  }
  out += ".catalyst_text\n";
  object::RawKernelCode record = kernel.setup;
  object::kernel_code_field("kernel_code_entry_byte_offset").set(record, sizeof record);
  assembler::append_kernel_code(out, record, *container.processor);
  out += text;
}

Result<int> disassemble(const CatalystRequest& request, const catalyst::Cl2Container& container) {
  if (container.processor == nullptr)
    return fail(ErrorKind::incompatible, "the file does not name its processor (flags {:#x})",
                container.file.header.e_flags);
  std::string out;
  Json all = Json::array();
  bool any = false;
  append_container(out, container);
  for (const catalyst::Cl2Kernel& kernel : container.kernels) {
    if ((!request.kernel.empty() && kernel.name != request.kernel) || kernel.code.empty()) continue;
    any = true;
    std::string text;
    append_code(text, kernel.code, *container.processor, request.bytes);
    if (request.json)
      all.push_back({{"kernel", kernel.name}, {"processor", container.processor->name}, {"text", text}});
    else
      append_kernel(out, container, kernel, text);
  }
  if (!any && !request.kernel.empty()) return fail(ErrorKind::not_found, "no kernel named '{}'", request.kernel);
  if (request.json) out = dump(all, 2) + "\n";
  if (auto ok = write_standard_output(out); !ok) return std::unexpected(ok.error());
  return 0;
}

}  // namespace

bool is_catalyst(std::span<const uint8_t> file) { return catalyst::is_catalyst(file); }

Result<int> inspect_catalyst(const CatalystRequest& request, std::span<const uint8_t> file) {
  const auto description = [&]() -> Result<Json> {
    if (catalyst::is_cl2_container(file)) {
      const auto container = catalyst::read_cl2_container(file);
      return container ? describe(*container, request.kernel) : std::unexpected(container.error());
    }
    const auto container = catalyst::read_container(file);
    return container ? describe(*container, request.kernel) : std::unexpected(container.error());
  };
  const auto json = description();
  if (!json) return support::within(request.file, json.error());
  if (request.json)
    fmt::print("{}\n", dump(*json, 2));
  else
    print_tree(*json, 0);
  return 0;
}

Result<int> disassemble_catalyst(const CatalystRequest& request, std::span<const uint8_t> file) {
  if (catalyst::is_cl2_container(file)) {
    const auto container = catalyst::read_cl2_container(file);
    if (!container) return support::within(request.file, container.error());
    auto result = disassemble(request, *container);
    if (!result) return support::within(request.file, result.error());
    return result;
  }
  const auto container = catalyst::read_container(file);
  if (!container) return support::within(request.file, container.error());
  auto result = disassemble(request, *container);
  if (!result) return support::within(request.file, result.error());
  return result;
}

}  // namespace Atoll::tools

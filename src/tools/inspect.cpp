// tools: `atoll inspect`, what is inside code objects, and core files of GPUs.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "library/code_description.h"
#include "library/kernel_names.h"
#include "object/gpu_core.h"
#include "support/mapped_file.h"
#include "tools/catalyst_description.h"
#include "tools/code_selection.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/core_description.h"
#include "tools/files.h"

namespace Atoll::tools {

namespace {

using library::describe_code;
using library::find_kernel;
using support::ErrorKind;
using support::Result;
using Json = nlohmann::ordered_json;

constexpr uint64_t max_work_items = 1024;  ///< of a work-group, on any GPU

struct InspectRequest {
  std::string file, gpu, kernel;
  uint32_t work_group_size = 0;
  std::optional<uint32_t> wave;
  bool json = false;
};

std::string string_of(const Json& json, const char* key) { return json.value(key, std::string()); }
uint64_t number_of(const Json& json, const char* key) { return json.value(key, uint64_t{0}); }

/// A table: a line of headings, then a line for each of `rows` by `line`.
template <typename Line>
void print_table(const Json& code, const char* key, const char* title, const std::string& headings, Line line) {
  if (!code.contains(key)) return;
  fmt::print("\n{} ({})\n  {}\n", title, code[key].size(), headings);
  for (const Json& row : code[key]) fmt::print("  {}\n", line(row));
}

void print_header(const Json& code) {
  const Json& header = code["header"];
  fmt::print("{}\n", string_of(code, "where"));
  fmt::print("  target         {}\n", code.value("target", std::string("unknown")));
  if (string_of(code, "id") != string_of(code, "target")) fmt::print("  bundle entry   {}\n", string_of(code, "id"));
  fmt::print("  size           {} bytes\n", number_of(code, "bytes"));
  fmt::print("  type           {}, OS ABI {}, ABI version {}", string_of(header, "type"), string_of(header, "os_abi"),
             number_of(header, "abi_version"));
  if (header.contains("code_object_version"))
    fmt::print(" (code object V{})", number_of(header, "code_object_version"));
  fmt::print("\n  flags          {:#x}", number_of(header, "flags"));
  if (header.contains("processor"))
    fmt::print(": {}, xnack {}, sramecc {}", string_of(header, "processor"), string_of(header, "xnack"),
               string_of(header, "sramecc"));
  if (header.contains("generic_version")) fmt::print(", generic version {}", number_of(header, "generic_version"));
  fmt::print("\n");
  if (code.contains("metadata") && code["metadata"].is_null()) {
    fmt::print("  metadata       none\n");
  } else if (code.contains("metadata")) {
    const Json& metadata = code["metadata"];
    const std::string target = string_of(metadata, "target");
    fmt::print("  metadata       version {}{}{}\n", string_of(metadata, "version"), target.empty() ? "" : ", target ",
               target);
    if (metadata.contains("printf"))
      for (const Json& format : metadata["printf"]) fmt::print("  printf         {}\n", format.get<std::string>());
  }
  if (code.contains("errors"))
    for (const Json& error : code["errors"]) fmt::print("  wrong          {}\n", error.get<std::string>());
}

void print_tables(const Json& code) {
  print_table(code, "segments", "Segments",
              fmt::format("{:<12}{:>10}{:>10}{:>10}{:>10}  FLAGS", "TYPE", "OFFSET", "ADDRESS", "FILE", "MEMORY"),
              [](const Json& row) {
                return fmt::format("{:<12}{:>#10x}{:>#10x}{:>10}{:>10}  {}", string_of(row, "type"),
                                   number_of(row, "offset"), number_of(row, "address"), number_of(row, "file_bytes"),
                                   number_of(row, "memory_bytes"), string_of(row, "flags"));
              });
  print_table(code, "sections", "Sections",
              fmt::format("{:<24}{:<14}{:>10}{:>10}{:>10}  FLAGS", "NAME", "TYPE", "ADDRESS", "OFFSET", "BYTES"),
              [](const Json& row) {
                return fmt::format("{:<24}{:<14}{:>#10x}{:>#10x}{:>10}  {}", string_of(row, "name"),
                                   string_of(row, "type"), number_of(row, "address"), number_of(row, "offset"),
                                   number_of(row, "bytes"), string_of(row, "flags"));
              });
  print_table(code, "notes", "Notes", fmt::format("{:<10}{:<34}{:>8}", "OWNER", "TYPE", "BYTES"), [](const Json& row) {
    const std::string words = string_of(row, "text");
    return fmt::format("{:<10}{:<34}{:>8}{}{}", string_of(row, "owner"), string_of(row, "type"),
                       number_of(row, "bytes"), words.empty() ? "" : "  ", words);
  });
  print_table(code, "symbols", "Symbols",
              fmt::format("{:<9}{:>10}{:>9} {:<7} {:<7}{:<10}{:<10} NAME", "TABLE", "VALUE", "BYTES", "TYPE", "BIND",
                          "VIS", "SECTION"),
              [](const Json& row) {
                return fmt::format("{:<9}{:>#10x}{:>9} {:<7} {:<7}{:<10}{:<10} {}", string_of(row, "table"),
                                   number_of(row, "value"), number_of(row, "bytes"), string_of(row, "type"),
                                   string_of(row, "binding"), string_of(row, "visibility"), string_of(row, "section"),
                                   string_of(row, "name"));
              });
  print_table(code, "relocations", "Relocations",
              fmt::format("{:<14}{:>10} {:<24}SYMBOL + ADDEND", "TABLE", "OFFSET", "TYPE"), [](const Json& row) {
                const auto addend = row.value("addend", int64_t{0});
                return fmt::format("{:<14}{:>#10x} {:<24}{} {} {:#x}", string_of(row, "table"),
                                   number_of(row, "offset"), string_of(row, "type"), string_of(row, "symbol"),
                                   addend < 0 ? '-' : '+',
                                   addend < 0 ? 0 - static_cast<uint64_t>(addend) : static_cast<uint64_t>(addend));
              });
}

void print_occupancy(const Json& occupancy) {
  for (const Json& each : occupancy) {
    std::string because;
    if (each.contains("limited_by"))
      for (const Json& what : each["limited_by"])
        because += fmt::format("{}{}", because.empty() ? ", limited by " : " and ", what.get<std::string>());
    fmt::print("    occupancy    {}: {} of {} waves per SIMD in work-groups of {}{}\n", string_of(each, "processor"),
               number_of(each, "waves_per_simd"), number_of(each, "max_waves_per_simd"),
               number_of(each, "work_group_size"), because);
  }
}

void print_arguments(const Json& kernel) {
  if (!kernel.contains("arguments")) return;
  fmt::print("    arguments    {} bytes, aligned to {}\n", number_of(kernel, "kernarg_bytes"),
             number_of(kernel, "kernarg_alignment"));
  for (const Json& argument : kernel["arguments"]) {
    std::string more;
    for (const char* key : {"address_space", "access", "actual_access", "value_type"})
      if (argument.contains(key)) more += " " + string_of(argument, key);
    for (const char* key : {"const", "restrict", "volatile", "pipe"})
      if (argument.contains(key)) more += fmt::format(" {}", key);
    for (const char* key : {"type", "name"})
      if (argument.contains(key)) more += " " + string_of(argument, key);
    fmt::print("      {:>4} {:>4} bytes  {}{}\n", number_of(argument, "offset"), number_of(argument, "bytes"),
               string_of(argument, "kind"), more);
  }
}

void print_field(const Json& field, uint64_t low_bit, int bit_columns) {
  const uint64_t width = number_of(field, "bits");
  const std::string bits = width == 1 ? fmt::format("{}", low_bit) : fmt::format("{}:{}", low_bit + width - 1, low_bit);
  const std::string meaning = string_of(field, "meaning");
  fmt::print("        {:>{}}  {:<48}{}{}\n", bits, bit_columns, string_of(field, "name"), number_of(field, "value"),
             meaning.empty() ? "" : fmt::format("  ({})", meaning));
}

void print_descriptor(const Json& descriptor) {
  fmt::print("    kernel descriptor\n");
  for (const auto& [name, value] : descriptor.items())
    if (value.is_number()) fmt::print("      {:<55}{}\n", name, value.get<int64_t>());
  std::string word;
  for (const Json& field : descriptor.value("fields", Json::array())) {
    if (string_of(field, "word") != word) fmt::print("      {}\n", word = string_of(field, "word"));
    print_field(field, number_of(field, "low_bit"), 5);
  }
}

void print_kernel_code(const Json& fields) {
  fmt::print("    amd_kernel_code_t, its bits counted from its first byte\n");
  for (const Json& field : fields) print_field(field, number_of(field, "bit"), 9);
}

void print_kernel(const Json& kernel) {
  fmt::print("\nKernel {}\n", string_of(kernel, "name"));
  if (kernel.contains("signature")) fmt::print("    signature    {}\n", string_of(kernel, "signature"));
  if (kernel.contains("language"))
    fmt::print("    language     {}{}\n", string_of(kernel, "language"),
               kernel.contains("language_version")
                   ? fmt::format(" {}", fmt::join(kernel["language_version"].get<std::vector<uint32_t>>(), "."))
                   : "");
  if (kernel.contains("vgprs")) {
    fmt::print("    registers    {} VGPRs", number_of(kernel, "vgprs"));
    if (kernel.contains("agprs")) fmt::print(", {} AGPRs", number_of(kernel, "agprs"));
    fmt::print(", {} SGPRs; {} VGPRs and {} SGPRs spilled\n", number_of(kernel, "sgprs"),
               number_of(kernel, "vgpr_spills"), number_of(kernel, "sgpr_spills"));
  }
  fmt::print("    memory       {} bytes of LDS for a work-group, {} bytes of scratch for a work-item{}\n",
             number_of(kernel, "lds_bytes"), number_of(kernel, "scratch_bytes"),
             kernel.value("uses_dynamic_stack", false) ? " and a stack of unknown size" : "");
  fmt::print("    work-groups  waves of {} lanes", number_of(kernel, "wave_size"));
  if (kernel.contains("max_work_group_size"))
    fmt::print(", up to {} work-items", number_of(kernel, "max_work_group_size"));
  if (kernel.contains("required_work_group_size"))
    fmt::print(", required: {}", fmt::join(kernel["required_work_group_size"].get<std::vector<uint32_t>>(), " x "));
  if (kernel.contains("cluster_dims"))
    fmt::print(", in clusters of {}", fmt::join(kernel["cluster_dims"].get<std::vector<uint32_t>>(), " x "));
  if (kernel.contains("work_group_processor_mode"))
    fmt::print(", {}", kernel["work_group_processor_mode"].get<bool>() ? "in work-group processor mode" : "in CU mode");
  fmt::print("\n");
  if (kernel.contains("error")) fmt::print("    wrong        {}\n", string_of(kernel, "error"));
  if (kernel.contains("occupancy")) print_occupancy(kernel["occupancy"]);
  print_arguments(kernel);
  if (kernel.contains("descriptor")) print_descriptor(kernel["descriptor"]);
  if (kernel.contains("kernel_code")) print_kernel_code(kernel["kernel_code"]);
}

void print_registers(const Json& registers) {
  for (const Json& row : registers) {
    fmt::print("      {:#06x}  {:<44}{:#x}{}\n", number_of(row, "number"), string_of(row, "name"),
               number_of(row, "value"), row.contains("loads") ? fmt::format("  {}", string_of(row, "loads")) : "");
    if (row.contains("fields"))
      for (const Json& field : row["fields"]) print_field(field, number_of(field, "low_bit"), 5);
  }
}

void print_contradictions(const Json& from) {
  if (!from.contains("contradictions")) return;
  for (const Json& each : from["contradictions"]) fmt::print("    wrong        {}\n", each.get<std::string>());
}

/// Prints keys and values of a PAL document, one a line, but for the registers, which have a table.
void print_document(const Json& value, const std::string& path) {
  if (value.is_object() && path.ends_with(".registers")) return;
  if (value.is_object()) {
    for (const auto& [key, each] : value.items()) print_document(each, path + key);
  } else if (value.is_array() && !value.empty() && value[0].is_object()) {
    for (size_t i = 0; i < value.size(); ++i) print_document(value[i], fmt::format("{}[{}]", path, i));
  } else {
    fmt::print("      {:<60}{}\n", path, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

void print_pal(const Json& code) {
  if (!code.contains("pal")) return;
  for (const Json& note : code["pal"]) {
    fmt::print("\nPAL metadata, {}{}\n", string_of(note, "form"),
               note.contains("version") ? " version " + string_of(note, "version") : "");
    print_contradictions(note);
    for (const Json& pipeline : note["pipelines"]) {
      for (const Json& stage : pipeline["stages"])
        fmt::print(
            "    stage {}     {} VGPRs, {} SGPRs, {} bytes of LDS, {} bytes of scratch{}\n", string_of(stage, "stage"),
            number_of(stage, "vgprs"), number_of(stage, "sgprs"), number_of(stage, "lds_bytes"),
            number_of(stage, "scratch_bytes"),
            stage.contains("entry_point_symbol") ? ", entry point " + string_of(stage, "entry_point_symbol") : "");
      if (!pipeline["user_data"].empty()) fmt::print("    user data\n");
      for (const Json& each : pipeline["user_data"])
        fmt::print("      {} s{:<4} {}\n", string_of(each, "stage"), number_of(each, "sgpr"), string_of(each, "name"));
      if (!pipeline["registers"].empty()) fmt::print("    registers\n");
      print_registers(pipeline["registers"]);
    }
    if (note.contains("keys"))
      for (const Json& key : note["keys"])
        fmt::print("      {:#x}  {:<44}{:#x}\n", number_of(key, "number"), string_of(key, "name"),
                   number_of(key, "value"));
    if (note.contains("document")) {
      fmt::print("    keys\n");
      print_document(note["document"], "");
    }
  }
}

void print_mesa(const Json& code) {
  if (!code.contains("mesa3d")) return;
  const Json& mesa = code["mesa3d"];
  fmt::print("\nMesa3D configuration ({} shaders)\n", mesa["shaders"].size());
  print_contradictions(mesa);
  for (const Json& shader : mesa["shaders"]) {
    fmt::print("    shader {}, stage {}, {} VGPRs and {} SGPRs spilled\n", string_of(shader, "symbol"),
               string_of(shader, "stage"), number_of(shader, "vgpr_spills"), number_of(shader, "sgpr_spills"));
    print_registers(shader["registers"]);
    if (shader.contains("kernel_code")) print_kernel_code(shader["kernel_code"]);
  }
}

Result<int> run_core(const InspectRequest& request, std::span<const uint8_t> file) {
  const auto core = describe_core(file, request.wave);
  if (!core) return support::within(request.file, core.error());
  if (request.json)
    fmt::print("{}\n", core->dump(2));
  else
    print_core(*core, request.wave);
  return 0;
}

Result<int> run(const InspectRequest& request) {
  auto file = open_input(request.file);
  if (!file) return std::unexpected(file.error());
  if (object::is_gpu_core(file->bytes())) return run_core(request, file->bytes());
  if (is_catalyst(file->bytes()))
    return inspect_catalyst({.file = request.file, .kernel = request.kernel, .json = request.json}, file->bytes());
  if (request.wave) return wrong_usage(fmt::format("--wave: {} is not a core file of a GPU", request.file));
  const auto code = select_code(request.file, *std::move(file), request.gpu);
  if (!code) return std::unexpected(code.error());
  Json all = Json::array();
  std::optional<support::Error> not_there;
  for (const object::FoundCodeObject& each : code->found.code_objects) {
    const std::string place = fmt::format("{}: {}", request.file, each.where);
    auto description = describe_code(each, {}, request.work_group_size);
    if (!description) return support::within(place, description.error());
    if (!request.kernel.empty()) {
      std::vector<std::string> names;
      for (const Json& kernel : (*description)["kernels"]) names.push_back(string_of(kernel, "name"));
      const auto name = find_kernel(names, request.kernel, each.id);
      if (!name) {
        not_there = name.error();
        continue;
      }
      description = describe_code(each, *name, request.work_group_size);
      if (!description) return support::within(place, description.error());
    }
    all.push_back(std::move(*description));
  }
  if (all.empty() && not_there) return support::within(request.file, *not_there);
  if (request.json) {
    fmt::print("{}\n", all.dump(2));
    return 0;
  }
  for (const Json& each : all) {
    if (&each != &all.front()) fmt::print("\n");
    print_header(each);
    if (request.kernel.empty()) print_tables(each);
    print_pal(each);
    print_mesa(each);
    for (const Json& kernel : each["kernels"]) print_kernel(kernel);
  }
  return 0;
}

}  // namespace

void add_inspect(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<InspectRequest>();
  CLI::App* command = app.add_subcommand("inspect", "Describe code objects and core files");
  command->formatter(
      with_usage("atoll inspect FILE [--gpu NAME] [--kernel NAME] [--block N] [--json]\n"
                 "       atoll inspect CORE [--wave N] [--json]"));
  command
      ->add_option("FILE", request->file,
                   "A code object, a relocatable, an offload bundle, or a program,\nlibrary or archive (.a) with such; "
                   "a core file of a GPU\n(atoll run --core); or an OpenCL binary of AMD's Catalyst driver")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--gpu", request->gpu,
                   "Of several code objects those for this processor or target ID\n"
                   "(gfx90a:xnack-), or those that this product would run (mi250x)")
      ->type_name("GPU");
  command->add_option("--kernel", request->kernel, "This kernel only, by its name, mangled or not")->type_name("NAME");
  command
      ->add_option("--block", request->work_group_size,
                   "Work-items of the work-groups for which occupancy is given:\n"
                   "the most that the kernel allows, without it")
      ->type_name("N")
      ->check(positive(max_work_items));
  command->add_option("--wave", request->wave, "In a core file, this wave only, with all its registers")
      ->type_name("N");
  command->add_flag("--json", request->json, "Print JSON");
  command->callback([request, &invocation] { invocation.work = [request] { return run(*request); }; });
}

}  // namespace Atoll::tools

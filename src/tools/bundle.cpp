// tools: `atoll bundle`, the offload bundles in which clang packs the code objects of several GPUs.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "object/bundle.h"
#include "object/bundle_writer.h"
#include "object/code_object.h"
#include "support/bytes.h"
#include "target/named_target.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/files.h"

namespace Atoll::tools {

namespace {

using support::ErrorKind;
using support::fail;
using support::Result;

/// The largest page of any host that maps bundles: between entries there are no more zeros.
constexpr uint64_t largest_alignment = uint64_t{2} << 20;

struct BundleRequest {
  std::string file, output, gpu, compression = "none";
  std::vector<std::string> entries;
  uint64_t alignment = 4096;
  bool json = false;
};

/// Returns the target of an entry as its ID spells it ("gfx90a:xnack-"), or the ID if it has none.
std::string target_of(const std::string& id) {
  const auto target = target::parse_target_id(object::target_of_entry(id));
  return target ? target->to_string() : id;
}

/// True if `--gpu` selects this entry: by its ID, or by a target ID with the same settings.
bool is_wanted(const std::string& gpu, const std::string& id) {
  if (gpu.empty() || gpu == id) return true;
  const auto wanted = target::find_target(gpu);
  return wanted && wanted->to_string() == target_of(id);
}

Result<int> list(const BundleRequest& request) {
  const auto file = open_input(request.file);
  if (!file) return std::unexpected(file.error());
  const auto found = object::find_code_objects(file->bytes());
  if (!found) return support::within(request.file, found.error());
  if (request.json) {
    auto entries = nlohmann::ordered_json::array();
    for (const auto& entry : found->code_objects) {
      entries.push_back({{"bundle", entry.bundle}, {"id", entry.id}, {"bytes", entry.bytes.size()}});
    }
    fmt::print("{}\n", entries.dump(2));
    return 0;
  }
  fmt::print("{:<8}{:>12}  {}\n", "BUNDLE", "BYTES", "ENTRY");
  for (const auto& entry : found->code_objects) {
    fmt::print("{:<8}{:>12}  {}\n", entry.bundle, entry.bytes.size(), entry.id);
  }
  return 0;
}

Result<int> extract(const BundleRequest& request) {
  const auto file = open_input(request.file);
  if (!file) return std::unexpected(file.error());
  const auto found = object::find_code_objects(file->bytes());
  if (!found) return support::within(request.file, found.error());
  std::vector<const object::FoundCodeObject*> chosen;
  for (const auto& entry : found->code_objects) {
    if (is_wanted(request.gpu, entry.id)) chosen.push_back(&entry);
  }
  if (chosen.empty()) {
    return fail(ErrorKind::not_found, "{}: no code for {}; there is code for {}", request.file, request.gpu,
                object::targets_of(*found));
  }
  const bool to_output = is_standard_output(request.output);
  if (to_output && chosen.size() > 1) {
    return wrong_usage(fmt::format("cannot write {} code objects to one output; choose one with --gpu, of {}",
                                   chosen.size(), object::targets_of(*found)));
  }
  for (size_t i = 0; i < chosen.size(); ++i) {
    std::string path = request.output;
    if (chosen.size() > 1) {
      std::string target = target_of(chosen[i]->id);
      for (char& c : target) c = c == ':' ? '.' : c;
      path = fmt::format("{}.{}.{}.co", request.output, chosen[i]->bundle, target);
    }
    if (auto ok = write_file(path, chosen[i]->bytes); !ok) return std::unexpected(ok.error());
    if (!to_output) fmt::print("{}: {} bytes, {}\n", path, chosen[i]->bytes.size(), chosen[i]->id);
  }
  return 0;
}

/// Refuses a code object for another target than its entry's: a runtime would load it on GPUs that it does not run on.
Result<void> check_entry(std::span<const uint8_t> file, const target::TargetId& entry) {
  constexpr std::string_view bitcode = "BC\xC0\xDE";
  if (support::starts_with(file, bitcode)) return {};  // its target is not in a header
  const auto target = object::read_target(file);
  if (!target) return std::unexpected(target.error());
  if (target::check_runs_on(*target, entry)) return {};
  return fail(ErrorKind::incompatible, "the code object is for {}, the entry for {}", target->to_string(),
              entry.to_string());
}

Result<int> make(const BundleRequest& request) {
  std::vector<support::MappedFile> files;
  std::vector<object::BundleEntry> entries{{.id = object::host_entry_id, .bytes = {}}};
  for (const std::string& text : request.entries) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) return wrong_usage(fmt::format("'{}' is not GPU=FILE", text));
    const auto target = target::find_target(text.substr(0, equals));
    if (!target) return std::unexpected(target.error());
    auto file = open_input(text.substr(equals + 1));
    if (!file) return std::unexpected(file.error());
    if (auto same = check_entry(file->bytes(), *target); !same) return support::within(text, same.error());
    files.push_back(std::move(*file));
    entries.push_back({.id = "hipv4-amdgcn-amd-amdhsa--" + target->to_string(), .bytes = files.back().bytes()});
  }
  const auto compression = request.compression == "zstd"   ? object::Compression::zstd
                           : request.compression == "zlib" ? object::Compression::zlib
                                                           : object::Compression::none;
  const auto bundle = object::write_bundle(entries, request.alignment, compression);
  if (!bundle) return std::unexpected(bundle.error());
  if (auto ok = write_file(request.output, *bundle); !ok) return std::unexpected(ok.error());
  return 0;
}

}  // namespace

void add_bundle(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<BundleRequest>();
  CLI::App* command = app.add_subcommand("bundle", "List, extract and make offload bundles");
  command->require_subcommand(1);
  const auto work_with = [request, &invocation](Result<int> (*work)(const BundleRequest&)) {
    return [request, &invocation, work] { invocation.work = [request, work] { return work(*request); }; };
  };

  CLI::App* list_command = command->add_subcommand("list", "List the code objects in a file");
  list_command->formatter(with_usage("atoll bundle list FILE [--json]"));
  list_command->add_option("FILE", request->file, "A bundle, or an executable or library that has some")
      ->type_name("FILE")
      ->required();
  list_command->add_flag("--json", request->json, "Print JSON");
  list_command->callback(work_with(list));

  CLI::App* extract_command = command->add_subcommand("extract", "Write the code objects of a file to files");
  extract_command->formatter(with_usage("atoll bundle extract FILE -o OUT [--gpu TARGET]"));
  extract_command->add_option("FILE", request->file, "A bundle, or an executable or library that has some")
      ->type_name("FILE")
      ->required();
  extract_command
      ->add_option("-o,--output", request->output,
                   "File to write, or - for standard output; of several, each\ngets bundle and target after it")
      ->type_name("FILE")
      ->required();
  extract_command->add_option("--gpu", request->gpu, "Target ID of the entries wanted; all without it")
      ->type_name("GPU");
  extract_command->callback(work_with(extract));

  CLI::App* make_command = command->add_subcommand("make", "Pack code objects into a bundle");
  make_command->formatter(with_usage("atoll bundle make GPU=FILE... -o OUT [--compress zstd]"));
  make_command->add_option("GPU=FILE", request->entries, "Target ID and code object of each entry")
      ->type_name("")
      ->required();
  make_command->add_option("-o,--output", request->output, "File to write; - is standard output")
      ->type_name("FILE")
      ->required();
  make_command->add_option("--compress", request->compression, "none, zlib or zstd")
      ->type_name("METHOD")
      ->check(CLI::IsMember({"none", "zlib", "zstd"}));
  make_command->add_option("--align", request->alignment, "Alignment of the entries")
      ->type_name("BYTES")
      ->check(positive(largest_alignment));
  make_command->callback(work_with(make));
}

}  // namespace Atoll::tools

// tools: `atoll run`, which runs a program so that it finds Atoll's HSA runtime in place of the system's.
//
// It is the gate for all settings (support/settings.h): it takes them from its options or, without the option, from the
// environment, validates all of them as hsa_init does, chooses a GPU where none is named, and hands them to the runtime
// in environment variables. Then it becomes the program: exit code, signals and streams are the program's own because
// nothing is left in between. With --check or --stats it supervises the program instead (supervise.h).
//
// The runtime is preloaded. The loader takes a library that is there already for every later need of one of its SONAME,
// so a program whose DT_RPATH leads to the real runtime gets Atoll's all the same, and so does what it loads later; and
// functions are looked up in it first, so even one that brings a real runtime under another name calls Atoll's. The
// directory comes first in LD_LIBRARY_PATH, too, for programs that ask for the library by its name without a number.
// Both variables reach the programs that it starts; the loader leaves them out for set-user-ID programs.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "object/bundle.h"
#include "object/elf.h"
#include "settings/configuration.h"
#include "settings/values.h"
#include "support/bytes.h"
#include "support/mapped_file.h"
#include "target/topology.h"
#include "tools/child_program.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/driver_files.h"
#include "tools/private_directory.h"
#include "tools/supervise.h"

namespace Atoll::tools {

using settings::Setting;
using settings::Values;
using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

namespace fs = std::filesystem;

constexpr const char* runtime_name = "libhsa-runtime64.so.1";
constexpr const char* driver_name = "libatoll-driver.so";
constexpr const char* hip_calls_name = "libatoll-hip-calls.so";

/// The options that stand for a setting each, with their values as text.
struct RunOptions {
  std::array<std::string, std::size(support::setting_rows)> text;

  std::string& of(support::Setting setting) { return text[static_cast<size_t>(setting)]; }
};

/// The dynamic loader that an ELF program asks for; nothing for a static program, a script or another file.
std::optional<std::string> interpreter_of(std::span<const uint8_t> file) {
  const auto header = support::read<Elf64_Ehdr>(file, 0);
  if (!header || !support::starts_with(file, ELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64) return std::nullopt;
  for (unsigned i = 0; i < header->e_phnum; i++) {
    const auto program = support::read<Elf64_Phdr>(file, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!program || program->p_type != PT_INTERP) continue;
    const auto text = support::read_text(file, program->p_offset);
    if (text) return std::string(*text);
  }
  return std::nullopt;
}

/// The libraries that a program is linked with, directly or not, as its own dynamic loader finds them.
std::vector<std::string> libraries_of(const std::string& program, const std::string& loader) {
  const auto quoted = [](const std::string& text) {
    std::string result = "'";
    for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
  };
  std::vector<std::string> libraries;
  FILE* list = popen(fmt::format("{} --list {} 2>/dev/null", quoted(loader), quoted(program)).c_str(), "r");
  if (list == nullptr) return libraries;
  char line[4096];
  while (fgets(line, sizeof line, list) != nullptr) {  // "\tlibm.so.6 => /lib/libm.so.6 (0x0000...)"
    const std::string_view text = line;
    const size_t arrow = text.find("=> /"), end = text.rfind(" (");
    if (arrow != std::string_view::npos && end != std::string_view::npos && end > arrow + 3)
      libraries.emplace_back(text.substr(arrow + 3, end - arrow - 3));
  }
  pclose(list);
  return libraries;
}

/// The GPU code of a program, a file's each, or of its libraries when it has none itself.
struct ProgramCode {
  std::vector<support::MappedFile> files;
  std::vector<std::string> paths;  ///< of those with code, in the order of `found`
  std::vector<object::FoundCodeObjects> found;

  void add(const std::string& path) {
    auto file = support::MappedFile::open(path);
    if (!file) return;
    auto code = object::find_targets(file->bytes());  // a file that has none that can be read does not matter here
    if (!code || code->code_objects.empty()) return;
    files.push_back(std::move(*file));
    paths.push_back(path);
    found.push_back(std::move(*code));
  }
};

ProgramCode code_of(const std::string& path, std::span<const uint8_t> program) {
  ProgramCode code;
  code.add(path);
  const auto loader = interpreter_of(program);
  if (code.found.empty() && loader)
    for (const std::string& library : libraries_of(path, *loader)) code.add(library);
  return code;
}

/// Says that a program is linked with a HIP that Atoll does not serve.
void warn_of_another_rocm(const std::string& path, std::span<const uint8_t> program) {
  constexpr std::string_view hip = "libamdhip64.so.";
  constexpr unsigned oldest = 5, newest = 7;
  const auto header = support::read<Elf64_Ehdr>(program, 0);
  if (!header || !support::starts_with(program, ELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64) return;
  for (unsigned i = 0; i < header->e_shnum; i++) {
    const auto section = support::read<Elf64_Shdr>(program, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section || section->sh_type != SHT_STRTAB || (section->sh_flags & SHF_ALLOC) == 0) continue;
    if (section->sh_offset > program.size() || section->sh_size > program.size() - section->sh_offset) continue;
    const std::string_view names(reinterpret_cast<const char*>(program.data()) + section->sh_offset, section->sh_size);
    const size_t found = names.find(hip);
    if (found == std::string_view::npos) continue;
    unsigned version = 0;
    std::from_chars(names.data() + found + hip.size(), names.data() + names.size(), version);
    if (version < oldest || version > newest)
      fmt::print(stderr, "atoll: {} is linked with the HIP of ROCm {}; Atoll runs programs of ROCm 5.2 to 7.2\n", path,
                 version);
  }
}

/// Says that the GPU that was named does not run a program's own code, before HIP does, which may crash. Of its
/// libraries' code the runtime says it, which sees those that the program loads itself, too (hsa/client.h).
void warn_of_code_that_does_not_fit(const std::string& path, std::span<const uint8_t> program,
                                    const target::GpuModel& gpu, const std::string& option) {
  const auto code = object::code_that_does_not_run(program, gpu.target);
  if (!code) return;
  fmt::print(stderr, "atoll: {}: the GPU code is for {}, and {} {} is {}; {}\n", path, object::targets_of(*code),
             option, gpu.product.name, gpu.target.to_string(), object::who_runs(*code));
}

/// Warns of a ROCm that is too old or too new, and of each kind of GPU that does not run the program's code.
void warn_of_named(const std::string& path, std::span<const target::GpuModel> gpus, const std::string& option) {
  const auto program = support::MappedFile::open(path);
  if (!program) return;  // it may be run, but not read
  warn_of_another_rocm(path, program->bytes());
  std::set<std::string> seen;
  for (const target::GpuModel& gpu : gpus)
    if (seen.insert(target::name_of(gpu)).second) warn_of_code_that_does_not_fit(path, program->bytes(), gpu, option);
}

/// `count` GPUs of a kind that runs the program's code. A program without any code that can be seen from outside may
/// load some later: it gets the usual GPU.
Result<std::vector<target::GpuModel>> choose_gpus(const std::string& path, unsigned count) {
  const auto program = support::MappedFile::open(path);
  if (!program) return std::unexpected(program.error());
  warn_of_another_rocm(path, program->bytes());
  const ProgramCode code = code_of(path, program->bytes());
  const auto gpu = object::choose_gpu(code.found, target::wants_xnack());
  if (!gpu) return support::within(code.paths.size() == 1 ? code.paths[0] : path, gpu.error());
  return std::vector<target::GpuModel>(std::max(1U, count), *gpu);
}

/// The directory of Atoll's HSA runtime, from where this command lies: a build tree's bin/ or an installation's.
Result<fs::path> runtime_directory() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return fail(ErrorKind::system, "cannot find the atoll command's own file: {}", error.message());
  const fs::path candidates[] = {self.parent_path() / "../" ATOLL_LIBDIR "/atoll", self.parent_path() / "../lib"};
  for (const fs::path& candidate : candidates)
    if (fs::exists(candidate / runtime_name, error)) return fs::weakly_canonical(candidate);
  return fail(ErrorKind::not_found, "Atoll's {} is neither in {} nor in {}: is the installation complete?",
              runtime_name, candidates[0].lexically_normal().string(), candidates[1].lexically_normal().string());
}

/// Puts `value` at the beginning of a list in the environment.
void prepend(const char* variable, const std::string& value) {
  const char* old = std::getenv(variable);
  const std::string joined = old != nullptr && *old != '\0' ? value + ":" + old : value;
  setenv(variable, joined.c_str(), 1);
}

/// The settings by their precedence: an option, else the environment variable.
Result<Values> settings_of(const CLI::App& run, const RunOptions& options) {
  Values values = Values::from_environment();
  // The GPU that an `atoll run` around this one has chosen for its own program was named by no one.
  if (values.get(Setting::gpu) == values.get(Setting::chosen_gpu)) values.unset(Setting::gpu);
  values.unset(Setting::chosen_gpu);
  values.unset(Setting::driver);
  values.unset(Setting::record);
  for (const support::SettingRow& row : support::setting_rows) {
    if (row.option.empty()) continue;
    const CLI::Option* const option = run.get_option(std::string(row.option));
    if (option->count() > 1) return wrong_usage(fmt::format("{} is given twice", row.option));
    if (option->count() == 0) continue;
    const std::string& text = options.text[static_cast<size_t>(row.id)];
    if (text.empty()) return wrong_usage(fmt::format("{} has no value", row.option));
    values.set_by_option(row.id, text);
  }
  values.make_paths_absolute();
  return values;
}

/// Refuses misspelt names of environment variables, and warns of those that have no meaning.
Result<void> check_variable_names() {
  const settings::NameFaults faults = settings::check_names();
  if (!faults.errors.empty()) return wrong_usage(fmt::format("{}", fmt::join(faults.errors, "; ")));
  for (const std::string& warning : faults.warnings) fmt::print(stderr, "atoll: {}\n", warning);
  return {};
}

/// The directory for the records of the run's processes, where there is anything to report of them.
std::optional<fs::path> record_directory(const settings::Configuration& configuration) {
  if (configuration.statistics.empty() && !configuration.check.any()) return std::nullopt;
  auto made = make_run_directory();
  if (made) return std::move(*made);
  fmt::print(stderr, "atoll: processes that are killed, or end by _exit(), will report nothing: {}\n",
             made.error().message);
  return std::nullopt;
}

/// A wrong value, with where to read about it.
std::unexpected<support::Error> refused(support::Error error) {
  error.message += " (`atoll run --help` explains it)";
  return std::unexpected(std::move(error));
}

Result<int> run_program(const CLI::App& run, const RunOptions& options, std::vector<std::string> command) {
  if (command.empty()) return wrong_usage("which program? `atoll run [OPTIONS] -- PROGRAM ARGUMENTS...`");
  if (command[0].starts_with("-"))
    return wrong_usage(
        fmt::format("atoll run has no option {} (`atoll run --help`); a program's name goes after --", command[0]));
  if (const auto names = check_variable_names(); !names) return std::unexpected(names.error());
  auto values = settings_of(run, options);
  if (!values) return refused(values.error());
  auto gpus = settings::named_gpus(*values);
  if (!gpus) return std::unexpected(gpus.error());
  const auto count = settings::number_of_gpus(*values);
  if (!count) return refused(count.error());
  const auto memory = settings::memory_of_a_gpu(*values);
  if (!memory) return refused(memory.error());
  auto path = find_program(command[0]);
  if (!path) return std::unexpected(path.error());
  const bool are_named = !gpus->empty();
  if (are_named) {
    warn_of_named(*path, *gpus, values->name(Setting::gpu));
  } else {
    gpus = choose_gpus(*path, *count);
    if (!gpus) return std::unexpected(gpus.error());
  }
  values->set(Setting::gpu, target::names_of(*gpus));
  if (are_named || *count == 0)
    values->unset(Setting::gpus);  // the list says it
  else
    values->set(Setting::gpus, fmt::format("{}", *count));
  if (!are_named) values->set(Setting::chosen_gpu, target::names_of(*gpus));
  const auto configuration = settings::read_configuration(*values);
  if (!configuration) return refused(configuration.error());
  if (const auto cache = settings::check_cache_directory(*values); !cache) return std::unexpected(cache.error());
  const auto directory = runtime_directory();
  if (!directory) return std::unexpected(directory.error());

  const auto libraries = loader_path(*directory);
  if (!libraries) return std::unexpected(libraries.error());
  prepend("LD_LIBRARY_PATH", libraries->string());
  prepend("LD_PRELOAD", (*libraries / runtime_name).string());
  // HIP refuses wrong calls without a word to the runtime; this library reports them to the checkers.
  if (configuration->check.any() && fs::exists(*directory / hip_calls_name))
    prepend("LD_PRELOAD", (*libraries / hip_calls_name).string());
  // Some programs query the kernel driver before the runtime; this library answers for it.
  if (fs::exists(*directory / driver_name)) {
    // Where nothing can be written, programs do without the driver's files: hardly any needs them.
    if (const auto files = make_driver_files(*gpus, *memory)) values->set(Setting::driver, files->string());
    prepend("LD_PRELOAD", (*libraries / driver_name).string());
  }

  const auto records = record_directory(*configuration);
  if (records) values->set(Setting::record, records->string());
  values->export_all();

  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  if (records) return supervise(*path, arguments, *records, configuration->check.exit_code.value_or(0));
  execv(path->c_str(), arguments.data());
  return fail(ErrorKind::system, "cannot run {}: {}", *path, std::strerror(errno));
}

}  // namespace

/// The variables of the table, a line for each.
static std::string variables_text() {
  std::string text;
  for (const support::SettingRow& row : support::setting_rows) {
    if (row.meaning.empty()) continue;
    text += row.option.empty() ? fmt::format("  {:<24}  {}\n", row.name, row.meaning)
                               : fmt::format("  {:<24}  {}: {}\n", row.name, row.option, row.meaning);
  }
  return text;
}

void add_run(CLI::App& app, Invocation& invocation) {
  CLI::App* run = app.add_subcommand("run", "Run a ROCm or HIP program on a virtual GPU");
  auto options = std::make_shared<RunOptions>();
  // All values are text here: Values reads and validates them, whether they come from here or from the environment.
  run->formatter(with_usage("atoll run [OPTIONS] -- PROGRAM [ARGUMENTS...]"));
  run->add_option("--gpu", options->of(Setting::gpu),
                  "A product (mi250x), a processor (gfx90a) or a target ID (gfx90a:xnack+);\n"
                  "`atoll gpus` lists them; several, separated by commas, for a machine with several\n"
                  "GPUs. Without it, a GPU that runs the program's code")
      ->type_name("GPU");
  run->add_option("--gpus", options->of(Setting::gpus), "Number of GPUs of that type, up to 64")->type_name("N");
  run->add_option("--memory", options->of(Setting::memory),
                  "The memory of each GPU (4G, 512M), in place of the product's")
      ->type_name("SIZE");
  add_statistics_option(*run, options->of(Setting::stats));
  run->add_option("--timeout", options->of(Setting::timeout), "Stop a kernel that runs longer than this")
      ->type_name("SECONDS");
  run->add_option("--engine", options->of(Setting::engine),
                  "The engine that runs the kernels: compiled (the default)\nor interpreter")
      ->type_name("ENGINE");
  run->add_option("--schedule", options->of(Setting::schedule),
                  "The order in which waves run: fast (the default), fair (side by side, as on\n"
                  "hardware) or a number, the seed of a random order; the interpreter runs them")
      ->type_name("SCHEDULE");
  run->add_option("--threads", options->of(Setting::threads),
                  "Host threads that run work-groups; all of the host's without it")
      ->type_name("N");
  add_core_option(*run, options->of(Setting::core));
  add_check_options(*run, options->of(Setting::check), options->of(Setting::check_report),
                    options->of(Setting::check_exit_code), options->of(Setting::check_suppressions));
  // settings_of() refuses an option that is given twice, in words of its own.
  for (CLI::Option* option : run->get_options()) option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  run->footer(
      "The program's exit code, signals, standard streams and environment are its own.\n\n"
      "Environment variables set the options that are not given; a value that is not allowed, and a\n"
      "name that is misspelt, end the run before the program starts:\n" +
      variables_text() + "\n" +
      "Examples:\n"
      "  atoll run -- ./saxpy 1000000\n"
      "  atoll run --gpu vega64 --stats -- ./saxpy 1000000\n"
      "  atoll run --gpu gfx90a:xnack+ -- rocminfo\n"
      "  atoll run --gpus 4 --memory 8G -- ./all_reduce\n"
      "  atoll run --gpu mi250x,rx7900xtx -- rocminfo");
  run->prefix_command();  // the program may stand there without "--" too
  run->callback([run, options, &invocation] {
    invocation.work = [run, options, &invocation] {
      std::vector<std::string> command = run->remaining();
      command.insert(command.end(), invocation.after_dashes.begin(), invocation.after_dashes.end());
      return run_program(*run, *options, std::move(command));
    };
  });
}

}  // namespace Atoll::tools

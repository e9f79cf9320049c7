// tools: `atoll run`, which runs a program so that it finds Atoll's HSA runtime in place of the system's.
//
// It settles which GPU, says so to the runtime in environment variables (ATOLL_GPU, ATOLL_STATS, ATOLL_TIMEOUT,
// ATOLL_THREADS, ATOLL_ENGINE), puts the runtime's directory first in LD_LIBRARY_PATH and becomes the program: exit
// code, signals and streams are the program's own because nothing is left in between.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "object/bundle.h"
#include "object/elf.h"
#include "support/bytes.h"
#include "support/mapped_file.h"
#include "tools/command.h"
#include "tools/command_line.h"

namespace Atoll::tools {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

namespace fs = std::filesystem;

constexpr const char* runtime_name = "libhsa-runtime64.so.1";
constexpr const char* driver_name = "libatoll-driver.so";

struct Options {
  std::string gpu;
  bool statistics = false;
  double timeout = 0;
  unsigned threads = 0;
  std::string engine;
};

/// Finds a program as a shell does: a name with a slash is a path, any other is looked for in PATH.
Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (!fs::exists(name)) return fail(ErrorKind::not_found, "there is no program {}", name);
    return name;
  }
  const char* path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string directory; std::getline(directories, directory, ':');) {
    std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) return candidate;
  }
  return fail(ErrorKind::not_found, "there is no program {} in PATH (one in this directory is ./{})", name, name);
}

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

/// A GPU for a program: one that runs the code in it or, when it has none, the code in its libraries. A program
/// without any code that can be seen from outside may load some later: it gets the usual GPU.
Result<target::GpuModel> choose_gpu_for(const std::string& path) {
  const auto program = support::MappedFile::open(path);
  if (!program) return std::unexpected(program.error());
  std::vector<object::FoundCodeObjects> found;
  const auto add = [&](std::span<const uint8_t> file) {
    auto code = object::find_code_objects(file);  // a file that has none that can be read does not matter here
    if (code && !code->code_objects.empty()) found.push_back(std::move(*code));
  };
  add(program->bytes());
  std::vector<support::MappedFile> libraries;
  const auto loader = interpreter_of(program->bytes());
  if (found.empty() && loader) {
    for (const std::string& library : libraries_of(path, *loader)) {
      auto file = support::MappedFile::open(library);
      if (!file) continue;
      libraries.push_back(std::move(*file));
      add(libraries.back().bytes());
    }
  }
  auto gpu = object::choose_gpu(found);
  if (!gpu) return support::within(path, gpu.error());
  return gpu;
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

/// Puts `value` in front of a list in the environment.
void prepend(const char* variable, const std::string& value) {
  const char* old = std::getenv(variable);
  const std::string joined = old != nullptr && *old != '\0' ? value + ":" + old : value;
  setenv(variable, joined.c_str(), 1);
}

Result<int> run_program(const Options& options, std::vector<std::string> command) {
  if (command.empty()) return wrong_usage("which program? `atoll run [OPTIONS] -- PROGRAM ARGUMENTS...`");
  if (command[0].starts_with("-"))
    return wrong_usage(
        fmt::format("atoll run has no option {} (`atoll run --help`); a program's name goes behind --", command[0]));
  auto path = find_program(command[0]);
  if (!path) return std::unexpected(path.error());
  const auto gpu = options.gpu.empty() ? choose_gpu_for(*path) : target::find_gpu(options.gpu);
  if (!gpu) return std::unexpected(gpu.error());
  const auto directory = runtime_directory();
  if (!directory) return std::unexpected(directory.error());

  const std::string settings = gpu->target.to_string().substr(gpu->product.processor.size());
  setenv("ATOLL_GPU", fmt::format("{}{}", gpu->product.name, settings).c_str(), 1);
  if (options.statistics) setenv("ATOLL_STATS", "1", 1);
  if (options.timeout > 0) setenv("ATOLL_TIMEOUT", fmt::format("{}", options.timeout).c_str(), 1);
  if (!options.engine.empty()) setenv("ATOLL_ENGINE", options.engine.c_str(), 1);
  if (options.threads > 0) setenv("ATOLL_THREADS", fmt::format("{}", options.threads).c_str(), 1);
  prepend("LD_LIBRARY_PATH", directory->string());
  // Some programs ask for the kernel driver before they ask the runtime; this library answers for it.
  if (fs::exists(*directory / driver_name)) prepend("LD_PRELOAD", (*directory / driver_name).string());

  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  execv(path->c_str(), arguments.data());
  return fail(ErrorKind::system, "cannot run {}: {}", *path, std::strerror(errno));
}

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
  CLI::App* run = app.add_subcommand("run", "Run a ROCm or HIP program on a virtual GPU");
  auto options = std::make_shared<Options>();
  run->formatter(with_usage("atoll run [OPTIONS] -- PROGRAM [ARGUMENTS...]"));
  run->add_option("--gpu", options->gpu,
                  "A product (mi250x), a processor (gfx90a) or a target ID (gfx90a:xnack+);\n"
                  "`atoll gpus` lists them. Without it, a GPU that runs the program's code")
      ->type_name("NAME");
  run->add_flag("--stats", options->statistics, "At exit, print on standard error what each kernel took");
  run->add_option("--timeout", options->timeout, "Stop a kernel that runs longer than this")
      ->type_name("SECONDS")
      ->check(positive());
  run->add_option("--engine", options->engine,
                  "The engine that runs the kernels: compiled (the default)\nor interpreter");
  run->add_option("--threads", options->threads, "Host threads that run work-groups; all of the host's without it")
      ->type_name("N")
      ->check(positive());
  run->footer(
      "The program's exit code, signals, standard streams and environment are its own.\n\n"
      "Examples:\n"
      "  atoll run -- ./saxpy 1000000\n"
      "  atoll run --gpu vega64 --stats -- ./saxpy 1000000\n"
      "  atoll run --gpu gfx90a:xnack+ -- rocminfo");
  run->prefix_command();  // the program may stand there without "--" too
  run->callback([run, options, &invocation] {
    invocation.work = [run, options, &invocation] {
      std::vector<std::string> command = run->remaining();
      command.insert(command.end(), invocation.after_dashes.begin(), invocation.after_dashes.end());
      return run_program(*options, std::move(command));
    };
  });
}

}  // namespace Atoll::tools

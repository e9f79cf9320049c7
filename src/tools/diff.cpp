// tools: `atoll diff`, a kernel compiled by Atoll and by LLVM, executed with the same arguments, and compared.
//
// Both compilers get the same IR, as clang makes it without optimizations. So a difference is one of a code generator
// or of an optimization, or the kernel depends on what the language leaves open. Each side is a launch of its own, as
// the user would run it, which ends by itself when it faults or hangs.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

#include "target/named_target.h"
#include "tools/child_program.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/files.h"
#include "tools/front_end.h"

namespace Atoll::tools {

namespace {

using support::ErrorKind;
using support::fail;
using support::Result;

struct DiffRequest {
  std::string input, gpus, kernel, grid, block, timeout = "60", level = "3";
  std::vector<std::string> arguments;
  FrontEndOptions front_end;
};

/// The results of a launch: the bytes of each buffer argument, and the count of wave instructions.
struct Outcome {
  std::vector<std::vector<uint8_t>> buffers;
  uint64_t instructions = 0;
};

/// The numbers of the arguments that are buffers, from 1 on.
std::vector<size_t> buffers_of(const DiffRequest& request) {
  std::vector<size_t> numbers;
  for (size_t i = 0; i < request.arguments.size(); ++i)
    if (request.arguments[i].starts_with("buf:")) numbers.push_back(i + 1);
  return numbers;
}

Result<Outcome> launch(const DiffRequest& request, const std::string& gpu, const std::string& code,
                       const std::string& prefix) {
  std::vector<std::string> words{"launch",
                                 code,
                                 "--kernel",
                                 request.kernel,
                                 "--gpu",
                                 gpu,
                                 "--grid",
                                 request.grid,
                                 "--timeout",
                                 request.timeout,
                                 "--stats=" + prefix + ".json"};
  const auto add = [&](std::initializer_list<std::string> more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  if (!request.block.empty()) add({"--block", request.block});
  for (const std::string& each : request.arguments) add({"--arg", each});
  const std::vector<size_t> numbers = buffers_of(request);
  for (const size_t each : numbers) add({"--save", fmt::format("{0}={1}.{0}", each, prefix)});
  const auto exit_code = run_program("/proc/self/exe", words);
  if (!exit_code) return std::unexpected(exit_code.error());
  if (*exit_code != 0) return fail(ErrorKind::aborted, "the kernel was not executed (exit code {})", *exit_code);
  Outcome outcome;
  for (const size_t each : numbers) {
    const auto file = open_input(fmt::format("{1}.{0}", each, prefix));
    if (!file) return std::unexpected(file.error());
    outcome.buffers.emplace_back(file->bytes().begin(), file->bytes().end());
  }
  const auto text = read_text_file(prefix + ".json");
  if (!text) return std::unexpected(text.error());
  const auto statistics = nlohmann::json::parse(*text, nullptr, false);
  if (!statistics.is_discarded())
    for (const auto& each : statistics["gpus"])
      for (const auto& kernel : each["kernels"]) outcome.instructions += kernel.value("wave_instructions", uint64_t{0});
  return outcome;
}

/// Prints the first difference of each buffer. Returns whether there is one.
bool report(const std::string& gpu, const DiffRequest& request, const Outcome& own, const Outcome& llvm) {
  const std::vector<size_t> numbers = buffers_of(request);
  bool differs = false;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto &a = own.buffers[i], &b = llvm.buffers[i];
    const auto [at, other] = std::ranges::mismatch(a, b);
    if (at == a.end() && other == b.end()) continue;
    differs = true;
    const size_t word = static_cast<size_t>(at - a.begin()) / 4 * 4;
    uint32_t values[2] = {};
    std::memcpy(&values[0], a.data() + word, std::min<size_t>(4, a.size() - word));
    std::memcpy(&values[1], b.data() + word, std::min<size_t>(4, b.size() - word));
    size_t count = 0;
    for (size_t j = 0; j + 4 <= a.size() && j + 4 <= b.size(); j += 4) count += std::memcmp(&a[j], &b[j], 4) != 0;
    fmt::print("{}: argument {} differs in {} dwords; the first, at byte {}: {:#010x} by Atoll, {:#010x} by LLVM\n",
               gpu, numbers[i], count, word, values[0], values[1]);
  }
  if (!differs)
    fmt::print("{}: equal; {} wave instructions by Atoll, {} by LLVM\n", gpu, own.instructions, llvm.instructions);
  return differs;
}

Result<int> run(DiffRequest& request) {
  const auto language = language_of(request.input);
  if (!language) return std::unexpected(language.error());
  const auto generator = find_own_program("atoll-codegen");
  if (!generator) return std::unexpected(generator.error());
  const auto clang = find_clang(request.front_end);
  if (!clang) return std::unexpected(clang.error());
  if (buffers_of(request).empty()) return wrong_usage("no argument is a buffer, so that nothing could be compared");
  request.front_end.level = static_cast<unsigned>(request.level.front() - '0');
  bool differs = false;
  std::string rest = request.gpus;
  while (!rest.empty()) {
    const std::string name = rest.substr(0, rest.find(','));
    rest = name.size() < rest.size() ? rest.substr(name.size() + 1) : "";
    const auto target = target::find_target(name);
    if (!target) return wrong_usage("--gpu: " + target.error().message);
    request.front_end.target = *target;
    const std::string gpu = target->to_string();
    const auto scratch = ScratchDirectory::make();
    if (!scratch) return std::unexpected(scratch.error());
    std::string ir = request.input;
    if (*language != SourceLanguage::ir) {
      ir = *scratch / "kernel.bc";
      const auto code = compile_to_ir(request.input, *language, ir, request.front_end);
      if (!code) return std::unexpected(code.error());
      if (*code != 0) return 1;
    }
    const std::string version = fmt::format("{}", request.front_end.code_object_version);
    const auto own = run_program(*generator, {ir, "--gpu", gpu, "-O", request.level, "--code-object-version", version,
                                              "--keep-going", "-o", *scratch / "atoll.co"});
    if (!own) return std::unexpected(own.error());
    const auto theirs =
        run_program(*clang, {"-x", "ir", ir, "-w", "-target", "amdgcn-amd-amdhsa", "-mcpu=" + gpu, "-O" + request.level,
                             "-nogpulib", "-mcode-object-version=" + version, "-o", *scratch / "llvm.co"});
    if (!theirs) return std::unexpected(theirs.error());
    if (*own != 0 || *theirs != 0) return 1;
    const auto first = launch(request, gpu, *scratch / "atoll.co", *scratch / "atoll");
    if (!first) return support::within(gpu + ", code by Atoll", first.error());
    const auto second = launch(request, gpu, *scratch / "llvm.co", *scratch / "llvm");
    if (!second) return support::within(gpu + ", code by LLVM", second.error());
    if (report(gpu, request, *first, *second)) differs = true;
  }
  return differs ? 3 : 0;
}

}  // namespace

void add_diff(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<DiffRequest>();
  CLI::App* command = app.add_subcommand("diff", "Compile a kernel by Atoll and by LLVM, run both, and compare");
  command->formatter(with_usage("atoll diff FILE --gpu NAME,... --kernel NAME --grid X,Y,Z --arg VALUE ... [OPTIONS]"));
  command->footer(
      "FILE is what `atoll cc` compiles. Both code generators get the same IR. Each buffer (--arg buf:...) is "
      "compared\n"
      "byte by byte. The exit code is 3 if anything differs.\n\n"
      "Example:\n"
      "  atoll diff saxpy.cl --gpu gfx90a,gfx1100 --kernel saxpy --grid 1024 --arg 2 --arg buf:1024:f32=seed:1 \\\n"
      "      --arg buf:1024:f32=seed:2");
  command->add_option("FILE", request->input, "Source or IR")->type_name("FILE")->required();
  command->add_option("--gpu", request->gpus, "GPUs, separated by commas")->type_name("GPU")->required();
  command->add_option("--kernel", request->kernel, "Its name")->type_name("NAME")->required();
  command->add_option("--grid", request->grid, "Work-items in all")->type_name("X,Y,Z")->required();
  command->add_option("--block", request->block, "Work-items per work-group, as for `atoll launch`")
      ->type_name("X,Y,Z");
  command->add_option("--arg", request->arguments, "An argument, as for `atoll launch`")
      ->type_name("VALUE")
      ->allow_extra_args(false);
  command->add_option("-O", request->level, "Level of optimization of both: 0 to 3 (3)")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"0", "1", "2", "3"}));
  command->add_option("--timeout", request->timeout, "Stop a kernel that runs longer than this (60)")
      ->type_name("SECONDS");
  command->add_option("--clang", request->front_end.clang, "The clang 22 to use (clang-22 in PATH)")->type_name("PATH");
  command->add_option("--clang-option", request->front_end.others, "An option for clang")
      ->type_name("OPTION")
      ->allow_extra_args(false);
  command->add_option("--rocm-device-lib-path", request->front_end.library_path, "Folder of AMD's device library")
      ->type_name("DIRECTORY");
  command->callback([request, &invocation] { invocation.work = [request] { return run(*request); }; });
}

}  // namespace Atoll::tools

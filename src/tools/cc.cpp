// tools: `atoll cc`, sources or LLVM IR to a code object by Atoll's own code generator.
//
// Three programs: clang makes IR of sources, atoll-codegen makes code of IR, and this one finds both and gives them
// their files.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "target/named_target.h"
#include "tools/child_program.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/files.h"
#include "tools/front_end.h"

namespace Atoll::tools {

namespace {

using support::Result;

struct CompileRequest {
  std::vector<std::string> inputs;
  std::string output, gpu, language, print_after, level = "3";
  bool keep_going = false, relocatable = false, assembly = false, wave64 = false, wave32 = false, no_library = false;
  FrontEndOptions front_end;
};

Result<SourceLanguage> source_language(const CompileRequest& request, const std::string& path) {
  if (request.language.empty()) return language_of(path);
  constexpr std::pair<std::string_view, SourceLanguage> names[] = {{"ir", SourceLanguage::ir},
                                                                   {"cl", SourceLanguage::opencl},
                                                                   {"hip", SourceLanguage::hip},
                                                                   {"c", SourceLanguage::c},
                                                                   {"c++", SourceLanguage::cpp}};
  for (const auto& [name, language] : names)
    if (name == request.language) return language;
  return wrong_usage("-x " + request.language);
}

Result<int> run(CompileRequest& request) {
  const auto target = target::find_target(request.gpu);
  if (!target) return wrong_usage("--gpu: " + target.error().message);
  FrontEndOptions& front_end = request.front_end;
  front_end.target = *target;
  front_end.wave_size = request.wave32 ? 32 : request.wave64 ? 64 : 0;
  front_end.level = static_cast<unsigned>(request.level.front() - '0');
  front_end.device_library = !request.no_library;
  if (auto ok = check_wave_size(*target->processor, front_end.wave_size); !ok) return std::unexpected(ok.error());
  const auto generator = find_own_program("atoll-codegen");
  if (!generator) return std::unexpected(generator.error());
  const auto scratch = ScratchDirectory::make();
  if (!scratch) return std::unexpected(scratch.error());

  const std::string code = *scratch / "code";
  std::vector<std::string> arguments;
  for (const std::string& path : request.inputs) {
    const auto language = source_language(request, path);
    if (!language) return std::unexpected(language.error());
    std::string ir = path;
    if (*language != SourceLanguage::ir) {
      ir = *scratch / fmt::format("{}.bc", arguments.size());
      const auto compiled = compile_to_ir(path, *language, ir, front_end);
      if (!compiled) return std::unexpected(compiled.error());
      if (*compiled != 0) return 1;
    }
    arguments.push_back(ir);
  }
  const auto add = [&](std::initializer_list<std::string> words) {
    arguments.insert(arguments.end(), words.begin(), words.end());
  };
  add({"--gpu", target->to_string(), "-o", code, "-O", request.level, "--code-object-version",
       fmt::format("{}", front_end.code_object_version)});
  if (front_end.wave_size != 0) add({"--wave-size", fmt::format("{}", front_end.wave_size)});
  if (!request.print_after.empty()) add({"--print-after", request.print_after});
  if (request.keep_going) add({"--keep-going"});
  if (request.assembly) add({"-S"});
  if (request.relocatable) add({"-c"});
  const auto exit_code = run_program(*generator, arguments);
  if (!exit_code || *exit_code != 0) return exit_code;
  const auto made = open_input(code);
  if (!made) return std::unexpected(made.error());
  if (auto ok = write_file(request.output, made->bytes()); !ok) return std::unexpected(ok.error());
  return 0;
}

}  // namespace

void add_cc(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<CompileRequest>();
  CLI::App* command =
      app.add_subcommand("cc", "Compile LLVM IR, OpenCL C or HIP to a code object, without LLVM's backend");
  command->formatter(with_usage("atoll cc FILE... --gpu NAME -o OUT [OPTIONS]"));
  command->footer(
      "FILE is LLVM IR (.ll, .bc), OpenCL C (.cl), HIP (.hip: its device code), C or C++. clang-22 reads sources, and\n"
      "LLVM's generic passes optimize the IR; selection, registers, waits and encoding are Atoll's. All functions are\n"
      "inlined into the kernels. What is not implemented is an error with its name (docs/codegen.md lists it).\n\n"
      "Examples:\n"
      "  atoll cc saxpy.cl --gpu gfx1100 -o saxpy.co\n"
      "  atoll cc saxpy.ll --gpu mi300x -S -o -");
  command->add_option("FILE", request->inputs, "Sources or IR; several are linked")->type_name("FILE")->required();
  command->add_option("--gpu", request->gpu, "Processor, target ID or product: gfx1030, gfx90a:xnack-, mi250x")
      ->type_name("GPU")
      ->required();
  command->add_option("-o,--output", request->output, "File to write; - is standard output")
      ->type_name("FILE")
      ->required();
  command->add_option("-O", request->level, "Level of LLVM's optimizations: 0 to 3 (3)")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"0", "1", "2", "3"}));
  auto* assembly =
      command->add_flag("-S", request->assembly, "Write assembly text, which `atoll asm` and llvm-mc read");
  command->add_flag("-c", request->relocatable, "Write a relocatable object instead of a loadable code object")
      ->excludes(assembly);
  command->add_option("-x", request->language, "Language of the inputs, whatever they are called: ir, cl, hip, c, c++")
      ->type_name("LANGUAGE")
      ->check(CLI::IsMember({"ir", "cl", "hip", "c", "c++"}));
  command->add_option("--std", request->front_end.standard, "Standard of the language: CL2.0, c++20")
      ->type_name("NAME");
  command->add_option("-I", request->front_end.include_directories, "Directory to look for headers in")
      ->type_name("DIRECTORY")
      ->allow_extra_args(false);
  command->add_option("-D", request->front_end.definitions, "NAME or NAME=VALUE: a macro")
      ->type_name("DEFINITION")
      ->allow_extra_args(false);
  command->add_option("--clang-option", request->front_end.others, "An option for clang: --clang-option=-ffast-math")
      ->type_name("OPTION")
      ->allow_extra_args(false);
  command->add_option("--clang", request->front_end.clang, "The clang 22 to use (clang-22 in PATH)")->type_name("PATH");
  command
      ->add_option("--rocm-device-lib-path", request->front_end.library_path,
                   "Folder of AMD's device library (ROCm's own is found)")
      ->type_name("DIRECTORY");
  command->add_flag("--nogpulib", request->no_library, "Link no device library");
  command->add_option("--code-object-version", request->front_end.code_object_version, "4 to 6 (6)")
      ->type_name("N")
      ->check(CLI::Range(4, 6));
  auto* wave32 = command->add_flag("--wave32", request->wave32, "Waves of 32 lanes (what GPUs that have both take)");
  command->add_flag("--wave64", request->wave64, "Waves of 64 lanes, on GPUs that have both")->excludes(wave32);
  command->add_flag("--keep-going", request->keep_going, "Leave out kernels that use what is not implemented");
  command
      ->add_option("--print-after", request->print_after,
                   "Print the machine IR after a pass to standard error; all: after each")
      ->type_name("PASS");
  command->callback([request, &invocation] { invocation.work = [request] { return run(*request); }; });
}

}  // namespace Atoll::tools

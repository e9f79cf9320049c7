// tools: `atoll asm`, assembly text to an object.
#include <charconv>
#include <cstdio>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "assembler/assembler.h"
#include "assembler/catalyst/catalyst_text.h"
#include "object/elf.h"
#include "object/link.h"
#include "object/relocatable.h"
#include "target/named_target.h"
#include "tools/colours.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/files.h"

namespace Atoll::tools {

namespace {

using support::Result;

struct AssembleRequest {
  std::string input, output, gpu, system = "amdhsa";
  bool relocatable = false, syntax_only = false, wave64 = false, wave32 = false;
  unsigned version = 6;
  std::vector<std::string> include_directories, symbols;
};

/// "NAME=VALUE", or "NAME", which is 1.
Result<std::pair<std::string, int64_t>> setting_of(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return std::pair(text, int64_t{1});
  std::string_view digits = std::string_view(text).substr(equals + 1);
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  const bool hexadecimal = digits.starts_with("0x");
  if (hexadecimal) digits.remove_prefix(2);
  uint64_t value = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
  if (end.ec != std::errc() || end.ptr != digits.data() + digits.size()) {
    return wrong_usage(fmt::format("--defsym {}: the value is not a number", text));
  }
  return std::pair(text.substr(0, equals), static_cast<int64_t>(negative ? -value : value));
}

Result<assembler::Options> options_of(const AssembleRequest& request) {
  const auto target = target::find_target(request.gpu);
  if (!target) return wrong_usage("--gpu: " + target.error().message);
  assembler::Options options;
  options.target = *target;
  options.code_object_version = request.version;
  if (request.system == "amdpal") options.os_abi = object::elf::osabi_amdgpu_pal;
  if (request.system == "mesa3d") options.os_abi = object::elf::osabi_amdgpu_mesa3d;
  options.include_directories = request.include_directories;
  const unsigned wave_size = request.wave32 ? 32 : request.wave64 ? 64 : 0;
  if (auto ok = check_wave_size(*target->processor, wave_size); !ok) return std::unexpected(ok.error());
  options.wave32 = target->processor->has_wave_size(32) && !request.wave64;
  for (const std::string& symbol : request.symbols) {
    auto setting = setting_of(symbol);
    if (!setting) return std::unexpected(setting.error());
    options.symbols.push_back(std::move(*setting));
  }
  return options;
}

/// Colours the messages as compilers do: their kinds, and the mark below the place.
std::string coloured(std::string_view messages, const Colours& colours) {
  if (colours.plain.empty()) return std::string(messages);
  std::string text;
  while (!messages.empty()) {
    const std::string_view line = messages.substr(0, messages.find('\n'));
    messages.remove_prefix(std::min(messages.size(), line.size() + 1));
    const bool is_mark = line.find_first_not_of(" \t") == line.find('^') && line.ends_with('^');
    std::string coloured_line(line);
    if (is_mark) coloured_line = fmt::format("{}{}{}", colours.mark, line, colours.plain);
    for (const auto& [kind, colour] :
         {std::pair(": error: ", colours.error), {": warning: ", colours.warning}, {": note: ", colours.note}}) {
      const size_t at = line.find(kind);
      if (is_mark || at == std::string_view::npos) continue;
      const size_t end = at + std::string_view(kind).size();
      coloured_line = fmt::format("{}{}:{} {}{}{}{}", colours.bold, line.substr(0, at), colours.plain, colour,
                                  line.substr(at + 2, end - at - 2), colours.plain, line.substr(end));
      break;
    }
    text += coloured_line + "\n";
  }
  return text;
}

/// Assembles a Catalyst container, whose text names its GPU.
Result<int> write_catalyst(const AssembleRequest& request, const std::string& text) {
  if (!request.gpu.empty()) return wrong_usage("--gpu: .catalyst_target names the GPU");
  if (request.relocatable) return wrong_usage("-c: a Catalyst container is not relocatable");
  assembler::Options options;
  options.include_directories = request.include_directories;
  for (const std::string& symbol : request.symbols) {
    auto setting = setting_of(symbol);
    if (!setting) return std::unexpected(setting.error());
    options.symbols.push_back(std::move(*setting));
  }
  const auto made = assembler::assemble_catalyst(request.input == "-" ? "<stdin>" : request.input, text, options);
  std::fputs(coloured(made.messages, colours_of(stderr)).c_str(), stderr);
  if (!made.bytes) return 1;
  if (request.syntax_only) return 0;
  if (auto ok = write_file(request.output, *made.bytes); !ok) return std::unexpected(ok.error());
  return 0;
}

Result<int> run(const AssembleRequest& request) {
  if (request.output.empty() && !request.syntax_only) return wrong_usage("-o is required, or --syntax-only");
  auto text = read_text_file(request.input);
  if (!text) return std::unexpected(text.error());
  if (assembler::is_catalyst_text(*text)) return write_catalyst(request, *text);
  if (request.gpu.empty()) return wrong_usage("--gpu is required");
  const auto options = options_of(request);
  if (!options) return std::unexpected(options.error());
  auto assembled = assembler::assemble(request.input == "-" ? "<stdin>" : request.input, std::move(*text), *options);
  std::fputs(coloured(assembled.messages, colours_of(stderr)).c_str(), stderr);
  if (!assembled.object) return 1;
  if (request.syntax_only) return 0;
  std::vector<uint8_t> bytes;
  if (request.relocatable) {
    bytes = object::write_relocatable(*assembled.object);
  } else {
    const object::LinkInput input{.name = request.input, .object = std::move(*assembled.object)};
    auto linked = object::link({&input, 1});
    if (!linked) return std::unexpected(linked.error());
    bytes = std::move(*linked);
  }
  if (auto ok = write_file(request.output, bytes); !ok) return std::unexpected(ok.error());
  return 0;
}

}  // namespace

void add_asm(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<AssembleRequest>();
  CLI::App* command = app.add_subcommand("asm", "Assemble AMDGPU assembly text into a code object");
  command->formatter(
      with_usage("atoll asm FILE.s --gpu NAME -o OUT [-c]\n       atoll asm FILE.s --gpu NAME --syntax-only"));
  command->footer(
      "FILE.s is what llvm-mc and clang -S use for AMDGPU: instructions in LLVM's syntax, GNU directives, and the\n"
      "AMDGPU ones (.amdhsa_kernel ...). Mistakes are listed as file:line:column: error: ..., all of them.");
  command->add_option("FILE.s", request->input, "Assembly text; - is standard input")->type_name("FILE")->required();
  command
      ->add_option("--gpu", request->gpu,
                   "Processor, target ID or product: gfx1030, gfx90a:xnack-,\nmi250x; not with .catalyst_target, which "
                   "names the GPU")
      ->type_name("GPU");
  auto* output =
      command->add_option("-o,--output", request->output, "File to write; - is standard output")->type_name("FILE");
  command->add_flag("--syntax-only", request->syntax_only, "Only list the mistakes, and write nothing")
      ->excludes(output);
  command->add_flag("-c", request->relocatable, "Write a relocatable object instead of a loadable code object");
  command->add_option("-I", request->include_directories, "Directory to look for .include and .incbin files in")
      ->type_name("DIRECTORY")
      ->allow_extra_args(false);
  command->add_option("--defsym", request->symbols, "NAME=VALUE: sets a symbol before the first line")
      ->type_name("DEFINITION")
      ->allow_extra_args(false);
  command->add_option("--code-object-version", request->version, "2 to 6 (6)")->type_name("N")->check(CLI::Range(2, 6));
  command->add_option("--os", request->system, "Operating system: amdhsa (the default), amdpal or mesa3d")
      ->type_name("NAME")
      ->check(CLI::IsMember({"amdhsa", "amdpal", "mesa3d"}));
  auto* wave32 = command->add_flag("--wave32", request->wave32, "Waves of 32 lanes (what GPUs that have both take)");
  command->add_flag("--wave64", request->wave64, "Waves of 64 lanes, on GPUs that have both")->excludes(wave32);
  command->callback([request, &invocation] { invocation.work = [request] { return run(*request); }; });
}

}  // namespace Atoll::tools

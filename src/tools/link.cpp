// tools: `atoll link`, relocatable objects to a loadable code object.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "object/link.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/files.h"

namespace Atoll::tools {

namespace {

struct LinkRequest {
  std::vector<std::string> inputs;
  std::string output;
};

support::Result<int> run(const LinkRequest& request) {
  std::vector<object::LinkInput> inputs;
  for (const std::string& path : request.inputs) {
    const auto file = open_input(path);
    if (!file) return std::unexpected(file.error());
    auto object = object::read_relocatable(file->bytes());
    if (!object) return support::within(path, object.error());
    inputs.push_back({.name = path, .object = std::move(*object)});
  }
  const auto linked = object::link(inputs);
  if (!linked) return std::unexpected(linked.error());
  if (auto ok = write_file(request.output, *linked); !ok) return std::unexpected(ok.error());
  return 0;
}

}  // namespace

void add_link(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<LinkRequest>();
  CLI::App* command = app.add_subcommand("link", "Link relocatable objects into a loadable code object");
  command->formatter(with_usage("atoll link FILE.o... -o OUT"));
  command->add_option("FILE.o", request->inputs, "Relocatable objects, as `atoll asm -c` or clang -c write them")
      ->type_name("FILE")
      ->required();
  command->add_option("-o,--output", request->output, "File to write; - is standard output")
      ->type_name("FILE")
      ->required();
  command->callback([request, &invocation] { invocation.work = [request] { return run(*request); }; });
}

}  // namespace Atoll::tools

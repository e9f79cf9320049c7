// codegen: the program atoll-codegen, which `atoll cc` starts: LLVM IR to assembly text or an object.
//
// LLVM 22 is linked into this program only, as LLVM of the compiled engine is into atoll-compiler: the command itself
// starts in a few milliseconds, and a crash of LLVM on invalid IR is a message of the command.
#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "assembler/assembler.h"
#include "codegen/compile_ir.h"
#include "object/link.h"
#include "object/relocatable.h"
#include "target/named_target.h"

namespace Atoll::codegen {

namespace {

using support::ErrorKind;
using support::fail;
using support::Result;

struct Request {
  std::vector<std::string> inputs;
  std::string output, gpu, print_after;
  unsigned wave_size = 0, version = 6, level = 3;
  bool assembly = false, relocatable = false, keep_going = false;
};

Result<std::string> read(const std::string& path) {
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& in = path == "-" ? std::cin : file;
  if (!in) return fail(ErrorKind::not_found, "{}: cannot be read", path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Result<void> write(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return fail(ErrorKind::unsupported, "{}: cannot be written", path);
  return {};
}

Result<void> run(const Request& request) {
  const auto target = target::find_target(request.gpu);
  if (!target) return std::unexpected(target.error());
  std::vector<IrModule> modules;
  for (const std::string& path : request.inputs) {
    auto ir = read(path);
    if (!ir) return std::unexpected(ir.error());
    modules.push_back({.name = path, .ir = std::move(*ir)});
  }
  const CompileOptions options{.target = *target,
                               .wave_size = request.wave_size,
                               .print_after = request.print_after,
                               .version = request.version,
                               .level = request.level,
                               .keep_going = request.keep_going};
  const auto compiled = compile_ir(modules, options);
  if (!compiled) return std::unexpected(compiled.error());
  for (const std::string& each : compiled->refused) fmt::print(stderr, "atoll cc: left out: {}\n", each);
  if (request.assembly) return write(request.output, compiled->assembly);
  const assembler::Options assembly{.target = *target,
                                    .wave32 = target->processor->has_wave_size(32) && request.wave_size != 64,
                                    .code_object_version = request.version,
                                    .include_directories = {},
                                    .symbols = {}};
  auto assembled = assembler::assemble("generated code", compiled->assembly, assembly);
  if (!assembled.object) return fail(ErrorKind::unsupported, "generated code is not valid: {}", assembled.messages);
  std::vector<uint8_t> bytes;
  if (request.relocatable) {
    bytes = object::write_relocatable(*assembled.object);
  } else {
    const object::LinkInput input{.name = request.inputs[0], .object = std::move(*assembled.object)};
    auto linked = object::link({&input, 1});
    if (!linked) return std::unexpected(linked.error());
    bytes = std::move(*linked);
  }
  return write(request.output, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

int main_of(int argc, char** argv) {
  Request request;
  CLI::App app("Compile LLVM IR to a code object (started by `atoll cc`)");
  app.add_option("FILE", request.inputs, "LLVM IR, text or bitcode")->required();
  app.add_option("--gpu", request.gpu)->required();
  app.add_option("-o", request.output)->required();
  app.add_option("--wave-size", request.wave_size);
  app.add_option("--code-object-version", request.version);
  app.add_option("-O", request.level);
  app.add_option("--print-after", request.print_after);
  app.add_flag("--keep-going", request.keep_going);
  app.add_flag("-S", request.assembly);
  app.add_flag("-c", request.relocatable);
  CLI11_PARSE(app, argc, argv);
  if (const auto done = run(request); !done) {
    fmt::print(stderr, "atoll cc: {}\n", done.error().message);
    return 1;
  }
  return 0;
}

}  // namespace

}  // namespace Atoll::codegen

int main(int argc, char** argv) { return Atoll::codegen::main_of(argc, argv); }

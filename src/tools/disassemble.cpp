// tools: `atoll disasm`, machine code as text.
#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "assembler/disassembly/disassembly.h"
#include "library/code_disassembly.h"
#include "tools/catalyst_description.h"
#include "tools/code_selection.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/files.h"
#include "tools/named_processor.h"
#include "tools/ordered_work.h"

namespace Atoll::tools {

namespace {

using assembler::DisassembledSection;
using assembler::Line;
using library::DisassembledCode;
using support::ErrorKind;
using support::fail;
using support::Result;

struct DisassembleRequest {
  std::string file, gpu, kernel;
  unsigned wave_size = 0;
  bool bytes = false, source = false, json = false, raw = false;
};

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// One section as JSON: its lines, each with the name of the symbol or label that it begins, if any.
void append_json(std::string& out, const DisassembledSection& section) {
  auto heading = section.headings.begin();
  auto branch = section.branches.begin();
  auto remark = section.remarks.begin();
  size_t text = 0;
  fmt::format_to(std::back_inserter(out), "{{\"name\": {}, \"address\": {}, \"lines\": [", json_text(section.name),
                 section.address);
  for (uint32_t i = 0; i < section.lines.size(); ++i) {
    const Line& line = section.lines[i];
    std::string instruction = section.text.substr(text, line.text_end - text);
    text = line.text_end;
    while (heading != section.headings.end() && heading->address < line.address) ++heading;
    fmt::format_to(std::back_inserter(out), "{}\n    {{\"address\": {}, \"size\": {}", i == 0 ? "" : ",", line.address,
                   line.size);
    if (heading != section.headings.end() && heading->address == line.address)
      fmt::format_to(std::back_inserter(out), ", \"{}\": {}",
                     heading->is_label ? "label" : (heading->is_kernel ? "kernel" : "symbol"),
                     json_text(heading->name));
    const bool is_branch = branch != section.branches.end() && branch->line == i;
    if (is_branch) instruction += branch->name;
    if (line.kind == Line::Kind::instruction)
      fmt::format_to(std::back_inserter(out), ", \"text\": {}", json_text(instruction));
    if (line.kind != Line::Kind::omitted)
      fmt::format_to(std::back_inserter(out), ", \"bytes\": \"{:02x}\"",
                     fmt::join(section.bytes.subspan(line.address - section.address, line.size), ""));
    if (is_branch) fmt::format_to(std::back_inserter(out), ", \"target\": {}", branch++->target);
    while (remark != section.remarks.end() && remark->line < i) ++remark;
    for (const char* before = ", \"remarks\": ["; remark != section.remarks.end() && remark->line == i; ++remark) {
      out += before;
      out += json_text(remark->text);
      before = remark + 1 != section.remarks.end() && remark[1].line == i ? ", " : "]";
      if (*before == ']') out += before;
    }
    out += '}';
  }
  out += "\n  ]}";
}

Result<void> print(DisassembledCode& code, const object::FoundCodeObject& from, const DisassembleRequest& request) {
  Result<void> written;
  const auto write = [&](std::string& text) {
    if (written) written = write_standard_output(text);
    text.clear();
  };
  std::string text;
  if (request.json) {
    text = fmt::format("{{\"where\": {}, \"id\": {}, \"sections\": [", json_text(from.where), json_text(from.id));
    for (const DisassembledSection& section : code.sections) {
      text += &section == code.sections.data() ? "\n  " : ",\n  ";
      append_json(text, section);
      write(text);
    }
    text += "]}";
  } else {
    library::append_text(text, code, from, {.bytes = request.bytes, .source = request.source}, write);
  }
  write(text);
  return written;
}

Result<int> disassemble_file(const DisassembleRequest& request) {
  auto file = open_input(request.file);
  if (!file) return std::unexpected(file.error());
  if (is_catalyst(file->bytes()))
    return disassemble_catalyst(
        {.file = request.file, .kernel = request.kernel, .json = request.json, .bytes = request.bytes}, file->bytes());
  const auto code = select_code(request.file, *std::move(file), request.gpu);
  if (!code) return std::unexpected(code.error());
  const auto& objects = code->found.code_objects;
  OrderedWork<DisassembledCode> work(objects.size(),
                                     [&](size_t i) { return library::disassemble(objects[i], request.kernel); });
  bool any = false;
  std::optional<support::Error> not_there;
  for (size_t i = 0; i < objects.size(); ++i) {
    auto disassembled = work.take(i);
    if (!disassembled && disassembled.error().kind == ErrorKind::not_found && !request.kernel.empty()) {
      not_there = disassembled.error();
      continue;
    }
    if (!disassembled)
      return support::within(fmt::format("{}: {}", request.file, objects[i].where), disassembled.error());
    const char* between = request.json ? (any ? ",\n" : "[\n") : (any ? "\n" : "");
    if (auto ok = write_standard_output(between); !ok) return std::unexpected(ok.error());
    if (auto ok = print(*disassembled, objects[i], request); !ok) return std::unexpected(ok.error());
    any = true;
  }
  if (!any && not_there) return support::within(request.file, *not_there);
  if (request.json) {
    if (auto ok = write_standard_output("\n]\n"); !ok) return std::unexpected(ok.error());
  }
  return 0;
}

/// Whether the input is text rather than machine code. Code has zeros and bytes above 127 in nearly every word.
bool is_text(std::string_view input) {
  return std::ranges::all_of(input,
                             [](char c) { return (c >= ' ' && c <= '~') || c == '\t' || c == '\r' || c == '\n'; });
}

/// Returns the bytes that a text spells: words of 8 hexadecimal digits and of 16, as listings show them, the lowest
/// byte last, or single bytes of 2; "0x" before them, commas and brackets may be there.
Result<std::vector<uint8_t>> explicit_bytes(std::string_view text) {
  constexpr std::string_view between = " \t\r\n,[]";
  std::vector<uint8_t> bytes;
  for (size_t at = 0; (at = text.find_first_not_of(between, at)) != std::string_view::npos;) {
    const std::string_view whole_word = text.substr(at, text.find_first_of(between, at) - at);
    std::string_view word = whole_word;
    at += word.size();
    if (word.starts_with("0x") || word.starts_with("0X")) word.remove_prefix(2);
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, 16);
    const bool whole = error == std::errc() && end == word.data() + word.size();
    if (!whole || (word.size() != 2 && word.size() != 8 && word.size() != 16))
      return wrong_usage(fmt::format("--raw: '{}' in line {} is not a word of 2, 8 or 16 hexadecimal digits",
                                     whole_word, 1 + std::ranges::count(text.substr(0, at), '\n')));
    for (size_t i = 0; i < word.size() / 2; ++i) bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
  return bytes;
}

Result<int> disassemble_raw(const DisassembleRequest& request) {
  if (request.gpu.empty()) return wrong_usage("--raw requires --gpu");
  const auto named = find_named_processor(request.gpu, "--gpu");
  if (!named) return std::unexpected(named.error());
  const target::Processor* const processor = *named;
  if (auto ok = check_wave_size(*processor, request.wave_size); !ok) return std::unexpected(ok.error());
  auto input = read_text_file(request.file.empty() ? "-" : request.file);
  if (!input) return std::unexpected(input.error());
  auto bytes = is_text(*input) ? explicit_bytes(*input)
                               : Result<std::vector<uint8_t>>(std::in_place, input->begin(), input->end());
  if (!bytes) return std::unexpected(bytes.error());
  const auto section = assembler::disassemble(*bytes, *processor, request.wave_size, 0);
  std::string text;
  if (request.json) {
    append_json(text, section);
    text += '\n';
  } else {
    append_text(text, section, request.bytes, {});
  }
  if (auto ok = write_standard_output(text); !ok) return std::unexpected(ok.error());
  return 0;
}

}  // namespace

void add_disassemble(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<DisassembleRequest>();
  CLI::App* command = app.add_subcommand("disasm", "Print the instructions of code objects");
  command->formatter(
      with_usage("atoll disasm FILE [--gpu NAME] [--kernel NAME] [--bytes] [--source] [--json]\n"
                 "       atoll disasm --raw --gpu NAME [FILE]"));
  command
      ->add_option(
          "FILE", request->file,
          "A code object, a relocatable, an offload bundle, or a program,\nlibrary or archive (.a) with such; or an "
          "OpenCL binary of\nAMD's Catalyst driver")
      ->type_name("FILE");
  command
      ->add_option("--gpu", request->gpu,
                   "Of several code objects those for this processor or target ID\n"
                   "(gfx90a:xnack-), or those that this product would run (mi250x)")
      ->type_name("GPU");
  command->add_option("--kernel", request->kernel, "This kernel only, by its name, mangled or not")->type_name("NAME");
  command->add_flag("--bytes", request->bytes, "Put address and bytes after each instruction");
  auto* source =
      command->add_flag("--source", request->source,
                        "Put source lines before their instructions, of code objects with\ndebug information (-g)");
  command->add_flag("--json", request->json, "Print JSON")->excludes(source);
  command
      ->add_flag("--raw", request->raw,
                 "FILE, or standard input, is instructions alone: binary, or as\n"
                 "text, hexadecimal: 7e000280 (words) or 80 02 00 7e (bytes)")
      ->excludes(source);
  command->add_option("--wave-size", request->wave_size, "With --raw: 32 or 64, where the processor has both")
      ->type_name("LANES")
      ->check(CLI::IsMember({32, 64}));
  command->footer(
      "Examples:\n"
      "  atoll disasm ./program --gpu gfx90a --kernel saxpy\n"
      "  atoll disasm kernels.o --bytes\n"
      "  echo 'bf810000' | atoll disasm --raw --gpu gfx1100");
  command->callback([request, &invocation] {
    invocation.work = [request]() -> Result<int> {
      if (request->raw) return disassemble_raw(*request);
      if (request->file.empty()) return wrong_usage("FILE is required (`atoll disasm --help`)");
      return disassemble_file(*request);
    };
  });
}

}  // namespace Atoll::tools

// library: the public functions that write, read and take apart code objects.
#include <optional>

#include "assembler/assembler.h"
#include "assembler/disassembly/disassembly.h"
#include "atoll/code_tools.h"
#include "library/code_description.h"
#include "library/code_disassembly.h"
#include "library/code_selection.h"
#include "library/failure.h"
#include "library/kernel_names.h"
#include "object/link.h"
#include "object/relocatable.h"
#include "target/named_target.h"

namespace Atoll {

using library::failed;
using library::refuse;
using support::ErrorKind;
using Json = nlohmann::ordered_json;

namespace {

std::span<const uint8_t> as_words(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> as_file(std::span<const uint8_t> bytes) {
  const auto view = std::as_bytes(bytes);
  return {view.begin(), view.end()};
}

/// The code objects of a file that were asked for.
support::Result<object::FoundCodeObjects> find_code(std::span<const std::byte> file, const std::string& gpu) {
  auto found = object::find_code_objects(as_words(file));
  if (!found) return found;
  if (auto selected = library::select_code(*found, gpu); !selected) return std::unexpected(selected.error());
  return found;
}

/// Calls `each`, whose result is a Result, for all code objects. A kernel that is asked for must be in one of them.
template <typename Each>
support::Result<void> for_all(const object::FoundCodeObjects& found, const Each& each) {
  std::optional<support::Error> not_there;
  bool any = false;
  for (const object::FoundCodeObject& code : found.code_objects) {
    support::Result<void> done = each(code);
    if (done) {
      any = true;
    } else if (done.error().kind == ErrorKind::not_found) {
      not_there = std::move(done).error();
    } else {
      return support::within(code.where, std::move(done).error());
    }
  }
  if (!any && not_there) return std::unexpected(std::move(*not_there));
  return {};
}

}  // namespace

Expected<std::vector<std::byte>> assemble(std::string_view text, const AssembleOptions& options) {
  const auto target = target::find_target(options.gpu);
  if (!target) return failed(target.error());
  const target::Processor& processor = *target->processor;
  if (options.wave_size != 0 && !processor.has_wave_size(options.wave_size))
    return refuse(FailureKind::invalid_argument, "{} has no waves of {} lanes", processor.name, options.wave_size);
  if (options.code_object_version < 3 || options.code_object_version > 6)
    return refuse(FailureKind::unsupported, "code objects of version {} cannot be written, only 3 to 6",
                  options.code_object_version);
  auto assembled =
      assembler::assemble(options.name, std::string(text),
                          {.target = *target,
                           .wave32 = options.wave_size == 32 || (options.wave_size == 0 && processor.has_wave_size(32)),
                           .code_object_version = options.code_object_version,
                           .include_directories = options.include_directories,
                           .symbols = options.symbols});
  if (!assembled.object) {
    while (assembled.messages.ends_with('\n')) assembled.messages.pop_back();
    return std::unexpected(
        Failure{.message = std::move(assembled.messages), .kind = FailureKind::invalid_argument, .fault = {}});
  }
  if (options.relocatable) return as_file(object::write_relocatable(*assembled.object));
  const object::LinkInput input{.name = options.name, .object = std::move(*assembled.object)};
  auto linked = object::link({&input, 1});
  if (!linked) return failed(std::move(linked).error());
  return as_file(*linked);
}

Expected<std::vector<std::byte>> link(std::span<const LinkInput> objects) {
  std::vector<object::LinkInput> inputs;
  for (const LinkInput& each : objects) {
    auto object = object::read_relocatable(as_words(each.bytes));
    if (!object) return failed(support::within(each.name, std::move(object).error()).error());
    inputs.push_back({.name = each.name, .object = std::move(*object)});
  }
  if (inputs.empty()) return refuse(FailureKind::invalid_argument, "there is nothing to link");
  auto linked = object::link(inputs);
  if (!linked) return failed(std::move(linked).error());
  return as_file(*linked);
}

Expected<std::string> disassemble(std::span<const std::byte> file, const DisassembleOptions& options) {
  const auto found = find_code(file, options.gpu);
  if (!found) return failed(found.error());
  std::string text;
  const auto append = [&](const object::FoundCodeObject& code) -> support::Result<void> {
    auto disassembled = library::disassemble(code, options.kernel);
    if (!disassembled) return std::unexpected(std::move(disassembled).error());
    if (!text.empty()) text += '\n';
    library::append_text(text, *disassembled, code, {.bytes = options.bytes, .source = options.source});
    return {};
  };
  if (auto done = for_all(*found, append); !done) return failed(std::move(done).error());
  return text;
}

Expected<std::vector<DecodedInstruction>> decode(std::span<const std::byte> code, std::string_view gpu,
                                                 unsigned wave_size) {
  const auto target = target::find_target(gpu);
  if (!target) return failed(target.error());
  const target::Processor& processor = *target->processor;
  if (wave_size == 0) wave_size = processor.has_wave_size(32) ? 32 : 64;
  if (!processor.has_wave_size(wave_size))
    return refuse(FailureKind::invalid_argument, "{} has no waves of {} lanes", processor.name, wave_size);
  const auto section = assembler::disassemble(as_words(code), processor, wave_size, 0);
  std::vector<DecodedInstruction> instructions;
  size_t begin = 0;
  auto branch = section.branches.begin();
  for (uint32_t i = 0; i < section.lines.size(); ++i) {
    const assembler::Line& line = section.lines[i];
    DecodedInstruction one{.offset = line.address, .size = line.size, .text = {}};
    if (line.kind == assembler::Line::Kind::instruction) one.text = section.text.substr(begin, line.text_end - begin);
    begin = line.text_end;
    if (branch != section.branches.end() && branch->line == i) one.text += branch++->name;
    instructions.push_back(std::move(one));
  }
  return instructions;
}

Expected<std::string> inspect(std::span<const std::byte> file, const InspectOptions& options) {
  const auto found = find_code(file, options.gpu);
  if (!found) return failed(found.error());
  Json all = Json::array();
  const auto add = [&](const object::FoundCodeObject& code) -> support::Result<void> {
    auto description = library::describe_code(code, {}, options.work_group_size);
    if (description && !options.kernel.empty()) {
      std::vector<std::string> names;
      for (const Json& kernel : (*description)["kernels"]) names.push_back(kernel.value("name", std::string()));
      const auto name = library::find_kernel(names, options.kernel, code.id);
      if (!name) return std::unexpected(name.error());
      description = library::describe_code(code, *name, options.work_group_size);
    }
    if (!description) return std::unexpected(std::move(description).error());
    all.push_back(std::move(*description));
    return {};
  };
  if (auto done = for_all(*found, add); !done) return failed(std::move(done).error());
  return all.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace Atoll

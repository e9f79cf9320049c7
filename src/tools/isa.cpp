// tools: `atoll isa`, questions to the instruction table: what an instruction is and where, what a processor has, and
// what differs between two.
#include <fnmatch.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/coverage.h"
#include "isa/unit.h"
#include "target/product.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/instruction_description.h"
#include "tools/instruction_facts.h"
#include "tools/named_processor.h"

namespace Atoll::tools {

namespace {

using isa::Opcode;
using support::ErrorKind;
using support::fail;
using support::Result;
using target::Processor;
using Json = nlohmann::ordered_json;

struct IsaRequest {
  std::string name, gpu;
  std::pair<std::string, std::string> diff;
  bool json = false;
};

std::string encodings_text(const std::vector<EncodingFact>& encodings) {
  std::string text;
  for (const EncodingFact& each : encodings) {
    text += fmt::format("{}{} {:#x}", text.empty() ? "" : ", ", each.encoding, each.opcode);
    if (!each.note.empty()) text += fmt::format(" ({})", each.note);
  }
  return text;
}

/// Processors with the same text, the texts in the order of their first.
class ByProcessor {
 public:
  void add(const Processor& processor, const std::string& text) {
    auto found = std::ranges::find(groups_, text, &Group::text);
    if (found == groups_.end()) found = groups_.insert(groups_.end(), {text, {}});
    found->processors.push_back(&processor);
  }
  void print(const char* label) const {
    for (const Group& group : groups_) {
      fmt::print("  {:<10} {}{}{}\n", &group == groups_.data() ? label : "", group.text, group.text.empty() ? "" : "  ",
                 fmt::format("[{}]", processor_ranges(group.processors)));
    }
  }

 private:
  struct Group {
    std::string text;
    std::vector<const Processor*> processors;
  };
  std::vector<Group> groups_;
};

std::string list_text(const std::vector<std::string_view>& list) {
  return list.empty() ? "none" : fmt::format("{}", fmt::join(list, ", "));
}

std::string operand_text(const OperandFact& operand) {
  std::string text = fmt::format("{} {}", operand.field, operand.type);
  if (operand.type.empty()) text = std::string(operand.field);
  return text + fmt::format(" ({}{})", operand.written ? "result: " : "", operand.accepts);
}

/// "VALU: 5 cycles, 1 to issue". Matrix instructions take longer, by the passes of their shape.
std::string timing_text(const InstructionFacts& facts) {
  if (facts.unit == isa::name_of(isa::Unit::matrix)) return fmt::format("{}: by passes", facts.unit);
  std::string text = fmt::format("{}: {} cycles", facts.unit, facts.timing.latency);
  if (facts.timing.issue != 0) text += fmt::format(", {} to issue", facts.timing.issue);
  if (facts.latency_class != facts.unit) text += fmt::format(" ({})", facts.latency_class);
  return text;
}

std::vector<target::Target> targets_of(const Processor& processor) {
  std::vector<target::Target> targets;
  for (const unsigned lanes : {32, 64}) {
    if (processor.has_wave_size(lanes)) targets.push_back(target::Target(processor).with_wave_size(lanes));
  }
  return targets;
}

/// Whether an instruction is executed, in waves of some size.
bool is_executed(const Processor& processor, Opcode opcode) {
  return std::ranges::any_of(targets_of(processor),
                             [&](const target::Target& target) { return engine::executes(target, opcode); });
}

/// Why it is not, by the reasons that are known; null if it is in waves of some size.
const char* reason_not_executed(const Processor& processor, Opcode opcode) {
  if (!engine::executes(processor)) return "the processor's code is not executed";
  const char* reason = nullptr;
  for (const target::Target& target : targets_of(processor)) {
    reason = engine::reason_not_executed(isa::row(opcode), target);
    if (reason == nullptr) break;
  }
  return reason;
}

/// Whether it is executed, in words; empty for processors whose code is not executed at all.
std::string executed_text(const Processor& processor, Opcode opcode) {
  if (!engine::executes(processor)) return {};
  std::string yes, no;
  for (const target::Target& target : targets_of(processor)) {
    const char* reason = engine::reason_not_executed(isa::row(opcode), target);
    if (engine::executes(target, opcode)) {
      yes = fmt::format("yes, in waves of {} lanes", target.wave_size);
    } else {
      no = fmt::format("no: {}", reason != nullptr ? reason : "not implemented");
    }
  }
  if (yes.empty()) return no;
  return no.empty() ? "yes" : fmt::format("{}; otherwise {}", yes, no);
}

std::vector<const Processor*> processors_with(Opcode opcode, const Processor* only) {
  std::vector<const Processor*> processors;
  for (const Processor& processor : target::processors()) {
    if ((only == nullptr || only == &processor) && name_on(processor, opcode)) processors.push_back(&processor);
  }
  return processors;
}

void print_instruction(Opcode opcode, const std::vector<const Processor*>& processors) {
  ByProcessor names, encodings, operands, modifiers, reads, writes, timings, executed;
  for (const Processor* processor : processors) {
    const InstructionFacts facts = facts_on(*processor, opcode);
    names.add(*processor, std::string(facts.name));
    encodings.add(*processor, encodings_text(facts.encodings));
    std::string text;
    for (const OperandFact& operand : facts.operands) text += (text.empty() ? "" : ", ") + operand_text(operand);
    operands.add(*processor, text.empty() ? "none" : text);
    modifiers.add(*processor, list_text(facts.modifiers));
    reads.add(*processor, list_text(facts.reads));
    writes.add(*processor, list_text(facts.writes));
    timings.add(*processor, timing_text(facts));
    if (const std::string does = executed_text(*processor, opcode); !does.empty()) executed.add(*processor, does);
  }
  fmt::print("{}\n  {}\n", isa::row(opcode).name, describe_instruction(isa::row(opcode)));
  names.print("name");
  encodings.print("encoding");
  operands.print("operands");
  modifiers.print("modifiers");
  reads.print("reads");
  writes.print("writes");
  timings.print("unit");
  executed.print("executed");
}

Json encodings_as_json(const std::vector<EncodingFact>& encodings) {
  auto list = Json::array();
  for (const EncodingFact& each : encodings) {
    Json one{{"encoding", each.encoding}, {"opcode", each.opcode}};
    if (!each.note.empty()) one["note"] = each.note;
    list.push_back(std::move(one));
  }
  return list;
}

Json instruction_as_json(Opcode opcode, const std::vector<const Processor*>& processors) {
  Json json{{"instruction", isa::row(opcode).name}, {"description", describe_instruction(isa::row(opcode))}};
  auto& list = json["processors"] = Json::array();
  for (const Processor* processor : processors) {
    const InstructionFacts facts = facts_on(*processor, opcode);
    auto operands = Json::array();
    for (const OperandFact& operand : facts.operands) {
      operands.push_back({{"field", operand.field},
                          {"type", operand.type},
                          {"bits", operand.bits},
                          {"accepts", operand.accepts},
                          {"result", operand.written}});
    }
    list.push_back({{"processor", processor->name},
                    {"name", facts.name},
                    {"encodings", encodings_as_json(facts.encodings)},
                    {"operands", operands},
                    {"modifiers", facts.modifiers},
                    {"reads", facts.reads},
                    {"writes", facts.writes},
                    {"unit", facts.unit},
                    {"latency_class", facts.latency_class},
                    {"latency_cycles", facts.timing.latency},
                    {"issue_cycles", facts.timing.issue},
                    {"executed", is_executed(*processor, opcode)}});
  }
  return json;
}

/// Whether the shell's pattern matches; an empty one matches everything.
bool matches(const std::string& pattern, std::string_view name) {
  return pattern.empty() || fnmatch(pattern.c_str(), std::string(name).c_str(), 0) == 0;
}

Result<int> describe(const IsaRequest& request, const Processor* gpu) {
  auto opcodes = find_instructions(request.name);
  if (opcodes.empty()) {
    const auto similar = similar_names(request.name);
    return fail(ErrorKind::not_found, "there is no instruction '{}'{}", request.name,
                similar.empty() ? std::string() : fmt::format("; like it are: {}", fmt::join(similar, ", ")));
  }
  auto json = Json::array();
  bool any = false;
  for (const Opcode opcode : opcodes) {
    const auto processors = processors_with(opcode, gpu);
    if (processors.empty()) continue;
    if (request.json) {
      json.push_back(instruction_as_json(opcode, processors));
    } else {
      if (any) fmt::print("\n");
      print_instruction(opcode, processors);
    }
    any = true;
  }
  if (!any) {
    return fail(ErrorKind::not_found, "{} does not have {}; these do: {}", gpu->name, request.name,
                processor_ranges(processors_with(opcodes.front(), nullptr)));
  }
  if (request.json) fmt::print("{}\n", json.dump(2));
  return 0;
}

/// Instructions whose names match a pattern of the shell's, on one processor or on any.
Result<int> list(const IsaRequest& request, const Processor* gpu) {
  auto json = Json::array();
  unsigned found = 0;
  for (unsigned i = 1; i < static_cast<unsigned>(Opcode::count); ++i) {
    const auto opcode = static_cast<Opcode>(i);
    const auto name = gpu != nullptr ? name_on(*gpu, opcode) : std::optional(isa::row(opcode).name);
    if (!name || !matches(request.name, *name)) continue;
    ++found;
    const std::string text = describe_instruction(isa::row(opcode));
    if (gpu == nullptr) {
      const auto processors = processors_with(opcode, nullptr);
      auto names = Json::array();
      for (const Processor* processor : processors) names.push_back(processor->name);
      request.json ? json.push_back({{"name", *name}, {"processors", names}, {"description", text}})
                   : fmt::print("{:<34} {}  [{}]\n", *name, text, processor_ranges(processors));
      continue;
    }
    const auto encodings = encodings_on(*gpu, opcode);
    const char* reason = reason_not_executed(*gpu, opcode);
    if (request.json) {
      Json one({{"name", *name},
                {"instruction", isa::row(opcode).name},
                {"encodings", encodings_as_json(encodings)},
                {"description", text},
                {"executed", reason == nullptr}});
      if (reason != nullptr) one["reason"] = reason;
      json.push_back(std::move(one));
    } else {
      fmt::print("{:<34} {:<28} {}{}\n", *name, encodings_text(encodings), text,
                 reason != nullptr && engine::executes(*gpu) ? fmt::format("  [not executed: {}]", reason) : "");
    }
  }
  if (found == 0) {
    return fail(ErrorKind::not_found, "no instruction{} is like '{}'",
                gpu != nullptr ? fmt::format(" of {}", gpu->name) : std::string(), request.name);
  }
  if (request.json) fmt::print("{}\n", json.dump(2));
  return 0;
}

Result<int> compare(const IsaRequest& request) {
  const auto from = find_named_processor(request.diff.first, "--diff"),
             to = find_named_processor(request.diff.second, "--diff");
  if (!from) return std::unexpected(from.error());
  if (!to) return std::unexpected(to.error());
  Json came = Json::array(), went = Json::array(), changed = Json::array(), renamed = Json::array();
  std::vector<std::string> came_text, went_text, changed_text, renamed_text;
  for (unsigned i = 1; i < static_cast<unsigned>(Opcode::count); ++i) {
    const auto opcode = static_cast<Opcode>(i);
    const auto old_name = name_on(**from, opcode), new_name = name_on(**to, opcode);
    if (!(old_name && matches(request.name, *old_name)) && !(new_name && matches(request.name, *new_name))) continue;
    const auto before = encodings_on(**from, opcode), after = encodings_on(**to, opcode);
    if (!old_name) {
      came.push_back({{"name", *new_name}, {"encodings", encodings_as_json(after)}});
      came_text.push_back(fmt::format("{:<34} {}", *new_name, encodings_text(after)));
    } else if (!new_name) {
      went.push_back({{"name", *old_name}, {"encodings", encodings_as_json(before)}});
      went_text.push_back(fmt::format("{:<34} {}", *old_name, encodings_text(before)));
    } else {
      if (*old_name != *new_name) {
        renamed.push_back({{"from", *old_name}, {"to", *new_name}});
        renamed_text.push_back(fmt::format("{:<34} -> {}", *old_name, *new_name));
      }
      if (before != after) {
        changed.push_back({{"name", *new_name}, {"from", encodings_as_json(before)}, {"to", encodings_as_json(after)}});
        changed_text.push_back(
            fmt::format("{:<34} {} -> {}", *new_name, encodings_text(before), encodings_text(after)));
      }
    }
  }
  if (request.json) {
    fmt::print("{}\n", Json{{"from", (*from)->name},
                            {"to", (*to)->name},
                            {"came", came},
                            {"went", went},
                            {"renamed", renamed},
                            {"changed", changed}}
                           .dump(2));
    return 0;
  }
  const auto print = [](const std::string& heading, const std::vector<std::string>& lines) {
    fmt::print("{}: {}\n", heading, lines.size());
    for (const std::string& line : lines) fmt::print("  {}\n", line);
  };
  print(fmt::format("{} has, {} has not", (*to)->name, (*from)->name), came_text);
  print(fmt::format("{} has, {} has not", (*from)->name, (*to)->name), went_text);
  print("other names", renamed_text);
  print("other opcodes or encodings", changed_text);
  return 0;
}

Result<int> run_isa(const IsaRequest& request) {
  if (!request.diff.first.empty()) {
    if (!request.gpu.empty()) return wrong_usage("isa: --diff excludes --gpu");
    return compare(request);
  }
  const Processor* gpu = nullptr;
  if (!request.gpu.empty()) {
    const auto found = find_named_processor(request.gpu, "--gpu");
    if (!found) return std::unexpected(found.error());
    gpu = *found;
  }
  if (request.name.empty() && gpu == nullptr) return wrong_usage("isa requires an instruction or --gpu");
  const bool is_pattern = request.name.find_first_of("*?[") != std::string::npos;
  return request.name.empty() || is_pattern ? list(request, gpu) : describe(request, gpu);
}

}  // namespace

void add_isa(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<IsaRequest>();
  CLI::App* command = app.add_subcommand("isa", "Describe an instruction, list a GPU's, or compare two GPUs");
  command->formatter(
      with_usage("atoll isa NAME [--gpu NAME] [--json]\n"
                 "       atoll isa ['PATTERN'] --gpu NAME [--json]\n"
                 "       atoll isa ['PATTERN'] --diff FROM TO [--json]"));
  command
      ->add_option("NAME", request->name,
                   "An instruction's name, on any generation; or a pattern, as\n"
                   "'v_*_f16', for a list of those that match")
      ->type_name("INSTRUCTION");
  command->add_option("--gpu", request->gpu, "A processor (gfx600 to gfx1251), or a product, alone")->type_name("GPU");
  command->add_option("--diff", request->diff, "Two of them: what came, what went, and what changed")->type_name("GPU");
  command->add_flag("--json", request->json, "Print JSON");
  command->footer(
      "D is the result, S0 to S2 are the sources in the order of the text.\n"
      "\n"
      "Examples:\n"
      "  atoll isa v_perm_b32\n"
      "  atoll isa ds_read_b32 --gpu gfx1201\n"
      "  atoll isa 'v_wmma_*' --gpu rx7900xtx\n"
      "  atoll isa --diff gfx1030 gfx1100");
  command->callback([request, &invocation] { invocation.work = [request] { return run_isa(*request); }; });

  // For shell completion.
  CLI::App* complete = app.add_subcommand("complete-instruction", "Print the instructions with this prefix")->group("");
  auto prefix = std::make_shared<std::string>();
  complete->add_option("PREFIX", *prefix, "Of their names");
  complete->callback([prefix, &invocation] {
    invocation.work = [prefix]() -> Result<int> {
      for (const std::string_view name : names_with_prefix(*prefix)) fmt::print("{}\n", name);
      return 0;
    };
  });
}

}  // namespace Atoll::tools

// tools: `atoll model`, questions to the memory model: the code sequence of a memory operation on a GPU and why, of all
// operations, and the caches and counters behind it.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "memory_model/sequence.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/named_processor.h"

namespace Atoll::tools {

namespace {

using memory_model::Counter;
using memory_model::CounterFact;
using memory_model::Generation;
using memory_model::Operation;
using memory_model::Placement;
using memory_model::Step;
using memory_model::StepKind;
using support::Result;
using Json = nlohmann::ordered_json;

struct ModelRequest {
  std::vector<std::string> words;
  std::string gpu;
  Placement placement;
  bool hardware = false, json = false;
};

Result<void> check_placement(const Generation& generation, const Placement& placement) {
  if (placement.cu_mode && !generation.places_by_cu_mode)
    return wrong_usage(fmt::format("--cumode: {} has no CU mode; GFX10 to GFX12 have", generation.name));
  if (placement.split_work_groups && !generation.splits_work_groups)
    return wrong_usage(
        fmt::format("--tgsplit: {} does not split work-groups; gfx90a, gfx942 and gfx950 do", generation.name));
  return {};
}

std::string placement_text(const Generation& generation, const Placement& placement) {
  if (placement.single_wave) return "work-groups of one wave";
  if (generation.places_by_cu_mode) return placement.cu_mode ? "CU mode" : "WGP mode";
  if (generation.splits_work_groups) return placement.split_work_groups ? "tgsplit" : "no tgsplit";
  return {};
}

std::string title(const ModelRequest& request, const Generation& generation) {
  const std::string placement = placement_text(generation, request.placement);
  return fmt::format("{} ({}{}{})", request.gpu, generation.name, placement.empty() ? "" : ", ", placement);
}

const char* kind_text(StepKind kind) {
  switch (kind) {
    case StepKind::access:
      return "access";
    case StepKind::wait:
      return "wait";
    case StepKind::write_back:
      return "write-back";
    case StepKind::invalidate:
      return "invalidation";
  }
  return "";
}

/// Lines of at most 100 characters, each after so many blanks.
std::string wrapped(std::string_view text, size_t indent) {
  constexpr size_t most = 100;
  std::string lines;
  while (!text.empty()) {
    size_t end = text.size();
    if (indent + end > most) {
      end = text.rfind(' ', most - indent);
      if (end == std::string_view::npos) end = std::min(text.find(' '), text.size());
    }
    lines += fmt::format("{:{}}{}\n", "", indent, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string sequence_text(const std::vector<Step>& steps) {
  std::string text;
  for (const Step& each : steps) text += fmt::format("{}{}", text.empty() ? "" : "; ", each.instruction);
  return text.empty() ? "no code" : text;
}

Json json_of(const Generation& generation, const Operation& operation, const std::vector<Step>& steps) {
  auto list = Json::array();
  for (const Step& each : steps) {
    auto counters = Json::array();
    for (const CounterFact& counter : generation.counters)
      if (has(each.waits, counter.counter)) counters.push_back(counter.name);
    list.push_back({{"kind", kind_text(each.kind)},
                    {"instruction", each.instruction},
                    {"counters", counters},
                    {"reason", each.reason}});
  }
  Json json = {{"operation", to_string(operation)}};
  if (operation.atomic()) {
    json["order"] = name(operation.order);
    json["scope"] = name(operation.scope);
    json["one_address_space"] = operation.one_address_space;
  }
  json["address_space"] = name(operation.space);
  json["steps"] = list;
  return json;
}

Json json_head(const ModelRequest& request, const Generation& generation) {
  return {{"gpu", request.gpu},
          {"generation", generation.name},
          {"processors", generation.processors},
          {"placement", placement_text(generation, request.placement)}};
}

Result<int> print_operation(const ModelRequest& request, const Generation& generation) {
  const auto operation = memory_model::parse_operation(fmt::format("{}", fmt::join(request.words, " ")));
  if (!operation) return wrong_usage(operation.error().message);
  const auto steps = memory_model::sequence(generation, *operation, request.placement);
  if (!steps) return std::unexpected(steps.error());
  if (request.json) {
    Json json = json_head(request, generation);
    json.update(json_of(generation, *operation, *steps));
    fmt::print("{}\n", json.dump(2));
    return 0;
  }
  fmt::print("{}: {}\n", title(request, generation), to_string(*operation));
  if (steps->empty())
    fmt::print(
        "\n  no code\n{}",
        wrapped("at this scope the hardware keeps the order by itself; only the compiler must not change it", 6));
  for (size_t i = 0; i < steps->size(); ++i) {
    const Step& step = (*steps)[i];
    const bool same_before = i != 0 && (*steps)[i - 1].reason == step.reason;
    const bool same_after = i + 1 < steps->size() && (*steps)[i + 1].reason == step.reason;
    fmt::print("{}  {}\n{}", same_before ? "" : "\n", step.instruction, same_after ? "" : wrapped(step.reason, 6));
  }
  return 0;
}

int print_all(const ModelRequest& request, const Generation& generation) {
  auto list = Json::array();
  if (!request.json) fmt::print("{}\n", title(request, generation));
  for (const Operation& operation : memory_model::every_operation()) {
    const auto steps = memory_model::sequence(generation, operation, request.placement);
    if (!steps) continue;
    if (request.json) {
      list.push_back(json_of(generation, operation, *steps));
    } else {
      fmt::print("{}: {}\n", to_string(operation), sequence_text(*steps));
    }
  }
  if (request.json) {
    Json json = json_head(request, generation);
    json["operations"] = list;
    fmt::print("{}\n", json.dump(2));
  }
  return 0;
}

void print_hardware_json(const ModelRequest& request, const Generation& generation) {
  Json json = json_head(request, generation);
  json["caches"] = Json::array();
  for (const auto& each : generation.caches)
    json["caches"].push_back({{"name", each.name},
                              {"of", each.of},
                              {"shared_by", name(each.shared)},
                              {"shared_by_when_split", name(each.shared_when_split)},
                              {"writes_back", each.writes_back},
                              {"coherent", each.coherence}});
  json["cache_operations"] = Json::array();
  for (const auto& each : generation.cache_operations) {
    const bool writes_back = each.action == memory_model::CacheAction::write_back;
    json["cache_operations"].push_back(
        {{"instruction", generation.text(each.opcode, each.policy)},
         {"action", writes_back ? "write-back" : "invalidation"},
         {"of", each.does},
         {"counter", each.counter != Counter::count ? Json(generation.find(each.counter)->name) : Json()}});
  }
  json["counters"] = Json::array();
  for (const CounterFact& each : generation.counters)
    json["counters"].push_back(
        {{"name", each.name}, {"wait", generation.wait_text(each)}, {"counts", each.counts}, {"order", each.order}});
  fmt::print("{}\n", json.dump(2));
}

void print_hardware(const ModelRequest& request, const Generation& generation) {
  fmt::print("{}\n\ncaches\n", title(request, generation));
  const bool split =
      request.placement.split_work_groups || (generation.places_by_cu_mode && !request.placement.cu_mode);
  for (const auto& each : generation.caches) {
    fmt::print("  {} of {}: {}, the same for the waves of a {}\n{}", each.name, each.of,
               each.writes_back ? "writes back" : "writes through", name(split ? each.shared_when_split : each.shared),
               wrapped(fmt::format("coherent {}", each.coherence), 6));
  }
  fmt::print("\ncache operations\n");
  for (const auto& each : generation.cache_operations) {
    const bool writes_back = each.action == memory_model::CacheAction::write_back;
    fmt::print(
        "  {}\n      {} {}{}\n", generation.text(each.opcode, each.policy), writes_back ? "writes back" : "invalidates",
        each.does,
        each.counter != Counter::count ? fmt::format("; counted by {}", generation.find(each.counter)->name) : "");
  }
  fmt::print("\ncounters\n");
  for (const CounterFact& each : generation.counters)
    fmt::print("  {} ({})\n{}", each.name, generation.wait_text(each),
               wrapped(fmt::format("{}; {}", each.counts, each.order), 6));
}

Result<int> run_model(const ModelRequest& request) {
  const auto processor = find_named_processor(request.gpu, "--gpu");
  if (!processor) return std::unexpected(processor.error());
  const Generation& generation = memory_model::generation_of(**processor);
  if (const auto checked = check_placement(generation, request.placement); !checked)
    return std::unexpected(checked.error());
  if (request.hardware && !request.words.empty())
    return wrong_usage("--hardware describes the GPU and takes no operation");
  if (request.hardware) {
    request.json ? print_hardware_json(request, generation) : print_hardware(request, generation);
    return 0;
  }
  return request.words.empty() ? Result<int>(print_all(request, generation)) : print_operation(request, generation);
}

}  // namespace

void add_model(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<ModelRequest>();
  CLI::App* command =
      app.add_subcommand("model", "Print the code that the memory model requires for a memory operation");
  command->formatter(
      with_usage("atoll model --gpu NAME [OPERATION] [--cumode] [--tgsplit] [--single-wave] [--json]\n"
                 "       atoll model --gpu NAME --hardware [--json]"));
  command->add_option("OPERATION", request->words,
                      "load, store, atomicrmw or fence with an order, a scope and an\n"
                      "address space, in any order; without it all operations are listed");
  command->add_option("--gpu", request->gpu, "A processor (gfx600 to gfx1251), or a product")
      ->type_name("GPU")
      ->required();
  command->add_flag("--cumode", request->placement.cu_mode,
                    "Work-groups on one CU, not on both of a WGP (GFX10 to GFX12)");
  command->add_flag("--tgsplit", request->placement.split_work_groups,
                    "Work-groups over several CUs (gfx90a, gfx942, gfx950)");
  command->add_flag("--single-wave", request->placement.single_wave, "Work-groups of one wave");
  command->add_flag("--hardware", request->hardware, "The caches, cache operations and counters behind the model");
  command->add_flag("--json", request->json, "Print JSON");
  command->footer(
      "Orders: unordered, monotonic, acquire, release, acq_rel, seq_cst. Scopes: singlethread,\n"
      "wavefront, workgroup, cluster, agent, system; with -one-as for an operation that orders\n"
      "its own address space only. Address spaces: global, generic, local, private. Loads and\n"
      "stores without an order may be volatile, nontemporal or last-use; an atomicrmw whose\n"
      "result is not used is no-return; a fence may be of global or local memory only.\n"
      "\n"
      "Examples:\n"
      "  atoll model --gpu gfx1100 'atomic load acquire agent global'\n"
      "  atoll model --gpu gfx1100 --cumode fence release workgroup\n"
      "  atoll model --gpu mi300x --hardware");
  command->callback([request, &invocation] { invocation.work = [request] { return run_model(*request); }; });
}

}  // namespace Atoll::tools

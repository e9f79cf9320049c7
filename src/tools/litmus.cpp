// tools: `atoll litmus`, the outcomes of litmus tests that the memory model allows, and those that are seen when they
// run.
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "memory_model/litmus.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/files.h"
#include "tools/litmus_run.h"

namespace Atoll::tools {

namespace {

using memory_model::LitmusExpectation;
using memory_model::LitmusOutcome;
using memory_model::LitmusResult;
using memory_model::LitmusTest;
using support::Result;
using Json = nlohmann::ordered_json;

struct LitmusRequest {
  std::vector<std::string> files;
  std::string gpu;
  uint64_t seeds = 200, seed = 1;
  bool json = false, run = false;
};

/// Outcomes of an executed test.
using Seen = std::map<LitmusOutcome, uint64_t>;

std::string outcome_text(const std::vector<std::string>& names, const LitmusOutcome& outcome) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) text += fmt::format("{}{}={}", i == 0 ? "" : " ", names[i], outcome[i]);
  return text;
}

bool reached(const LitmusTest& test, const LitmusOutcome& outcome) {
  return test.condition && test.condition->holds(outcome);
}

Json json_of(const std::string& file, const LitmusTest& test, const LitmusResult& result) {
  const std::vector<std::string> names = test.outcome_names();
  auto outcomes = Json::array();
  for (const LitmusOutcome& outcome : result.outcomes) {
    Json values = Json::object();
    for (size_t i = 0; i < names.size(); ++i) values[names[i]] = outcome[i];
    outcomes.push_back({{"values", values}, {"condition", reached(test, outcome)}});
  }
  return {{"file", file},
          {"name", test.name},
          {"description", test.description},
          {"condition", test.condition_text},
          {"outcomes", outcomes},
          {"race", result.race ? Json(*result.race) : Json()},
          {"as_expected", result.as_expected(test)}};
}

void print(const LitmusTest& test, const LitmusResult& result) {
  const std::vector<std::string> names = test.outcome_names();
  fmt::print("{}{}{}\n", test.name, test.description.empty() ? "" : ": ", test.description);
  if (result.race) {
    fmt::print("  a data race, so that the program has no meaning: {}\n", *result.race);
  } else {
    for (const LitmusOutcome& outcome : result.outcomes)
      fmt::print("  {}{}\n", outcome_text(names, outcome), reached(test, outcome) ? "  <- the condition's" : "");
  }
  fmt::print("{}: {}\n", test.condition_text, result.as_expected(test) ? "as expected" : "NOT as expected");
}

bool is_allowed(const LitmusResult& result, const LitmusOutcome& outcome) {
  return result.race || std::ranges::find(result.outcomes, outcome) != result.outcomes.end();
}

/// Whether nothing was seen that the model forbids.
bool is_right(const LitmusResult& result, const Seen& seen) {
  return std::ranges::all_of(seen, [&](const auto& each) { return is_allowed(result, each.first); });
}

void print_seen(const LitmusTest& test, const LitmusResult& result, const Seen& seen, const std::string& gpu) {
  const std::vector<std::string> names = test.outcome_names();
  fmt::print("{} on {}{}{}\n", test.name, gpu, test.description.empty() ? "" : ": ", test.description);
  bool is_reached = false;
  for (const auto& [outcome, times] : seen) {
    const bool has_condition = reached(test, outcome);
    is_reached = is_reached || has_condition;
    fmt::print("  {}  {} times{}{}\n", outcome_text(names, outcome), times, has_condition ? "  <- the condition's" : "",
               is_allowed(result, outcome) ? "" : "  FORBIDDEN");
  }
  if (result.race) {
    fmt::print("{}: a data race, so that all is allowed\n", test.condition_text);
  } else {
    fmt::print("{}: {}\n", test.condition_text, is_reached ? "seen" : "not seen");
  }
}

Json json_of(const std::string& file, const LitmusTest& test, const LitmusResult& result, const Seen& seen) {
  const std::vector<std::string> names = test.outcome_names();
  auto outcomes = Json::array();
  for (const auto& [outcome, times] : seen) {
    Json values = Json::object();
    for (size_t i = 0; i < names.size(); ++i) values[names[i]] = outcome[i];
    outcomes.push_back({{"values", values},
                        {"times", times},
                        {"condition", reached(test, outcome)},
                        {"allowed", is_allowed(result, outcome)}});
  }
  return {{"file", file},
          {"name", test.name},
          {"condition", test.condition_text},
          {"outcomes", outcomes},
          {"race", result.race ? Json(*result.race) : Json()},
          {"as_expected", is_right(result, seen)}};
}

Result<int> run_litmus(const LitmusRequest& request) {
  auto list = Json::array();
  bool as_expected = true;
  std::optional<LitmusRuns> runs;
  if (request.run) {
    if (request.gpu.empty()) return wrong_usage("--run: on which GPU? --gpu gfx90a, say");
    auto made = LitmusRuns::create(request.gpu, request.seed);
    if (!made) return std::unexpected(made.error());
    runs = std::move(*made);
  }
  for (const std::string& file : request.files) {
    const auto text = read_text_file(file);
    if (!text) return std::unexpected(text.error());
    const auto test = memory_model::parse_litmus(*text);
    if (!test) return support::within(file, test.error());
    const auto result = memory_model::enumerate_outcomes(*test);
    if (!result) return support::within(file, result.error());
    if (runs) {
      const auto seen = runs->run(*test, request.seeds);
      if (!seen) return support::within(file, seen.error());
      as_expected = as_expected && is_right(*result, *seen);
      if (request.json) {
        list.push_back(json_of(file, *test, *result, *seen));
      } else {
        if (&file != request.files.data()) fmt::print("\n");
        print_seen(*test, *result, *seen, request.gpu);
      }
      continue;
    }
    as_expected = as_expected && result->as_expected(*test);
    if (request.json) {
      list.push_back(json_of(file, *test, *result));
      continue;
    }
    if (&file != request.files.data()) fmt::print("\n");
    print(*test, *result);
  }
  if (request.json) fmt::print("{}\n", list.dump(2));
  return as_expected ? 0 : 1;
}

}  // namespace

void add_litmus(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<LitmusRequest>();
  CLI::App* command = app.add_subcommand("litmus", "Check which outcomes of litmus tests the memory model allows");
  command->formatter(with_usage("atoll litmus FILE... [--run --gpu GPU [--seeds N] [--seed N]] [--json]"));
  command->add_option("FILE", request->files, "Litmus tests; - is standard input")->type_name("FILE")->required();
  command->add_flag("--run", request->run,
                    "Run the threads as waves, with caches that hold old values as long as\n"
                    "they may, and print what is seen");
  command->add_option("--gpu", request->gpu, "Whose code and caches; with --run")->type_name("GPU");
  command->add_option("--seeds", request->seeds, "How often it runs, each time with other choices (200)")
      ->type_name("N");
  command->add_option("--seed", request->seed, "Seed of the choices (1)")->type_name("N");
  command->add_flag("--json", request->json, "Print JSON");
  command->footer(
      "A test has its threads in columns, and ends with exists or ~exists and a condition on the\n"
      "registers and the last values in memory, or with race:\n"
      "\n"
      "  litmus MP\n"
      "  scopes (agent (workgroup P0) (workgroup P1))\n"
      "  init x=0 y=0\n"
      "  P0                      | P1\n"
      "  store x 1               | r0 = load y acquire agent\n"
      "  store y 1 release agent | r1 = load x\n"
      "  ~exists P1:r0=1 /\\ P1:r1=0\n"
      "\n"
      "Statements: store LOCATION VALUE; REGISTER = load LOCATION; [REGISTER =] add LOCATION VALUE,\n"
      "exchange LOCATION VALUE, cas LOCATION EXPECTED VALUE; each with an order and a scope if it is\n"
      "atomic; fence ORDER SCOPE; barrier. The exit code is 1 when a condition is not as it says, or\n"
      "with --run when something is seen that the model forbids.");
  command->callback([request, &invocation] { invocation.work = [request] { return run_litmus(*request); }; });
}

}  // namespace Atoll::tools

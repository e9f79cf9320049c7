// library: the public function evaluate(), and what `atoll eval` shares with it (evaluation.h).
#include "library/evaluation.h"

#include <mutex>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assembler/assembler.h"
#include "atoll/evaluate.h"
#include "library/failure.h"
#include "object/link.h"
#include "target/product.h"

namespace Atoll {

namespace library {

using support::Result;
using Json = nlohmann::ordered_json;
using Outcome = EvalWave::Outcome;

unsigned eval_wave_size(unsigned wanted, const target::Processor& processor) {
  if (wanted != 0) return wanted;
  return processor.has_wave_size(32) ? 32 : 64;
}

std::vector<isa::Instruction> own_instructions(const EvalWave& wave) {
  auto all = wave.instructions();
  all.resize(all.size() - std::min<size_t>(all.size(), 2));
  return all;
}

namespace {

const char* outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::ended:
      return "ended";
    case Outcome::faulted:
      return "fault";
    case Outcome::over_limit:
      return "limit";
    case Outcome::timed_out:
      return "timeout";
  }
  return "";
}

/// Those that the code was to run: of its end, the first counts as one.
uint64_t instructions_of(const EvalWave& wave, Outcome outcome) {
  return wave.wave().instructions - (outcome == Outcome::ended ? 1 : 0);
}

Result<std::vector<uint8_t>> assemble(std::span<const std::string> lines, const target::TargetId& target,
                                      unsigned wave_size) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  if (text.find_first_not_of(" \t\n") == std::string::npos)
    return support::fail(support::ErrorKind::invalid_argument, "there is no instruction to evaluate");
  text += eval_code_end;
  auto assembled =
      assembler::assemble("<text>", std::move(text),
                          {.target = target, .wave32 = wave_size == 32, .include_directories = {}, .symbols = {}});
  if (!assembled.object) {
    while (assembled.messages.ends_with('\n')) assembled.messages.pop_back();
    return std::unexpected(support::Error{support::ErrorKind::invalid_argument, std::move(assembled.messages)});
  }
  const object::LinkInput input{.name = "<text>", .object = std::move(*assembled.object)};
  return object::link({&input, 1});
}

/// The wave, in the state that the values say.
Result<std::unique_ptr<EvalWave>> make_wave(std::span<const std::string> code, const EvaluateOptions& options) {
  const auto gpu = target::find_gpu(options.gpu);
  if (!gpu) return std::unexpected(gpu.error());
  const target::Processor& processor = *gpu->target.processor;
  const unsigned wave_size = eval_wave_size(options.wave_size, processor);
  if (!processor.has_wave_size(wave_size))
    return support::fail(support::ErrorKind::invalid_argument, "{} has no waves of {} lanes", processor.name,
                         wave_size);
  const auto linked = assemble(code, gpu->target, wave_size);
  if (!linked) return std::unexpected(linked.error());
  auto wave = EvalWave::create({.gpu = *gpu,
                                .wave_size = wave_size,
                                .engine = "interpreter",
                                .timeout_seconds = std::clamp(options.timeout_seconds, 0.0, 1e9)},
                               *linked);
  if (!wave) return wave;
  for (const std::string& value : options.values) {
    if (!is_assignment(value))
      return support::fail(support::ErrorKind::invalid_argument, "'{}' is not DESTINATION=VALUE", value);
    const auto assignment = parse_assignment(value);
    if (!assignment) return std::unexpected(assignment.error());
    if (auto ok = (*wave)->assign(*assignment); !ok) return std::unexpected(ok.error());
  }
  return wave;
}

std::optional<support::Error> error_of(const EvalWave& wave, Outcome outcome, const EvaluateOptions& options) {
  switch (outcome) {
    case Outcome::faulted:
      return wave.fault();
    case Outcome::over_limit:
      return support::Error{support::ErrorKind::aborted,
                            fmt::format("stopped after {} instructions", wave.wave().instructions)};
    case Outcome::timed_out:
      return support::Error{support::ErrorKind::aborted, fmt::format("stopped after {} s", options.timeout_seconds)};
    case Outcome::ended:
      break;
  }
  return std::nullopt;
}

}  // namespace

Json evaluation_as_json(const EvalWave& wave, const std::string& engine, Outcome outcome,
                        const std::optional<support::Error>& error, const WaveSnapshot& before,
                        const WaveSnapshot& after, const RegisterTypes& types) {
  const unsigned wave_size = wave.target().wave_size;
  Json json{{"processor", wave.target().processor->name},
            {"wave_size", wave_size},
            {"engine", engine},
            {"instructions", instructions_of(wave, outcome)},
            {"outcome", outcome_name(outcome)}};
  if (error) json["error"] = error->message;
  json.update(changes_as_json(before, after, types, wave_size));
  return json;
}

}  // namespace library

Expected<Evaluation> evaluate(std::span<const std::string> code, const EvaluateOptions& options) {
  using library::EvalWave;
  // The memory that code sees lies at the addresses that the values say: there is room for one at a time.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  auto made = library::make_wave(code, options);
  if (!made) return library::failed(std::move(made).error());
  EvalWave& wave = **made;
  const unsigned wave_size = wave.target().wave_size;
  const library::WaveSnapshot before = wave.snapshot();
  const EvalWave::Outcome outcome = wave.run(options.max_instructions);
  const library::WaveSnapshot after = wave.snapshot();
  const library::RegisterTypes types(library::own_instructions(wave));
  const auto error = library::error_of(wave, outcome, options);

  Evaluation evaluation{.processor = std::string(wave.target().processor->name),
                        .wave_size = wave_size,
                        .instructions = library::instructions_of(wave, outcome),
                        .registers = {},
                        .memory = {},
                        .unchanged = {},
                        .text = {},
                        .json = {}};
  if (error) {
    evaluation.failure = library::failure_of(*error);
    if (outcome == EvalWave::Outcome::faulted) evaluation.failure->fault = library::fault_of(wave.fault_report());
  }
  library::add_changes(evaluation, before, after, types, wave_size);
  for (const std::string& line :
       library::changes_as_text(before, after, types, wave_size, outcome == EvalWave::Outcome::ended))
    evaluation.text += line + "\n";
  evaluation.json = library::evaluation_as_json(wave, "interpreter", outcome, error, before, after, types)
                        .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return evaluation;
}

}  // namespace Atoll

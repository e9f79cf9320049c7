// tools: `atoll eval`, which runs instructions on one wave and prints what they change.
#include <cstdio>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "assembler/assembler.h"
#include "isa/print.h"
#include "library/eval_changes.h"
#include "library/eval_values.h"
#include "library/eval_wave.h"
#include "library/evaluation.h"
#include "object/link.h"
#include "target/product.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/files.h"

namespace Atoll::tools {

namespace {

using library::EvalWave;
using library::RegisterTypes;
using library::WaveSnapshot;
using support::ErrorKind;
using support::Result;
using Json = nlohmann::ordered_json;
using Outcome = EvalWave::Outcome;

struct EvalRequest {
  std::vector<std::string> words;
  std::string file, gpu, engine = "interpreter";
  unsigned wave_size = 0;
  uint64_t limit = 1'000'000;
  double timeout = 10;
  bool trace = false, json = false;
};

constexpr uint64_t max_instructions = uint64_t{1} << 48;  ///< --limit: months

/// Assembles the code to a code object. Reports mistakes and returns nothing if the code has any.
Result<std::optional<std::vector<uint8_t>>> assemble(const EvalRequest& request, const target::TargetId& target,
                                                     unsigned wave_size) {
  std::string text;
  if (!request.file.empty()) {
    auto read = read_text_file(request.file);
    if (!read) return std::unexpected(read.error());
    text = std::move(*read);
  }
  for (const std::string& word : request.words) {
    if (!library::is_assignment(word)) text += word + "\n";
  }
  if (text.find_first_not_of(" \t\n") == std::string::npos) {
    return wrong_usage("eval requires an instruction or --file FILE");
  }
  text += library::eval_code_end;
  const std::string name = request.file.empty() ? "<command line>" : (request.file == "-" ? "<stdin>" : request.file);
  auto assembled = assembler::assemble(
      name, std::move(text), {.target = target, .wave32 = wave_size == 32, .include_directories = {}, .symbols = {}});
  std::fputs(assembled.messages.c_str(), stderr);
  if (!assembled.object) return std::nullopt;
  const object::LinkInput input{.name = name, .object = std::move(*assembled.object)};
  auto linked = object::link({&input, 1});
  if (!linked) return std::unexpected(linked.error());
  return std::move(*linked);
}

struct Step {
  uint64_t offset;
  std::string text;
  std::optional<uint64_t> goes_to;  ///< where, if not to the instruction after it
  bool completed;
  WaveSnapshot before, after;
  RegisterTypes types;
};

void print_step(const Step& step, unsigned wave_size) {
  fmt::print("{:#06x}  {}{}\n", step.offset, step.text,
             step.goes_to ? fmt::format("  -> {:#06x}", *step.goes_to) : std::string());
  for (const std::string& line : changes_as_text(step.before, step.after, step.types, wave_size, step.completed)) {
    fmt::print("            {}\n", line);
  }
}

Json step_as_json(const Step& step, unsigned wave_size) {
  Json json{{"offset", step.offset}, {"instruction", step.text}};
  if (step.goes_to) json["goes_to"] = *step.goes_to;
  json.update(changes_as_json(step.before, step.after, step.types, wave_size));
  return json;
}

/// Instruction by instruction.
Outcome trace(EvalWave& wave, const EvalRequest& request, Json& steps) {
  const unsigned wave_size = wave.target().wave_size;
  for (uint64_t count = 0; count < request.limit; ++count) {
    const uint64_t pc = wave.wave().pc;
    const auto instruction = wave.instruction_at(pc);
    Step step{.offset = pc - wave.code_address(),
              .text = "",
              .goes_to = {},
              .completed = true,
              .before = wave.snapshot(),
              .after = {},
              .types = {}};
    if (instruction) {
      step.text = isa::print(*instruction, *wave.target().processor);
      step.types = RegisterTypes({&*instruction, 1});
    }
    const auto outcome = wave.step();
    if (outcome == Outcome::ended) return *outcome;
    step.after = wave.snapshot();
    step.completed = outcome != Outcome::faulted;
    if (!outcome && instruction && wave.wave().pc != pc + instruction->size) {
      step.goes_to = wave.wave().pc - wave.code_address();
    }
    request.json ? steps.push_back(step_as_json(step, wave_size)) : print_step(step, wave_size);
    if (outcome) return *outcome;
  }
  return Outcome::over_limit;
}

Result<int> evaluate(const EvalRequest& request) {
  const auto gpu = target::find_gpu(request.gpu);
  if (!gpu) return wrong_usage("--gpu: " + gpu.error().message);
  const target::Processor& processor = *gpu->target.processor;
  if (auto ok = check_wave_size(processor, request.wave_size); !ok) return std::unexpected(ok.error());
  const unsigned wave_size = library::eval_wave_size(request.wave_size, processor);
  if (request.trace && request.engine != "interpreter") return wrong_usage("--trace is the interpreter's");
  std::vector<library::Assignment> assignments;
  for (const std::string& word : request.words) {
    if (!library::is_assignment(word)) continue;
    auto assignment = library::parse_assignment(word);
    if (!assignment) return std::unexpected(assignment.error());
    assignments.push_back(std::move(*assignment));
  }
  const auto code = assemble(request, gpu->target, wave_size);
  if (!code) return std::unexpected(code.error());
  if (!*code) return 1;
  auto made = EvalWave::create(
      {.gpu = *gpu, .wave_size = wave_size, .engine = request.engine, .timeout_seconds = request.timeout}, **code);
  if (!made) return std::unexpected(made.error());
  EvalWave& wave = **made;
  for (const library::Assignment& assignment : assignments) {
    if (auto ok = wave.assign(assignment); !ok) return std::unexpected(ok.error());
  }

  const WaveSnapshot before = wave.snapshot();
  auto steps = Json::array();
  const Outcome outcome = request.trace ? trace(wave, request, steps) : wave.run(request.limit);
  const WaveSnapshot after = wave.snapshot();
  const RegisterTypes types(library::own_instructions(wave));
  std::optional<support::Error> error;
  if (outcome == Outcome::faulted) error = wave.fault();
  if (outcome == Outcome::over_limit) {
    error = support::Error{ErrorKind::aborted,
                           fmt::format("stopped after {} instructions (--limit)", wave.wave().instructions)};
  }
  if (outcome == Outcome::timed_out) {
    error = support::Error{ErrorKind::aborted, fmt::format("stopped after {} s (--timeout)", request.timeout)};
  }
  if (request.json) {
    Json json = library::evaluation_as_json(wave, request.engine, outcome, error, before, after, types);
    if (request.trace) json["trace"] = std::move(steps);
    fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
  } else if (!request.trace) {
    const auto lines = changes_as_text(before, after, types, wave_size, outcome == Outcome::ended);
    for (const std::string& line : lines) fmt::print("{}\n", line);
    if (lines.empty() && outcome == Outcome::ended) fmt::print("nothing changed\n");
  }
  if (error) return std::unexpected(*error);
  return 0;
}

}  // namespace

void add_eval(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<EvalRequest>();
  CLI::App* command = app.add_subcommand("eval", "Run instructions on one wave and print what they change");
  command->formatter(with_usage("atoll eval 'INSTRUCTION' ... --gpu NAME [DESTINATION=VALUE ...] [OPTIONS]"));
  command->add_option("INSTRUCTION", request->words,
                      "Lines of assembly text, in LLVM's syntax, and what the\nwave begins with: DESTINATION=VALUE");
  command->add_option("--file", request->file, "Assembly text to run first; - is standard input")->type_name("FILE");
  command->add_option("--gpu", request->gpu, "Product, processor or target ID, as in `atoll run`")
      ->type_name("GPU")
      ->required();
  command->add_option("--wave-size", request->wave_size, "Wave size if the GPU supports both (default 32)")
      ->check(CLI::IsMember({32, 64}));
  command->add_option("--engine", request->engine, "interpreter, which is the default, or compiled")
      ->type_name("ENGINE")
      ->check(engine_name());
  command->add_option("--limit", request->limit, "Stop after about this number of instructions (1000000)")
      ->type_name("N")
      ->check(positive(max_instructions));
  command->add_option("--timeout", request->timeout, "Stop after that long (10)")
      ->type_name("SECONDS")
      ->check(positive(max_seconds));
  command->add_flag("--trace", request->trace, "Print each instruction that is executed with what it changes");
  command->add_flag("--json", request->json, "Print JSON");
  command->footer(
      "DESTINATION is\n"
      "  v3  a3  v[2:3]          vector registers, all lanes; v3.l and v3.h are halves\n"
      "  v3[0-7]  v3[0,4-5]      some lanes of them\n"
      "  s3  s[2:3]  vcc  exec   scalar registers; also m0, scc, mode, ttmp3, flat_scratch\n"
      "  lds[0x10]  lds          LDS from that byte on\n"
      "  mem[0x10000000]         memory at that address; mem[0x10000000:64] is 64 bytes, the value repeated.\n"
      "                          The pages around it are there as well, everything else is a fault.\n"
      "All other registers are 0, except EXEC (all lanes) and MODE (denormals kept, IEEE).\n"
      "\n"
      "VALUE is\n"
      "  42  -1  0xff  0b101     an integer, as wide as the destination\n"
      "  1.5  1e-3  inf  nan     a floating-point number, as wide as the destination\n"
      "  f16:1.5  i8:-1          a number of that type: i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64;\n"
      "                          the rest of the destination is 0, or the sign of a signed integer\n"
      "  1.5:2.5  u8:1:2:3:4     elements side by side, the lowest first: here two halves or four bytes of a register\n"
      "  1,2,3                   a value for each lane (or element of memory), from the first one again at the end\n"
      "  lane*4+0x10000000       computed for each lane: lane is its number (in memory, i that of the element);\n"
      "                          + - * / % << >> & | ^ ~ and parentheses as in C\n"
      "  s:42  f32:s:42          random, and the same for the same number: all bits, or floats from 0 to 1 (also "
      "seed:42)\n"
      "\n"
      "Examples:\n"
      "  atoll eval 'v_perm_b32 v0, v1, v2, v3' --gpu gfx1100 v1=0x11223344 v2=s:42 v3=0x07060100 exec=0xff\n"
      "  atoll eval 'v_pk_add_f16 v0, v1, v2' --gpu mi250x v1=1.5:2.5 v2=f16:0.25:lane\n"
      "  atoll eval 'global_load_dword v0, v1, s[2:3]' --gpu gfx90a 'v1=lane*4' s[2:3]=0x10000000 "
      "'mem[0x10000000:256]=i*i'\n"
      "  atoll eval --file loop.s --gpu rx7900xtx --trace");
  command->callback([request, &invocation] { invocation.work = [request] { return evaluate(*request); }; });
}

}  // namespace Atoll::tools

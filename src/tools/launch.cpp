// tools: `atoll launch`, which runs one kernel of a code object with arguments from the command line. It is a user of
// the public library, and does with it what any program could.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "atoll/atoll.h"
#include "library/kernel_names.h"
#include "library/state.h"
#include "machine/gpu.h"
#include "machine/report/process_path.h"
#include "machine/report/statistics.h"
#include "support/bytes.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/compare_engines.h"
#include "tools/files.h"
#include "tools/launch_arguments.h"

namespace Atoll::tools {

using library::demangled;
using library::ElementType;
using library::find_kernel;
using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

struct LaunchOptions {
  std::string file, gpu, kernel, grid, block;
  std::vector<std::string> arguments, user_data, print, save;
  uint32_t lds_bytes = 0;
  double timeout = 0;
  unsigned threads = 0;
  std::string engine, schedule, core, statistics;
  bool compares_engines = false;
  CheckRequest check;
};

/// "64", "64,8" or "64,8,2".
Result<std::array<uint32_t, 3>> parse_shape(const std::string& text, const char* option) {
  std::array<uint32_t, 3> shape{1, 1, 1};
  const char* position = text.data();
  const char* const end = text.data() + text.size();
  for (size_t i = 0; i < 3; i++) {
    const auto [next, error] = std::from_chars(position, end, shape[i]);
    if (error != std::errc() || shape[i] == 0) break;
    if (next == end) return shape;
    if (*next != ',') break;
    position = next + 1;
  }
  return wrong_usage(fmt::format("{} {}: give one to three numbers above 0, X,Y,Z", option, text));
}

/// Default size of a work-group.
std::array<uint32_t, 3> usual_block(const KernelInfo& kernel) {
  return kernel.required_block[0] != 0 ? kernel.required_block : std::array<uint32_t, 3>{64, 1, 1};
}

void list_kernels(const Code& code, const std::string& file, const Gpu& gpu) {
  fmt::print("Kernels in {} for {}:\n", file, gpu.target_id());
  for (const std::string& name : code.kernels()) {
    const auto kernel = code.describe(name);
    if (!kernel) continue;
    fmt::print("\n{}\n", name);
    if (const std::string readable = demangled(name); readable != name) fmt::print("    {}\n", readable);
    fmt::print("    {} VGPRs, {} SGPRs, {} bytes of LDS, {} of scratch, up to {} work-items to a work-group\n",
               kernel->vgprs, kernel->sgprs, kernel->lds_bytes, kernel->scratch_bytes, kernel->max_block_size);
    if (kernel->required_block[0] != 0)
      fmt::print("    needs --block {},{},{}\n", kernel->required_block[0], kernel->required_block[1],
                 kernel->required_block[2]);
    if (kernel->is_shader) fmt::print("    takes --user-data\n");
    if (kernel->argument_bytes != 0)
      fmt::print("    --arg: {} bytes in all, and of no known type; 16 of them may be the launcher's own\n",
                 kernel->argument_bytes);
    if (kernel->whole_blocks) fmt::print("    needs --grid to be a multiple of --block\n");
    for (size_t i = 0; i < 3; i++)
      if (const uint32_t most = kernel->max_blocks[i]; most != 0)
        fmt::print("    up to {} work-group{} in {}\n", most, most == 1 ? "" : "s", "XYZ"[i]);
    if (kernel->on_load) fmt::print("    runs by itself when the code is loaded\n");
    if (kernel->on_unload) fmt::print("    runs by itself before the code is unloaded\n");
    for (size_t i = 0; i < kernel->parameters.size(); i++) {
      const Parameter& parameter = kernel->parameters[i];
      const char* const kinds[] = {"value", "pointer", "pointer to LDS", "of a kind that cannot be passed"};
      fmt::print("    --arg {}: {} bytes, {}{}{}{}{}\n", i + 1, parameter.size,
                 kinds[static_cast<size_t>(parameter.kind)],
                 parameter.type.empty() && parameter.name.empty() ? "" : ", ", parameter.type,
                 parameter.type.empty() || parameter.name.empty() ? "" : " ", parameter.name);
    }
  }
}

/// An argument by its number from 1 on or by its parameter's name.
Result<size_t> find_argument(std::string_view text, const KernelInfo& kernel, const char* option) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
  if (!kernel.is_shader && error == std::errc() && end == text.end() && number >= 1 &&
      number <= kernel.parameters.size())
    return number - 1;
  for (size_t i = 0; i < kernel.parameters.size(); i++)
    if (kernel.parameters[i].name == text) return i;
  if (kernel.is_shader) return wrong_usage(fmt::format("{} {}: no --user-data sets that entry", option, text));
  return wrong_usage(fmt::format("{} {}: kernel {} has no such argument (a number from 1 to {}, or a name)", option,
                                 text, kernel.name, kernel.parameters.size()));
}

Result<const MadeArgument*> find_buffer(std::string_view text, const KernelInfo& kernel,
                                        const std::vector<MadeArgument>& made, const char* option) {
  const auto index = find_argument(text, kernel, option);
  if (!index) return std::unexpected(index.error());
  if (!made[*index].buffer) return wrong_usage(fmt::format("{} {}: that argument is not a buffer", option, text));
  return &made[*index];
}

/// ARG, ARG:COUNT, ARG:all or ARG:ROWSxCOLUMNS.
struct BufferRequest {
  std::string_view argument;
  uint64_t most = 64;
  uint64_t rows = 0, columns = 0;  ///< 0: not a matrix
};

Result<BufferRequest> parse_buffer(std::string_view text, const char* option) {
  BufferRequest request{.argument = text.substr(0, text.find(':'))};
  if (request.argument.size() == text.size()) return request;
  const std::string_view count = text.substr(request.argument.size() + 1);
  if (count == "all") {
    request.most = UINT64_MAX;
    return request;
  }
  const auto [end, error] = std::from_chars(count.begin(), count.end(), request.most);
  if (error == std::errc() && end == count.end()) return request;
  if (error == std::errc() && *end == 'x' && request.most > 0) {
    request.rows = request.most;
    const auto [last, wrong] = std::from_chars(end + 1, count.end(), request.columns);
    if (wrong == std::errc() && last == count.end() && request.columns > 0 &&
        request.columns <= UINT64_MAX / request.rows) {
      request.most = request.rows * request.columns;
      return request;
    }
  }
  return wrong_usage(fmt::format("{} {}: '{}' is neither a number nor ROWSxCOLUMNS nor 'all'", option, text, count));
}

/// Refuses a matrix that is larger than its buffer.
Result<void> check_matrix(const BufferRequest& request, const MadeArgument& made, const char* option) {
  const uint64_t count = made.buffer->size() / made.type->size;
  if (request.columns == 0 || request.most <= count) return {};
  return wrong_usage(fmt::format("{} {}:{}x{}: the buffer has {} elements", option, request.argument, request.rows,
                                 request.columns, count));
}

/// Prints a matrix with a line for each row, its columns below each other.
void print_matrix(const BufferRequest& request, const ElementType& type, const std::byte* data) {
  std::vector<std::string> numbers;
  size_t width = 0;
  for (uint64_t i = 0; i < request.most; i++) {
    numbers.push_back(print_number(type, data + i * type.size));
    width = std::max(width, numbers.back().size());
  }
  for (uint64_t i = 0; i < request.most; i++) {
    if (i % request.columns == 0) fmt::print("{:>8}:", i / request.columns);
    fmt::print(" {:>{}}", numbers[i], width);
    if (i % request.columns == request.columns - 1) fmt::print("\n");
  }
}

void print_buffer(const BufferRequest& request, const MadeArgument& made) {
  const ElementType& type = *made.type;
  const auto* data = static_cast<const std::byte*>(made.buffer->data());
  const uint64_t count = made.buffer->size() / type.size, shown = std::min(count, request.most);
  fmt::print("{}: {} x {}\n", request.argument, count, type.name);
  if (request.columns != 0) {
    print_matrix(request, type, data);
  } else {
    constexpr uint64_t per_line = 8;
    for (uint64_t i = 0; i < shown; i++) {
      if (i % per_line == 0) fmt::print("{:>8}:", i);
      fmt::print(" {}", print_number(type, data + i * type.size));
      if (i % per_line == per_line - 1 || i == shown - 1) fmt::print("\n");
    }
  }
  if (shown < count) fmt::print("{:>8}: {} more (--print {}:all shows them)\n", shown, count - shown, request.argument);
}

/// Returns the file that numpy.load() reads: a header with type and shape, padded to 64 bytes, and the elements.
/// Source: NumPy's documentation of numpy.lib.format, version 1.0.
std::vector<uint8_t> npy_file(const BufferRequest& request, const MadeArgument& made) {
  const ElementType& type = *made.type;
  const uint64_t count = request.columns != 0 ? request.most : made.buffer->size() / type.size;
  const char kind = type.kind == ElementType::Kind::floating           ? 'f'
                    : type.kind == ElementType::Kind::unsigned_integer ? 'u'
                                                                       : 'i';
  std::string header = fmt::format(
      "{{'descr': '{}{}{}', 'fortran_order': False, 'shape': ({}), }}", type.size == 1 ? '|' : '<', kind, type.size,
      request.columns != 0 ? fmt::format("{}, {}", request.rows, request.columns) : fmt::format("{},", count));
  constexpr std::string_view magic("\x93NUMPY\x01\x00", 8);
  constexpr size_t alignment = 64;
  const size_t unpadded = magic.size() + sizeof(uint16_t) + header.size() + 1;
  header.append((alignment - unpadded % alignment) % alignment, ' ');
  header += '\n';
  std::vector<uint8_t> file(magic.begin(), magic.end());
  support::append(file, static_cast<uint16_t>(header.size()));
  file.insert(file.end(), header.begin(), header.end());
  const auto* data = static_cast<const uint8_t*>(made.buffer->data());
  file.insert(file.end(), data, data + count * type.size);
  return file;
}

/// Prints and saves the requested results. With `check_only`, it finds mistakes in the requests, before the
/// kernel runs.
Result<void> show_results(const LaunchOptions& options, const KernelInfo& kernel, const std::vector<MadeArgument>& made,
                          bool check_only) {
  for (const std::string& text : options.print) {
    const auto request = parse_buffer(text, "--print");
    if (!request) return std::unexpected(request.error());
    const auto buffer = find_buffer(request->argument, kernel, made, "--print");
    if (!buffer) return std::unexpected(buffer.error());
    if (auto fits = check_matrix(*request, **buffer, "--print"); !fits) return fits;
    if (!check_only) print_buffer(*request, **buffer);
  }
  for (const std::string& text : options.save) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) return wrong_usage(fmt::format("--save {}: write ARG=PATH", text));
    const std::string path = text.substr(equals + 1);
    const bool is_npy = path.ends_with(".npy");
    const auto request = parse_buffer(std::string_view(text).substr(0, equals), "--save");
    if (!request) return std::unexpected(request.error());
    if (equals != request->argument.size() && (!is_npy || request->columns == 0))
      return wrong_usage(fmt::format("--save {}: only ARG:ROWSxCOLUMNS=PATH.npy has a shape", text));
    const auto buffer = find_buffer(request->argument, kernel, made, "--save");
    if (!buffer) return std::unexpected(buffer.error());
    if (auto fits = check_matrix(*request, **buffer, "--save"); !fits) return fits;
    if (check_only) continue;
    const Buffer& contents = *(*buffer)->buffer;
    const std::span bytes(static_cast<const uint8_t*>(contents.data()), contents.size());
    if (auto ok = is_npy ? write_file(path, npy_file(*request, **buffer)) : write_file(path, bytes); !ok) return ok;
  }
  return {};
}

Result<std::vector<MadeArgument>> make_arguments(const LaunchOptions& options, const KernelInfo& kernel,
                                                 const Gpu& gpu) {
  if (options.arguments.size() != kernel.parameters.size())
    return wrong_usage(fmt::format("kernel {} takes {} arguments, {} --arg are given (`atoll launch {}` lists them)",
                                   kernel.name, kernel.parameters.size(), options.arguments.size(), options.file));
  std::vector<MadeArgument> made;
  for (size_t i = 0; i < options.arguments.size(); i++) {
    auto argument = make_argument(options.arguments[i], kernel.parameters[i], i, gpu);
    if (!argument) return support::within(fmt::format("--arg {}", i + 1), argument.error());
    made.push_back(std::move(*argument));
  }
  return made;
}

/// Makes the value of N=VALUE, and describes it as the shader's parameter "N".
Result<MadeArgument> make_user_data(const std::string& text, KernelInfo& shader, std::vector<UserData>& user_data,
                                    const Gpu& gpu) {
  uint32_t entry = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), entry);
  if (error != std::errc() || *end != '=') return wrong_usage(fmt::format("--user-data {}: write N=VALUE", text));
  Parameter parameter;
  parameter.name = std::to_string(entry);
  parameter.size = 4;
  auto made = make_argument(end + 1, parameter, shader.parameters.size(), gpu);
  if (!made) return support::within(fmt::format("--user-data {}", text), made.error());
  shader.parameters.push_back(std::move(parameter));
  user_data.push_back({.entry = entry, .value = made->argument});
  return made;
}

Result<void> report_statistics(const std::string& where, const Gpu& gpu, const std::string& kernel,
                               const LaunchResult& done) {
  if (where.empty()) return {};
  if (where == machine::statistics_as_table) {
    fmt::print(stderr, "{} on {} ({}): {} work-groups, {} waves, {} wave instructions, {:.6f} s of host time\n",
               demangled(kernel), gpu.product(), gpu.target_id(), done.work_groups, done.waves, done.wave_instructions,
               done.seconds);
    return {};
  }
  const machine::GpuStatistics statistics{.product = std::string(gpu.product()),
                                          .target = gpu.target_id(),
                                          .kernels = {{.kernel = kernel,
                                                       .calls = 1,
                                                       .work_groups = done.work_groups,
                                                       .waves = done.waves,
                                                       .wave_instructions = done.wave_instructions,
                                                       .seconds = done.seconds}}};
  const std::string text = machine::statistics_json({&statistics, 1});
  return write_file(machine::with_process(where), {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

/// Converts a Failure of the public library to a tool's error.
std::unexpected<support::Error> broken(const Failure& failure) {
  return fail(ErrorKind::aborted, "{}", failure.message);
}

Result<Gpu> create_gpu(const LaunchOptions& options, const GpuOptions& gpu_options,
                       machine::Observer* observer = nullptr) {
  std::string name = options.gpu;
  if (name.empty()) {
    auto chosen = library::Internals::gpu_for_file(options.file);
    if (!chosen) return broken(chosen.error());
    name = *std::move(chosen);
  }
  auto gpu = library::Internals::create(name, gpu_options, observer);
  if (!gpu) return broken(gpu.error());
  return *std::move(gpu);
}

/// A launch whose options have been read: code is loaded and buffers are filled.
struct ReadyLaunch {
  std::string name;
  KernelInfo kernel;
  LaunchShape shape;
  std::vector<MadeArgument> made;
  std::vector<UserData> user_data;  ///< of a shader: the values of `made` by entry

  static Result<ReadyLaunch> make(const LaunchOptions& options, const Gpu& gpu, const Code& code) {
    const auto name = find_kernel(code.kernels(), options.kernel, options.file);
    if (!name) return std::unexpected(name.error());
    auto kernel = code.describe(*name);
    if (!kernel) return broken(kernel.error());
    if (options.grid.empty()) return wrong_usage("--grid X,Y,Z is required");
    const auto grid = parse_shape(options.grid, "--grid");
    const auto block = options.block.empty() ? usual_block(*kernel) : parse_shape(options.block, "--block");
    if (!grid) return std::unexpected(grid.error());
    if (!block) return std::unexpected(block.error());
    if (kernel->argument_bytes != 0) {
      Parameter unknown;
      unknown.size = sizeof(uint32_t);  // of numbers without a type
      kernel->parameters.assign(options.arguments.size(), unknown);
    }
    auto made = make_arguments(options, *kernel, gpu);
    if (!made) return std::unexpected(made.error());
    if (!kernel->is_shader && !options.user_data.empty())
      return wrong_usage(fmt::format("--user-data: {} is a kernel, which takes --arg", kernel->name));
    std::vector<UserData> user_data;
    for (const std::string& text : options.user_data) {
      auto value = make_user_data(text, *kernel, user_data, gpu);
      if (!value) return std::unexpected(value.error());
      made->push_back(*std::move(value));
    }
    return ReadyLaunch{.name = *name,
                       .kernel = *std::move(kernel),
                       .shape = {.grid = *grid, .block = *block, .dynamic_lds_bytes = options.lds_bytes},
                       .made = *std::move(made),
                       .user_data = std::move(user_data)};
  }

  Expected<LaunchResult> run(const Gpu& gpu, const Code& code) const {
    if (kernel.is_shader) return gpu.launch_shader(code, name, shape, user_data);
    std::vector<Argument> arguments;
    for (const MadeArgument& each : made) arguments.push_back(each.argument);
    return gpu.launch_with(code, name, shape, arguments);
  }
};

/// Executes the kernel once for compare_engines().
Result<void> execute_in_engine(const LaunchOptions& options, const EngineRun& run, EngineOutcome& outcome,
                               EngineProbe* probe) {
  // One thread, so that the order of work-groups is the same in each run.
  const GpuOptions gpu_options{.threads = 1,
                               .timeout_seconds = options.timeout,
                               .engine = run.engine,
                               .on_output = [](std::string_view, Output) {}};
  const auto gpu = create_gpu(options, gpu_options, probe);
  if (!gpu) return std::unexpected(gpu.error());
  const auto code = gpu->load_file(options.file);
  if (!code) return broken(code.error());
  const auto ready = ReadyLaunch::make(options, *gpu, *code);
  if (!ready) return std::unexpected(ready.error());
  if (const auto done = ready->run(*gpu, *code); !done) outcome.failure = done.error().message;
  for (size_t i = 0; i < ready->made.size(); ++i) {
    const MadeArgument& made = ready->made[i];
    if (!made.buffer) continue;
    const auto* bytes = static_cast<const uint8_t*>(made.buffer->data());
    const std::string& name = ready->kernel.parameters[i].name;
    outcome.buffers.push_back({.name = name.empty() ? fmt::format("argument {}", i + 1) : name,
                               .element_type = std::string(made.type->name),
                               .address = reinterpret_cast<uint64_t>(bytes),
                               .bytes = {bytes, bytes + made.buffer->size()}});
  }
  for (const auto& translation : library::Internals::machine_of(*gpu).engine_report().translations) {
    outcome.translated += translation.instructions;
    outcome.fallbacks += translation.fallbacks;
  }
  return {};
}

Result<int> launch(const LaunchOptions& options) {
  if (options.compares_engines) {
    if (options.kernel.empty()) return wrong_usage("--compare-engines requires --kernel");
    if (!options.engine.empty() || !options.schedule.empty() || !options.check.list.empty())
      return wrong_usage("--compare-engines excludes --engine, --schedule and --check");
    if (!options.print.empty() || !options.save.empty() || !options.statistics.empty())
      return wrong_usage("--compare-engines excludes --print, --save and --stats");
    return compare_engines(options.kernel, [&](const EngineRun& run, EngineOutcome& outcome, EngineProbe* probe) {
      return execute_in_engine(options, run, outcome, probe);
    });
  }
  const auto check = options.check.options();
  if (!check) return std::unexpected(check.error());
  const auto gpu = create_gpu(options, {.threads = options.threads,
                                        .timeout_seconds = options.timeout,
                                        .engine = options.engine,
                                        .schedule = options.schedule,
                                        .core_file = options.core,
                                        .check = fmt::format("{}", fmt::join(check->checkers, ",")),
                                        .check_suppressions = check->suppressions,
                                        .check_report = check->report_file});
  if (!gpu) return std::unexpected(gpu.error());
  const auto code = gpu->load_file(options.file);
  if (!code) return broken(code.error());
  if (options.kernel.empty()) {
    list_kernels(*code, options.file, *gpu);
    return 0;
  }

  const auto ready = ReadyLaunch::make(options, *gpu, *code);
  if (!ready) return std::unexpected(ready.error());
  if (auto ok = show_results(options, ready->kernel, ready->made, true); !ok) return std::unexpected(ok.error());
  const auto done = ready->run(*gpu, *code);
  if (!done) return broken(done.error());
  if (auto ok = show_results(options, ready->kernel, ready->made, false); !ok) return std::unexpected(ok.error());
  if (auto ok = report_statistics(options.statistics, *gpu, ready->name, *done); !ok)
    return std::unexpected(ok.error());
  const auto findings = gpu->findings();
  const bool any = std::ranges::any_of(findings, [](const Finding& finding) { return !finding.is_note; });
  return any ? check->exit_code.value_or(0) : 0;
}

}  // namespace

void add_launch(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("launch", "Run one kernel of a code object with given arguments");
  auto options = std::make_shared<LaunchOptions>();
  command->formatter(
      with_usage("atoll launch FILE --kernel NAME --grid X,Y,Z --block X,Y,Z --arg VALUE ... [OPTIONS]"));
  command->add_option("file", options->file, "A code object, an offload bundle, or a program or library with one")
      ->type_name("FILE")
      ->required();
  command->add_option("--kernel", options->kernel, "Its name, mangled or not; without it, the kernels are listed")
      ->type_name("NAME");
  command
      ->add_option("--grid", options->grid,
                   "Work-items in all (as in OpenCL; a HIP kernel\nwants a multiple of the block's)")
      ->type_name("X,Y,Z");
  command
      ->add_option("--block", options->block, "Work-items per work-group (default: what the kernel\nrequires, or 64)")
      ->type_name("X,Y,Z");
  command->add_option("--arg", options->arguments, "An argument; once for each parameter, in their order")
      ->type_name("VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--user-data", options->user_data,
                   "User data of a compute shader (amdpal, mesa3d) from\n"
                   "entry N on; a buffer's address takes two entries")
      ->type_name("N=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--print", options->print,
                   "Afterwards, print a buffer: ARG (64 elements of it),\n"
                   "ARG:COUNT, ARG:ROWSxCOLUMNS or ARG:all")
      ->type_name("ARG")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--save", options->save,
                   "Afterwards, write a buffer's bytes to a file (-: standard\noutput); a file .npy is NumPy's, of one "
                   "dimension or as\n"
                   "ARG:ROWSxCOLUMNS=PATH.npy says")
      ->type_name("ARG=PATH")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--lds", options->lds_bytes, "Dynamic LDS (HIP's third launch parameter)")->type_name("BYTES");
  command->add_option("--gpu", options->gpu, "As in `atoll run`; without it, one that runs the code")->type_name("GPU");
  add_statistics_option(*command, options->statistics);
  command->add_option("--timeout", options->timeout, "Stop the kernel when it runs longer than this")
      ->type_name("SECONDS")
      ->check(positive(max_seconds));
  command
      ->add_option("--engine", options->engine,
                   "The engine that runs the kernel: compiled (the default)\nor interpreter")
      ->type_name("ENGINE")
      ->check(engine_name());
  command->add_flag("--compare-engines", options->compares_engines,
                    "Run the kernel in both engines. On a difference, print the first\n"
                    "element that differs and the first wrong translation, and exit with 3");
  command
      ->add_option("--schedule", options->schedule,
                   "The order in which waves run: fast (the default), fair (side by side, as on\n"
                   "hardware) or a number, the seed of a random order; the interpreter runs them")
      ->type_name("SCHEDULE");
  command->add_option("--threads", options->threads, "Host threads that run work-groups")
      ->type_name("N")
      ->check(positive(machine::max_threads));
  add_core_option(*command, options->core);
  add_check_options(*command, options->check.list, options->check.report, options->check.exit_code,
                    options->check.suppressions);
  command->footer(
      "A VALUE is\n"
      "  5  -1.5  0xff           a number of the parameter's type (where neither metadata nor the name in C++ says\n"
      "                          which: an integer or, with a point or an exponent, a floating-point number of its\n"
      "                          size)\n"
      "  u8:5  f64:1.5           a number of this type: i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64\n"
      "  hex:0100000002000000    these bytes, for structures\n"
      "  null                    a null pointer\n"
      "  lds:1024                LDS, for OpenCL's __local pointers\n"
      "  buf:COUNT:TYPE=FILL     a buffer of COUNT (64, 4K, 2M) elements, filled with\n"
      "                            zero         (what it is without =FILL)\n"
      "                            ramp         0, 1, 2, ...\n"
      "                            const:2.5    one value\n"
      "                            seed:42      random: all bits of integers, floating-point numbers from 0 to 1\n"
      "                            file:PATH    a file's bytes (without COUNT: all of them)\n"
      "                          Without :TYPE, the elements are of the type that the parameter points to, or u8\n"
      "\n"
      "ARG is an argument's number, from 1 on, or its parameter's name; of a shader, the user data entry N.\n"
      "\n"
      "Examples:\n"
      "  atoll launch kernels.co\n"
      "  atoll launch kernels.co --kernel scale --grid 1024 --block 256 \\\n"
      "      --arg buf:1024:f32=ramp --arg 2.5 --arg 1024 --print 1:8\n"
      "  atoll launch ./program --gpu vega64 --kernel blur --grid 640,480 --block 16,16 \\\n"
      "      --arg buf::u8=file:in.raw --arg buf:300K --arg 640 --arg 480 --save 2=out.raw --stats");
  command->callback([options, &invocation] { invocation.work = [options] { return launch(*options); }; });
}

}  // namespace Atoll::tools

// settings: reads all settings, and chooses a GPU for a program that names none.
#include "settings/configuration.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "engine/compiled/code_symbols.h"
#include "engine/compiled/compiler_process.h"
#include "engine/compiled/translation_aids.h"
#include "engine/compiled/translation_cache.h"
#include "engine/engines.h"
#include "machine/gpu.h"
#include "object/bundle.h"
#include "observe/report/report_file.h"
#include "observe/report/suppressions.h"
#include "semantics/host_vectors.h"
#include "settings/visible_devices.h"
#include "support/byte_size.h"
#include "support/mapped_file.h"
#include "target/topology.h"

namespace Atoll::settings {

using support::Result;

namespace {

/// A GPU that runs the code embedded in the program. A program without any has it in a library, which is built for
/// many GPUs: the usual one will do.
Result<target::GpuModel> choose_gpu() {
  constexpr std::string_view usual = "gfx90a";
  const auto program = support::MappedFile::open("/proc/self/exe");
  if (!program) return target::find_gpu(usual, target::wants_xnack());
  const auto found = object::find_targets(program->bytes());
  if (!found || found->code_objects.empty()) return target::find_gpu(usual, target::wants_xnack());
  return object::choose_gpu({&*found, 1}, target::wants_xnack());
}

/// A number from `least` to `most`; 0 when it is unset.
template <typename T>
Result<T> number(const Values& values, Setting setting, T least, T most) {
  const auto text = values.get(setting);
  if (!text) return T{};
  T value{};
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size() || !(value >= least && value <= most))
    return values.wrong(setting, fmt::format("not a number from {} to {}", least, most));
  return value;
}

/// All GPUs of the machine.
Result<std::vector<target::GpuModel>> find_models(const Values& values) {
  auto named = named_gpus(values);
  if (!named || !named->empty()) return named;
  const auto count = number_of_gpus(values);
  if (!count) return std::unexpected(count.error());
  const auto model = choose_gpu();
  if (!model) return std::unexpected(model.error());
  return std::vector<target::GpuModel>(std::max(1U, *count), *model);
}

/// The GPUs that the program sees, each with what the environment says of it.
Result<std::vector<GpuConfiguration>> read_gpus(const Values& values) {
  const auto models = find_models(values);
  if (!models) return std::unexpected(models.error());
  const auto memory_bytes = memory_of_a_gpu(values);
  if (!memory_bytes) return std::unexpected(memory_bytes.error());
  std::vector<GpuConfiguration> gpus;
  const auto visible = values.get(Setting::visible_devices);  // empty: none
  for (const unsigned gpu_number : visible ? visible_devices(*visible, *models) : all_devices(models->size())) {
    const target::GpuModel& model = (*models)[gpu_number];
    GpuConfiguration& gpu =
        gpus.emplace_back(model, gpu_number, *memory_bytes != 0 ? *memory_bytes : model.product.memory_bytes);
    const auto text = values.get(Setting::cu_mask);
    if (!text) continue;
    auto mask = read_compute_unit_mask(*text, static_cast<uint32_t>(gpus.size() - 1), model.product.compute_units);
    if (!mask) return values.wrong(Setting::cu_mask, mask.error());
    gpu.compute_units = std::move(*mask);
  }
  return gpus;
}

/// A setting whose values are some words.
Result<void> check_word(const Values& values, Setting setting, std::initializer_list<std::string_view> words) {
  const auto text = values.get(setting);
  if (!text || std::ranges::find(words, *text) != words.end()) return {};
  return values.wrong(setting, fmt::format("use {}", fmt::join(words, " or ")));
}

}  // namespace

Result<unsigned> number_of_gpus(const Values& values) {
  return number<unsigned>(values, Setting::gpus, 1, target::max_gpus);
}

Result<std::vector<target::GpuModel>> named_gpus(const Values& values) {
  const auto count = number_of_gpus(values);
  if (!count) return std::unexpected(count.error());
  const auto names = values.get(Setting::gpu);
  if (!names) return std::vector<target::GpuModel>{};
  auto models = target::find_gpus(*names, *count, target::wants_xnack());
  if (!models) return values.wrong(Setting::gpu, models.error());
  return models;
}

Result<uint64_t> memory_of_a_gpu(const Values& values) {
  const auto text = values.get(Setting::memory);
  if (!text) return 0;
  const auto bytes = support::parse_byte_size(*text);
  if (!bytes) return values.wrong(Setting::memory, bytes.error());
  return bytes;
}

Result<observe::Options> read_checks(const Values& values) {
  observe::Options options;
  const auto list = values.get(Setting::check);
  if (list) {
    auto checkers = observe::parse_checkers(*list);
    if (!checkers) return values.wrong(Setting::check, checkers.error().message);
    options.checkers = std::move(*checkers);
  }
  const auto text_of = [&](Setting setting) { return std::string(values.get(setting).value_or("")); };
  options.report_file = text_of(Setting::check_report);
  options.suppressions = text_of(Setting::check_suppressions);
  if (const auto text = values.get(Setting::check_exit_code)) {
    const auto code = observe::parse_exit_code(*text);
    if (!code) return values.wrong(Setting::check_exit_code, code.error());
    options.exit_code = *code;
  }
  for (const Setting each : {Setting::check_report, Setting::check_exit_code, Setting::check_suppressions}) {
    // ATOLL_CHECK=none turns off what the environment asks for, but contradicts an option.
    if (values.get(each) && !options.any() && (!list || values.is_option(each)))
      return support::fail(support::ErrorKind::invalid_argument, "{} requires --check or ATOLL_CHECK",
                           values.name(each));
  }
  if (!options.report_file.empty())
    if (const auto format = observe::report_format(options.report_file); !format)
      return values.wrong(Setting::check_report, format.error().message);
  if (!options.suppressions.empty())
    if (const auto read = observe::Suppressions::read(options.suppressions); !read)
      return values.wrong(Setting::check_suppressions, read.error().message);
  return options;
}

Result<void> check_engine_settings(const Values& values) {
  if (const auto level = semantics::wanted_host_vectors(); !level)
    return support::fail(support::ErrorKind::invalid_argument, "{}", level.error().message);
  if (auto words = check_word(values, Setting::compile, {"wait", "background"}); !words) return words;
  if (const auto symbols = engine::check_code_symbols(); !symbols) return std::unexpected(symbols.error());
  if (const auto aids = engine::TranslationAids::from_environment(); !aids) return std::unexpected(aids.error());
  if (const auto cache = engine::TranslationCache::from_environment(); !cache) return std::unexpected(cache.error());
  if (values.get(Setting::compiler))
    if (const auto compiler = engine::find_compiler(); !compiler) return std::unexpected(compiler.error());
  return {};
}

Result<void> check_cache_directory(const Values& values) {
  if (!values.get(Setting::cache)) return {};
  const auto cache = engine::TranslationCache::from_environment();
  if (!cache) return std::unexpected(cache.error());
  if (!*cache) return {};
  if (const auto checked = (*cache)->check(); !checked) return values.wrong(Setting::cache, checked.error().message);
  return {};
}

Result<Configuration> read_configuration(const Values& values) {
  Configuration configuration;
  if (const auto words = check_word(values, Setting::xnack, {"0", "1"}); !words) return std::unexpected(words.error());
  auto gpus = read_gpus(values);
  if (!gpus) return std::unexpected(gpus.error());
  configuration.gpus = std::move(*gpus);
  if (const auto where = values.get(Setting::stats); where && *where != "0") configuration.statistics = *where;
  constexpr double max_seconds = 1e9;  // thirty years
  const auto seconds = number<double>(values, Setting::timeout, 0, max_seconds);
  if (!seconds) return std::unexpected(seconds.error());
  configuration.timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(*seconds));
  const auto threads = number<unsigned>(values, Setting::threads, 0, machine::max_threads);
  if (!threads) return std::unexpected(threads.error());
  configuration.threads = *threads;
  configuration.core_file = values.get(Setting::core).value_or("");
  configuration.engine = values.get(Setting::engine).value_or("");
  if (const auto checked = check_engine_settings(values); !checked) return std::unexpected(checked.error());
  auto make_engine = engine::find_engine(configuration.engine);
  if (!make_engine) return values.wrong(Setting::engine, make_engine.error().message);
  configuration.make_engine = std::move(*make_engine);
  if (const auto text = values.get(Setting::schedule)) {
    const auto schedule = machine::parse_schedule(*text);
    if (!schedule) return values.wrong(Setting::schedule, schedule.error());
    configuration.schedule = *schedule;
  }
  if (configuration.schedule.is_deterministic()) {
    if (configuration.engine == "compiled")
      return values.wrong(Setting::schedule, "this schedule requires the interpreter");
    configuration.make_engine = engine::stepping_engine(nullptr);
  }
  auto check = read_checks(values);
  if (!check) return std::unexpected(check.error());
  configuration.check = std::move(*check);
  return configuration;
}

}  // namespace Atoll::settings

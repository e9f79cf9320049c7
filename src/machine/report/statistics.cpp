// machine: what GPUs have run, as a table and as JSON (statistics.h).
#include "machine/report/statistics.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "machine/gpu.h"
#include "machine/report/process_path.h"
#include "support/demangle.h"

namespace Atoll::machine {

using Json = nlohmann::ordered_json;

namespace {

/// A kernel's name as its source has it, or the ends of it.
std::string readable(const std::string& name) {
  std::string result = support::demangled(name);
  // Names of library templates have many lines; their ends distinguish them.
  constexpr size_t longest = 72, end = 32;
  if (result.size() > longest) result.replace(longest - end - 3, result.size() - longest + 3, "...");
  return result;
}

/// What was translated, summed up.
struct Translated {
  uint64_t instructions = 0, fallbacks = 0;
  double seconds = 0;
  size_t cached = 0;
  const EngineReport::Translation* longest = nullptr;

  explicit Translated(const EngineReport& report) {
    for (const auto& translation : report.translations) {
      instructions += translation.instructions;
      fallbacks += translation.fallbacks;
      seconds += translation.seconds;
      cached += translation.from_cache ? 1 : 0;
      if (longest == nullptr || translation.seconds > longest->seconds) longest = &translation;
    }
  }
};

/// Returns what the engine translated, the longest translations, and what was left to the interpreter; empty for
/// engines that do not translate.
std::string describe(const EngineReport& report) {
  std::string text;
  const Translated sum(report);
  if (sum.longest != nullptr) {
    text += fmt::format("compiled: {} pieces of code ({} from the cache), {} instructions, {:.3f} s\n",
                        report.translations.size(), sum.cached, sum.instructions, sum.seconds);
    if (sum.longest->seconds > 0) {
      text += fmt::format("  longest: {:.3f} s for the {} instructions of {}\n", sum.longest->seconds,
                          sum.longest->instructions, readable(sum.longest->kernel));
    }
  }
  if (report.unfinished != 0) text += fmt::format("  not finished at exit: {}\n", report.unfinished);
  if (sum.fallbacks != 0) {
    std::vector<std::pair<uint64_t, std::string>> names;
    names.reserve(report.untranslated.size());
    for (const auto& [name, count] : report.untranslated) names.emplace_back(count, name);
    std::ranges::sort(names, std::greater{});
    constexpr size_t max_names = 12;
    text += fmt::format("  left to the interpreter: {}:", sum.fallbacks);
    for (size_t i = 0; i < std::min(names.size(), max_names); ++i) {
      text += fmt::format(" {} {}", names[i].first, names[i].second);
    }
    text += names.size() > max_names ? fmt::format(" and {} others\n", names.size() - max_names) : "\n";
  }
  for (const auto& [reason, count] : report.failures) text += fmt::format("  not compiled: {} ({})\n", reason, count);
  return text;
}

Json as_json(const EngineReport& report) {
  const Translated sum(report);
  Json translations = Json::array();
  for (const auto& each : report.translations) {
    translations.push_back({{"kernel", each.kernel},
                            {"instructions", each.instructions},
                            {"left_to_interpreter", each.fallbacks},
                            {"from_cache", each.from_cache},
                            {"host_seconds", each.seconds}});
  }
  return {{"pieces", report.translations.size()}, {"from_cache", sum.cached},
          {"instructions", sum.instructions},     {"host_seconds", sum.seconds},
          {"unfinished", report.unfinished},      {"left_to_interpreter", report.untranslated},
          {"failures", report.failures},          {"translations", std::move(translations)}};
}

Json as_json(const KernelStatistics& row, bool engine_is_known) {
  Json kernel{{"name", row.kernel}};
  if (std::string signature = support::demangled(row.kernel); signature != row.kernel) kernel["signature"] = signature;
  kernel["calls"] = row.calls;
  kernel["work_groups"] = row.work_groups;
  kernel["waves"] = row.waves;
  kernel["wave_instructions"] = row.wave_instructions;
  if (engine_is_known) kernel["interpreted_instructions"] = row.interpreted_instructions;
  kernel["host_seconds"] = row.seconds;
  return kernel;
}

}  // namespace

void add_to(KernelStatistics& sum, const KernelStatistics& more) {
  sum.calls += more.calls;
  sum.work_groups += more.work_groups;
  sum.waves += more.waves;
  sum.wave_instructions += more.wave_instructions;
  sum.interpreted_instructions += more.interpreted_instructions;
  sum.seconds += more.seconds;
}

GpuStatistics statistics_of(const Gpu& gpu, unsigned number) {
  const target::GpuModel& model = gpu.model();
  return {.number = number,
          .product = std::string(model.product.marketing_name),
          .target = model.target.to_string(),
          .kernels = gpu.statistics(),
          .engine = gpu.engine_report()};
}

std::string statistics_table(GpuStatistics gpu, bool is_one_of_several) {
  std::string text = fmt::format("atoll: {}{} ({})", is_one_of_several ? fmt::format("GPU {}, ", gpu.number) : "",
                                 gpu.product, gpu.target);
  if (is_one_of_several && gpu.kernels.empty()) return text + ": no kernels\n";
  double total = 0;
  size_t width = 6;
  for (KernelStatistics& row : gpu.kernels) {
    row.kernel = readable(row.kernel);
    total += row.seconds;
    width = std::max(width, row.kernel.size());
  }
  text += fmt::format("\n{:<{}} {:>9} {:>12} {:>18} {:>12} {:>13} {:>7}\n", "kernel", width, "calls", "work-groups",
                      "wave instructions", "interpreted", "host seconds", "share");
  for (const KernelStatistics& row : gpu.kernels) {
    text += fmt::format("{:<{}} {:>9} {:>12} {:>18} {:>12} {:>13.4f} {:>6.1f}%\n", row.kernel, width, row.calls,
                        row.work_groups, row.wave_instructions, row.interpreted_instructions, row.seconds,
                        total > 0 ? 100 * row.seconds / total : 0.0);
  }
  return gpu.engine ? text + describe(*gpu.engine) : text;
}

std::string statistics_json(std::span<const GpuStatistics> gpus) {
  Json all = Json::array();
  for (const GpuStatistics& gpu : gpus) {
    Json kernels = Json::array();
    for (const KernelStatistics& row : gpu.kernels) kernels.push_back(as_json(row, gpu.engine.has_value()));
    Json one{{"number", gpu.number}, {"product", gpu.product}, {"target", gpu.target}, {"kernels", std::move(kernels)}};
    if (gpu.engine) one["compiled"] = as_json(*gpu.engine);
    all.push_back(std::move(one));
  }
  // A name of a code object is any bytes.
  return Json{{"gpus", std::move(all)}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

support::Result<void> write_statistics(std::span<const GpuStatistics> gpus, const std::string& path, pid_t process) {
  const std::string text = statistics_json(gpus), where = with_process(path, process);
  std::FILE* const file = std::fopen(where.c_str(), "we");
  bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  int error = errno;
  if (file != nullptr && std::fclose(file) != 0 && written) {
    error = errno;
    written = false;
  }
  if (!written) {
    return support::fail(support::ErrorKind::system, "the statistics cannot be written to {}: {}", where,
                         std::strerror(error));
  }
  return {};
}

}  // namespace Atoll::machine

#include "hsa/shortages.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "hsa/code/loaded_objects.h"
#include "settings/visible_devices.h"
#include "support/environment.h"

namespace Atoll::hsa {

namespace {

/// HIP reserves addresses for its own pools beside those of the GPU's memory.
constexpr uint64_t addresses_of_hip = uint64_t{32} << 30;

bool has_hip() {
  bool found = false;
  for_each_loaded_object(
      [&](const dl_phdr_info& info) { found = found || std::string_view(info.dlpi_name).contains("libamdhip64.so"); });
  return found;
}

void look_for_gpus(const settings::Configuration& configuration, std::vector<std::string>& lines) {
  using support::Setting;
  const auto hides = [&](Setting setting, std::string_view value) {
    return fmt::format("{}={} leaves the program no GPU; the numbers of GPUs begin with 0",
                       support::row_of(setting).name, value);
  };
  if (configuration.gpus.empty()) {
    const char* const value = support::environment_variable(Setting::visible_devices);
    lines.push_back(hides(Setting::visible_devices, value != nullptr ? value : ""));
    return;
  }
  const char* const value = support::environment_variable(Setting::hip_visible_devices);
  if (value == nullptr) return;
  std::vector<target::GpuModel> models;
  for (const settings::GpuConfiguration& gpu : configuration.gpus) models.push_back(gpu.model);
  if (settings::visible_devices(value, models).empty()) lines.push_back(hides(Setting::hip_visible_devices, value));
}

}  // namespace

std::vector<std::string> shortages(const settings::Configuration& configuration) {
  std::vector<std::string> lines;
  look_for_gpus(configuration, lines);
  if (!has_hip()) return lines;
  if (access("/proc/self/maps", R_OK) != 0)
    lines.push_back(
        fmt::format("/proc/self/maps cannot be read ({}); HIP may crash without /proc", std::strerror(errno)));
  const char* const chosen = std::getenv("TMPDIR");
  if (access("/tmp", W_OK) != 0 && (chosen == nullptr || access(chosen, W_OK) != 0))
    lines.push_back(
        fmt::format("/tmp cannot be written ({}), and TMPDIR names no other directory; HIP may crash without "
                    "temporary files",
                    std::strerror(errno)));
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < addresses_of_hip)
    lines.push_back(
        fmt::format("the process may have only {} MiB of addresses (ulimit -v); HIP may crash when it gets none",
                    limit.rlim_cur >> 20));
  return lines;
}

}  // namespace Atoll::hsa

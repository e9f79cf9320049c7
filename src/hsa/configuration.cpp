// hsa: reading the environment, and choosing a GPU for a program that names none.
#include "hsa/configuration.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "engine/engines.h"
#include "hsa/visible_devices.h"
#include "machine/gpu.h"
#include "object/bundle.h"
#include "semantics/host_vectors.h"
#include "support/byte_size.h"
#include "support/environment.h"
#include "support/mapped_file.h"
#include "target/topology.h"

namespace Atoll::hsa {

namespace {

/// The value of a variable; nothing when it is unset or empty.
std::optional<std::string_view> variable(const char* name) {
  const char* value = support::environment_variable(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

/// A GPU that runs the code embedded in the program. A program without any has it in a library, which is built for
/// many GPUs: the usual one will do.
support::Result<target::GpuModel> choose_gpu() {
  constexpr std::string_view usual = "gfx90a";
  const auto program = support::MappedFile::open("/proc/self/exe");
  if (!program) return target::find_gpu(usual, target::wants_xnack());
  const auto found = object::find_targets(program->bytes());
  if (!found || found->code_objects.empty()) return target::find_gpu(usual, target::wants_xnack());
  return object::choose_gpu({&*found, 1}, target::wants_xnack());
}

template <typename T>
support::Result<T> number(std::string_view name, std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= T{})) {
    return support::fail(support::ErrorKind::invalid_argument, "{}={}: not a number of zero or more", name, text);
  }
  return value;
}

/// All GPUs of the machine.
support::Result<std::vector<target::GpuModel>> find_models() {
  unsigned count = 0;
  if (const auto text = variable("ATOLL_GPUS")) {
    const auto wish = number<unsigned>("ATOLL_GPUS", *text);
    if (!wish) return std::unexpected(wish.error());
    if (*wish == 0 || *wish > target::most_gpus)
      return support::fail(support::ErrorKind::invalid_argument, "ATOLL_GPUS={}: there can be 1 to {}", *text,
                           target::most_gpus);
    count = *wish;
  }
  if (const auto names = variable("ATOLL_GPU")) {
    auto models = target::find_gpus(*names, count, target::wants_xnack());
    return models ? models : support::within("ATOLL_GPU", models.error());
  }
  const auto model = choose_gpu();
  if (!model) return std::unexpected(model.error());
  return std::vector<target::GpuModel>(std::max(1U, count), *model);
}

/// The GPUs that the program sees, each with what the environment says of it.
support::Result<std::vector<GpuConfiguration>> read_gpus() {
  const auto models = find_models();
  if (!models) return std::unexpected(models.error());
  uint64_t memory_bytes = 0;
  if (const auto text = variable("ATOLL_MEMORY")) {
    const auto bytes = support::parse_byte_size(*text);
    if (!bytes) return support::within("ATOLL_MEMORY", bytes.error());
    memory_bytes = *bytes;
  }
  std::vector<GpuConfiguration> gpus;
  const char* const visible = support::environment_variable("ROCR_VISIBLE_DEVICES");  // empty: none
  for (const unsigned number : visible != nullptr ? visible_devices(visible, *models) : all_devices(models->size())) {
    const target::GpuModel& model = (*models)[number];
    GpuConfiguration& gpu =
        gpus.emplace_back(model, number, memory_bytes != 0 ? memory_bytes : model.product.memory_bytes);
    if (const auto text = variable("HSA_CU_MASK"))
      gpu.compute_units =
          read_compute_unit_mask(*text, static_cast<uint32_t>(gpus.size() - 1), model.product.compute_units);
  }
  return gpus;
}

}  // namespace

support::Result<Configuration> read_configuration() {
  Configuration configuration;
  auto gpus = read_gpus();
  if (!gpus) return std::unexpected(gpus.error());
  configuration.gpus = std::move(*gpus);
  if (const auto where = variable("ATOLL_STATS"); where && *where != "0") configuration.statistics = *where;
  if (const auto text = variable("ATOLL_TIMEOUT")) {
    const auto seconds = number<double>("ATOLL_TIMEOUT", *text);
    if (!seconds) return std::unexpected(seconds.error());
    configuration.timeout =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(std::min(*seconds, 1e9)));
  }
  configuration.core_file = variable("ATOLL_CORE").value_or("");
  configuration.engine = variable("ATOLL_ENGINE").value_or("");
  auto make_engine = engine::find_engine(configuration.engine);
  if (!make_engine) return support::within("ATOLL_ENGINE", make_engine.error());
  configuration.make_engine = std::move(*make_engine);
  auto check = observe::options_from_environment();
  if (!check) return std::unexpected(check.error());
  configuration.check = std::move(*check);
  if (const auto level = semantics::wanted_host_vectors(); !level) return std::unexpected(level.error());
  if (const auto text = variable("ATOLL_THREADS")) {
    const auto threads = number<unsigned>("ATOLL_THREADS", *text);
    if (!threads) return std::unexpected(threads.error());
    if (*threads > machine::most_threads)
      return support::fail(support::ErrorKind::invalid_argument, "ATOLL_THREADS={}: there can be {} at most", *text,
                           machine::most_threads);
    configuration.threads = *threads;
  }
  return configuration;
}

}  // namespace Atoll::hsa

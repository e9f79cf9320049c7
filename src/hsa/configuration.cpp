// hsa: reading the environment, and choosing a GPU for a program that names none.
#include "hsa/configuration.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "engine/engines.h"
#include "object/bundle.h"
#include "semantics/host_vectors.h"
#include "support/environment.h"
#include "support/mapped_file.h"

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
  if (!program) return target::find_gpu(usual);
  const auto found = object::find_targets(program->bytes());
  if (!found || found->code_objects.empty()) return target::find_gpu(usual);
  return object::choose_gpu({&*found, 1});
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

}  // namespace

support::Result<Configuration> read_configuration() {
  Configuration configuration;
  const auto wish = variable("ATOLL_GPU");
  auto model = wish ? target::find_gpu(*wish) : choose_gpu();
  if (!model) return wish ? support::within("ATOLL_GPU", model.error()) : std::unexpected(model.error());
  configuration.model = *model;
  if (const auto text = variable("HSA_CU_MASK"))
    configuration.compute_units = read_compute_unit_mask(*text, model->product.compute_units);
  configuration.statistics = variable("ATOLL_STATS").value_or("0") != "0";
  if (const auto text = variable("ATOLL_TIMEOUT")) {
    const auto seconds = number<double>("ATOLL_TIMEOUT", *text);
    if (!seconds) return std::unexpected(seconds.error());
    configuration.timeout =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(std::min(*seconds, 1e9)));
  }
  auto make_engine = engine::find_engine(variable("ATOLL_ENGINE").value_or(""));
  if (!make_engine) return support::within("ATOLL_ENGINE", make_engine.error());
  configuration.make_engine = std::move(*make_engine);
  if (const auto level = semantics::wanted_host_vectors(); !level) return std::unexpected(level.error());
  if (const auto text = variable("ATOLL_THREADS")) {
    const auto threads = number<unsigned>("ATOLL_THREADS", *text);
    if (!threads) return std::unexpected(threads.error());
    configuration.threads = *threads;
  }
  return configuration;
}

}  // namespace Atoll::hsa

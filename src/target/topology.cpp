// target: a machine with several GPUs. See topology.h.
// Source of distances: Linux, drivers/gpu/drm/amd/amdkfd/kfd_crat.c and kfd_topology.c.
#include "target/topology.h"

#include <ranges>

#include <fmt/format.h>

#include "support/environment.h"

namespace Atoll::target {

using support::ErrorKind;
using support::fail;
using support::Result;

bool wants_xnack() {
  const char* const variable = support::environment_variable(support::Setting::xnack);
  return variable != nullptr && std::string_view(variable) == "1";
}

Result<std::vector<GpuModel>> find_gpus(std::string_view names, unsigned count, bool usual_xnack) {
  if (count > max_gpus)
    return fail(ErrorKind::invalid_argument, "{} GPUs are too many: Atoll has up to {}", count, max_gpus);
  std::vector<GpuModel> gpus;
  for (const auto& part : std::views::split(names, ',')) {
    auto gpu = find_gpu(std::string_view(part.begin(), part.end()), usual_xnack);
    if (!gpu) return std::unexpected(gpu.error());
    gpus.push_back(*gpu);
    if (gpus.size() > max_gpus)
      return fail(ErrorKind::invalid_argument, "the list names too many GPUs: Atoll has up to {}", max_gpus);
  }
  if (count == 0 || gpus.size() == count) return gpus;
  if (gpus.size() != 1)
    return fail(ErrorKind::invalid_argument,
                "a list of {} GPUs, and {} are asked for: name one, or leave out the number", gpus.size(), count);
  gpus.resize(count, gpus[0]);
  return gpus;
}

std::string name_of(const GpuModel& gpu) {
  return fmt::format("{}{}", gpu.product.name, gpu.target.to_string().substr(gpu.product.processor.size()));
}

std::string names_of(std::span<const GpuModel> gpus) {
  std::string names;
  for (const GpuModel& gpu : gpus) names += (names.empty() ? "" : ",") + name_of(gpu);
  return names;
}

uint64_t unique_id_of(const Product& product, unsigned gpu) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  const std::string text = gpu == 0 ? std::string(product.name) : fmt::format("{} {}", product.name, gpu);
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

Link link_to_host() {
  return {.kind = Link::Kind::pcie, .hops = 1, .distance = 20, .least_bandwidth = 16'000, .bandwidth = 32'000};
}

Link link_between(const Product& one, const Product& other) {
  if (one.name == other.name && one.xgmi_copy_engines != 0)
    return {.kind = Link::Kind::xgmi, .hops = 1, .distance = 15, .least_bandwidth = 50'000, .bandwidth = 50'000};
  Link link = link_to_host();
  link.hops *= 2;
  link.distance *= 2;
  return link;
}

}  // namespace Atoll::target

// target: a machine with several GPUs: which there are, and where each is among the others. The runtime answers with
// it, and the driver's files say the same.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"
#include "target/product.h"

namespace Atoll::target {

/// As many as Atoll has in one machine.
inline constexpr unsigned max_gpus = 64;

/// The GPUs of a list, "mi250x,rx7900xtx", each as find_gpu() takes it; or, with a `count` other than 0, so many of the
/// one GPU that is named.
support::Result<std::vector<GpuModel>> find_gpus(std::string_view names, unsigned count = 0, bool usual_xnack = false);

/// Whether GPUs that are not said to be with or without xnack are with it: ROCr's variable, HSA_XNACK=1.
bool wants_xnack();

/// "mi250x:sramecc+:xnack-": a product with its settings, as find_gpu() takes it.
std::string name_of(const GpuModel& gpu);
/// The names of several, separated by commas.
std::string names_of(std::span<const GpuModel> gpus);

/// Of a machine's GPU with this number, counted from 0: its node in the topology, of which the host is number 0.
constexpr uint32_t node_of(unsigned gpu) { return gpu + 1; }
/// Its place on the PCI bus: bus, device and function as PCI numbers them.
constexpr uint32_t pci_location_of(unsigned gpu) { return (3 + gpu) << 8; }
/// What a real one has burnt in, which does not change from run to run.
uint64_t unique_id_of(const Product& product, unsigned gpu);

/// The way from one node to another.
struct Link {
  enum class Kind : uint8_t { pcie, xgmi } kind;
  uint32_t hops;                        ///< nodes on the way, the last one counted
  uint32_t distance;                    ///< the driver's weight: 20 for the host's next node
  uint32_t least_bandwidth, bandwidth;  ///< MB/s
};
Link link_to_host();
/// Between two GPUs: directly where both have links for that and are of a kind, else by way of the host.
Link link_between(const Product& one, const Product& other);

}  // namespace Atoll::target

// target: the product catalogue: what one can buy ("mi250x"), as the properties that a runtime reports.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "support/error.h"
#include "target/target_id.h"

namespace Atoll::target {

struct Product {
  std::string_view name;            ///< "mi250x": what `--gpu` takes; lower case, no blanks
  std::string_view marketing_name;  ///< "AMD Instinct MI250X"
  std::string_view processor;       ///< "gfx90a"
  uint32_t compute_units, shader_engines, shader_arrays_per_engine;  ///< of the device that a runtime reports
  uint32_t clock_mhz, memory_clock_mhz, memory_bus_bits;
  uint64_t memory_bytes;
  uint32_t l1_bytes, l2_bytes, l3_bytes;  ///< l1: of one compute unit; l3: 0 where there is none
  uint32_t pci_device_id, revision_id;
  bool sramecc;                ///< the usual setting, where the processor has one
  uint32_t asic_family;        ///< as the Linux driver numbers them
  uint32_t xcc_count;          ///< accelerator complex dies, of which one device is made up
  uint32_t copy_engines;       ///< SDMA engines for all uses
  uint32_t xgmi_copy_engines;  ///< SDMA engines besides, for links to other GPUs
  bool apu;                    ///< shares its memory with a CPU on the same package
};

/// Every GPU that Atoll has: at least one for each processor that it runs code of. The first of a processor is
/// its usual one.
std::span<const Product> products();

/// One virtual GPU: a product with its target ID settled.
struct GpuModel {
  Product product;
  TargetId target;  ///< every supported feature is on or off, never any
};

/// The GPU that `--gpu` names: a product ("mi250x"), a processor ("gfx90a": its usual product) or a target ID
/// ("gfx90a:sramecc+:xnack-"). Features not named get the usual setting: the product's sramecc, and `usual_xnack`.
support::Result<GpuModel> find_gpu(std::string_view name, bool usual_xnack = false);

}  // namespace Atoll::target

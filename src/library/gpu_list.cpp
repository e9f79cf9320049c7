// library: all GPUs of the catalogue, as data and as JSON.
#include "library/gpu_list.h"

#include <nlohmann/json.hpp>

#include "atoll/code_tools.h"
#include "object/catalyst_devices.h"

namespace Atoll {

using target::FlatScratch;
using target::GpuModel;
using target::Processor;
using target::Product;

namespace library {

std::vector<GpuModel> every_gpu() {
  std::vector<GpuModel> gpus;
  for (const Product& product : target::products())
    if (auto gpu = target::find_gpu(product.name)) gpus.push_back(*gpu);
  return gpus;
}

namespace {

const char* flat_scratch_text(FlatScratch kind) {
  switch (kind) {
    case FlatScratch::none:
      return "none";
    case FlatScratch::offset_size:
      return "offset and size";
    case FlatScratch::absolute:
      return "absolute";
    case FlatScratch::architected:
      return "architected";
  }
  return "";
}

std::vector<unsigned> wave_sizes(const Processor& processor) {
  std::vector<unsigned> sizes;
  for (const unsigned size : {32, 64})
    if (processor.has_wave_size(size)) sizes.push_back(size);
  return sizes;
}

}  // namespace

}  // namespace library

std::string gpus() {
  auto list = nlohmann::ordered_json::array();
  for (const GpuModel& gpu : library::every_gpu()) {
    const Product& product = gpu.product;
    const Processor& processor = *gpu.target.processor;
    list.push_back({
        {"name", product.name},
        {"product", product.marketing_name},
        {"processor", processor.name},
        {"target_id", gpu.target.to_string()},
        {"generic_processor", processor.generic_processor},
        {"compute_units", product.compute_units},
        {"shader_engines", product.shader_engines},
        {"shader_arrays_per_engine", product.shader_arrays_per_engine},
        {"simds_per_compute_unit", processor.simds_per_cu},
        {"waves_per_simd", processor.waves_per_simd},
        {"wave_sizes", library::wave_sizes(processor)},
        {"clock_mhz", product.clock_mhz},
        {"memory_bytes", product.memory_bytes},
        {"memory_clock_mhz", product.memory_clock_mhz},
        {"memory_bus_bits", product.memory_bus_bits},
        {"l1_bytes", product.l1_bytes},
        {"l2_bytes", product.l2_bytes},
        {"l3_bytes", product.l3_bytes},
        {"lds_bytes", processor.lds_bytes},
        {"scratch_bytes_per_wave", processor.scratch_bytes_per_wave},
        {"sgprs", processor.addressable_sgprs},
        {"vgprs", processor.addressable_vgprs},
        {"accumulation_registers", processor.has_agprs},
        {"unified_vgprs", processor.unified_vgprs},
        {"packed_work_item_ids", processor.packed_work_item_ids},
        {"kernarg_preload", processor.kernarg_preload},
        {"flat_scratch", library::flat_scratch_text(processor.flat_scratch)},
        {"catalyst_opencl", object::catalyst::opencl_versions(processor)},
        {"pci_device_id", product.pci_device_id},
        {"revision_id", product.revision_id},
    });
  }
  return list.dump(2);
}

}  // namespace Atoll

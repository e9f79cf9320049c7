// tools: `atoll gpus`, the list of GPUs that there are.
#include <cstdio>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "target/product.h"
#include "tools/command.h"

namespace Atoll::tools {

namespace {

using target::FlatScratch;
using target::GpuModel;
using target::Processor;
using target::Product;

std::vector<GpuModel> every_gpu() {
  std::vector<GpuModel> gpus;
  for (const Product& product : target::products())
    if (auto gpu = target::find_gpu(product.name)) gpus.push_back(*gpu);
  return gpus;
}

std::string memory_text(uint64_t bytes) { return fmt::format("{} GiB", bytes >> 30); }

void print_table() {
  fmt::print("{:<12} {:<30} {:<24} {:>4} {:>9} {:>8} {:>8} {:>6} {:>5}\n", "NAME", "PRODUCT", "TARGET ID", "CUS",
             "CLOCK", "MEMORY", "LDS", "VGPRS", "SIMDS");
  for (const GpuModel& gpu : every_gpu()) {
    const Product& product = gpu.product;
    const Processor& processor = *gpu.target.processor;
    fmt::print("{:<12} {:<30} {:<24} {:>4} {:>5} MHz {:>8} {:>4} KiB {:>6} {:>5}\n", product.name,
               product.marketing_name, gpu.target.to_string(), product.compute_units, product.clock_mhz,
               memory_text(product.memory_bytes), processor.lds_bytes >> 10, processor.addressable_vgprs,
               processor.simds_per_cu);
  }
  fmt::print(
      "\n--gpu takes a name, a processor (its first product is meant) or a target ID; settings may follow either:\n"
      "mi250x:xnack+. LDS is of one work-group, VGPRs (AGPRs included where they share a file) of one wave.\n");
}

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

void print_json() {
  auto list = nlohmann::ordered_json::array();
  for (const GpuModel& gpu : every_gpu()) {
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
        {"wave_sizes", wave_sizes(processor)},
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
        {"flat_scratch", flat_scratch_text(processor.flat_scratch)},
        {"pci_device_id", product.pci_device_id},
        {"revision_id", product.revision_id},
    });
  }
  fmt::print("{}\n", list.dump(2));
}

}  // namespace

void add_gpus(CLI::App& app, Invocation& invocation) {
  CLI::App* gpus = app.add_subcommand("gpus", "List the GPUs that there are, with their properties");
  auto json = std::make_shared<bool>(false);
  gpus->add_flag("--json", *json, "All properties, as a JSON array");
  gpus->callback([json, &invocation] {
    invocation.work = [json]() -> support::Result<int> {
      *json ? print_json() : print_table();
      return 0;
    };
  });
}

}  // namespace Atoll::tools

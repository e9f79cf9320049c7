// tools: `atoll gpus`, the list of GPUs.
#include <cstdio>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "atoll/code_tools.h"
#include "library/gpu_list.h"
#include "tools/command.h"

namespace Atoll::tools {

namespace {

using target::GpuModel;
using target::Processor;
using target::Product;

std::string memory_text(uint64_t bytes) { return fmt::format("{} GiB", bytes >> 30); }

void print_table() {
  fmt::print("{:<12} {:<30} {:<24} {:>4} {:>9} {:>8} {:>8} {:>6} {:>5}\n", "NAME", "PRODUCT", "TARGET ID", "CUS",
             "CLOCK", "MEMORY", "LDS", "VGPRS", "SIMDS");
  for (const GpuModel& gpu : library::every_gpu()) {
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

}  // namespace

void add_gpus(CLI::App& app, Invocation& invocation) {
  CLI::App* gpus = app.add_subcommand("gpus", "List the GPUs with their properties");
  auto json = std::make_shared<bool>(false);
  gpus->add_flag("--json", *json, "All properties, as a JSON array");
  gpus->callback([json, &invocation] {
    invocation.work = [json]() -> support::Result<int> {
      *json ? fmt::print("{}\n", Atoll::gpus()) : print_table();
      return 0;
    };
  });
}

}  // namespace Atoll::tools

// Source of names and meanings: Linux, drivers/gpu/drm/amd/amdkfd/kfd_topology.c; of what is below sys/class/drm, its
// Documentation/gpu/amdgpu (driver-misc, thermal) and Documentation/ABI/testing/sysfs-bus-pci.
#include "tools/driver_files.h"

#include <unistd.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "target/topology.h"
#include "tools/files.h"
#include "tools/private_directory.h"

namespace Atoll::tools {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

namespace fs = std::filesystem;

struct Files {
  std::map<std::string, std::string> texts;  ///< by path; a path that ends in / is an empty directory
  std::map<std::string, std::string> links;  ///< by path: where the symbolic link leads
};
using Properties = std::vector<std::pair<const char*, uint64_t>>;

constexpr uint16_t amd_vendor = 0x1002, display_controller_class = 0x0380;
/// DRM numbers the devices for rendering alone from here on; a GPU's card has the GPU's number.
constexpr unsigned render_minor_of(unsigned gpu) { return 128 + gpu; }
constexpr unsigned memory_of_host = 0, memory_of_gpu = 1;  // HSA_HEAPTYPE_*

std::string text_of(const Properties& properties) {
  std::string text;
  for (const auto& [name, value] : properties) text += fmt::format("{} {}\n", name, value);
  return text;
}

/// The host's list of modules with the driver in it.
std::string modules() {
  std::ifstream host("/proc/modules");
  std::string text{std::istreambuf_iterator<char>(host), std::istreambuf_iterator<char>()};
  if (!text.starts_with("amdgpu ") && text.find("\namdgpu ") == std::string::npos)
    text += "amdgpu 0 0 - Live 0x0000000000000000\n";
  return text;
}

/// A way from one node to another, as `folder` lists it: io_links has direct ones, p2p_links those by way of others.
struct NodeLink {
  std::string_view folder;
  size_t to;
  target::Link link;
};

/// The ways from a node, of which number 0 is the host.
std::vector<NodeLink> links_from(size_t node, std::span<const target::GpuModel> gpus) {
  std::vector<NodeLink> links;
  for (size_t to = 0; to <= gpus.size(); to++) {
    if (to == node) continue;
    const target::Link link = node == 0 || to == 0 ? target::link_to_host()
                                                   : target::link_between(gpus[node - 1].product, gpus[to - 1].product);
    links.push_back({link.hops == 1 ? "io_links" : "p2p_links", to, link});
  }
  return links;
}

Properties link_properties(size_t from, const NodeLink& way) {
  constexpr unsigned pcie = 2, xgmi = 11;  // HSA_IOLINKTYPE_*
  return {{"type", way.link.kind == target::Link::Kind::xgmi ? xgmi : pcie},
          {"version_major", 0},
          {"version_minor", 0},
          {"node_from", from},
          {"node_to", way.to},
          {"weight", way.link.distance},
          {"min_latency", 0},
          {"max_latency", 0},
          {"min_bandwidth", way.link.least_bandwidth},
          {"max_bandwidth", way.link.bandwidth},
          {"recommended_transfer_size", 0},
          {"flags", 1}};  // enabled
}

/// As Linux spells a place on the PCI bus: domain, bus, device and function.
std::string pci_address_of(unsigned gpu) {
  const uint32_t location = target::pci_location_of(gpu);
  return fmt::format("0000:{:02x}:{:02x}.{:x}", location >> 8, location >> 3 & 0x1f, location & 7);
}

struct Node {
  std::string_view name;
  uint64_t gpu_id;  ///< 0: the host
  Properties properties;
  uint64_t memory_bytes;
};

void add_node(Files& files, size_t number, Node node, std::span<const target::GpuModel> gpus) {
  const std::string folder = fmt::format("sys/class/kfd/kfd/topology/nodes/{}/", number);
  files.texts[folder + "caches/"];
  files.texts[folder + "io_links/"];
  files.texts[folder + "p2p_links/"];
  std::map<std::string_view, uint64_t> counts{{"io_links", 0}, {"p2p_links", 0}};
  for (const NodeLink& way : links_from(number, gpus))
    files.texts[fmt::format("{}{}/{}/properties", folder, way.folder, counts[way.folder]++)] =
        text_of(link_properties(number, way));
  node.properties.emplace_back("io_links_count", counts["io_links"]);
  node.properties.emplace_back("p2p_links_count", counts["p2p_links"]);
  files.texts[folder + "name"] = fmt::format("{}\n", node.name);
  files.texts[folder + "gpu_id"] = fmt::format("{}\n", node.gpu_id);
  files.texts[folder + "properties"] = text_of(node.properties);
  files.texts[folder + "mem_banks/0/properties"] =
      text_of({{"heap_type", node.gpu_id == 0 ? memory_of_host : memory_of_gpu},
               {"size_in_bytes", node.memory_bytes},
               {"flags", 0},
               {"width", 64},
               {"mem_clk_max", 0}});
}

Properties gpu_properties(const target::GpuModel& gpu, unsigned number, uint64_t memory_bytes) {
  const target::Product& product = gpu.product;
  const target::Processor& processor = *gpu.target.processor;
  const target::IsaVersion version = target::isa_version(processor);
  return {{"cpu_cores_count", 0},
          {"simd_count", uint64_t{product.compute_units} * processor.simds_per_cu},
          {"mem_banks_count", 1},
          {"caches_count", 0},
          {"max_waves_per_simd", processor.waves_per_simd},
          {"lds_size_in_kb", processor.lds_bytes / 1024},
          {"gds_size_in_kb", 0},
          {"wave_front_size", processor.has_wave_size(32) ? 32 : 64},
          {"array_count", uint64_t{product.shader_engines} * product.shader_arrays_per_engine},
          {"simd_arrays_per_engine", product.shader_arrays_per_engine},
          {"cu_per_simd_array",
           product.compute_units / (uint64_t{product.shader_engines} * product.shader_arrays_per_engine)},
          {"simd_per_cu", processor.simds_per_cu},
          {"max_slots_scratch_cu", 32},
          {"gfx_target_version", version.major * 10000 + version.minor * 100 + version.stepping},
          {"vendor_id", amd_vendor},
          {"device_id", product.pci_device_id},
          {"location_id", target::pci_location_of(number)},
          {"domain", 0},
          {"drm_render_minor", render_minor_of(number)},
          {"hive_id", product.xgmi_copy_engines != 0 ? target::unique_id_of(product, 0) : 0},
          {"num_sdma_engines", product.copy_engines},
          {"num_sdma_xgmi_engines", product.xgmi_copy_engines},
          {"num_xcc", product.xcc_count},
          {"unique_id", target::unique_id_of(product, number)},
          {"max_engine_clk_fcompute", product.clock_mhz},
          {"local_mem_size", memory_bytes}};
}

/// The type 0 header of a device's configuration space (PCI Local Bus Specification 3.0, section 6.1), which
/// libpciaccess reads for hwloc: without capabilities and base addresses.
std::string configuration_space(const target::Product& product) {
  std::string bytes(64, '\0');
  const auto put = [&](size_t offset, uint16_t value) {
    bytes[offset] = static_cast<char>(value);
    bytes[offset + 1] = static_cast<char>(value >> 8);
  };
  put(0x00, amd_vendor);
  put(0x02, static_cast<uint16_t>(product.pci_device_id));
  put(0x04, 0x0006);                    // command: memory space, bus master
  put(0x0a, display_controller_class);  // before it the interface, 0
  put(0x2c, amd_vendor);
  return bytes;
}

/// Adds the host's devices to /sys/bus/pci/devices, as links to where they are: programs look for network adapters
/// there. Its graphics devices are left out, as in /sys/class/drm.
void add_devices_of_host(Files& files) {
  const fs::path bus = "/sys/bus/pci/devices";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(bus, error)) {
    std::string device_class;
    std::ifstream(entry.path() / "class") >> device_class;
    const fs::path device = fs::canonical(entry.path(), error);
    if (!error && !device_class.starts_with("0x03"))
      files.links.try_emplace("sys/bus/pci/devices/" + entry.path().filename().string(), device.string());
  }
}

/// The GPU as a graphics device: what ROCm's system management library (rocm-smi, and RCCL by it) reads of one that
/// does nothing at the moment. What only a chip has, as temperatures, is left out. As on any machine, the classes link
/// to the device, by whose name programs know its place on the bus.
void add_graphics_device(Files& files, const target::GpuModel& gpu, unsigned number, uint64_t memory_bytes) {
  const target::Product& product = gpu.product;
  const std::string address = pci_address_of(number);
  const std::string device = fmt::format("devices/pci0000:00/{}/", address), folder = "sys/" + device;
  const auto add = [&](std::string_view name, const std::string& text) {
    files.texts[folder + std::string(name)] = text + "\n";
  };
  add("vendor", fmt::format("{:#06x}", amd_vendor));
  add("device", fmt::format("{:#06x}", product.pci_device_id));
  add("subsystem_vendor", fmt::format("{:#06x}", amd_vendor));
  add("subsystem_device", "0x0000");
  add("revision", "0x00");
  add("class", fmt::format("{:#06x}00", display_controller_class));
  files.texts[folder + "config"] = configuration_space(product);
  std::string resources;
  for (unsigned i = 0; i < 13; ++i) resources += fmt::format("{0:#018x} {0:#018x} {0:#018x}\n", 0);
  files.texts[folder + "resource"] = resources;
  add("irq", "0");
  add("enable", "1");
  for (const char* which : {"current", "max"}) {
    add(fmt::format("{}_link_speed", which), "16.0 GT/s PCIe");
    add(fmt::format("{}_link_width", which), "16");
  }
  files.links[folder + "driver"] = "../../../bus/pci/drivers/amdgpu";
  files.links[folder + "subsystem"] = "../../../bus/pci";
  files.links["sys/bus/pci/devices/" + address] = "../../../" + device.substr(0, device.size() - 1);
  files.links["sys/bus/pci/drivers/amdgpu/" + address] = "../../../../" + device.substr(0, device.size() - 1);
  add("numa_node", "-1");
  add("product_name", std::string(product.name));
  add("vbios_version", "Atoll");  // rocm-smi distinguishes GPUs from other devices of the vendor by this file
  add("unique_id", fmt::format("{:016x}", target::unique_id_of(product, number)));
  add("gpu_busy_percent", "0");
  add("mem_busy_percent", "0");
  for (const char* memory : {"vram", "vis_vram"}) {
    add(fmt::format("mem_info_{}_total", memory), fmt::to_string(memory_bytes));
    add(fmt::format("mem_info_{}_used", memory), "0");
  }
  add("pp_dpm_sclk", fmt::format("0: {}Mhz *", product.clock_mhz));
  add("power_dpm_force_performance_level", "auto");
  add("uevent",
      fmt::format("DRIVER=amdgpu\nPCI_ID={:04X}:{:04X}\nPCI_SLOT_NAME={}", amd_vendor, product.pci_device_id, address));
  const std::string monitor = fmt::format("hwmon/hwmon{}", number);
  add(monitor + "/name", "amdgpu");
  add(monitor + "/in0_label", "vddgfx");  // which rocm-smi takes for granted
  files.links[folder + monitor + "/device"] = "../..";
  files.links[fmt::format("sys/class/hwmon/hwmon{}", number)] = "../../" + device + monitor;
  for (const std::string& name : {fmt::format("card{}", number), fmt::format("renderD{}", render_minor_of(number))}) {
    files.links[folder + "drm/" + name + "/device"] = "../..";
    files.links["sys/class/drm/" + name] = "../../" + device + "drm/" + name;
  }
}

Files driver_files(std::span<const target::GpuModel> gpus, uint64_t memory_bytes) {
  Files files;
  files.texts["proc/modules"] = modules();
  files.texts["sys/module/amdgpu/initstate"] = "live\n";
  files.texts["sys/module/amdgpu/refcnt"] = "0\n";
  files.texts["sys/module/amdgpu/holders/"];
  files.texts["sys/module/amdgpu/version"] = "6.16.6\n";  // of the driver for ROCm 7.2
  // GPUs may reach each other's memory over PCI Express, and the GPU is not one of an emulator of AMD's, which would
  // be slow in ways that RCCL's tests make room for.
  files.texts["sys/module/amdgpu/parameters/pcie_p2p"] = "Y\n";
  files.texts["sys/module/amdgpu/parameters/emu_mode"] = "0\n";
  files.texts["sys/class/kfd/kfd/topology/generation_id"] = "1\n";
  files.texts["sys/class/kfd/kfd/topology/system_properties"] =
      text_of({{"platform_oem", 0}, {"platform_id", 0}, {"platform_rev", 0}});
  const auto pages = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES));
  add_node(files, 0,
           {"",
            0,
            {{"cpu_cores_count", std::thread::hardware_concurrency()},
             {"simd_count", 0},
             {"mem_banks_count", 1},
             {"caches_count", 0},
             {"gfx_target_version", 0},
             {"vendor_id", 0},
             {"device_id", 0}},
            pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE))},
           gpus);
  for (unsigned i = 0; i < gpus.size(); i++) {
    const target::Product& product = gpus[i].product;
    const uint64_t bytes = memory_bytes != 0 ? memory_bytes : product.memory_bytes;
    const uint32_t node = target::node_of(i);
    add_node(files, node, {product.processor, node, gpu_properties(gpus[i], i, bytes), bytes}, gpus);
    add_graphics_device(files, gpus[i], i, bytes);
  }
  add_devices_of_host(files);
  return files;
}

std::error_code write_all(const Files& files, const fs::path& directory) {
  std::error_code error;
  for (const auto& [name, text] : files.texts) {
    const fs::path path = directory / name;
    fs::create_directories(path.parent_path(), error);
    if (error) return error;
    if (name.ends_with('/')) continue;
    const std::span bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    if (!write_file(path, bytes)) return std::make_error_code(std::errc::io_error);
  }
  for (const auto& [name, target] : files.links) {
    const fs::path path = directory / name;
    fs::create_directories(path.parent_path(), error);
    if (!error) fs::create_symlink(target, path, error);
    if (error) return error;
  }
  return {};
}

}  // namespace

Result<fs::path> make_driver_files(std::span<const target::GpuModel> gpus, uint64_t memory_bytes) {
  const auto home = private_directory();
  if (!home) return std::unexpected(home.error());
  const Files files = driver_files(gpus, memory_bytes);
  std::string all;
  for (const auto* map : {&files.texts, &files.links})
    for (const auto& [name, text] : *map) all += name + '\0' + text + '\0';
  fs::path directory = *home / fmt::format("driver-{:016x}", std::hash<std::string>{}(all));
  std::error_code error;
  if (fs::exists(directory, error)) return directory;
  const fs::path fresh = directory.native() + fmt::format(".{}", getpid());  // complete when it gets its name
  error = write_all(files, fresh);
  if (!error) {
    fs::rename(fresh, directory, error);
    if (error && fs::exists(directory)) error.clear();  // another run was faster
  }
  std::error_code ignored;
  fs::remove_all(fresh, ignored);
  if (error) return fail(ErrorKind::system, "cannot write {}: {}", directory.string(), error.message());
  return directory;
}

}  // namespace Atoll::tools

// object: the table of Catalyst's devices.
//
// e_machine is 1001 plus the device's number in CAL (CALtargetEnum; "OpenCL Binary Image Format" of
// the AMD APP SDK). Machines in encoding dictionaries: public drivers' binaries and CLRX's documentation, which
// describe GCN only. Processors: LLVM's names of the same GPUs.
#include "object/catalyst_devices.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace Atoll::object::catalyst {

namespace {

constexpr uint16_t machine(uint16_t cal_target) { return static_cast<uint16_t>(1001 + cal_target); }

constexpr Device table[] = {
    {machine(0), {}, "rv600", Family::r600, ""},
    {machine(1), {}, "rv610", Family::r600, ""},
    {machine(2), {}, "rv630", Family::r600, ""},
    {machine(3), {}, "rv670", Family::r600, ""},
    {machine(4), {}, "rv7xx", Family::r700, ""},
    {machine(5), {}, "rv770", Family::r700, ""},
    {machine(6), {}, "rv710", Family::r700, ""},
    {machine(7), {}, "rv730", Family::r700, ""},
    {machine(8), {}, "cypress", Family::evergreen, ""},
    {machine(9), {}, "juniper", Family::evergreen, ""},
    {machine(10), {}, "redwood", Family::evergreen, ""},
    {machine(11), {}, "cedar", Family::evergreen, ""},
    {machine(12), {}, "sumo", Family::evergreen, ""},
    {machine(13), {}, "supersumo", Family::evergreen, ""},
    {machine(14), {}, "wrestler", Family::evergreen, ""},
    {machine(15), {}, "cayman", Family::northern_islands, ""},
    {machine(16), {}, "kauai", Family::northern_islands, ""},
    {machine(17), {}, "barts", Family::northern_islands, ""},
    {machine(18), {}, "turks", Family::northern_islands, ""},
    {machine(19), {}, "caicos", Family::northern_islands, ""},
    {machine(20), 0x1A, "tahiti", Family::gcn, "gfx600"},
    {machine(21), 0x1B, "pitcairn", Family::gcn, "gfx601"},
    {machine(22), 0x1C, "capeverde", Family::gcn, "gfx601"},
    {machine(23), {}, "devastator", Family::northern_islands, ""},
    {machine(24), {}, "scrapper", Family::northern_islands, ""},
    {machine(25), 0x20, "oland", Family::gcn, "gfx602"},
    {machine(26), 0x21, "bonaire", Family::gcn, "gfx704"},
    {machine(27), 0x22, "spectre", Family::gcn, "gfx700"},
    {machine(28), 0x23, "spooky", Family::gcn, "gfx700"},
    {machine(29), 0x24, "kalindi", Family::gcn, "gfx703"},
    {machine(30), 0x25, "hainan", Family::gcn, "gfx602"},
    {machine(31), 0x27, "hawaii", Family::gcn, "gfx701"},
    {machine(32), 0x29, "iceland", Family::gcn, "gfx802"},
    {machine(33), 0x2A, "tonga", Family::gcn, "gfx802"},
    {machine(34), 0x2B, "mullins", Family::gcn, "gfx703"},
    {machine(35), 0x2D, "fiji", Family::gcn, "gfx803"},
    {machine(36), 0x2E, "carrizo", Family::gcn, "gfx801"},
    {machine(37), 0x2F, "ellesmere", Family::gcn, "gfx803"},
    {machine(38), 0x2C, "baffin", Family::gcn, "gfx803"},
    {machine(40), 0x31, "stoney", Family::gcn, "gfx810"},
    {machine(41), 0x32, "lexa", Family::gcn, "gfx803"},
};

template <typename Value, typename Member>
const Device* find(const Value& value, Member member) {
  const auto* found = std::ranges::find(table, value, member);
  return found == std::end(table) ? nullptr : found;
}

}  // namespace

std::string_view name_of(Family family) {
  constexpr std::array<std::string_view, 5> names = {"R600", "R700", "Evergreen", "Northern Islands", "GCN"};
  return names[static_cast<size_t>(family)];
}

std::span<const Device> devices() { return table; }

const Device* find_device(uint16_t elf_machine) { return find(elf_machine, &Device::elf_machine); }

const Device* find_device_of_encoding(uint32_t encoding) {
  return find(std::optional<uint32_t>(encoding), &Device::encoding);
}

const Device* find_device(std::string_view name) {
  const Device* found = find(name, &Device::name);
  return found != nullptr || name.empty() ? found : find(name, &Device::processor);
}

bool has_opencl_2(const target::Processor& processor) {
  using enum target::Generation;
  return !processor.generic && processor.generation >= gfx7 && processor.generation <= gfx9;
}

std::vector<std::string_view> opencl_versions(const target::Processor& processor) {
  std::vector<std::string_view> versions;
  if (find(processor.name, &Device::processor) != nullptr) versions.emplace_back("1.x");
  if (has_opencl_2(processor)) versions.emplace_back("2.0");
  return versions;
}

}  // namespace Atoll::object::catalyst

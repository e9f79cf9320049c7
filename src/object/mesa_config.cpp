// object: reading .AMDGPU.config.
#include "object/mesa_config.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "object/pal/contradictions.h"
#include "support/bytes.h"

namespace Atoll::object {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

constexpr uint32_t spilled_sgprs_key = 4, spilled_vgprs_key = 8;

/// Returns the stage whose *_PGM_RSRC1 a register is.
std::optional<HardwareStage> stage_of_resources(const GpuRegister& found) {
  for (unsigned i = 0; i < num_hardware_stages; ++i)
    if (found.name == resource_register(static_cast<HardwareStage>(i), 1)) return static_cast<HardwareStage>(i);
  return std::nullopt;
}

/// Returns the functions in the order of their code.
std::vector<const ElfSymbol*> functions_of(std::span<const ElfSymbol> symbols) {
  std::vector<const ElfSymbol*> functions;
  for (const ElfSymbol& each : symbols) {
    const uint8_t type = elf::symbol_type(each.raw);
    if ((type == STT_FUNC || type == elf::stt_amdgpu_hsa_kernel) && each.raw.st_shndx != SHN_UNDEF)
      functions.push_back(&each);
  }
  std::ranges::sort(functions, {},
                    [](const ElfSymbol* each) { return std::tuple(each->raw.st_shndx, each->raw.st_value); });
  const auto place = [](const ElfSymbol* each) { return std::tuple(each->raw.st_shndx, each->raw.st_value); };
  functions.erase(std::ranges::unique(functions, {}, place).begin(), functions.end());  // aliases
  return functions;
}

/// Returns the record that a kernel begins with. Shaders have none: their first bytes are code.
std::optional<RawKernelCode> kernel_code_at(const ElfFile& file, const ElfSymbol& symbol) {
  const auto code = support::read<RawKernelCode>(code_of(file, symbol), 0);
  if (!code) return std::nullopt;
  for (const char* name :
       {"amd_code_version_major", "amd_code_version_minor", "amd_machine_kind", "kernel_code_entry_byte_offset"}) {
    const KernelCodeField& field = kernel_code_field(name);
    if (field.of(*code) != field.usual) return std::nullopt;
  }
  return code;
}

}  // namespace

std::optional<uint32_t> MesaShader::register_value(uint32_t number) const {
  const auto found = std::ranges::find(registers, number, &MesaRegister::number);
  return found == registers.end() ? std::nullopt : std::optional(found->value);
}

Result<std::vector<MesaShader>> read_mesa_config(const ElfFile& file, std::span<const ElfSymbol> symbols,
                                                 target::Generation generation) {
  std::vector<MesaShader> shaders;
  const ElfSection* const section = file.find_section(mesa_config_section);
  if (section == nullptr) return shaders;
  if (section->bytes.size() % 8 != 0)
    return fail(ErrorKind::invalid_file, "{} has {} bytes, which is not a multiple of 8: it is cut short",
                mesa_config_section, section->bytes.size());
  for (uint64_t at = 0; at < section->bytes.size(); at += 8) {
    const uint32_t key = *support::read<uint32_t>(section->bytes, at);
    const uint32_t value = *support::read<uint32_t>(section->bytes, at + 4);
    const bool count = key == spilled_sgprs_key || key == spilled_vgprs_key;
    const auto found = count || key % 4 != 0 ? std::nullopt : find_register(key / 4, generation);
    if (const auto stage = found ? stage_of_resources(*found) : std::nullopt)
      shaders.push_back({.symbol = {},
                         .stage = *stage,
                         .registers = {},
                         .spilled_sgprs = {},
                         .spilled_vgprs = {},
                         .kernel_code = {}});
    if (shaders.empty())
      return fail(ErrorKind::invalid_file, "{} begins with {:#x}, which is not a *_PGM_RSRC1 register",
                  mesa_config_section, key);
    MesaShader& shader = shaders.back();
    if (count) {
      (key == spilled_sgprs_key ? shader.spilled_sgprs : shader.spilled_vgprs) = value;
      continue;
    }
    if (key % 4 != 0)
      return fail(ErrorKind::invalid_file, "{} has the key {:#x}, which is neither a register nor a count",
                  mesa_config_section, key);
    if (shader.register_value(key / 4))
      return fail(ErrorKind::invalid_file, "{} sets register {:#x} twice for one shader", mesa_config_section, key);
    shader.registers.push_back({.number = key / 4, .value = value});
  }
  const std::vector<const ElfSymbol*> functions = functions_of(symbols);
  if (functions.size() != shaders.size())
    return fail(ErrorKind::invalid_file, "{} is for {} shaders, the file has {} functions", mesa_config_section,
                shaders.size(), functions.size());
  for (size_t i = 0; i < shaders.size(); ++i) {
    shaders[i].symbol = functions[i]->name;
    if (shaders[i].stage == HardwareStage::cs) shaders[i].kernel_code = kernel_code_at(file, *functions[i]);
  }
  return shaders;
}

std::vector<std::string> mesa_contradictions(const std::vector<MesaShader>& shaders, const ElfFile& file,
                                             std::span<const ElfSymbol> symbols, const target::Processor& processor) {
  std::vector<std::string> messages;
  const std::vector<const ElfSymbol*> functions = functions_of(symbols);
  for (size_t i = 0; i < shaders.size(); ++i) {
    const MesaShader& shader = shaders[i];
    for (const MesaRegister& each : shader.registers)
      if (!find_register(each.number, processor.generation))
        messages.push_back(fmt::format("{}: shader '{}' sets register {:#x}, which {} does not have",
                                       mesa_config_section, shader.symbol, each.number * 4, processor.name));
    const auto number = register_number(resource_register(shader.stage, 1), processor.generation);
    const auto rsrc1 = number ? shader.register_value(*number) : std::nullopt;
    const auto row = number ? find_register(*number, processor.generation) : std::nullopt;
    const RegisterField* const field = row ? row->find_field("VGPRS") : nullptr;
    if (!rsrc1 || field == nullptr || i >= functions.size()) continue;
    // The section does not say the wave size: the larger granule is the weaker check.
    const uint32_t granule = std::max(processor.vgpr_granule, processor.vgpr_granule_wave32);
    const uint32_t allocated = (field->of(*rsrc1) + 1) * granule;
    std::span<const uint8_t> code = code_of(file, *functions[i]);
    if (shader.kernel_code) code = code.subspan(sizeof(RawKernelCode));
    const UsedRegisters used = used_registers(code, processor, 0);
    if (used.vgprs > allocated)
      messages.push_back(fmt::format("{}: the code of '{}' uses VGPR v{}, {} VGPRs are allocated", mesa_config_section,
                                     shader.symbol, used.vgprs - 1, allocated));
  }
  return messages;
}

}  // namespace Atoll::object

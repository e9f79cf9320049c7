// object: contradictions in PAL code objects.
#include "object/pal/contradictions.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "isa/decode.h"
#include "isa/effects.h"

namespace Atoll::object {

namespace {

/// One register's value and fields, where a pipeline sets it.
class SetRegister {
 public:
  SetRegister(const PalPipeline& pipeline, const std::string& name, target::Generation generation) {
    const auto number = register_number(name, generation);
    if (!number) return;
    row_ = find_register(*number, generation);
    value_ = pipeline.register_value(*number);
  }
  std::optional<uint32_t> field(std::string_view name) const {
    if (!row_ || !value_) return std::nullopt;
    const RegisterField* field = row_->find_field(name);
    return field == nullptr ? std::nullopt : std::optional(field->of(*value_));
  }

 private:
  std::optional<GpuRegister> row_;
  std::optional<uint32_t> value_;
};

/// Register and field that make a stage's waves 32 lanes wide.
struct Wave32Enable {
  HardwareStage stage;
  std::string_view gpu_register, field;
};
constexpr Wave32Enable wave32_enables[] = {{HardwareStage::cs, "COMPUTE_DISPATCH_INITIATOR", "CS_W32_EN"},
                                           {HardwareStage::ps, "SPI_PS_IN_CONTROL", "PS_W32_EN"},
                                           {HardwareStage::hs, "VGT_SHADER_STAGES_EN", "HS_W32_EN"},
                                           {HardwareStage::gs, "VGT_SHADER_STAGES_EN", "GS_W32_EN"},
                                           {HardwareStage::vs, "VGT_SHADER_STAGES_EN", "VS_W32_EN"}};

std::optional<uint32_t> wave32_enabled(const PalPipeline& pipeline, HardwareStage stage,
                                       target::Generation generation) {
  const auto enable = std::ranges::find(wave32_enables, stage, &Wave32Enable::stage);
  if (enable == std::end(wave32_enables)) return std::nullopt;
  return SetRegister(pipeline, std::string(enable->gpu_register), generation).field(enable->field);
}

class Checker {
 public:
  Checker(const ElfFile& file, std::span<const ElfSymbol> symbols, const target::Processor& processor)
      : file_(file), symbols_(symbols), processor_(processor) {}

  void check(const PalMetadata& metadata) {
    for (const std::string& key : metadata.unknown_keys) wrong("key '{}' is unknown", key);
    for (const PalPipeline& pipeline : metadata.pipelines) check(pipeline);
  }

  std::vector<std::string> take() { return std::move(messages_); }

 private:
  template <typename... Args>
  void wrong(fmt::format_string<Args...> format, Args&&... args) {
    messages_.push_back(fmt::format("PAL metadata: {}", fmt::format(format, std::forward<Args>(args)...)));
  }

  void check(const PalPipeline& pipeline) {
    for (const PalRegisterValue& each : pipeline.registers)
      if (!find_register(each.number, processor_.generation))
        wrong("{} has no register {:#x}", processor_.name, each.number);
    for (const PalStage& stage : pipeline.stages) check(pipeline, stage);
    for (const PalUserData& each : pipeline.user_data) {
      const UserDataMapping mapping = user_data_mapping(each.mapping);
      if (mapping.kind == UserDataKind::unknown)
        wrong("user data register {} of stage {} has {}", each.sgpr, stage_name(each.stage), mapping.name);
      if (mapping.kind == UserDataKind::entry && pipeline.user_data_limit && mapping.index >= *pipeline.user_data_limit)
        wrong("user data register {} of stage {} is loaded with user data entry {}, .user_data_limit is {}", each.sgpr,
              stage_name(each.stage), mapping.index, *pipeline.user_data_limit);
    }
  }

  void check(const PalPipeline& pipeline, const PalStage& stage) {
    const std::string_view name = stage_name(stage.stage);
    if (!has_stage(stage.stage, processor_.generation)) wrong("{} has no hardware stage {}", processor_.name, name);
    const bool w32 = wave32_enabled(pipeline, stage.stage, processor_.generation).value_or(0) != 0;
    if (stage.wave_size) {
      if (*stage.wave_size > 64 || !processor_.has_wave_size(*stage.wave_size))
        wrong("stage {} has waves of {} lanes, which {} does not have", name, *stage.wave_size, processor_.name);
      else if (w32 && *stage.wave_size != 32)
        wrong("stage {} has waves of {} lanes, its register enables waves of 32", name, *stage.wave_size);
    }
    if (stage.work_group_size) {
      const auto& size = *stage.work_group_size;
      const uint64_t all = uint64_t{size[0]} * size[1] * size[2];
      constexpr uint64_t max_work_items = 1024;
      if (size[0] > max_work_items || size[1] > max_work_items || all == 0 || all > max_work_items)
        wrong("stage {} has work-groups of {} x {} x {}, of 1 to {} work-items", name, size[0], size[1], size[2],
              max_work_items);
    }
    if (stage.lds_bytes.value_or(0) > processor_.lds_bytes)
      wrong("stage {} has {} bytes of LDS, {} has {}", name, *stage.lds_bytes, processor_.name, processor_.lds_bytes);
    const unsigned wave_size = wave_size_of(pipeline, stage.stage, processor_);
    check_registers(pipeline, stage, wave_size);
  }

  void check_registers(const PalPipeline& pipeline, const PalStage& stage, unsigned wave_size) {
    const std::string_view name = stage_name(stage.stage);
    const std::string rsrc1_name = resource_register(stage.stage, 1), rsrc2_name = resource_register(stage.stage, 2);
    const SetRegister rsrc1(pipeline, rsrc1_name, processor_.generation);
    const SetRegister rsrc2(pipeline, rsrc2_name, processor_.generation);
    const uint32_t granule = wave_size == 32 ? processor_.vgpr_granule_wave32 : processor_.vgpr_granule;
    std::optional<uint32_t> vgprs, sgprs;
    if (const auto granules = rsrc1.field("VGPRS")) vgprs = (*granules + 1) * granule;
    if (const auto granules = rsrc1.field("SGPRS"); granules && !processor_.fixed_sgprs) sgprs = (*granules + 1) * 8;
    if (vgprs && stage.vgprs.value_or(0) > *vgprs)
      wrong("stage {} uses {} VGPRs, {} allocates {}", name, *stage.vgprs, rsrc1_name, *vgprs);
    if (sgprs && stage.sgprs.value_or(0) > *sgprs)
      wrong("stage {} uses {} SGPRs, {} allocates {}", name, *stage.sgprs, rsrc1_name, *sgprs);
    if (stage.scratch_bytes.value_or(0) != 0 && rsrc2.field("SCRATCH_EN") == 0u)
      wrong("stage {} has {} bytes of scratch, {} does not enable scratch", name, *stage.scratch_bytes, rsrc2_name);
    const auto enabled = stage.user_sgprs ? stage.user_sgprs : rsrc2.field("USER_SGPR");
    // Code generation alone leaves the count to the driver's compiler, which sets it with the mappings.
    if (enabled && *enabled != 0)
      for (const PalUserData& each : pipeline.user_data)
        if (each.stage == stage.stage && each.sgpr >= *enabled && each.mapping != 0)
          wrong("user data register {} of stage {} is mapped, but only {} are loaded", each.sgpr, name, *enabled);
    check_code(stage, wave_size, vgprs ? vgprs : stage.vgprs);
  }

  void check_code(const PalStage& stage, unsigned wave_size, std::optional<uint32_t> vgprs) {
    const std::string_view name = stage_name(stage.stage);
    const ElfSymbol* entry = entry_symbol(symbols_, stage);
    if (entry == nullptr) {
      const std::string& wanted = stage.entry_point_symbol.empty() ? stage.entry_point : stage.entry_point_symbol;
      return wrong("the entry point of stage {}, '{}', is not among the symbols", name, wanted);
    }
    const std::span<const uint8_t> code = code_of(file_, *entry);
    if (code.empty()) return wrong("the entry point of stage {}, '{}', has no code", name, entry->name);
    if (!vgprs) return;
    const UsedRegisters used = used_registers(code, processor_, wave_size);
    if (used.vgprs > *vgprs)
      wrong("the code of '{}' uses VGPR v{}, {} VGPRs are allocated", entry->name, used.vgprs - 1, *vgprs);
  }

  const ElfFile& file_;
  std::span<const ElfSymbol> symbols_;
  const target::Processor& processor_;
  std::vector<std::string> messages_;
};

}  // namespace

std::vector<std::string> pal_contradictions(const ElfFile& file, std::span<const ElfSymbol> symbols,
                                            const PalMetadata& metadata, const target::Processor& processor) {
  Checker checker(file, symbols, processor);
  checker.check(metadata);
  return checker.take();
}

UsedRegisters used_registers(std::span<const uint8_t> code, const target::Processor& processor, unsigned wave_size) {
  UsedRegisters used;
  constexpr uint32_t max_vgprs = 256;  // AGPRs and banked registers have numbers above
  for (size_t at = 0; at < code.size();) {
    const auto instruction = isa::decode(code.subspan(at), processor, wave_size);
    if (!instruction) {
      at += 4;  // data between instructions
      continue;
    }
    const isa::Effects effects = isa::effects_of(*instruction);
    const auto vectors = effects.vector_reads | effects.vector_writes;
    for (uint32_t i = max_vgprs; i > used.vgprs; --i)
      if (vectors.test(i - 1)) used.vgprs = i;
    const auto scalars = effects.reads | effects.writes;
    for (uint32_t i = processor.addressable_sgprs; i > used.sgprs; --i)
      if (scalars.test(i - 1)) used.sgprs = i;
    at += instruction->size;
  }
  return used;
}

std::span<const uint8_t> code_of(const ElfFile& file, const ElfSymbol& symbol) {
  if (symbol.raw.st_shndx == SHN_UNDEF || symbol.raw.st_shndx >= file.sections.size()) return {};
  const ElfSection& section = file.sections[symbol.raw.st_shndx];
  const uint64_t offset = symbol.raw.st_value - section.header.sh_addr;
  if (offset >= section.bytes.size()) return {};
  const uint64_t rest = section.bytes.size() - offset;
  return section.bytes.subspan(offset, symbol.raw.st_size == 0 ? rest : std::min(rest, symbol.raw.st_size));
}

const ElfSymbol* entry_symbol(std::span<const ElfSymbol> symbols, const PalStage& stage) {
  const auto find = [&](std::string_view name) -> const ElfSymbol* {
    const auto found = std::ranges::find_if(symbols, [&](const ElfSymbol& each) {
      return each.name == name && each.raw.st_shndx != SHN_UNDEF && elf::symbol_type(each.raw) != STT_SECTION;
    });
    return found == symbols.end() || name.empty() ? nullptr : &*found;
  };
  if (const ElfSymbol* found = find(stage.entry_point_symbol)) return found;
  if (!stage.entry_point_symbol.empty()) return nullptr;
  if (const ElfSymbol* found = find(stage.entry_point)) return found;
  if (const ElfSymbol* found = find(fmt::format("_amdgpu_{}_main", stage_name(stage.stage)))) return found;
  const ElfSymbol* only = nullptr;
  for (const ElfSymbol& each : symbols) {
    if (elf::symbol_type(each.raw) != STT_FUNC || each.raw.st_shndx == SHN_UNDEF) continue;
    if (only != nullptr && only->raw.st_value != each.raw.st_value) return nullptr;
    only = &each;
  }
  return only;
}

std::string resource_register(HardwareStage stage, unsigned number) {
  if (stage == HardwareStage::cs) return fmt::format("COMPUTE_PGM_RSRC{}", number);
  std::string name = fmt::format("SPI_SHADER_PGM_RSRC{}_{}", number, stage_name(stage));
  for (size_t i = name.size() - 2; i < name.size(); ++i) name[i] = static_cast<char>(name[i] - ('a' - 'A'));
  return name;
}

unsigned wave_size_of(const PalPipeline& pipeline, HardwareStage stage, const target::Processor& processor) {
  const PalStage* known = pipeline.find_stage(stage);
  if (known != nullptr && known->wave_size && (*known->wave_size == 32 || *known->wave_size == 64))
    return *known->wave_size;
  if (const auto enabled = wave32_enabled(pipeline, stage, processor.generation); enabled && *enabled != 0) return 32;
  return processor.has_wave_size(64) ? 64 : 32;
}

}  // namespace Atoll::object

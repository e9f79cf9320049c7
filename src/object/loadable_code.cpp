// object: PAL and Mesa3D objects made loadable.
#include "object/loadable_code.h"

#include <algorithm>

#include "object/kernel_descriptor_fields.h"
#include "object/link.h"
#include "object/mesa_config.h"
#include "object/pal/contradictions.h"
#include "object/relocatable.h"
#include "object/shared_object.h"

namespace Atoll::object {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

/// COMPUTE_PGM_RSRC1 to 3 of one shader, and what the packet processor's other registers say.
struct ComputeWords {
  uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  uint32_t lds_bytes = 0, scratch_bytes = 0;
  bool wave32 = false;
};

Result<KernelDescriptor> decode(const ComputeWords& words, const target::Processor& processor) {
  using namespace descriptor_field;
  // HSA reserves these fields for the packet processor. PAL and Mesa3D objects may set them, without an effect here.
  const auto without = [](uint32_t word, std::initializer_list<const DescriptorField*> fields) {
    for (const DescriptorField* field : fields) word &= ~(field->mask() << field->shift);
    return word;
  };
  RawKernelDescriptor raw{};
  raw.compute_pgm_rsrc1 = without(words.rsrc1, {&priority, &priv, &debug_mode, &bulky, &cdbg_user});
  raw.compute_pgm_rsrc2 = without(words.rsrc2, {&exception_address_watch, &exception_memory, &lds_size});
  raw.compute_pgm_rsrc3 = words.rsrc3;
  raw.group_segment_fixed_size = words.lds_bytes;
  raw.private_segment_fixed_size = words.scratch_bytes;
  if (words.wave32 && processor.has_wave_size(32)) set_descriptor_field(raw, wavefront_size32, 1);
  return decode_kernel_descriptor(raw, processor);
}

/// Finds an entry point in the linked file by its name.
Result<uint64_t> address_of(const CodeObject& code, std::string_view name) {
  for (const auto* table : {&code.functions, &code.symbols})
    for (const Symbol& each : *table)
      if (each.name == name && each.defined) return each.value;
  return fail(ErrorKind::invalid_file, "the entry point '{}' is not in the linked code", name);
}

class PalLoader {
 public:
  PalLoader(const PalPipeline& pipeline, const target::Processor& processor)
      : pipeline_(pipeline), processor_(processor) {}

  Result<EntryPoint> load(const PalStage& stage) {
    EntryPoint entry;
    entry.stage = stage.stage;
    entry.wave_size = wave_size_of(pipeline_, stage.stage, processor_);
    entry.user_data_limit = pipeline_.user_data_limit;
    entry.spill_threshold = pipeline_.spill_threshold;
    entry.work_group_size = stage.work_group_size;
    std::ranges::copy_if(pipeline_.user_data, std::back_inserter(entry.user_data),
                         [&](const PalUserData& each) { return each.stage == stage.stage; });
    std::ranges::sort(entry.user_data, {}, &PalUserData::sgpr);
    if (stage.stage != HardwareStage::cs) return entry;
    if (pipeline_.compute_registers) entry.dynamic_vgprs = pipeline_.compute_registers->dynamic_vgprs.value_or(false);
    if (!entry.work_group_size) entry.work_group_size = size_in_registers();
    auto state = decode(words_of(stage, entry.wave_size), processor_);
    if (!state) return std::unexpected(state.error());
    entry.state = *state;
    return entry;
  }

 private:
  std::optional<uint32_t> value(std::string_view name) const {
    const auto number = register_number(name, processor_.generation);
    return number ? pipeline_.register_value(*number) : std::nullopt;
  }

  /// COMPUTE_NUM_THREAD_X to Z, whose low 16 bits are the size.
  std::optional<std::array<uint32_t, 3>> size_in_registers() const {
    const auto x = value("COMPUTE_NUM_THREAD_X"), y = value("COMPUTE_NUM_THREAD_Y"), z = value("COMPUTE_NUM_THREAD_Z");
    if (!x || !y || !z) return std::nullopt;
    return std::array{*x & 0xFFFF, *y & 0xFFFF, *z & 0xFFFF};
  }

  ComputeWords words_of(const PalStage& stage, uint32_t wave_size) const {
    ComputeWords words;
    words.wave32 = wave_size == 32;
    words.scratch_bytes = stage.scratch_bytes.value_or(0);
    const auto rsrc1 = value("COMPUTE_PGM_RSRC1");
    words.rsrc1 = rsrc1 ? *rsrc1 : rsrc1_of_keys(stage, wave_size);
    words.rsrc2 = value("COMPUTE_PGM_RSRC2").value_or(0);
    words.rsrc3 = value("COMPUTE_PGM_RSRC3").value_or(0);
    if (pipeline_.compute_registers) words.rsrc2 |= rsrc2_of_keys(stage, *pipeline_.compute_registers);
    words.lds_bytes =
        stage.lds_bytes ? *stage.lds_bytes : descriptor_field::lds_size.of(words.rsrc2) * lds_granule(processor_);
    return words;
  }

  /// COMPUTE_PGM_RSRC1 as PAL makes it of version 3's keys, DX10_CLAMP always set.
  uint32_t rsrc1_of_keys(const PalStage& stage, uint32_t wave_size) const {
    using namespace descriptor_field;
    const uint32_t granule = wave_size == 32 ? processor_.vgpr_granule_wave32 : processor_.vgpr_granule;
    RawKernelDescriptor raw{};
    set_descriptor_field(raw, vgpr_count, (std::max(stage.vgprs.value_or(1), 1u) - 1) / granule);
    if (!processor_.fixed_sgprs) set_descriptor_field(raw, sgpr_count, (std::max(stage.sgprs.value_or(1), 1u) - 1) / 8);
    raw.compute_pgm_rsrc1 |= (stage.float_mode.value_or(0) & 0xFF) << round_mode_32.shift;
    const std::pair<const DescriptorField&, bool> flags[] = {{dx10_clamp, true},
                                                             {ieee_mode, stage.ieee_mode.value_or(false)},
                                                             {wgp_mode, stage.wgp_mode.value_or(false)},
                                                             {mem_ordered, stage.mem_ordered.value_or(false)},
                                                             {fwd_progress, stage.forward_progress.value_or(false)},
                                                             {fp16_ovfl, stage.fp16_ovfl.value_or(false)}};
    for (const auto& [field, set] : flags)
      if (set && field.exists(processor_)) set_descriptor_field(raw, field, 1);
    return raw.compute_pgm_rsrc1;
  }

  static uint32_t rsrc2_of_keys(const PalStage& stage, const PalComputeRegisters& registers) {
    using namespace descriptor_field;
    RawKernelDescriptor raw{};
    set_descriptor_field(raw, private_segment, stage.scratch.value_or(false) ? 1 : 0);
    set_descriptor_field(raw, user_sgpr_count, stage.user_sgprs.value_or(0) & user_sgpr_count.mask());
    set_descriptor_field(raw, work_group_id_x, registers.tgid_x.value_or(false) ? 1 : 0);
    set_descriptor_field(raw, work_group_id_y, registers.tgid_y.value_or(false) ? 1 : 0);
    set_descriptor_field(raw, work_group_id_z, registers.tgid_z.value_or(false) ? 1 : 0);
    set_descriptor_field(raw, work_group_info, registers.tg_size.value_or(false) ? 1 : 0);
    set_descriptor_field(raw, work_item_id, registers.work_item_ids.value_or(0) & work_item_id.mask());
    return raw.compute_pgm_rsrc2;
  }

  const PalPipeline& pipeline_;
  const target::Processor& processor_;
};

Result<void> load_pal(LoadableCode& loaded, const ElfFile& file, std::span<const ElfSymbol> symbols) {
  const target::Processor& processor = *loaded.code.target.processor;
  const auto all = read_pal_metadata(file, processor.generation);
  if (!all) return std::unexpected(all.error());
  if (all->empty()) return fail(ErrorKind::invalid_file, "the PAL code object has no metadata");
  for (const PalMetadata& metadata : *all) {
    const auto wrong = pal_contradictions(file, symbols, metadata, processor);
    if (!wrong.empty()) return fail(ErrorKind::invalid_file, "{}", wrong.front());
    for (const PalPipeline& pipeline : metadata.pipelines) {
      for (const PalStage& stage : pipeline.stages) {
        auto entry = PalLoader(pipeline, processor).load(stage);
        if (!entry) return std::unexpected(entry.error());
        entry->name = entry_symbol(symbols, stage)->name;
        const auto address = address_of(loaded.code, entry->name);
        if (!address) return std::unexpected(address.error());
        entry->address = *address;
        loaded.entry_points.push_back(std::move(*entry));
      }
    }
  }
  return {};
}

/// Bytes of scratch for a lane in COMPUTE_TMPRING_SIZE, which counts blocks for a wave: of 1 KiB, from GFX11 on 256.
uint32_t scratch_of(const MesaShader& shader, const target::Processor& processor, uint32_t wave_size) {
  const auto number = register_number("COMPUTE_TMPRING_SIZE", processor.generation);
  const auto row = number ? find_register(*number, processor.generation) : std::nullopt;
  const RegisterField* const field = row ? row->find_field("WAVESIZE") : nullptr;
  const auto value = number ? shader.register_value(*number) : std::nullopt;
  if (field == nullptr || !value) return 0;
  const uint32_t block = processor.generation >= target::Generation::gfx11 ? 256 : 1024;
  return field->of(*value) * block / wave_size;
}

Result<void> load_mesa(LoadableCode& loaded, const ElfFile& file, std::span<const ElfSymbol> symbols) {
  const target::Processor& processor = *loaded.code.target.processor;
  const auto shaders = read_mesa_config(file, symbols, processor.generation);
  if (!shaders) return std::unexpected(shaders.error());
  const auto wrong = mesa_contradictions(*shaders, file, symbols, processor);
  if (!wrong.empty()) return fail(ErrorKind::invalid_file, "{}", wrong.front());
  for (const MesaShader& shader : *shaders) {
    EntryPoint entry;
    entry.name = shader.symbol;
    entry.stage = shader.stage;
    const auto address = address_of(loaded.code, entry.name);
    if (!address) return std::unexpected(address.error());
    entry.address = *address;
    entry.wave_size = processor.has_wave_size(64) ? 64 : 32;
    if (shader.kernel_code) {
      auto state = decode_kernel_code(*shader.kernel_code, processor);
      if (!state) return std::unexpected(state.error());
      entry.state = *state;
      entry.wave_size = state->wave32 ? 32 : 64;
      entry.address += sizeof(RawKernelCode);
    } else if (shader.stage == HardwareStage::cs) {
      ComputeWords words;
      const auto value = [&](std::string_view name) {
        const auto number = register_number(name, processor.generation);
        return number ? shader.register_value(*number).value_or(0) : 0;
      };
      words.rsrc1 = value("COMPUTE_PGM_RSRC1");
      words.rsrc2 = value("COMPUTE_PGM_RSRC2");
      words.rsrc3 = value("COMPUTE_PGM_RSRC3");
      words.lds_bytes = descriptor_field::lds_size.of(words.rsrc2) * lds_granule(processor);
      words.scratch_bytes = scratch_of(shader, processor, entry.wave_size);
      auto state = decode(words, processor);
      if (!state) return std::unexpected(state.error());
      entry.state = *state;
    }
    loaded.entry_points.push_back(std::move(entry));
  }
  return {};
}

}  // namespace

const EntryPoint* LoadableCode::find(std::string_view name) const {
  const auto found = std::ranges::find(entry_points, name, &EntryPoint::name);
  return found == entry_points.end() ? nullptr : &*found;
}

Result<LoadableCode> read_loadable_code(std::span<const uint8_t> bytes) {
  const auto file = read_elf_file(bytes);
  if (!file) return std::unexpected(file.error());
  const uint8_t os_abi = file->header.e_ident[EI_OSABI];
  if (file->header.e_machine != elf::em_amdgpu ||
      (os_abi != elf::osabi_amdgpu_pal && os_abi != elf::osabi_amdgpu_mesa3d))
    return fail(ErrorKind::incompatible, "the file is not an amdpal or mesa3d object for an AMD GPU");
  LoadableCode loaded;
  loaded.abi = os_abi == elf::osabi_amdgpu_pal ? Abi::amdpal : Abi::mesa3d;
  if (file->header.e_type == ET_REL) {
    auto relocatable = read_relocatable(bytes);
    if (!relocatable) return std::unexpected(relocatable.error());
    const LinkInput input{.name = "the object", .object = std::move(*relocatable)};
    auto linked = link({&input, 1});
    if (!linked) return std::unexpected(linked.error());
    loaded.file = std::move(*linked);
  } else {
    loaded.file.assign(bytes.begin(), bytes.end());
  }
  auto code = read_shared_object(loaded.file);
  if (!code) return std::unexpected(code.error());
  loaded.code = std::move(*code);
  std::vector<ElfSymbol> symbols;
  if (const ElfSection* table = file->find_section(uint32_t{SHT_SYMTAB})) {
    auto read = read_symbols(*file, *table);
    if (!read) return std::unexpected(read.error());
    symbols = std::move(*read);
  }
  auto ok = loaded.abi == Abi::amdpal ? load_pal(loaded, *file, symbols) : load_mesa(loaded, *file, symbols);
  if (!ok) return std::unexpected(ok.error());
  return loaded;
}

}  // namespace Atoll::object

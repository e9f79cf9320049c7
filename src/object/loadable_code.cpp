// object: PAL and Mesa3D objects made loadable.
#include "object/loadable_code.h"

#include <algorithm>

#include "object/dynamic_vgprs.h"
#include "object/kernel_descriptor_fields.h"
#include "object/link.h"
#include "object/mesa_config.h"
#include "object/pal/contradictions.h"
#include "object/relocatable.h"
#include "object/shared_object.h"
#include "support/bytes.h"

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
  if (trap_handler.exists(processor)) raw.compute_pgm_rsrc2 = without(raw.compute_pgm_rsrc2, {&trap_handler});
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
    if (!entry.work_group_size) entry.work_group_size = size_in_registers();
    auto state = decode(words_of(stage, entry.wave_size), processor_);
    if (!state) return std::unexpected(state.error());
    if (stage.user_sgprs) state->user_sgprs = static_cast<uint8_t>(*stage.user_sgprs);
    const bool enabled = pipeline_.compute_registers && pipeline_.compute_registers->dynamic_vgprs.value_or(false);
    if (enabled || stage.dynamic_vgprs_saved) {
      state->dynamic_vgprs = true;
      state->vgprs = max_dynamic_vgprs;
      // The trap handler saves all blocks but the first.
      if (stage.dynamic_vgprs_saved)
        state->vgprs =
            static_cast<uint16_t>(*stage.dynamic_vgprs_saved / (num_dynamic_vgpr_blocks - 1) * num_dynamic_vgpr_blocks);
    }
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

  /// The registers' values, where version 3's keys take the place of their fields. As in PAL, DX10_CLAMP is set if the
  /// metadata has keys alone.
  ComputeWords words_of(const PalStage& stage, uint32_t wave_size) const {
    using namespace descriptor_field;
    ComputeWords words;
    words.wave32 = wave_size == 32;
    const auto rsrc1 = value("COMPUTE_PGM_RSRC1");
    RawKernelDescriptor raw{};
    raw.compute_pgm_rsrc1 = rsrc1.value_or(0);
    raw.compute_pgm_rsrc2 = value("COMPUTE_PGM_RSRC2").value_or(0);
    if (!rsrc1 && dx10_clamp.exists(processor_)) set_descriptor_field(raw, dx10_clamp, 1);
    const auto set = [&](const DescriptorField& field, std::optional<uint32_t> key) {
      if (key && field.exists(processor_)) set_descriptor_field(raw, field, *key);
    };
    if (stage.float_mode) {
      constexpr uint32_t all_modes = 0xFFu << round_mode_32.shift;
      raw.compute_pgm_rsrc1 = (raw.compute_pgm_rsrc1 & ~all_modes) | (*stage.float_mode & 0xFF) << round_mode_32.shift;
    }
    set(ieee_mode, stage.ieee_mode);
    set(wgp_mode, stage.wgp_mode);
    set(mem_ordered, stage.mem_ordered);
    set(fwd_progress, stage.forward_progress);
    set(fp16_ovfl, stage.fp16_ovfl);
    set(private_segment, stage.scratch);
    if (const auto& enabled = pipeline_.compute_registers) {
      set(work_group_id_x, enabled->tgid_x);
      set(work_group_id_y, enabled->tgid_y);
      set(work_group_id_z, enabled->tgid_z);
      set(work_group_info, enabled->tg_size);
      set(work_item_id, enabled->work_item_ids);
    }
    uint32_t vgprs = stage.vgprs.value_or(0), sgprs = stage.sgprs.value_or(0);
    uint32_t lds = stage.lds_bytes ? *stage.lds_bytes : lds_size.of(raw.compute_pgm_rsrc2) * lds_granule(processor_);
    uint32_t stack = 0;
    // A wave keeps its registers, LDS and scratch when it goes on in another function.
    for (const PalFunction& function : pipeline_.functions) {
      vgprs = std::max(vgprs, function.vgprs.value_or(0));
      sgprs = std::max(sgprs, function.sgprs.value_or(0));
      lds = std::max(lds, function.lds_bytes.value_or(0));
      stack = std::max(stack, function.stack_bytes.value_or(0));
    }
    // Counts of used registers are exact. The counts of granules are 0 where the driver computes them.
    const uint32_t granule = wave_size == 32 ? processor_.vgpr_granule_wave32 : processor_.vgpr_granule;
    set_descriptor_field(raw, vgpr_count, std::max((std::max(vgprs, 1u) - 1) / granule, vgpr_count.of(raw)));
    if (!processor_.fixed_sgprs)
      set_descriptor_field(raw, sgpr_count, std::max((std::max(sgprs, 1u) - 1) / 8, sgpr_count.of(raw)));
    // FLAT_SCRATCH is no register of the code's where the hardware sets it: a function needs no place for an offset.
    if (stack != 0 && processor_.flat_scratch == target::FlatScratch::architected)
      set_descriptor_field(raw, private_segment, 1);
    words.rsrc1 = raw.compute_pgm_rsrc1;
    words.rsrc2 = raw.compute_pgm_rsrc2;
    words.rsrc3 = value("COMPUTE_PGM_RSRC3").value_or(0);
    words.lds_bytes = lds;
    words.scratch_bytes = stage.scratch_bytes.value_or(0) + stack;
    return words;
  }

  const PalPipeline& pipeline_;
  const target::Processor& processor_;
};

/// Returns the functions of a compute pipeline's code that are no stage's entry point and not called by others: the
/// metadata is for each of them as well.
std::vector<const Symbol*> further_entries(const CodeObject& code, const PalMetadata& metadata,
                                           std::string_view entry) {
  std::vector<const Symbol*> found;
  if (metadata.pipelines.size() != 1 || metadata.pipelines.front().stages.size() != 1) return found;
  const auto& called = metadata.pipelines.front().functions;
  for (const Symbol& each : code.functions)
    if (each.defined && each.name != entry && each.binding != STB_LOCAL &&
        std::ranges::find(called, each.name, &PalFunction::name) == called.end())
      found.push_back(&each);
  return found;
}

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
        const std::string table = fmt::format("_amdgpu_{}_shdr_intrl_data", stage_name(stage.stage));
        if (const Symbol* const found = loaded.code.find_symbol(table); found != nullptr && found->defined)
          entry->shader_table = found->value;
        loaded.entry_points.push_back(*entry);
        if (stage.stage != HardwareStage::cs) continue;
        for (const Symbol* const function : further_entries(loaded.code, metadata, entry->name)) {
          EntryPoint further = *entry;
          further.name = std::string(function->name);
          further.address = function->value;
          loaded.entry_points.push_back(std::move(further));
        }
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
    entry.wave_size = processor.has_wave_size(32) ? 32 : 64;  // a shader's is LLVM's default: no section has it
    if (shader.kernel_code) {
      auto state = decode_kernel_code(*shader.kernel_code, processor);
      if (!state) return std::unexpected(state.error());
      entry.state = *state;
      entry.wave_size = state->wave32 ? 32 : 64;
      entry.address += sizeof(RawKernelCode);
      entry.is_kernel = true;
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

std::string_view abi_name(Abi abi) {
  switch (abi) {
    case Abi::amdhsa:
      return "amdhsa";
    case Abi::amdpal:
      return "amdpal";
    case Abi::mesa3d:
      return "mesa3d";
  }
  return "";
}

Result<Abi> read_abi(std::span<const uint8_t> file, AcceptedAbis accepted) {
  const auto header = support::read<Elf64_Ehdr>(file, 0);
  // The reader of HSA's code objects names what is wrong with other files.
  if (!support::starts_with(file, ELFMAG) || !header || header->e_machine != elf::em_amdgpu) return Abi::amdhsa;
  const uint8_t os_abi = header->e_ident[EI_OSABI];
  if (os_abi != elf::osabi_amdgpu_pal && os_abi != elf::osabi_amdgpu_mesa3d) return Abi::amdhsa;
  const Abi abi = os_abi == elf::osabi_amdgpu_pal ? Abi::amdpal : Abi::mesa3d;
  if (accepted == AcceptedAbis::all) return abi;
  return fail(ErrorKind::unsupported, "the code object is for {}, HSA loads those for amdhsa", abi_name(abi));
}

Result<target::TargetId> read_loadable_target(std::span<const uint8_t> file) {
  const auto abi = read_abi(file);
  if (!abi) return std::unexpected(abi.error());
  if (*abi == Abi::amdhsa) return read_target(file);
  const auto whole = read_elf_file(file);
  if (!whole) return std::unexpected(whole.error());
  return read_target(*whole);
}

Result<LoadableCode> read_loadable_code(std::span<const uint8_t> bytes, AcceptedAbis accepted) {
  const auto abi = read_abi(bytes, accepted);
  if (!abi) return std::unexpected(abi.error());
  LoadableCode loaded;
  loaded.abi = *abi;
  if (*abi == Abi::amdhsa) {
    loaded.file.assign(bytes.begin(), bytes.end());
    auto code = read_code_object(loaded.file);
    if (!code) return std::unexpected(code.error());
    loaded.code = std::move(*code);
    return loaded;
  }
  const auto file = read_elf_file(bytes);
  if (!file) return std::unexpected(file.error());
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

// machine: translates PAL's metadata and user data to a LaunchState.
#include "machine/wave/pal_launch.h"

#include <algorithm>
#include <utility>

#include "machine/loader.h"
#include "machine/wave/scalar_writer.h"
#include "machine/wave/wave.h"
#include "object/elf_file.h"
#include "object/kernel_descriptor_fields.h"
#include "object/pal/contradictions.h"

namespace Atoll::machine {

using object::HardwareStage;
using object::PalPipeline;
using object::PalStage;
using object::UserDataKind;
using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

namespace field = object::descriptor_field;

/// Names of hardware registers (object/gpu_registers.h).
constexpr std::string_view resources1_name = "COMPUTE_PGM_RSRC1", resources2_name = "COMPUTE_PGM_RSRC2",
                           shader_table_symbol = "_amdgpu_cs_shdr_intrl_data";
constexpr std::string_view work_group_size_names[3] = {"COMPUTE_NUM_THREAD_X", "COMPUTE_NUM_THREAD_Y",
                                                       "COMPUTE_NUM_THREAD_Z"};
constexpr uint32_t full_work_items = 0xFFFF;  // COMPUTE_NUM_THREAD_X.NUM_THREAD_FULL
constexpr std::string_view default_entry_point = "_amdgpu_cs_main";

/// The pipeline and its compute stage; nulls where the metadata has none.
struct ComputeStage {
  const PalPipeline* pipeline = nullptr;
  const PalStage* stage = nullptr;
};

ComputeStage compute_stage(const std::vector<object::PalMetadata>& metadata) {
  ComputeStage found;
  for (const object::PalMetadata& each : metadata) {
    for (const PalPipeline& pipeline : each.pipelines) {
      if (found.pipeline == nullptr) found.pipeline = &pipeline;
      const PalStage* const stage = pipeline.find_stage(HardwareStage::cs);
      if (stage != nullptr) return {&pipeline, stage};
    }
  }
  return found;
}

Result<std::vector<object::PalMetadata>> metadata_of(const LoadedCode& code, target::Generation generation) {
  const auto file = object::read_elf_file(code.file());
  if (!file) return std::unexpected(file.error());
  return object::read_pal_metadata(*file, generation);
}

const object::Symbol* find_function(const object::CodeObject& object, std::string_view name) {
  const auto found = std::ranges::find(object.functions, name, &object::Symbol::name);
  return found == object.functions.end() ? nullptr : &*found;
}

/// The compute registers as an HSA kernel descriptor has them. Bits that HSA does not let a descriptor set are left
/// out.
object::RawKernelDescriptor registers_of(const ComputeStage& compute, const target::Processor& processor) {
  const auto value = [&](std::string_view name) {
    const auto number = object::register_number(name, processor.generation);
    return number ? compute.pipeline->register_value(*number).value_or(0) : 0;
  };
  const PalStage& stage = *compute.stage;
  object::RawKernelDescriptor raw{};
  raw.compute_pgm_rsrc1 = value(resources1_name);
  raw.compute_pgm_rsrc2 = value(resources2_name);
  // A key of the newer metadata takes the place of the register's field.
  const auto set = [&](const object::DescriptorField& to, std::optional<uint32_t> key) {
    if (key) object::set_descriptor_field(raw, to, *key);
  };
  if (stage.float_mode) {
    constexpr uint32_t all_modes = 0xFFu << field::round_mode_32.shift;
    raw.compute_pgm_rsrc1 = (raw.compute_pgm_rsrc1 & ~all_modes) | *stage.float_mode << field::round_mode_32.shift;
  }
  if (processor.ieee_mode) set(field::ieee_mode, stage.ieee_mode);
  if (processor.work_group_processors) {
    set(field::wgp_mode, stage.wgp_mode);
    set(field::mem_ordered, stage.mem_ordered);
    set(field::fwd_progress, stage.forward_progress);
  }
  set(field::fp16_ovfl, stage.fp16_ovfl);
  set(field::private_segment, stage.scratch);
  if (const auto& enabled = compute.pipeline->compute_registers) {
    set(field::work_group_id_x, enabled->tgid_x);
    set(field::work_group_id_y, enabled->tgid_y);
    set(field::work_group_id_z, enabled->tgid_z);
    set(field::work_group_info, enabled->tg_size);
    set(field::work_item_id, enabled->work_item_ids);
  }
  const bool is_wave32 = object::wave_size_of(*compute.pipeline, HardwareStage::cs, processor) == 32;
  if (is_wave32) set(field::wavefront_size32, 1);

  // Counts of registers used are exact; the granulated ones are 0 where the driver is to compute them.
  const uint32_t granule = is_wave32 ? processor.vgpr_granule_wave32 : processor.vgpr_granule;
  if (stage.vgprs && *stage.vgprs != 0) {
    const uint32_t count = (*stage.vgprs + granule - 1) / granule - 1;
    set(field::vgpr_count, std::max(count, field::vgpr_count.of(raw)));
  }
  if (stage.sgprs && *stage.sgprs != 0 && !processor.fixed_sgprs)
    set(field::sgpr_count, std::max((*stage.sgprs + 7) / 8 - 1, field::sgpr_count.of(raw)));
  for (const object::DescriptorField* each :
       {&field::lds_size, &field::priv, &field::debug_mode, &field::bulky, &field::cdbg_user,
        &field::exception_address_watch, &field::exception_memory})
    set(*each, 0);
  if (field::trap_handler.exists(processor)) set(field::trap_handler, 0);
  return raw;
}

std::optional<std::array<uint32_t, 3>> work_group_size_of(const ComputeStage& compute,
                                                          const target::Processor& processor) {
  if (compute.stage->work_group_size) return compute.stage->work_group_size;
  std::array<uint32_t, 3> size{};
  for (unsigned d = 0; d < 3; ++d) {
    const auto number = object::register_number(work_group_size_names[d], processor.generation);
    const auto value = number ? compute.pipeline->register_value(*number) : std::nullopt;
    if (!value || (*value & full_work_items) == 0) return std::nullopt;
    size[d] = *value & full_work_items;
  }
  return size;
}

std::vector<object::UserDataMapping> user_data_of(const PalPipeline& pipeline) {
  std::vector<object::UserDataMapping> map;
  for (const object::PalUserData& each : pipeline.user_data) {
    if (each.stage != HardwareStage::cs) continue;
    if (each.sgpr >= map.size()) map.resize(each.sgpr + 1, {.kind = UserDataKind::unmapped, .index = 0, .name = {}});
    map[each.sgpr] = object::user_data_mapping(each.mapping);
  }
  return map;
}

bool maps(const PalShader& shader, UserDataKind kind) {
  return std::ranges::find(shader.user_data, kind, &object::UserDataMapping::kind) != shader.user_data.end();
}

/// The low half of an address whose high half a shader takes from its program counter.
Result<uint32_t> low_half(uint64_t address, const PalShader& shader, std::string_view what) {
  if (address >> 32 != shader.entry >> 32) {
    return fail(ErrorKind::out_of_resources, "the {} of shader '{}' at {:#x} is not in the 4 GiB of its code at {:#x}",
                what, shader.name, address, shader.entry);
  }
  return static_cast<uint32_t>(address);
}

Result<void> add_user_data(ScalarWriter& user, const PalShader& shader, const PalUserData& data,
                           const PalTables& tables) {
  const auto add_entry = [&](uint32_t index) -> Result<void> {
    if (index < PalUserData::max_entries && data.entries[index]) {
      user.word(*data.entries[index]);
      return {};
    }
    return fail(ErrorKind::invalid_argument, "shader '{}' reads user data entry {} in s{}, which is not set",
                shader.name, index, user.next());
  };
  const auto add_address = [&](uint64_t address, std::string_view what) -> Result<void> {
    const auto low = low_half(address, shader, what);
    if (!low) return std::unexpected(low.error());
    user.word(*low);
    return {};
  };
  for (size_t i = 0; i < shader.user_data.size(); ++i) {
    const object::UserDataMapping& mapping = shader.user_data[i];
    Result<void> added;
    switch (mapping.kind) {
      case UserDataKind::entry:
        added = add_entry(mapping.index);
        break;
      case UserDataKind::global_table:
        user.add(InitialScalar::Source::global_table);
        break;
      case UserDataKind::shader_table:
        added = add_address(shader.shader_table != 0 ? shader.shader_table : shader.entry, "per-shader table");
        break;
      case UserDataKind::spill_table:
        added = add_address(tables.spill, "user data spill table");
        break;
      case UserDataKind::work_groups:
        user.pair(tables.work_groups);
        ++i;  // the next register has the high half
        break;
      case UserDataKind::unmapped:
        user.word(0);
        break;
      default:
        return fail(ErrorKind::unsupported, "shader '{}' reads {} in s{}, which a compute launch does not provide",
                    shader.name, mapping.name, user.next());
    }
    if (!added) return added;
  }
  return {};
}

/// Without user data registers in the metadata: entry n is sN, and s0 the global table unless entry 0 is set.
void add_plain_user_data(ScalarWriter& user, const PalUserData& data, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    if (i == 0 && !data.entries[0]) {
      user.add(InitialScalar::Source::global_table);
    } else {
      user.word(i < PalUserData::max_entries ? data.entries[i].value_or(0) : 0);
    }
  }
}

}  // namespace

unsigned PalUserData::end() const {
  unsigned end = 0;
  for (unsigned i = 0; i < max_entries; ++i)
    if (entries[i]) end = i + 1;
  return end;
}

std::vector<std::string> pal_shaders(const LoadedCode& code) {
  std::vector<std::string> names;
  for (const object::Symbol& function : code.code_object().functions) names.emplace_back(function.name);
  return names;
}

Result<PalShader> find_pal_shader(const LoadedCode& code, std::string_view name, const target::Processor& processor) {
  const object::CodeObject& object = code.code_object();
  const auto metadata = metadata_of(code, processor.generation);
  if (!metadata) return support::within(code.uri, metadata.error());
  const ComputeStage compute = compute_stage(*metadata);
  if (compute.stage == nullptr) {
    std::string stages;
    if (compute.pipeline != nullptr) {
      for (const PalStage& stage : compute.pipeline->stages)
        stages += (stages.empty() ? "" : ", ") + std::string(object::stage_name(stage.stage));
    }
    return fail(ErrorKind::unsupported, "{}: the code has no compute stage ({}); graphics stages are not executed",
                code.uri, stages.empty() ? "no stages" : stages);
  }
  const PalStage& stage = *compute.stage;
  const object::Symbol* function = find_function(object, name);
  if (function == nullptr && name == default_entry_point) function = find_function(object, stage.entry_point_symbol);
  if (function == nullptr) return fail(ErrorKind::not_found, "{}: there is no shader {}", code.uri, name);

  PalShader shader;
  shader.name = std::string(function->name);
  shader.entry = code.base() + function->value;
  const object::RawKernelDescriptor raw = registers_of(compute, processor);
  auto decoded = object::decode_kernel_descriptor(raw, processor);
  if (!decoded) return support::within(fmt::format("shader '{}'", shader.name), decoded.error());
  shader.registers = *decoded;
  shader.user_sgprs = stage.user_sgprs.value_or(decoded->user_sgprs);
  const auto resources2 = object::register_number(resources2_name, processor.generation);
  const uint32_t rsrc2 = resources2 ? compute.pipeline->register_value(*resources2).value_or(0) : 0;
  shader.lds_bytes = stage.lds_bytes.value_or(field::lds_size.of(rsrc2) * object::lds_granule(processor));
  shader.scratch_bytes = stage.scratch_bytes.value_or(0);
  shader.work_group_size = work_group_size_of(compute, processor);
  shader.user_data = user_data_of(*compute.pipeline);
  if (const object::Symbol* const table = object.find_symbol(shader_table_symbol); table != nullptr && table->defined) {
    shader.shader_table = code.base() + table->value;
  }
  shader.watches_exceptions = (decoded->mode & enabled_exceptions) != 0 || code.looks_at_exceptions(processor);
  return shader;
}

bool needs_spill_table(const PalShader& shader) { return maps(shader, UserDataKind::spill_table); }
bool needs_work_group_table(const PalShader& shader) { return maps(shader, UserDataKind::work_groups); }

Result<LaunchState> make_pal_launch(const PalShader& shader, std::shared_ptr<const LoadedCode> code,
                                    const PalUserData& user_data, const PalTables& tables,
                                    const std::array<uint32_t, 3>& grid, const std::array<uint32_t, 3>& work_group,
                                    const target::GpuModel& model) {
  const target::Processor& processor = *model.target.processor;
  LaunchState launch;
  launch.code = std::move(code);
  launch.entry = shader.entry;
  launch.wave_size = shader.registers.wave32 ? 32 : 64;
  if (shader.work_group_size && *shader.work_group_size != work_group) {
    const auto& size = *shader.work_group_size;
    return fail(ErrorKind::invalid_argument,
                "shader '{}' was compiled for work-groups of {} x {} x {}, not {} x {} x {}", shader.name, size[0],
                size[1], size[2], work_group[0], work_group[1], work_group[2]);
  }
  auto set = set_geometry(launch, grid, work_group, shader.name);
  if (set) set = set_scratch(launch, shader.scratch_bytes, shader.scratch_bytes, processor, shader.name);
  if (set) set = set_lds(launch, shader.lds_bytes, 0, processor, shader.name);
  if (set) set = set_residency(launch, std::nullopt, model, shader.name);
  if (!set) return std::unexpected(set.error());
  set_registers(launch, shader.registers, processor);
  launch.watches_exceptions = shader.watches_exceptions;

  unsigned user_sgprs = shader.user_sgprs;
  ScalarWriter user(launch.scalars);
  if (!shader.user_data.empty()) {
    user_sgprs = std::max(user_sgprs, static_cast<unsigned>(shader.user_data.size()));
    user.limit(user_sgprs);
    if (auto added = add_user_data(user, shader, user_data, tables); !added) return std::unexpected(added.error());
  } else {
    if (user_sgprs == 0) user_sgprs = user_data.end();
    user.limit(user_sgprs);
    if (user_data.end() > user_sgprs) {
      return fail(ErrorKind::invalid_argument, "shader '{}' has {} user SGPRs; user data entry {} is in none of them",
                  shader.name, user_sgprs, user_data.end() - 1);
    }
    add_plain_user_data(user, user_data, user_sgprs);
  }
  if (user_sgprs > processor.user_sgprs) {
    return fail(ErrorKind::out_of_resources, "shader '{}' is given {} user SGPRs; {} has {}", shader.name, user_sgprs,
                processor.name, processor.user_sgprs);
  }
  // A wave has at least the SGPRs that it is given.
  launch.sgprs = std::max<uint16_t>(launch.sgprs, static_cast<uint16_t>(user_sgprs + max_system_sgprs));
  object::KernelDescriptor registers = shader.registers;
  registers.sgprs = launch.sgprs;
  add_system_sgprs(launch, registers, user_sgprs, processor);
  return launch;
}

}  // namespace Atoll::machine

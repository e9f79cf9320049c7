// object: PAL metadata, from its notes to structures. A walk over the document checks every key against the table of
// keys; after it the values can be taken without further checks.
#include "object/pal/metadata.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "object/pal/metadata_keys.h"
#include "support/bytes.h"

namespace Atoll::object {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

bool is_integer(const MessagePack& value) {
  const auto* number = value.as<uint64_t>();
  return number != nullptr && *number <= UINT32_MAX;
}

template <typename Predicate>
bool is_list(const MessagePack& value, Predicate predicate) {
  const auto* list = value.as<MessagePack::List>();
  return list != nullptr && std::ranges::all_of(*list, predicate);
}

bool is_map(const MessagePack& value) { return value.as<MessagePack::Map>() != nullptr; }

bool has_type(const MessagePack& value, PalType type) {
  switch (type) {
    case PalType::integer:
      return is_integer(value);
    case PalType::boolean:  // LLVM's tests and older compilers write 0 and 1
      return value.as<bool>() != nullptr || is_integer(value);
    case PalType::scalar:
      return !is_map(value) && value.as<MessagePack::List>() == nullptr;
    case PalType::text:
      return value.as<std::string>() != nullptr;
    case PalType::binary:
      return value.as<MessagePack::Binary>() != nullptr || value.as<std::string>() != nullptr;
    case PalType::integers:
      return is_list(value, [](const MessagePack& each) {
        return each.as<uint64_t>() != nullptr || each.as<int64_t>() != nullptr;
      });
    case PalType::texts:
      return is_list(value, [](const MessagePack& each) { return each.as<std::string>() != nullptr; });
    case PalType::map:
    case PalType::named_maps:
      return is_map(value);
    case PalType::maps:
      return is_list(value, is_map);
    case PalType::registers: {
      const auto* map = value.as<MessagePack::Map>();
      return map != nullptr && std::ranges::all_of(*map, [](const auto& entry) {
               return is_integer(entry.key) && is_integer(entry.value);
             });
    }
  }
  return false;
}

/// Checks a document against the table of keys.
class KeyChecker {
 public:
  explicit KeyChecker(std::vector<std::string>& unknown) : unknown_(unknown) {}

  Result<void> check(const MessagePack& map, PalMap keys, const std::string& path) {
    const auto* entries = map.as<MessagePack::Map>();
    for (size_t i = 0; i < entries->size(); ++i) {
      const auto& [key, value] = (*entries)[i];
      const auto* name = key.as<std::string>();
      if (name == nullptr)
        return fail(ErrorKind::invalid_file, "PAL metadata: {} has a non-string key", path.empty() ? "the root" : path);
      if (map.find(*name) != &value)
        return fail(ErrorKind::invalid_file, "PAL metadata: key '{}{}' is there twice", path, *name);
      if (auto ok = check_value(value, keys, *name, path); !ok) return ok;
    }
    return {};
  }

 private:
  Result<void> check_value(const MessagePack& value, PalMap keys, const std::string& name, const std::string& path) {
    const PalKey* key = find_pal_key(keys, name);
    if (key == nullptr) {
      // Keys of other vendors have a name before the dot: they mean nothing to PAL.
      const bool of_a_vendor = name.find('.', 1) != std::string::npos && !name.starts_with("amdpal.");
      if (!of_a_vendor) unknown_.push_back(path + name);
      return {};
    }
    if (!has_type(value, key->type))
      return fail(ErrorKind::invalid_file, "PAL metadata: '{}{}' is not {}", path, name, type_name(key->type));
    const std::string inside = path + name;
    if (key->type == PalType::map) return check(value, key->value_map, inside);
    if (key->type == PalType::maps) {
      const auto& list = *value.as<MessagePack::List>();
      for (size_t i = 0; i < list.size(); ++i)
        if (auto ok = check(list[i], key->value_map, fmt::format("{}[{}]", inside, i)); !ok) return ok;
    }
    if (key->type == PalType::named_maps) {
      for (const auto& [function, map] : *value.as<MessagePack::Map>()) {
        if (function.as<std::string>() == nullptr || !is_map(map))
          return fail(ErrorKind::invalid_file, "PAL metadata: '{}' is not a map of names to maps", inside);
        if (auto ok = check(map, key->value_map, fmt::format("{}[{}]", inside, function.key_text())); !ok) return ok;
      }
    }
    return {};
  }

  std::vector<std::string>& unknown_;
};

// Values of keys whose types are checked.
void take(const MessagePack& map, std::string_view key, std::string& to) {
  if (const MessagePack* value = map.find(key)) to = *value->as<std::string>();
}
void take(const MessagePack& map, std::string_view key, std::optional<uint32_t>& to) {
  if (const MessagePack* value = map.find(key)) to = static_cast<uint32_t>(*value->as<uint64_t>());
}
void take(const MessagePack& map, std::string_view key, std::optional<bool>& to) {
  const MessagePack* value = map.find(key);
  if (value == nullptr) return;
  const bool* flag = value->as<bool>();
  to = flag != nullptr ? *flag : *value->as<uint64_t>() != 0;
}

/// Returns the numbers of a list; those that do not fit are errors.
Result<std::vector<uint32_t>> numbers_of(const MessagePack& list, std::string_view key, size_t max) {
  std::vector<uint32_t> numbers;
  for (const MessagePack& each : *list.as<MessagePack::List>()) {
    if (!is_integer(each)) return fail(ErrorKind::invalid_file, "PAL metadata: '{}' has a value above 32 bits", key);
    numbers.push_back(static_cast<uint32_t>(*each.as<uint64_t>()));
  }
  if (numbers.size() > max)
    return fail(ErrorKind::invalid_file, "PAL metadata: '{}' has {} values instead of {}", key, numbers.size(), max);
  return numbers;
}

constexpr size_t max_user_data_registers = 32;

Result<PalStage> read_stage(const MessagePack& map, HardwareStage stage, PalPipeline& pipeline) {
  PalStage result;
  result.stage = stage;
  take(map, ".entry_point", result.entry_point);
  take(map, ".entry_point_symbol", result.entry_point_symbol);
  take(map, ".scratch_memory_size", result.scratch_bytes);
  take(map, ".lds_size", result.lds_bytes);
  take(map, ".vgpr_count", result.vgprs);
  take(map, ".agpr_count", result.agprs);
  take(map, ".sgpr_count", result.sgprs);
  take(map, ".wavefront_size", result.wave_size);
  take(map, ".user_sgprs", result.user_sgprs);
  take(map, ".float_mode", result.float_mode);
  take(map, ".excp_en", result.exceptions);
  take(map, ".shared_vgpr_cnt", result.shared_vgprs);
  take(map, ".dynamic_vgpr_saved_count", result.dynamic_vgprs_saved);
  take(map, ".vgpr_limit", result.vgpr_limit);
  take(map, ".sgpr_limit", result.sgpr_limit);
  take(map, ".scratch_en", result.scratch);
  take(map, ".ieee_mode", result.ieee_mode);
  take(map, ".wgp_mode", result.wgp_mode);
  take(map, ".mem_ordered", result.mem_ordered);
  take(map, ".forward_progress", result.forward_progress);
  take(map, ".debug_mode", result.debug_mode);
  take(map, ".trap_present", result.trap_handler);
  take(map, ".fp16_overflow", result.fp16_ovfl);
  take(map, ".wg_round_robin", result.round_robin);
  if (const MessagePack* list = map.find(".threadgroup_dimensions")) {
    const auto sizes = numbers_of(*list, ".threadgroup_dimensions", 3);
    if (!sizes) return std::unexpected(sizes.error());
    if (sizes->size() != 3)
      return fail(ErrorKind::invalid_file, "PAL metadata: '.threadgroup_dimensions' has {} values instead of 3",
                  sizes->size());
    result.work_group_size.emplace();
    std::ranges::copy(*sizes, result.work_group_size->begin());
  }
  if (const MessagePack* list = map.find(".user_data_reg_map")) {
    const auto mappings = numbers_of(*list, ".user_data_reg_map", max_user_data_registers);
    if (!mappings) return std::unexpected(mappings.error());
    for (uint32_t i = 0; i < mappings->size(); ++i)
      if (user_data_mapping((*mappings)[i]).kind != UserDataKind::unmapped)
        pipeline.user_data.push_back({.stage = stage, .sgpr = i, .mapping = (*mappings)[i]});
  }
  return result;
}

/// Adds a register, and the mapping that it holds if it is a user data register.
void add_register(PalPipeline& pipeline, uint32_t number, uint32_t value, target::Generation generation) {
  pipeline.registers.push_back({.number = number, .value = value});
  const auto found = find_register(number, generation);
  if (!found) return;
  if (const auto at = user_data_register(*found))
    pipeline.user_data.push_back({.stage = at->stage, .sgpr = at->index, .mapping = value});
}

Result<PalPipeline> read_pipeline(const MessagePack& map, target::Generation generation) {
  PalPipeline result;
  take(map, ".name", result.name);
  take(map, ".type", result.type);
  take(map, ".api", result.api);
  take(map, ".user_data_limit", result.user_data_limit);
  take(map, ".spill_threshold", result.spill_threshold);
  if (const MessagePack* registers = map.find(".registers"))
    for (const auto& [number, value] : *registers->as<MessagePack::Map>())
      add_register(result, static_cast<uint32_t>(*number.as<uint64_t>()), static_cast<uint32_t>(*value.as<uint64_t>()),
                   generation);
  if (const MessagePack* stages = map.find(".hardware_stages")) {
    for (const auto& [name, stage] : *stages->as<MessagePack::Map>()) {
      const auto known = find_stage(*name.as<std::string>());
      if (!known) continue;  // among the unknown keys
      auto read = read_stage(stage, *known, result);
      if (!read) return std::unexpected(read.error());
      result.stages.push_back(std::move(*read));
    }
  }
  if (const MessagePack* functions = map.find(".shader_functions")) {
    for (const auto& [name, function] : *functions->as<MessagePack::Map>()) {
      PalFunction& to = result.functions.emplace_back();
      to.name = *name.as<std::string>();
      take(function, ".lds_size", to.lds_bytes);
      take(function, ".scratch_memory_size", to.stack_bytes);
      take(function, ".stack_frame_size_in_bytes", to.stack_bytes);
      take(function, ".vgpr_count", to.vgprs);
      take(function, ".sgpr_count", to.sgprs);
    }
  }
  if (const MessagePack* registers = map.find(".compute_registers")) {
    PalComputeRegisters& to = result.compute_registers.emplace();
    take(*registers, ".tgid_x_en", to.tgid_x);
    take(*registers, ".tgid_y_en", to.tgid_y);
    take(*registers, ".tgid_z_en", to.tgid_z);
    take(*registers, ".tg_size_en", to.tg_size);
    take(*registers, ".dynamic_vgpr_en", to.dynamic_vgprs);
    take(*registers, ".tidig_comp_cnt", to.work_item_ids);
  }
  return result;
}

Result<PalMetadata> read_document(std::span<const uint8_t> bytes, target::Generation generation) {
  auto document = read_message_pack(bytes);
  if (!document) return support::within("PAL metadata", document.error());
  PalMetadata result;
  if (!is_map(*document)) return fail(ErrorKind::invalid_file, "PAL metadata: the root is not a map");
  if (auto ok = KeyChecker(result.unknown_keys).check(*document, PalMap::root, ""); !ok)
    return std::unexpected(ok.error());
  if (const MessagePack* version = document->find("amdpal.version")) {
    const auto numbers = numbers_of(*version, "amdpal.version", 2);
    if (!numbers) return std::unexpected(numbers.error());
    if (numbers->size() != 2) return fail(ErrorKind::invalid_file, "PAL metadata: 'amdpal.version' is not two numbers");
    result.version_major = (*numbers)[0];
    result.version_minor = (*numbers)[1];
    if (result.version_major != 2 && result.version_major != 3)
      return fail(ErrorKind::unsupported, "PAL metadata: version {}.{} is not supported; 2.x and 3.x are",
                  result.version_major, result.version_minor);
  }
  if (const MessagePack* pipelines = document->find("amdpal.pipelines")) {
    for (const MessagePack& each : *pipelines->as<MessagePack::List>()) {
      auto pipeline = read_pipeline(each, generation);
      if (!pipeline) return std::unexpected(pipeline.error());
      result.pipelines.push_back(std::move(*pipeline));
    }
  }
  result.document = std::move(*document);
  return result;
}

/// PAL's keys in a note of pairs, by number from first_pal_key on. LLVM fixes the numbers of *_NUM_USED_VGPRS (0x21),
/// *_NUM_USED_SGPRS (0x28) and *_SCRATCH_BYTE_SIZE (0x44); PAL's list of names fills the numbers between and around.
constexpr std::string_view pal_keys[] = {"API_CS_HASH_DWORD0",
                                         "API_CS_HASH_DWORD1",
                                         "API_CS_HASH_DWORD2",
                                         "API_CS_HASH_DWORD3",
                                         "API_VS_HASH_DWORD0",
                                         "API_VS_HASH_DWORD1",
                                         "API_VS_HASH_DWORD2",
                                         "API_VS_HASH_DWORD3",
                                         "API_HS_HASH_DWORD0",
                                         "API_HS_HASH_DWORD1",
                                         "API_HS_HASH_DWORD2",
                                         "API_HS_HASH_DWORD3",
                                         "API_DS_HASH_DWORD0",
                                         "API_DS_HASH_DWORD1",
                                         "API_DS_HASH_DWORD2",
                                         "API_DS_HASH_DWORD3",
                                         "API_GS_HASH_DWORD0",
                                         "API_GS_HASH_DWORD1",
                                         "API_GS_HASH_DWORD2",
                                         "API_GS_HASH_DWORD3",
                                         "API_PS_HASH_DWORD0",
                                         "API_PS_HASH_DWORD1",
                                         "API_PS_HASH_DWORD2",
                                         "API_PS_HASH_DWORD3",
                                         "INTERNAL_PIPELINE_HASH_DWORD0",
                                         "INTERNAL_PIPELINE_HASH_DWORD1",
                                         "USER_DATA_LIMIT",
                                         "USES_SAMPLE_INFO",
                                         "HS_MAX_TESS_FACTOR",
                                         "PS_USES_UAVS",
                                         "PS_USES_ROVS",
                                         "PS_RUNS_AT_SAMPLE_RATE",
                                         "SPILL_THRESHOLD",
                                         "LS_NUM_USED_VGPRS",
                                         "HS_NUM_USED_VGPRS",
                                         "ES_NUM_USED_VGPRS",
                                         "GS_NUM_USED_VGPRS",
                                         "VS_NUM_USED_VGPRS",
                                         "PS_NUM_USED_VGPRS",
                                         "CS_NUM_USED_VGPRS",
                                         "LS_NUM_USED_SGPRS",
                                         "HS_NUM_USED_SGPRS",
                                         "ES_NUM_USED_SGPRS",
                                         "GS_NUM_USED_SGPRS",
                                         "VS_NUM_USED_SGPRS",
                                         "PS_NUM_USED_SGPRS",
                                         "CS_NUM_USED_SGPRS",
                                         "LS_NUM_AVAIL_VGPRS",
                                         "HS_NUM_AVAIL_VGPRS",
                                         "ES_NUM_AVAIL_VGPRS",
                                         "GS_NUM_AVAIL_VGPRS",
                                         "VS_NUM_AVAIL_VGPRS",
                                         "PS_NUM_AVAIL_VGPRS",
                                         "CS_NUM_AVAIL_VGPRS",
                                         "LS_NUM_AVAIL_SGPRS",
                                         "HS_NUM_AVAIL_SGPRS",
                                         "ES_NUM_AVAIL_SGPRS",
                                         "GS_NUM_AVAIL_SGPRS",
                                         "VS_NUM_AVAIL_SGPRS",
                                         "PS_NUM_AVAIL_SGPRS",
                                         "CS_NUM_AVAIL_SGPRS",
                                         "LS_LDS_BYTE_SIZE",
                                         "HS_LDS_BYTE_SIZE",
                                         "ES_LDS_BYTE_SIZE",
                                         "GS_LDS_BYTE_SIZE",
                                         "VS_LDS_BYTE_SIZE",
                                         "PS_LDS_BYTE_SIZE",
                                         "CS_LDS_BYTE_SIZE",
                                         "LS_SCRATCH_BYTE_SIZE",
                                         "HS_SCRATCH_BYTE_SIZE",
                                         "ES_SCRATCH_BYTE_SIZE",
                                         "GS_SCRATCH_BYTE_SIZE",
                                         "VS_SCRATCH_BYTE_SIZE",
                                         "PS_SCRATCH_BYTE_SIZE",
                                         "CS_SCRATCH_BYTE_SIZE",
                                         "STREAM_OUT_TABLE_ENTRY",
                                         "INDIRECT_TABLE_0_ENTRY",
                                         "INDIRECT_TABLE_1_ENTRY",
                                         "INDIRECT_TABLE_2_ENTRY",
                                         "ESGS_LDS_SIZE",
                                         "USES_VIEWPORT_ARRAY_INDEX",
                                         "PIPELINE_NAME_INDEX",
                                         "HW_API_SHADER_MAPPING_LO",
                                         "HW_API_SHADER_MAPPING_HI",
                                         "LS_PERFORMANCE_DATA_BUFFER_SIZE",
                                         "HS_PERFORMANCE_DATA_BUFFER_SIZE",
                                         "ES_PERFORMANCE_DATA_BUFFER_SIZE",
                                         "GS_PERFORMANCE_DATA_BUFFER_SIZE",
                                         "VS_PERFORMANCE_DATA_BUFFER_SIZE",
                                         "PS_PERFORMANCE_DATA_BUFFER_SIZE",
                                         "CS_PERFORMANCE_DATA_BUFFER_SIZE",
                                         "CALC_WAVE_BREAK_SIZE_AT_DRAW_TIME"};

constexpr uint32_t num_used_vgprs = first_pal_key + 0x21, num_used_sgprs = first_pal_key + 0x28,
                   lds_byte_size = first_pal_key + 0x3d, scratch_byte_size = first_pal_key + 0x44,
                   user_data_limit = first_pal_key + 0x1a, spill_threshold = first_pal_key + 0x20;

PalStage& stage_of(PalPipeline& pipeline, HardwareStage stage) {
  const auto found = std::ranges::find(pipeline.stages, stage, &PalStage::stage);
  if (found != pipeline.stages.end()) return *found;
  PalStage& made = pipeline.stages.emplace_back();
  made.stage = stage;
  return made;
}

Result<PalMetadata> read_pairs(std::span<const uint8_t> bytes, target::Generation generation) {
  if (bytes.size() % 8 != 0)
    return fail(ErrorKind::invalid_file,
                "PAL metadata: the note of register pairs has {} bytes, which is not a multiple of 8: it is cut short",
                bytes.size());
  PalMetadata result;
  result.form = PalNote::register_pairs;
  PalPipeline& pipeline = result.pipelines.emplace_back();
  for (uint64_t at = 0; at < bytes.size(); at += 8) {
    const uint32_t number = *support::read<uint32_t>(bytes, at), value = *support::read<uint32_t>(bytes, at + 4);
    if (std::ranges::find(result.pairs, number, &PalRegisterValue::number) != result.pairs.end())
      return fail(ErrorKind::invalid_file, "PAL metadata: register {:#x} is there twice", number);
    result.pairs.push_back({.number = number, .value = value});
    if (number < first_pal_key) {
      add_register(pipeline, number, value, generation);
      continue;
    }
    if (pal_key_name(number).empty()) result.unknown_keys.push_back(fmt::format("{:#x}", number));
    if (number == user_data_limit) pipeline.user_data_limit = value;
    if (number == spill_threshold) pipeline.spill_threshold = value;
    struct PerStage {
      uint32_t first;
      std::optional<uint32_t> PalStage::* member;
    };
    for (const PerStage& each : {PerStage{num_used_vgprs, &PalStage::vgprs},
                                 {num_used_sgprs, &PalStage::sgprs},
                                 {lds_byte_size, &PalStage::lds_bytes},
                                 {scratch_byte_size, &PalStage::scratch_bytes}}) {
      if (number - each.first >= num_hardware_stages) continue;
      stage_of(pipeline, static_cast<HardwareStage>(number - each.first)).*each.member = value;
    }
  }
  return result;
}

struct NamedMapping {
  uint32_t value;
  UserDataKind kind;
  std::string_view name;
};
constexpr NamedMapping mappings[] = {{0x10000000, UserDataKind::global_table, "GlobalTable"},
                                     {0x10000001, UserDataKind::shader_table, "PerShaderTable"},
                                     {0x10000002, UserDataKind::spill_table, "SpillTable"},
                                     {0x10000003, UserDataKind::other, "BaseVertex"},
                                     {0x10000004, UserDataKind::other, "BaseInstance"},
                                     {0x10000005, UserDataKind::other, "DrawIndex"},
                                     {0x10000006, UserDataKind::work_groups, "Workgroup"},
                                     {0x10000007, UserDataKind::other, "GdsRange"},
                                     {0x10000008, UserDataKind::other, "BaseIndex"},
                                     {0x10000009, UserDataKind::other, "Log2IndexSize"},
                                     {0x1000000A, UserDataKind::other, "EsGsLdsSize"},
                                     {0x1000000B, UserDataKind::other, "ViewId"},
                                     {0x1000000C, UserDataKind::other, "StreamOutTable"},
                                     {0x1000000D, UserDataKind::other, "PerShaderPerfData"},
                                     {0x1000000F, UserDataKind::other, "VertexBufferTable"},
                                     {0x10000010, UserDataKind::other, "UavExportTable"},
                                     {0x10000011, UserDataKind::other, "NggCullingData"},
                                     {0x10000012, UserDataKind::other, "MeshTaskDispatchDims"},
                                     {0x10000013, UserDataKind::other, "MeshTaskRingIndex"},
                                     {0x10000014, UserDataKind::other, "MeshPipeStatsBuf"},
                                     {0x10000015, UserDataKind::other, "FetchShaderPtr"},
                                     {0x10000016, UserDataKind::other, "StreamOutControlBuf"},
                                     {0x10000017, UserDataKind::other, "EnPrimsNeededCnt"},
                                     {0x10000018, UserDataKind::other, "SampleInfo"},
                                     {0x10000020, UserDataKind::other, "ColorExportAddr"},
                                     {0x10000022, UserDataKind::other, "DynamicDualSrcBlendInfo"},
                                     {0x10000023, UserDataKind::other, "CompositeData"}};

/// Mappings whose low bits are an index.
struct MappingRange {
  uint32_t first, last;
  UserDataKind kind;
  std::string_view name;
};
constexpr uint32_t num_user_data_entries = 128;
constexpr MappingRange mapping_ranges[] = {
    {0, num_user_data_entries - 1, UserDataKind::entry, "user data entry"},
    {0x10001000, 0x100010FF, UserDataKind::pipeline_link, "_amdgpu_pipelineLink"},
    {0x20000000, 0x2FFFFFFF, UserDataKind::other, "IndirectTable"},
    {0x80000000, 0x800000FF, UserDataKind::unlinked, "descriptor set"},
    {0x80000100, 0x800001FF, UserDataKind::unlinked, "push constant"},
};

}  // namespace

const PalStage* PalPipeline::find_stage(HardwareStage stage) const {
  const auto found = std::ranges::find(stages, stage, &PalStage::stage);
  return found == stages.end() ? nullptr : &*found;
}

std::optional<uint32_t> PalPipeline::register_value(uint32_t number) const {
  const auto found = std::ranges::find(registers, number, &PalRegisterValue::number);
  return found == registers.end() ? std::nullopt : std::optional(found->value);
}

Result<PalMetadata> read_pal_metadata(const ElfNote& note, target::Generation generation) {
  if (note.owner == "AMD" && note.type == nt_amd_pal_metadata) return read_pairs(note.description, generation);
  return read_document(note.description, generation);
}

Result<std::vector<PalMetadata>> read_pal_metadata(const ElfFile& file, target::Generation generation) {
  std::vector<PalMetadata> all;
  for (const ElfNote& note : read_notes(file)) {
    const bool pairs = note.owner == "AMD" && note.type == nt_amd_pal_metadata;
    const bool document = note.owner == "AMDGPU" && note.type == elf::nt_amdgpu_metadata;
    if (!pairs && !document) continue;
    auto metadata = read_pal_metadata(note, generation);
    if (!metadata) return std::unexpected(metadata.error());
    all.push_back(std::move(*metadata));
  }
  return all;
}

std::string_view pal_key_name(uint32_t number) {
  const uint32_t index = number - first_pal_key;
  return number >= first_pal_key && index < std::size(pal_keys) ? pal_keys[index] : std::string_view();
}

UserDataMapping user_data_mapping(uint32_t value) {
  if (value == UINT32_MAX) return {.kind = UserDataKind::unmapped, .name = "not mapped"};
  const auto named = std::ranges::find(mappings, value, &NamedMapping::value);
  if (named != std::end(mappings)) return {.kind = named->kind, .name = std::string(named->name)};
  for (const MappingRange& range : mapping_ranges)
    if (value >= range.first && value <= range.last) {
      const uint32_t index = value - range.first;
      const bool symbol = range.kind == UserDataKind::pipeline_link;
      return {.kind = range.kind, .index = index, .name = fmt::format("{}{}{}", range.name, symbol ? "" : " ", index)};
    }
  return {.kind = UserDataKind::unknown, .name = fmt::format("unknown mapping {:#x}", value)};
}

}  // namespace Atoll::object

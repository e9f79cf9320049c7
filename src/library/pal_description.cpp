// library: PAL metadata as JSON.
#include "library/pal_description.h"

#include <fmt/format.h>

#include "object/pal/contradictions.h"
#include "object/pal/metadata.h"

namespace Atoll::library {

namespace {

using Json = nlohmann::ordered_json;
using object::MessagePack;
using object::PalMetadata;
using object::PalPipeline;

/// Keeps JSON valid: texts come from the file.
std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) >= 0x80 || static_cast<unsigned char>(c) < 0x20) c = '?';
  return text;
}

Json json_of(const MessagePack& value) {
  if (const auto* flag = value.as<bool>()) return *flag;
  if (const auto* number = value.as<uint64_t>()) return *number;
  if (const auto* number = value.as<int64_t>()) return *number;
  if (const auto* number = value.as<double>()) return *number;
  if (const auto* text = value.as<std::string>()) return printable(*text);
  if (const auto* binary = value.as<MessagePack::Binary>()) return fmt::format("{:02x}", fmt::join(*binary, ""));
  if (const auto* list = value.as<MessagePack::List>()) {
    Json out = Json::array();
    for (const MessagePack& each : *list) out.push_back(json_of(each));
    return out;
  }
  if (const auto* map = value.as<MessagePack::Map>()) {
    Json out = Json::object();
    for (const auto& [key, each] : *map) out[printable(key.key_text())] = json_of(each);
    return out;
  }
  return nullptr;
}

Json describe_stage(const object::PalStage& stage) {
  Json out{{"stage", object::stage_name(stage.stage)}};
  if (!stage.entry_point_symbol.empty()) out["entry_point_symbol"] = printable(stage.entry_point_symbol);
  if (!stage.entry_point.empty()) out["entry_point"] = printable(stage.entry_point);
  const std::pair<const char*, const std::optional<uint32_t>*> numbers[] = {{"vgprs", &stage.vgprs},
                                                                            {"agprs", &stage.agprs},
                                                                            {"sgprs", &stage.sgprs},
                                                                            {"lds_bytes", &stage.lds_bytes},
                                                                            {"scratch_bytes", &stage.scratch_bytes},
                                                                            {"wave_size", &stage.wave_size},
                                                                            {"user_sgprs", &stage.user_sgprs}};
  for (const auto& [name, value] : numbers)
    if (*value) out[name] = **value;
  if (stage.work_group_size) out["work_group_size"] = *stage.work_group_size;
  return out;
}

Json describe_pipeline(const PalPipeline& pipeline, target::Generation generation) {
  Json out = Json::object();
  if (!pipeline.name.empty()) out["name"] = printable(pipeline.name);
  if (!pipeline.type.empty()) out["type"] = printable(pipeline.type);
  if (!pipeline.api.empty()) out["api"] = printable(pipeline.api);
  if (pipeline.user_data_limit) out["user_data_limit"] = *pipeline.user_data_limit;
  if (pipeline.spill_threshold) out["spill_threshold"] = *pipeline.spill_threshold;
  out["stages"] = Json::array();
  for (const object::PalStage& stage : pipeline.stages) out["stages"].push_back(describe_stage(stage));
  out["registers"] = Json::array();
  for (const object::PalRegisterValue& each : pipeline.registers)
    out["registers"].push_back(describe_register(each.number, each.value, generation));
  out["user_data"] = Json::array();
  for (const object::PalUserData& each : pipeline.user_data)
    out["user_data"].push_back({{"stage", object::stage_name(each.stage)},
                                {"sgpr", each.sgpr},
                                {"value", each.mapping},
                                {"name", object::user_data_mapping(each.mapping).name}});
  for (const object::PalFunction& each : pipeline.functions) {
    Json function{{"name", printable(each.name)}};
    if (each.vgprs) function["vgprs"] = *each.vgprs;
    if (each.sgprs) function["sgprs"] = *each.sgprs;
    if (each.lds_bytes) function["lds_bytes"] = *each.lds_bytes;
    if (each.stack_bytes) function["stack_bytes"] = *each.stack_bytes;
    out["functions"].push_back(std::move(function));
  }
  return out;
}

}  // namespace

Json describe_register(uint32_t number, uint32_t value, target::Generation generation) {
  Json out{{"number", number}, {"value", value}};
  const auto known = object::find_register(number, generation);
  if (!known) return out;
  out["name"] = known->name;
  if (object::user_data_register(*known)) {
    out["loads"] = object::user_data_mapping(value).name;
    return out;
  }
  for (const object::RegisterField& field : known->fields)
    out["fields"].push_back(
        {{"low_bit", field.low_bit}, {"bits", field.bits}, {"name", field.name}, {"value", field.of(value)}});
  return out;
}

support::Result<Json> describe_pal(const object::ElfFile& file, std::span<const object::ElfSymbol> symbols,
                                   const target::Processor& processor) {
  const auto all = object::read_pal_metadata(file, processor.generation);
  if (!all) return std::unexpected(all.error());
  Json out = Json::array();
  for (const PalMetadata& metadata : *all) {
    Json one;
    const bool pairs = metadata.form == object::PalNote::register_pairs;
    one["form"] = pairs ? "register pairs" : "MessagePack";
    if (!pairs) one["version"] = fmt::format("{}.{}", metadata.version_major, metadata.version_minor);
    one["pipelines"] = Json::array();
    for (const PalPipeline& pipeline : metadata.pipelines)
      one["pipelines"].push_back(describe_pipeline(pipeline, processor.generation));
    if (!pairs) one["document"] = json_of(metadata.document);
    for (const object::PalRegisterValue& each : metadata.pairs)
      if (each.number >= object::first_pal_key)
        one["keys"].push_back(
            {{"number", each.number}, {"name", object::pal_key_name(each.number)}, {"value", each.value}});
    for (std::string& message : object::pal_contradictions(file, symbols, metadata, processor))
      one["contradictions"].push_back(printable(std::move(message)));
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace Atoll::library

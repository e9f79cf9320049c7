// library: Mesa3D's configuration sections as JSON.
#include "library/mesa_description.h"

#include "library/pal_description.h"
#include "object/descriptor_meaning.h"
#include "object/mesa_config.h"

namespace Atoll::library {

support::Result<nlohmann::ordered_json> describe_mesa(const object::ElfFile& file,
                                                      std::span<const object::ElfSymbol> symbols,
                                                      const target::Processor& processor) {
  using Json = nlohmann::ordered_json;
  const auto shaders = object::read_mesa_config(file, symbols, processor.generation);
  if (!shaders) return std::unexpected(shaders.error());
  Json out{{"shaders", Json::array()}};
  for (const object::MesaShader& shader : *shaders) {
    std::string symbol(shader.symbol);
    for (char& c : symbol)
      if (static_cast<unsigned char>(c) >= 0x80 || static_cast<unsigned char>(c) < 0x20) c = '?';
    Json one{{"symbol", symbol}, {"stage", object::stage_name(shader.stage)}, {"registers", Json::array()}};
    for (const object::MesaRegister& each : shader.registers)
      one["registers"].push_back(describe_register(each.number, each.value, processor.generation));
    if (shader.spilled_sgprs) one["sgpr_spills"] = *shader.spilled_sgprs;
    if (shader.spilled_vgprs) one["vgpr_spills"] = *shader.spilled_vgprs;
    if (shader.kernel_code) {
      for (const object::KernelCodeField& field : object::kernel_code_fields()) {
        Json row{
            {"bit", field.bit}, {"bits", field.width}, {"name", field.name}, {"value", field.of(*shader.kernel_code)}};
        if (const std::string meaning = object::meaning_of(field, *shader.kernel_code, processor); !meaning.empty())
          row["meaning"] = meaning;
        one["kernel_code"].push_back(std::move(row));
      }
    }
    out["shaders"].push_back(std::move(one));
  }
  for (const std::string& message : object::mesa_contradictions(*shaders, file, symbols, processor))
    out["contradictions"].push_back(message);
  return out;
}

}  // namespace Atoll::library

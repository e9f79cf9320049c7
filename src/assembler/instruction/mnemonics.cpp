// assembler: instructions by their names (mnemonics.h).
#include "assembler/instruction/mnemonics.h"

#include <algorithm>
#include <array>
#include <utility>

#include "isa/per_processor.h"
#include "isa/unit.h"
#include "support/spelling.h"

namespace Atoll::assembler {

using isa::Encoding;
using isa::InstructionRow;
using isa::Opcode;

namespace {

struct NamedSuffix {
  std::string_view text;
  Suffix suffix;
};
// Longer ones first.
constexpr std::array suffixes{NamedSuffix{"_e64_dpp", Suffix::e64_dpp}, NamedSuffix{"_sdwa", Suffix::sdwa},
                              NamedSuffix{"_dpp", Suffix::dpp}, NamedSuffix{"_e32", Suffix::e32},
                              NamedSuffix{"_e64", Suffix::e64}};

/// Another name of an instruction in some generations. Source: LLVM 22's assembler.
struct Alias {
  std::string_view name, means;
  target::Generation first, last;
  bool vop3_alone = false;  ///< of that encoding alone
};
using enum target::Generation;
constexpr Alias aliases[] = {
    {"v_add_co_u32", "v_add_i32", gfx6, gfx7, true},
    {"v_sub_co_u32", "v_sub_i32", gfx6, gfx7, true},
    {"v_subrev_co_u32", "v_subrev_i32", gfx6, gfx7, true},
    {"v_mul_lo_i32", "v_mul_lo_u32", gfx8, gfx950},
    {"v_accvgpr_read", "v_accvgpr_read_b32", gfx9, gfx950},
    {"v_accvgpr_write", "v_accvgpr_write_b32", gfx9, gfx950},
    {"v_mfma_f32_16x16x16bf16", "v_mfma_f32_16x16x16_bf16", gfx940, gfx950},
    {"v_mfma_f32_16x16x4bf16", "v_mfma_f32_16x16x4_4b_bf16", gfx940, gfx950},
    {"v_mfma_f32_32x32x4bf16", "v_mfma_f32_32x32x4_2b_bf16", gfx940, gfx950},
    {"v_mfma_f32_32x32x8bf16", "v_mfma_f32_32x32x8_bf16", gfx940, gfx950},
    {"v_mfma_f32_4x4x4bf16", "v_mfma_f32_4x4x4_16b_bf16", gfx940, gfx950},
    {"v_mfma_f32_16x16x8xf32", "v_mfma_f32_16x16x8_xf32", gfx940, gfx940},
    {"v_mfma_f32_32x32x4xf32", "v_mfma_f32_32x32x4_xf32", gfx940, gfx940},
    {"v_mfma_i32_16x16x32i8", "v_mfma_i32_16x16x32_i8", gfx940, gfx950},
    {"v_mfma_i32_32x32x16i8", "v_mfma_i32_32x32x16_i8", gfx940, gfx950},
    {"v_mfma_f32_16x16x32bf16", "v_mfma_f32_16x16x32_bf16", gfx950, gfx950},
    {"v_mfma_f32_16x16x32f16", "v_mfma_f32_16x16x32_f16", gfx950, gfx950},
    {"v_mfma_f32_32x32x16bf16", "v_mfma_f32_32x32x16_bf16", gfx950, gfx950},
    {"v_mfma_f32_32x32x16f16", "v_mfma_f32_32x32x16_f16", gfx950, gfx950},
    {"v_mfma_i32_16x16x64i8", "v_mfma_i32_16x16x64_i8", gfx950, gfx950},
    {"v_mfma_i32_32x32x32i8", "v_mfma_i32_32x32x32_i8", gfx950, gfx950},
    {"v_dot4_i32_i8", "v_dot4_i32_iu8", gfx11, gfx12_5},
    {"v_dot8_i32_i4", "v_dot8_i32_iu4", gfx11, gfx12_5},
    {"v_interp_p2_new_f32", "v_interp_p2_f32", gfx11, gfx12_5},
    {"lds_direct_load", "ds_direct_load", gfx12, gfx12_5},
    {"lds_param_load", "ds_param_load", gfx12, gfx12_5},
    {"ds_subrev_u32", "ds_rsub_u32", gfx12, gfx12_5},
    {"ds_subrev_u64", "ds_rsub_u64", gfx12, gfx12_5},
    {"ds_subrev_rtn_u32", "ds_rsub_rtn_u32", gfx12, gfx12_5},
    {"ds_subrev_rtn_u64", "ds_rsub_rtn_u64", gfx12, gfx12_5},
};

/// True if names of instructions in that encoding take the suffixes _e32, _e64, _sdwa and _dpp.
bool takes_suffix(Encoding encoding) { return isa::is_vector_alu(encoding) || encoding == Encoding::vintrp; }

}  // namespace

bool allows(Suffix suffix, const Form& form) {
  if (suffix == Suffix::none) return true;
  if (!takes_suffix(form.encoding)) return false;
  switch (form.kind) {
    case FormKind::base:
      return suffix == (form.encoding == Encoding::vop3p ? Suffix::e64 : Suffix::e32);
    case FormKind::vop3:
      return suffix == Suffix::e64;
    case FormKind::sdwa:
      return suffix == Suffix::sdwa;
    case FormKind::dpp:
      return suffix == Suffix::dpp;
    case FormKind::vop3_dpp:
      return suffix == Suffix::e64_dpp;
  }
  return false;
}

Mnemonics::Mnemonics(const target::Processor& processor, unsigned wave_size)
    : codes_(isa::code_map_of(processor, wave_size)), map_(codes_.map) {
  for (size_t i = 1; i < map_.names.size(); ++i) {
    const std::string_view name = map_.names[i];
    if (forms_.contains(name)) continue;
    std::vector<Form> forms;
    for (const Opcode opcode : codes_.named(name)) add_forms(forms, opcode);
    if (forms.empty()) continue;
    std::ranges::sort(forms, {}, [](const Form& form) { return std::pair(form.kind, form.opcode); });
    forms_.emplace(name, std::move(forms));
  }
  // LLVM has the names of earlier generations for most instructions from GFX11 on, and for matrix instructions.
  for (size_t i = 1; i < map_.names.size(); ++i) {
    const auto opcode = static_cast<Opcode>(i);
    if (map_.generation >= gfx11 || map_.row(opcode).has(isa::flag::matrix)) add_earlier_names(opcode);
  }
  for (const Alias& alias : aliases) {
    const auto found = forms_.find(alias.means);
    if (map_.generation < alias.first || map_.generation > alias.last || found == forms_.end()) continue;
    if (forms_.contains(alias.name)) continue;
    std::vector<Form> forms = found->second;
    if (alias.vop3_alone) std::erase_if(forms, [](const Form& form) { return form.kind != FormKind::vop3; });
    forms_.emplace(alias.name, std::move(forms));
  }
}

/// Names that an instruction has had in earlier generations, where no other has them now.
void Mnemonics::add_earlier_names(Opcode opcode) {
  using enum Opcode;
  // Whose operands or meaning have changed with the name.
  constexpr std::array renamed_for_good{v_add_co_u32,     v_sub_co_u32, v_subrev_co_u32, v_addc_co_u32, v_subb_co_u32,
                                        v_subbrev_co_u32, v_add_u16,    v_sub_u16,       v_add_i16,     v_sub_i16};
  if (std::ranges::find(renamed_for_good, opcode) != renamed_for_good.end()) return;
  const auto now = forms_.find(map_.name(opcode));
  if (now == forms_.end()) return;
  const bool here = std::ranges::any_of(now->second, [&](const Form& form) { return form.opcode == opcode; });
  if (!here) return;
  const InstructionRow& row = isa::row(opcode);
  for (auto past = target::Generation::gfx6; past < map_.generation;
       past = static_cast<target::Generation>(static_cast<int>(past) + 1)) {
    const isa::Opcodes::Change then = row.opcodes.on(past);
    const std::string_view name = then.name.empty() ? row.name : then.name;
    if (then.opcode == isa::Opcodes::none || forms_.contains(name)) continue;
    forms_.emplace(name, std::vector<Form>(forms_.at(map_.name(opcode))));
  }
}

void Mnemonics::add_forms(std::vector<Form>& forms, Opcode opcode) const {
  const InstructionRow& row = map_.row(opcode);
  for (size_t i = 0; i < static_cast<size_t>(Encoding::count); ++i) {
    const auto encoding = static_cast<Encoding>(i);
    if (encoding == Encoding::vopd || encoding == Encoding::vopd3 || !codes_.has(opcode, encoding)) continue;
    forms.push_back({opcode, encoding, encoding == Encoding::vop3 ? FormKind::vop3 : FormKind::base});
    const bool short_form = encoding == Encoding::vop1 || encoding == Encoding::vop2 || encoding == Encoding::vopc;
    if (!short_form && encoding != Encoding::vop3 && encoding != Encoding::vop3p) continue;
    if (short_form && map_.layout.sdwa && row.has(isa::flag::sdwa)) {
      forms.push_back({opcode, encoding, FormKind::sdwa});
    }
    if (row.operands[0].field != isa::Field::none && map_.has_dpp(row, encoding, false)) {
      forms.push_back({opcode, encoding, short_form ? FormKind::dpp : FormKind::vop3_dpp});
    }
  }
}

std::span<const Form> Mnemonics::forms_of(std::string_view name) const {
  const auto found = forms_.find(name);
  return found == forms_.end() ? std::span<const Form>() : found->second;
}

Mnemonics::Found Mnemonics::find(std::string_view name) const {
  if (const auto forms = forms_of(name); !forms.empty()) return {forms, Suffix::none};
  for (const NamedSuffix& each : suffixes) {
    if (!name.ends_with(each.text)) continue;
    const auto forms = forms_of(name.substr(0, name.size() - each.text.size()));
    const bool vector = std::ranges::any_of(forms, [](const Form& form) { return takes_suffix(form.encoding); });
    return vector ? Found{forms, each.suffix} : Found{};
  }
  return {};
}

Opcode Mnemonics::find_dual(std::string_view name) const {
  constexpr std::string_view prefix = "v_dual_";
  if (!name.starts_with(prefix) || codes_.formats[static_cast<size_t>(Encoding::vopd)] == nullptr) {
    return Opcode::invalid;
  }
  return codes_.dual_named(name.substr(prefix.size()));
}

std::string Mnemonics::name_like(std::string_view name) const {
  std::string_view suffix;
  for (const NamedSuffix& each : suffixes) {
    if (!name.ends_with(each.text)) continue;
    suffix = each.text;
    break;
  }
  support::SpellingOf nearest(name.substr(0, name.size() - suffix.size()));
  for (const auto& [known, forms] : forms_) nearest.consider(known);
  return nearest.found().empty() ? std::string() : std::string(nearest.found()) += suffix;
}

const Mnemonics& mnemonics_of(const target::Processor& processor, unsigned wave_size) {
  return isa::per_processor<Mnemonics>(processor, wave_size);
}

}  // namespace Atoll::assembler

#include "tools/instruction_facts.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "engine/coverage.h"
#include "isa/effects.h"
#include "isa/opcode_map.h"
#include "isa/unit.h"
#include "support/spelling.h"

namespace Atoll::tools {

namespace {

using isa::DataType;
using isa::Encoding;
using isa::Field;
using isa::InstructionRow;
using isa::Opcode;
using isa::OpcodeMap;
using target::Generation;
using target::Processor;
namespace flag = isa::flag;

/// The vendor's names. Some encodings are called something else from a generation on.
std::string_view name_of(Encoding encoding, Generation generation) {
  switch (encoding) {
    case Encoding::sop1:
      return "SOP1";
    case Encoding::sop2:
      return "SOP2";
    case Encoding::sopk:
      return "SOPK";
    case Encoding::sopc:
      return "SOPC";
    case Encoding::sopp:
      return "SOPP";
    case Encoding::smem:
      return generation < Generation::gfx8 ? "SMRD" : "SMEM";
    case Encoding::vop1:
      return "VOP1";
    case Encoding::vop2:
      return "VOP2";
    case Encoding::vopc:
      return "VOPC";
    case Encoding::vop3:
      return "VOP3";
    case Encoding::vop3p:
      return "VOP3P";
    case Encoding::vopd:
      return "VOPD";
    case Encoding::vopd3:
      return "VOPD3";
    case Encoding::vinterp:
      return "VINTERP";
    case Encoding::vintrp:
      return "VINTRP";
    case Encoding::ldsdir:
      return generation >= Generation::gfx12 ? "VDSDIR" : "LDSDIR";
    case Encoding::ds:
      return generation >= Generation::gfx12 ? "VDS" : "DS";
    case Encoding::flat:
      return generation >= Generation::gfx12 ? "VFLAT" : "FLAT";
    case Encoding::global:
      return generation >= Generation::gfx12 ? "VGLOBAL" : "GLOBAL";
    case Encoding::scratch:
      return generation >= Generation::gfx12 ? "VSCRATCH" : "SCRATCH";
    case Encoding::mubuf:
      return generation >= Generation::gfx12 ? "VBUFFER" : "MUBUF";
    case Encoding::mtbuf:
      return generation >= Generation::gfx12 ? "VBUFFER (typed)" : "MTBUF";
    case Encoding::mimg:
      return generation >= Generation::gfx12 ? "VIMAGE" : "MIMG";
    case Encoding::vsample:
      return "VSAMPLE";
    case Encoding::exp:
      return generation >= Generation::gfx12 ? "VEXPORT" : "EXP";
    case Encoding::count:
      break;
  }
  return "";
}

struct FieldText {
  Field field;
  std::string_view name, accepts;
};
constexpr std::string_view any_source = "VGPR, SGPR or constant", vgpr = "VGPR", agpr = "AGPR", sgpr = "SGPR",
                           scalar_source = "SGPR or constant", vector_data = "VGPR or, where there are, AGPR",
                           matrix_source = "VGPR or AGPR", matrix_sum = "VGPR, AGPR or constant";
constexpr FieldText fields[] = {
    {Field::vdst, "vdst", vgpr},
    {Field::src0, "src0", any_source},
    {Field::src1, "src1", "VGPR; in VOP3 SGPR or constant, too"},
    {Field::src2, "src2", any_source},
    {Field::vgpr_src0, "src0", vgpr},
    {Field::vgpr_src1, "src1", vgpr},
    {Field::vgpr_src2, "src2", vgpr},
    {Field::agpr_dst, "vdst", agpr},
    {Field::agpr_src0, "src0", agpr},
    {Field::carry_out, "sdst", "VCC; in VOP3 SGPR"},
    {Field::carry_in, "src2", "VCC; in VOP3 SGPR"},
    {Field::vcc_in, "vcc", "VCC, not in the text"},
    {Field::cmp_dst, "sdst", "VCC; in VOP3 and SDWA SGPR"},
    {Field::lane_dst, "vdst", sgpr},
    {Field::src0_dst, "src0", "VGPR, written, too"},
    {Field::literal, "K", "literal"},
    {Field::message_code, "message", "immediate"},
    {Field::wmma_dst, "vdst", vgpr},
    {Field::wmma_src0, "src0", vgpr},
    {Field::wmma_src1, "src1", vgpr},
    {Field::wmma_acc, "src2", "VGPR or constant"},
    {Field::wmma_acc_f16, "src2", "VGPR or constant"},
    {Field::wmma_index, "src2", vgpr},
    {Field::interp_slot, "slot", "p10, p20 or p0"},
    {Field::attribute, "attribute", "attribute and channel"},
    {Field::matrix_dst, "vdst", matrix_source},
    {Field::matrix_src0, "src0", matrix_source},
    {Field::matrix_src1, "src1", matrix_source},
    {Field::matrix_acc_f32, "src2", matrix_sum},
    {Field::matrix_acc_f64, "src2", matrix_sum},
    {Field::matrix_acc_i32, "src2", matrix_sum},
    {Field::scale_src0, "scale_src0", any_source},
    {Field::scale_src1, "scale_src1", any_source},
    {Field::sdst, "sdst", sgpr},
    {Field::sdst_in, "sdst", "SGPR, read"},
    {Field::ssrc0, "ssrc0", scalar_source},
    {Field::ssrc1, "ssrc1", scalar_source},
    {Field::sdata, "sdata", sgpr},
    {Field::sdata_imm, "sdata", "immediate"},
    {Field::prefetch_length, "length", "immediate"},
    {Field::sbase, "sbase", sgpr},
    {Field::soffset, "soffset", "SGPR or immediate"},
    {Field::ds_dst, "vdst", vector_data},
    {Field::ds_addr, "addr", vgpr},
    {Field::ds_data0, "data0", vector_data},
    {Field::ds_data1, "data1", vector_data},
    {Field::flat_dst, "vdst", vector_data},
    {Field::flat_return, "vdst", "VGPR or, where there are, AGPR; if the old value is returned"},
    {Field::flat_address, "vaddr", "VGPR; with saddr an offset, or off"},
    {Field::flat_data, "vdata", vector_data},
    {Field::flat_base, "saddr", "SGPR or off"},
    {Field::tensor_base, "saddr", "SGPR or null"},
    {Field::lds_address, "vdst", "VGPR, an address in LDS"},
    {Field::lds_data_address, "vdata", "VGPR, an address in LDS"},
    {Field::buffer_data, "vdata", vector_data},
    {Field::buffer_address, "vaddr", "VGPR or off; two with offen and idxen"},
    {Field::buffer_resource, "srsrc", sgpr},
    {Field::buffer_offset, "soffset", scalar_source},
    {Field::image_data, "vdata", vgpr},
    {Field::image_address, "vaddr", vgpr},
    {Field::image_resource, "srsrc", sgpr},
    {Field::image_sampler, "ssamp", sgpr},
    {Field::tensor_group0, "group0", sgpr},
    {Field::tensor_group1, "group1", sgpr},
    {Field::tensor_group2, "group2", "SGPR or null"},
    {Field::tensor_group3, "group3", "SGPR or null"},
    {Field::export_src0, "vsrc0", "VGPR or off"},
    {Field::export_src1, "vsrc1", "VGPR or off"},
    {Field::export_src2, "vsrc2", "VGPR or off"},
    {Field::export_src3, "vsrc3", "VGPR or off"},
};

constexpr std::string_view type_names[] = {"",      "b8",    "b16",   "i16",    "u16",   "f16",   "bf16",     "b32",
                                           "i32",   "u32",   "f32",   "b64",    "i64",   "u64",   "f64",      "b96",
                                           "b128",  "b160",  "b192",  "b256",   "b320",  "b384",  "b512",     "b1024",
                                           "v2i16", "v2u16", "v2f16", "v2bf16", "v2b32", "v2f32", "lane mask"};
static_assert(std::size(type_names) == static_cast<size_t>(DataType::lane_mask) + 1);

bool has_encoding(const Processor& processor, Encoding encoding) {
  return std::ranges::any_of(isa::formats_of(processor.generation),
                             [&](const isa::Format& format) { return format.encoding == encoding; });
}

std::vector<OperandFact> operands_of(const InstructionRow& row, const Processor& processor) {
  std::vector<OperandFact> operands;
  for (const isa::OperandSpec& spec : row.operands) {
    if (spec.field == Field::none) break;
    const auto* text = std::ranges::find(fields, spec.field, &FieldText::field);
    OperandFact fact{.field = text->name, .type = type_names[static_cast<size_t>(spec.type)], .accepts = text->accepts};
    // In VOP3 alone, there is no short form whose second source is a VGPR.
    if (spec.field == Field::src1 && row.encoding != Encoding::vop2 && row.encoding != Encoding::vopc) {
      fact.accepts = any_source;
    }
    if (text->accepts == vector_data && !processor.has_agprs) fact.accepts = vgpr;
    fact.bits = isa::is_half(spec.type)            ? 16
                : spec.type == DataType::b8        ? 8
                : spec.type == DataType::lane_mask ? 0
                                                   : isa::words_of(spec.type) * 32;
    fact.written = isa::writes(row, spec.field, true);
    operands.push_back(fact);
  }
  return operands;
}

std::vector<std::string_view> modifiers_of(const InstructionRow& row, const OpcodeMap& map,
                                           const std::vector<EncodingFact>& encodings) {
  std::vector<std::string_view> modifiers;
  const auto add = [&](bool has, std::string_view name) {
    if (has) modifiers.push_back(name);
  };
  const auto in = [&](std::string_view encoding) {
    return std::ranges::find(encodings, encoding, &EncodingFact::encoding) != encodings.end();
  };
  const bool vector = in("VOP1") || in("VOP2") || in("VOPC") || in("VOP3") || in("VOP3P");
  if (vector) {
    const bool long_form = in("VOP3") || in("VOP3P");
    add(row.has(flag::neg | flag::neg_any), long_form && in("VOP3P") && !in("VOP3") ? "neg_lo, neg_hi" : "neg, abs");
    add(row.has(flag::clamp) && (in("VOP3P") || map.layout.clamps(row)), "clamp");
    add(row.has(flag::omod), "omod");
    add(row.has(flag::op_sel | flag::op_sel4) || (in("VOP3P") && !row.has(flag::matrix | flag::wmma)),
        in("VOP3P") ? "op_sel, op_sel_hi" : "op_sel");
    add(row.has(flag::sdwa) && map.layout.sdwa, "SDWA");
    const Encoding short_form = in("VOP1") ? Encoding::vop1 : in("VOP2") ? Encoding::vop2 : Encoding::vopc;
    const bool has_short = in("VOP1") || in("VOP2") || in("VOPC");
    add((has_short && map.has_dpp(row, short_form, false)) || (in("VOP3") && map.has_dpp(row, Encoding::vop3, false)),
        "DPP");
    add((has_short && map.has_dpp(row, short_form, true)) || (in("VOP3") && map.has_dpp(row, Encoding::vop3, true)),
        "DPP8");
    add(row.has(flag::matrix), "cbsz, abid, blgp");
  }
  if (row.has(flag::memory)) {
    add(map.layout.temporal_hints, "th, scope");
    add(!map.layout.temporal_hints && row.encoding != Encoding::ds,
        map.generation == Generation::gfx940 || map.generation == Generation::gfx950 ? "sc0, nt, sc1"
                                                                                     : "glc, slc, dlc");
    add(row.encoding != Encoding::mimg && row.encoding != Encoding::vsample,
        row.has(flag::two_offsets) ? "offset0, offset1" : "offset");
    add(row.encoding == Encoding::mubuf || row.encoding == Encoding::mtbuf, "offen, idxen");
    add(row.encoding == Encoding::ds && map.layout.gds_bit && !row.has(flag::no_gds), "gds");
    add(row.has(flag::lds_bit), "lds");
  }
  add(row.has(flag::any_immediate), "immediate of 16 bits");
  return modifiers;
}

void add_effects(InstructionFacts& facts, const Processor& processor, Opcode opcode) {
  const auto sample = engine::sample_instruction(processor, opcode);
  if (!sample) return;
  const isa::Effects effects = isa::effects_of(*sample);
  struct Named {
    unsigned reg;
    std::string_view name;
  };
  constexpr std::array registers{Named{isa::scc_number, "SCC"}, Named{isa::scalar::vcc_lo, "VCC"},
                                 Named{isa::scalar::exec_lo, "EXEC"}, Named{isa::scalar::m0, "M0"},
                                 Named{isa::scalar::flat_scratch_lo, "FLAT_SCRATCH"}};
  for (const Named& each : registers) {
    if (effects.reads.test(each.reg)) facts.reads.push_back(each.name);
    if (effects.writes.test(each.reg)) facts.writes.push_back(each.name);
  }
  if (effects.reads_mode) facts.reads.push_back("MODE");
  if (effects.writes_mode) facts.writes.push_back("MODE");
  if (isa::row_of(*sample).has(flag::reads_dst)) facts.reads.push_back("the result's old value");
  constexpr std::array kinds{std::pair{isa::MemoryKind::global, std::string_view("memory")},
                             std::pair{isa::MemoryKind::scratch, std::string_view("scratch")},
                             std::pair{isa::MemoryKind::lds, std::string_view("LDS")},
                             std::pair{isa::MemoryKind::gds, std::string_view("GDS")}};
  for (const auto& [kind, name] : kinds) {
    if (effects.loads.has(kind)) facts.reads.push_back(name);
    if (effects.stores.has(kind)) facts.writes.push_back(name);
  }
}

std::string_view without_suffix(std::string_view name) {
  for (const std::string_view suffix : {"_e64_dpp", "_e32", "_e64", "_sdwa", "_dpp"}) {
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return name;
}

/// Returns the name of a half of a dual instruction: "v_dual_mov_b32".
std::string dual_name(const OpcodeMap& map, size_t code) {
  return fmt::format("v_dual{}", map.dual_names[code].substr(1));
}

/// Every name that an instruction has on some generation, with its opcodes.
const std::multimap<std::string, Opcode, std::less<>>& all_names() {
  static const auto names = [] {
    std::multimap<std::string, Opcode, std::less<>> made;
    const auto add = [&](std::string_view name, Opcode opcode) {
      const auto [begin, end] = made.equal_range(name);
      if (std::none_of(begin, end, [&](const auto& entry) { return entry.second == opcode; }))
        made.emplace(name, opcode);
    };
    for (unsigned i = 1; i < static_cast<unsigned>(Opcode::count); ++i) {
      const auto opcode = static_cast<Opcode>(i);
      const InstructionRow& row = isa::row(opcode);
      for (unsigned change = 0; change < row.opcodes.count; ++change) {
        const auto& now = row.opcodes.changes[change];
        if (now.opcode != isa::Opcodes::none) add(now.name.empty() ? row.name : now.name, opcode);
      }
    }
    for (const Processor& processor : target::processors()) {
      const OpcodeMap& map = isa::opcode_map_of(processor);
      for (const isa::DualHalves* halves : {&map.vopd, &map.vopd3}) {
        for (size_t code = 0; code < halves->x.size(); ++code) {
          for (const Opcode opcode : {halves->x[code], halves->y[code]}) {
            if (opcode != Opcode::invalid) add(dual_name(map, code), opcode);
          }
        }
      }
    }
    return made;
  }();
  return names;
}

}  // namespace

std::vector<Opcode> find_instructions(std::string_view name) {
  std::vector<Opcode> found;
  for (const std::string_view each : {name, without_suffix(name)}) {
    const auto [begin, end] = all_names().equal_range(each);
    for (auto entry = begin; entry != end; ++entry) found.push_back(entry->second);
    if (!found.empty()) break;
  }
  // The row of that very name first.
  const auto is_other = [&](Opcode opcode) { return isa::row(opcode).name != without_suffix(name); };
  std::ranges::sort(found, {}, [&](Opcode opcode) { return std::pair(is_other(opcode), opcode); });
  return found;
}

std::vector<std::string_view> names_with_prefix(std::string_view prefix) {
  std::vector<std::string_view> names;
  for (auto entry = all_names().lower_bound(prefix); entry != all_names().end(); ++entry) {
    if (!entry->first.starts_with(prefix)) break;
    if (names.empty() || names.back() != entry->first) names.push_back(entry->first);
  }
  return names;
}

std::vector<std::string> similar_names(std::string_view name) {
  constexpr size_t most = 6;
  constexpr size_t longest = 64;  // no name is longer; the effort grows with the square
  name = without_suffix(name.substr(0, longest));
  std::set<std::pair<unsigned, std::string>> by_distance;
  for (const auto& [each, opcode] : all_names()) {
    unsigned far = support::edits_between(name, each);
    if (name.size() >= 4 && each.find(name) != std::string::npos) far = std::min(far, 1u);
    if (far <= std::max<size_t>(2, name.size() / 4)) by_distance.emplace(far, each);
  }
  std::vector<std::string> names;
  for (const auto& [far, each] : by_distance) {
    if (names.size() < most) names.push_back(each);
  }
  return names;
}

std::optional<std::string_view> name_on(const Processor& processor, Opcode opcode) {
  const isa::Opcodes::Change now = isa::row(opcode).opcodes.on(processor.generation);
  if (now.opcode == isa::Opcodes::none || (!now.always && !processor.has(isa::row(opcode).feature)))
    return std::nullopt;
  const InstructionRow& row = isa::row(opcode);
  const Encoding encoding = now.encoding == Encoding::count ? row.encoding : now.encoding;
  if (!has_encoding(processor, encoding)) return std::nullopt;
  return isa::opcode_map_of(processor).name(opcode);
}

std::vector<Opcode> instructions_of(const Processor& processor) {
  std::vector<Opcode> all;
  for (unsigned i = 1; i < static_cast<unsigned>(Opcode::count); ++i) {
    if (name_on(processor, static_cast<Opcode>(i))) all.push_back(static_cast<Opcode>(i));
  }
  return all;
}

std::vector<EncodingFact> encodings_on(const Processor& processor, Opcode opcode) {
  std::vector<EncodingFact> facts;
  const OpcodeMap& map = isa::opcode_map_of(processor);
  for (size_t e = 0; e < map.opcodes.size(); ++e) {
    const auto name = name_of(static_cast<Encoding>(e), processor.generation);
    for (unsigned value = 0; value < map.opcodes[e].size(); ++value) {
      if (map.opcodes[e][value] == opcode) facts.push_back({.encoding = name, .opcode = value});
    }
  }
  for (const auto& scaled : map.scaled) {
    for (unsigned value = 0; value < scaled.size(); ++value) {
      if (scaled[value] == opcode) {
        facts.push_back({.encoding = "VOP3P", .opcode = value, .note = "after an instruction that loads scales"});
      }
    }
  }
  for (const Encoding encoding : {Encoding::vopd, Encoding::vopd3}) {
    const isa::DualHalves& halves = map.duals(encoding);
    for (unsigned code = 0; code < halves.x.size(); ++code) {
      const bool x = halves.x[code] == opcode, y = halves.y[code] == opcode;
      if (!x && !y) continue;
      facts.push_back({.encoding = name_of(encoding, processor.generation),
                       .opcode = code,
                       .note = fmt::format("{}, {}", dual_name(map, code),
                                           x && y ? "X and Y"
                                           : x    ? "X"
                                                  : "Y")});
    }
  }
  return facts;
}

InstructionFacts facts_on(const Processor& processor, Opcode opcode) {
  const OpcodeMap& map = isa::opcode_map_of(processor);
  const InstructionRow& row = map.row(opcode);
  InstructionFacts facts;
  facts.name = map.name(opcode);
  facts.encodings = encodings_on(processor, opcode);
  facts.operands = operands_of(row, processor);
  facts.modifiers = modifiers_of(row, map, facts.encodings);
  add_effects(facts, processor, opcode);
  const isa::LatencyClass latency = isa::latency_class(row);
  facts.unit = isa::name_of(isa::unit_of(row));
  facts.latency_class = isa::name_of(latency);
  facts.timing = isa::timing_of(latency, processor);
  return facts;
}

std::string processor_ranges(const std::vector<const Processor*>& processors) {
  std::string text;
  for (size_t i = 0; i < processors.size();) {
    size_t last = i;
    while (last + 1 < processors.size() && processors[last + 1] == processors[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += processors[i]->name;
    if (last > i) text += fmt::format("{}{}", last == i + 1 ? ", " : " to ", processors[last]->name);
    i = last + 1;
  }
  return text;
}

}  // namespace Atoll::tools

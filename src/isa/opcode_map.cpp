#include "isa/opcode_map.h"

#include <algorithm>

#include "isa/per_processor.h"
#include "isa/source_codes.h"

namespace Atoll::isa {

namespace {

using target::Generation;

/// Where VOP1, VOP2, VOPC and VINTRP instructions are among VOP3's opcodes (ISA guides, "VOP3A").
constexpr unsigned vop3_offset(Encoding encoding, Generation generation) {
  switch (encoding) {
    case Encoding::vop1:
      return generation >= Generation::gfx8 && generation < Generation::gfx10 ? 0x140 : 0x180;
    case Encoding::vop2:
      return 0x100;
    case Encoding::vintrp:
      return generation >= Generation::gfx10 ? 0x200 : 0x270;
    default:
      return 0;
  }
}

}  // namespace

Layout::Layout(const target::Processor& processor) {
  const Generation generation = processor.generation;
  const bool unified = processor.has(target::Feature::gfx90a_insts);
  accumulation_bit = scc_bit = row_newbcast = unified;
  vgprs = processor.unified_vgprs ? 256 : processor.addressable_vgprs;
  even_tuples = unified || generation == Generation::gfx12_5;
  tfe_bit = gds_bit = !unified;
  scratch_vaddr_bit = processor.has(target::Feature::gfx940_insts);
  flat_lds_bit = !scratch_vaddr_bit && generation < Generation::gfx11;
  cache_levels = scratch_vaddr_bit;
  fadd_returns = processor.has(target::Feature::atomic_fadd_rtn_insts);
  wide_lds_loads = processor.has(target::Feature::gfx950_insts);
  const bool navi = generation >= Generation::gfx10, navi3 = generation >= Generation::gfx11;
  wide_dpp = !navi;
  unpacked_d16 = processor.has(target::Feature::unpacked_d16);
  scalar_sdwa = swizzle_modes = generation >= Generation::gfx9;
  sdwa = generation >= Generation::gfx8 && !navi3;
  dpp = integer_clamp = image_d16 = inverse_two_pi = generation >= Generation::gfx8;
  snorm_ogl = generation < Generation::gfx8;
  scalar_literals = generation == Generation::gfx7;
  atomic_dlc = scalar_cache_checked = navi3;
  row_share = fetch_inactive = vector_literals = exec_compares = dimensions = unified_formats = null_soffset = navi;
  wave_shifts = !navi;
  vector_dpp = waits_for_null = navi3;
  scalar_dpp_sources = generation >= Generation::gfx11_5;
  true16 = address_tuples = navi3;
  scalar_inputs = navi ? 2 : 1;
  scalar_offset_always = positive_offsets = temporal_hints = generation >= Generation::gfx12;
  byte_select = split_matrices = moves_share_banks = generation >= Generation::gfx11_7;
  flat_bases = wide_literals = scale_offsets = halves_share_registers = right_shifts_read_two = packed_scalars_low =
      bf16_constants_high = generation >= Generation::gfx12_5;
  wide_row_share = processor.has(target::Feature::dpp_64bit);
  smem_immediate_bits = generation >= Generation::gfx12 ? 5 : 7;
  bf16_dots_begin_vopd = generation < Generation::gfx12_5;
  branch_needs_nop = generation == Generation::gfx10;
  null_soffset_printed = generation < Generation::gfx12;
  scratch_none = generation == Generation::gfx10_3 ? 0x7F : 0;
  if (generation >= Generation::gfx12) {
    scalar_offset_bits = 24;
  } else if (generation >= Generation::gfx9) {
    scalar_offset_bits = 21;
  }
  scalar_offset_words = generation < Generation::gfx8;
  flat_saddr_none = navi3 ? 0x7C : generation >= Generation::gfx10 ? 0x7D : generation >= Generation::gfx9 ? 0x7F : 0;
}

bool Layout::clamps(const InstructionRow& row) const {
  const bool carry =
      std::ranges::any_of(row.operands, [](const OperandSpec& spec) { return spec.field == Field::carry_out; });
  return row.has(flag::clamp) && (integer_clamp || (is_float(row.operands[0].type) && !carry));
}

/// "image_sample_c_d_cl_o_g16": comparison, gradients, clamp, offset.
ImageParts::ImageParts(std::string_view name) {
  // Node, extent, origin, direction, inverted direction; of two nodes at once, node and its offset are the last.
  if (name.starts_with("image_bvh_intersect")) rays = {1, 1, 3, 3, 3};
  if (name.starts_with("image_bvh64")) rays = {2, 1, 3, 3, 3};
  if (name.starts_with("image_bvh_dual")) rays = {2, 2, 3, 3, 2};
  if (name.starts_with("image_bvh8")) rays = {2, 2, 3, 3, 1};
  half_rays = rays[4] == 3;
  if (name == "image_get_lod") sampled = true;
  if (name == "image_get_resinfo") {
    coordinates = false;
    lod = true;
  }
  const auto has = [&](std::string_view part) {
    for (size_t at = name.find(part); at != std::string_view::npos; at = name.find(part, at + 1)) {
      const size_t end = at + part.size();
      if (end == name.size() || name[end] == '_') return true;
    }
    return false;
  };
  if (name.starts_with("image_sample") || name.starts_with("image_gather")) {
    sampled = true;
    for (const std::string_view part : {"_c", "_b", "_o"}) extra += has(part) ? 1 : 0;
    lod = has("_l") || has("_cl");
    gradients = has("_d") || has("_cd");
    half_gradients = has("_g16");
  } else if (has("_mip")) {
    lod = true;
  }
}

unsigned ImageParts::most() const {
  if (rays[0] != 0) return words(0, false);
  if (!sampled) return 4;
  return extra + 3u + (lod ? 1u : 0u) + (half_gradients ? 4u : gradients ? 6u : 0u);
}

unsigned ImageParts::words(unsigned dim, bool a16) const {
  // 1D, 2D, 3D, cube, 1D array, 2D array, 2D MSAA, 2D MSAA array.
  constexpr std::array<uint8_t, 8> coordinates_of{1, 2, 3, 3, 2, 3, 3, 4}, gradients_of{2, 4, 6, 4, 2, 4, 4, 4};
  if (rays[0] != 0) {
    unsigned words = 0;
    for (unsigned i = 0; i < ray_groups(a16); ++i) words += rays[i];
    return words;
  }
  const unsigned components = (coordinates ? coordinates_of[dim] : 0u) + (lod ? 1 : 0);
  unsigned words = extra + (a16 ? (components + 1) / 2 : components);
  if (gradients) {
    const unsigned count = gradients_of[dim];
    // Gradients are packed separately for each direction.
    words += half_gradients ? (count / 2 + 1) / 2 * 2 : count;
  }
  return words;
}

OpcodeMap::OpcodeMap(const target::Processor& processor, unsigned wave_size)
    : generation(processor.generation),
      lane_mask_words(wave_size == 32 ? 1 : 2),
      layout(processor),
      sources(source_codes_of(processor.generation)) {
  read_formats();
  const auto count = static_cast<size_t>(Opcode::count);
  rows.resize(count);
  names.resize(count);
  image_parts.resize(count);
  suffixed.resize(count);
  d16_components.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    const InstructionRow& row = row_on(opcode, generation);
    rows[i] = &row;
    names[i] = row.name;
    if (row.name.find("format_d16_x") != std::string_view::npos) {
      d16_components[i] = static_cast<uint8_t>(row.name.size() - row.name.rfind('_') - 1);
    }
    if (row.encoding == Encoding::mimg) image_parts[i] = ImageParts(row.name);
    const Opcodes::Change now = isa::row(opcode).opcodes.on(generation);
    if (now.opcode == Opcodes::none || (!now.always && !processor.has(isa::row(opcode).feature))) continue;
    if (!now.name.empty()) names[i] = now.name;
    empty = false;
    const Encoding encoding = now.encoding == Encoding::count ? row.encoding : now.encoding;
    place(opcode, row, now);
    const bool either = row.has(flag::vop3) || now.encoding == Encoding::vop1 || now.encoding == Encoding::vop2;
    suffixed[i] = either && !row.has(flag::no_suffix) && encoding != Encoding::vop3 && encoding != Encoding::vinterp &&
                  at(Encoding::vop3, now.opcode + vop3_offset(encoding, generation)) == opcode;
  }
  read_duals();
}

void OpcodeMap::read_duals() {
  enum Halves : uint8_t { x = 1, y = 2, both = x | y };
  const auto add = [&](DualHalves& to, unsigned code, Halves halves, Opcode opcode, std::string_view name) {
    if ((halves & x) != 0) to.x[code] = opcode;
    if ((halves & y) != 0) to.y[code] = opcode;
    dual_names[code] = name.empty() ? this->name(opcode) : name;
  };
#define ATOLL_DUAL(code, halves, opcode) add(vopd, code, halves, Opcode::opcode, {});
#define ATOLL_DUAL_NAMED(code, halves, opcode, name) add(vopd, code, halves, Opcode::opcode, #name);
#define ATOLL_DUAL_UNTIL(code, halves, opcode, last) \
  if (generation <= Generation::last) add(vopd, code, halves, Opcode::opcode, {});
#define ATOLL_DUAL_SINCE(code, halves, opcode, first) \
  if (generation >= Generation::first) add(vopd, code, halves, Opcode::opcode, {});
#define ATOLL_DUAL3(code, halves, opcode) \
  if (generation >= Generation::gfx12_5) add(vopd3, code, halves, Opcode::opcode, {});
#define ATOLL_DUAL3_NAMED(code, halves, opcode, name) \
  if (generation >= Generation::gfx12_5) add(vopd3, code, halves, Opcode::opcode, #name);
#include "isa/table/vopd.inc"
#undef ATOLL_DUAL
#undef ATOLL_DUAL_NAMED
#undef ATOLL_DUAL_UNTIL
#undef ATOLL_DUAL_SINCE
#undef ATOLL_DUAL3
#undef ATOLL_DUAL3_NAMED
}

bool OpcodeMap::has_dpp(const InstructionRow& row, Encoding encoding, bool dpp8) const {
  if (!layout.dpp || (dpp8 && !layout.fetch_inactive)) return false;
  // In VOPC and VOP3 that follows from the operands, where the processor has it at all.
  const bool implied = encoding == Encoding::vop3 || encoding == Encoding::vopc;
  const bool vector = implied || encoding == Encoding::vop3p;
  if (vector && !layout.vector_dpp) return false;
  if (implied ? row.has(flag::no_dpp) : !row.has(flag::dpp)) return false;
  if (layout.wide_dpp || (layout.wide_row_share && !dpp8 && row.encoding != Encoding::vopc)) return true;
  return std::ranges::none_of(row.operands, [](const OperandSpec& spec) {
    return words_of(spec.type) > 1 && spec.type != DataType::lane_mask;
  });
}

unsigned OpcodeMap::index_keys(const InstructionRow& row) const {
  // A lane has less bits of the index in wave64 where the matrix has less registers.
  // Of more bits than a register has, two keys choose among the halves of a pair.
  const unsigned keys = row.operands[3].type == DataType::b32 ? 1 : 2;
  return words_of(row.operands[1].type) > 1 ? keys * lane_mask_words : keys;
}

void OpcodeMap::read_formats() {
  const std::span<const Format> all = formats_of(generation);
  // Longer prefixes are within shorter ones and come last.
  for (unsigned length = 1; length <= 9; ++length) {
    for (const Format& format : all) {
      opcodes[static_cast<size_t>(format.encoding)].resize(format.opcodes());
      if (format.encoding == Encoding::vop3p) scaled.fill(std::vector<Opcode>(format.opcodes()));
      if (format.prefix_bits != length) continue;
      const unsigned spare = 9 - length, first = static_cast<unsigned>(format.prefix) << spare;
      for (unsigned i = 0; i < 1u << spare; ++i) formats[first + i] = &format;
      if (!format.has(Bits::segment)) continue;
      switch (format.encoding) {
        case Encoding::flat:
        case Encoding::mubuf:
          segments[0] = &format;
          break;
        case Encoding::scratch:
        case Encoding::mtbuf:
          segments[1] = &format;
          break;
        case Encoding::global:
          segments[2] = &format;
          break;
        default:
          break;
      }
    }
  }
}

void OpcodeMap::put(Encoding encoding, unsigned value, Opcode opcode) {
  std::vector<Opcode>& all = opcodes[static_cast<size_t>(encoding)];
  if (value < all.size()) all[value] = opcode;
}

void OpcodeMap::place(Opcode opcode, const InstructionRow& row, Opcodes::Change now) {
  const unsigned value = now.opcode;
  if (now.encoding != Encoding::count) {  // not the row's
    put(now.encoding, value, opcode);
    if (now.encoding == Encoding::vop3 || now.only) return;
    put(Encoding::vop3, value + vop3_offset(now.encoding, generation), opcode);
    return;
  }
  if (row.encoding == Encoding::vop3p && row.has(flag::scaled)) {
    scaled[words_of(row.operands[4].type) - 1][value] = opcode;
    return;
  }
  // From GFX12 on, images that a sampler reads have an encoding of their own.
  const bool own = row.encoding == Encoding::mimg && row.has(flag::sampler | flag::vsample) &&
                   !opcodes[static_cast<size_t>(Encoding::vsample)].empty();
  put(own ? Encoding::vsample : row.encoding, value, opcode);
  if (row.has(flag::vop3)) put(Encoding::vop3, value + vop3_offset(row.encoding, generation), opcode);
}

const OpcodeMap& opcode_map_of(const target::Processor& processor, unsigned wave_size) {
  return per_processor<OpcodeMap>(processor, wave_size);
}

}  // namespace Atoll::isa

// isa: the decoder's memory instructions and exports: the fields besides operands, and what they may be.
#include <algorithm>

#include "isa/decoder.h"

namespace Atoll::isa {

void Decoder::cache_policy() {
  out_.glc = is(Bits::glc);
  out_.slc = is(Bits::slc);
  out_.dlc = is(Bits::dlc);
  out_.scc = map_.layout.scc_bit && is(Bits::scc);
  out_.nv = is(Bits::nv);
  out_.scale_offset = is(Bits::scale_offset);
  out_.temporal_hint = static_cast<uint8_t>(get(Bits::temporal_hint));
  out_.scope = static_cast<uint8_t>(get(Bits::scope));
  // From GFX12 on, an atomic's temporal hint says whether it returns the old value.
  if (can(Bits::temporal_hint) && row_->has(flag::atomic)) out_.glc = bit(out_.temporal_hint, 0);
}

bool Decoder::smem() {
  const Layout& layout = map_.layout;
  const bool has_offset = row_->operands[1].field != Field::none || row_->operands[0].field == Field::sbase;
  const bool prefetch =
      std::ranges::any_of(row_->operands, [](const OperandSpec& spec) { return spec.field == Field::prefetch_length; });
  if (row_->has(flag::memory)) {
    cache_policy();
  } else if (layout.scalar_cache_checked && (is(Bits::glc) || is(Bits::dlc))) {
    return false;
  } else if (!has_offset && is(Bits::offset_is_immediate) && !layout.null_soffset) {
    return false;  // s_memtime, s_dcache_inv and the like have no offset
  }
  if (layout.null_soffset) {
    // Both are always there. LLVM prints a register that is not null; and an immediate that is not zero, or always from
    // GFX12 on. Of neither, it prints the register until GFX11.
    out_.offset = get_signed(Bits::offset);
    const bool null = map_.sources[get(Bits::soffset)].reg == scalar::null;
    out_.offset_register = !null || prefetch || (out_.offset == 0 && layout.null_soffset_printed);
    out_.offset_immediate = layout.scalar_offset_always || out_.offset != 0 || !out_.offset_register;
  } else if (layout.scalar_offset_words && has_offset && !is(Bits::offset_is_immediate) &&
             get(Bits::offset) >= code::constants) {
    // A code that names no register can be a literal.
    if (get(Bits::offset) != code::literal || !layout.scalar_literals || !further_word(out_.literal)) return false;
    out_.extension = Extension::literal;
    out_.offset_immediate = true;
    out_.offset = static_cast<int32_t>(out_.literal);
  } else {
    out_.offset_immediate = is(Bits::offset_is_immediate);
    out_.offset_register = is(Bits::soffset_enable) || !out_.offset_immediate;
    if (out_.offset_immediate) {
      out_.offset = layout.scalar_offset_bits != 0 ? get_signed(Bits::offset) : static_cast<int32_t>(get(Bits::offset));
    }
  }
  const bool of_buffer = std::ranges::any_of(
      row_->operands, [](const OperandSpec& spec) { return spec.field == Field::sbase && words_of(spec.type) == 4; });
  if (layout.positive_offsets && of_buffer && out_.offset < 0) return false;
  return operands();
}

bool Decoder::ds() {
  const Layout& layout = map_.layout;
  accumulation_ = is(Bits::accumulation);
  if (accumulation_ && (!layout.accumulation_bit || row_->operands[0].field == Field::none)) return false;
  if (row_->has(flag::no_gds) && is(Bits::gds)) return false;
  out_.gds = is(Bits::gds) && (layout.gds_bit || row_->has(flag::gds_only));
  if (row_->has(flag::gds_only) && !out_.gds) return false;
  const uint32_t offset = get(Bits::offset);
  if (row_->has(flag::two_offsets)) {
    out_.offset = static_cast<int32_t>(bits(offset, 0, 8));
    out_.offset1 = static_cast<uint8_t>(bits(offset, 8, 8));
  } else {
    out_.offset = static_cast<int32_t>(offset);
  }
  // Fields that the instruction does not use are zero.
  uint32_t used = 0;
  for (const OperandSpec& spec : row_->operands) {
    if (spec.field == Field::ds_addr) used |= 0x000000FF;
    if (spec.field == Field::ds_data0) used |= 0x0000FF00;
    if (spec.field == Field::ds_data1) used |= 0x00FF0000;
    if (spec.field == Field::ds_dst) used |= 0xFF000000;
  }
  if (used == 0 && !row_->has(flag::gws) && (offset != 0 || is(Bits::gds))) return false;  // ds_nop
  return (words_[1] & ~used) == 0 && operands();
}

bool Decoder::flat() {
  const Layout& layout = map_.layout;
  const bool segment = out_.encoding != Encoding::flat;
  cache_policy();
  if (is(Bits::lds) && !(layout.scratch_vaddr_bit && out_.encoding == Encoding::scratch)) {
    if (!layout.flat_lds_bit || !row_->has(flag::lds_bit)) return false;
    out_.lds = true;
  }
  if (out_.glc && row_->feature == target::Feature::atomic_fadd_no_rtn_insts && !layout.fadd_returns) return false;
  if (row_->has(flag::float_atomic) && is(Bits::scc) && !layout.cache_levels) return false;
  out_.tfe = is(Bits::tfe);
  accumulation_ = is(Bits::accumulation);
  if (accumulation_ && (!layout.accumulation_bit || out_.lds || row_->has(flag::to_lds))) return false;
  if (segment || can(Bits::temporal_hint)) {
    out_.offset = get_signed(Bits::offset);
  } else {
    out_.offset = static_cast<int32_t>(get(Bits::offset));
  }
  if (!segment) {
    if (layout.flat_bases) {
      if (!operands()) return false;
      if (get(Bits::saddr) == layout.flat_saddr_none) return true;
      // A base that rows do not have, after the operands.
      Operand& base = out_.operands[out_.operand_count++];
      base.type = DataType::b64;
      set_class(*row_, Field::flat_base, base.type);
      return scalar_register(base, get(Bits::saddr));
    }
    if (can(Bits::dlc) || can(Bits::temporal_hint) ? get(Bits::saddr) != layout.flat_saddr_none : get(Bits::saddr) != 0)
      return false;
  }
  if (row_->operands[0].field == Field::none) {  // global_inv and the like: nothing but how far they reach
    out_.offset = 0;
    return get(Bits::saddr) == layout.flat_saddr_none;
  }
  return operands();
}

bool Decoder::buffer() {
  const bool typed = out_.encoding == Encoding::mtbuf;
  const Layout& layout = map_.layout;
  out_.offset = static_cast<int32_t>(get(Bits::offset));
  out_.offen = is(Bits::offen);
  out_.idxen = is(Bits::idxen);
  out_.addr64 = is(Bits::addr64);
  if (out_.addr64 && (out_.offen || out_.idxen)) return false;
  cache_policy();
  out_.data_format = static_cast<uint8_t>(get(Bits::data_format));
  out_.number_format = static_cast<uint8_t>(get(Bits::number_format));
  if (!typed) {
    out_.lds = is(Bits::lds);
    const bool can_be_lds =
        row_->has(flag::lds_bit | flag::from_lds) || (row_->has(flag::wide_lds_bit) && layout.wide_lds_loads);
    if (out_.lds && !can_be_lds) return false;
    if (row_->has(flag::from_lds) && (!out_.lds || out_.offen || out_.idxen)) return false;
    if (row_->operands[0].field == Field::none) return cache_control();
    if (out_.dlc && row_->has(flag::atomic) && !layout.atomic_dlc) return false;
    if (row_->has(flag::float_atomic) && out_.scc && !layout.cache_levels) return false;
  }
  if (out_.glc && row_->feature == target::Feature::atomic_fadd_no_rtn_insts && !layout.fadd_returns) return false;
  if (layout.tfe_bit) {
    out_.tfe = is(Bits::tfe);
    if (out_.tfe && (typed || out_.lds || row_->has(flag::atomic))) return false;
  } else {
    accumulation_ = is(Bits::tfe);
    if (accumulation_ && out_.lds) return false;
  }
  return operands();
}

/// buffer_wbl2, buffer_inv, ...: nothing but, on gfx940, how far they reach.
bool Decoder::cache_control() {
  if (out_.offen || out_.idxen || out_.addr64 || out_.lds || out_.dlc || is(Bits::tfe)) return false;
  const bool levels = row_->has(flag::cache_bits);
  if (!levels && (out_.glc || is(Bits::scc))) return false;
  if (!levels || !map_.layout.cache_levels) out_.glc = out_.scc = false;
  out_.slc = false;
  out_.offset = 0;
  return true;
}

bool Decoder::image() {
  out_.dmask = static_cast<uint8_t>(get(Bits::dmask));
  out_.unorm = is(Bits::unorm);
  out_.da = is(Bits::da);
  out_.r128 = is(Bits::r128);
  out_.a16 = is(Bits::a16);
  out_.dim = static_cast<uint8_t>(get(Bits::dim));
  cache_policy();
  if (map_.layout.tfe_bit) {
    out_.tfe = is(Bits::tfe);
  } else {
    accumulation_ = is(Bits::tfe);
  }
  out_.lwe = is(Bits::lwe);
  out_.d16 = is(Bits::d16);
  if (!map_.layout.dimensions && bit(words_[0], 0)) return false;
  if (out_.d16 && !(row_->has(flag::d16_bit) && map_.layout.image_d16)) return false;
  if (!row_->has(flag::sampler) && get(Bits::sampler) != 0) return false;
  if (row_->has(flag::ray)) return ray();
  if (row_->has(flag::tensor)) return tensor();
  if (map_.layout.dimensions && !image_sizes()) return false;
  return operands();
}

bool Decoder::exp() {
  out_.export_target = static_cast<uint8_t>(get(Bits::export_target));
  out_.compressed = is(Bits::compressed);
  out_.done = is(Bits::done);
  out_.valid_mask = is(Bits::valid_mask);
  out_.row_enable = is(Bits::row_enable);
  return operands();
}

}  // namespace Atoll::isa

// isa: the encoder's memory instructions and exports.
#include <algorithm>
#include <array>
#include <bit>

#include "isa/decoder.h"
#include "isa/encoder.h"
#include "isa/immediate_names.h"
#include "isa/modifier_names.h"

namespace Atoll::isa {

bool Encoder::flags(std::initializer_list<std::pair<Bits, bool>> all, std::string_view what) {
  for (const auto& [field, is_set] : all) {
    if (!put(field, is_set ? 1 : 0, what)) return false;
  }
  return true;
}

bool Encoder::cache_policy() {
  if (in_.scc && !layout_.scc_bit) return fail("scc is not possible on {}", processor_.name);
  const bool hints = can(Bits::temporal_hint);  // there is no glc, then
  return (hints || put(Bits::glc, in_.glc ? 1 : 0, "glc")) && put(Bits::slc, in_.slc ? 1 : 0, "slc") &&
         put(Bits::dlc, in_.dlc ? 1 : 0, "dlc") && put(Bits::scc, in_.scc ? 1 : 0, "scc") &&
         put(Bits::nv, in_.nv ? 1 : 0, "nv") && put(Bits::temporal_hint, in_.temporal_hint, "th") &&
         put(Bits::scope, in_.scope, "scope") && put(Bits::scale_offset, in_.scale_offset ? 1 : 0, "scale_offset");
}

bool Encoder::smem() {
  if (!operands()) return false;
  if (row_->has(flag::memory)) {
    if (!cache_policy()) return false;
  } else if (in_.glc || in_.dlc) {
    return fail("glc and dlc are not possible");
  }
  // Only a literal has 32 bits and so no sign.
  const Operand* base = find(Field::sbase);
  if (in_.offset < 0 && !layout_.scalar_literals && base != nullptr && base->words == 4) {
    return fail("the offset into a buffer cannot be negative");
  }
  const bool has_offset =
      std::ranges::any_of(row_->operands, [](const OperandSpec& spec) { return spec.field == Field::soffset; });
  if (!has_offset) return true;
  if (layout_.null_soffset) {
    if (!in_.offset_register) set(Bits::soffset, codes_.code_of_register(scalar::null));
    return put_signed(Bits::offset, in_.offset, "the offset");
  }
  if (!in_.offset_immediate) return in_.offset == 0 || fail("an offset is not possible");
  const auto offset = static_cast<uint32_t>(in_.offset);
  if (layout_.scalar_literals &&
      (in_.extension == Extension::literal || offset >> format_->at(Bits::offset).count != 0)) {
    set(Bits::offset, code::literal);
    return further_word(offset);
  }
  set(Bits::offset_is_immediate, 1);
  if (in_.offset_register && !put(Bits::soffset_enable, 1, "offset in a register besides")) return false;
  return layout_.scalar_offset_bits != 0 ? put_signed(Bits::offset, in_.offset, "the offset")
                                         : put(Bits::offset, offset, "the offset");
}

bool Encoder::ds() {
  if (row_->has(flag::no_gds) && in_.gds) return fail("gds is not possible");
  if (row_->has(flag::gds_only) && !in_.gds) return fail("gds has to be there");
  if (in_.gds && !layout_.gds_bit && !row_->has(flag::gds_only)) return fail("{} has no GDS", processor_.name);
  set(Bits::gds, in_.gds ? 1 : 0);
  if (row_->has(flag::two_offsets)) {
    if (in_.offset < 0 || in_.offset > 0xFF) return fail("offset0 has to be from 0 to 255, but is {}", in_.offset);
    set(Bits::offset, static_cast<uint32_t>(in_.offset) | uint32_t{in_.offset1} << 8);
  } else if (!put(Bits::offset, static_cast<uint32_t>(in_.offset), "the offset")) {
    return false;
  }
  if (!operands()) return false;
  if (accumulation_ == 1) set(Bits::accumulation, 1);
  return true;
}

bool Encoder::flat() {
  const bool segment = in_.encoding != Encoding::flat;
  if (!cache_policy()) return false;
  if (in_.lds) {
    if (!layout_.flat_lds_bit || !row_->has(flag::lds_bit)) return fail("lds is not possible");
    set(Bits::lds, 1);
  }
  if (in_.glc && row_->feature == target::Feature::atomic_fadd_no_rtn_insts && !layout_.fadd_returns) {
    return fail("it cannot return the old value on {}", processor_.name);
  }
  if (row_->has(flag::float_atomic) && in_.scc && !layout_.cache_levels) return fail("scc is not possible");
  if (!put(Bits::tfe, in_.tfe ? 1 : 0, "tfe")) return false;
  if (segment || can(Bits::temporal_hint)) {
    if (!put_signed(Bits::offset, in_.offset, "the offset")) return false;
  } else {
    // FLAT's offsets are the positive ones of those that GLOBAL has.
    const int32_t end =
        can(Bits::saddr) && layout_.flat_saddr_none != 0 ? int32_t{1} << (format_->at(Bits::offset).count - 1) : 1;
    if (in_.offset < 0 || in_.offset >= end) {
      return fail("the offset has to be from 0 to {} on {}, but is {}", end - 1, processor_.name, in_.offset);
    }
    set(Bits::offset, static_cast<uint32_t>(in_.offset));
  }
  // There is no base, but its field.
  const bool no_base = !segment && !flat_has_base() && (can(Bits::dlc) || can(Bits::temporal_hint));
  if (no_base || row_->operands[0].field == Field::none) set(Bits::saddr, layout_.flat_saddr_none);
  if (!operands()) return false;
  if (accumulation_ == 1) {
    if (!layout_.accumulation_bit || in_.lds || row_->has(flag::to_lds)) return fail("it cannot have AGPRs");
    set(Bits::accumulation, 1);
  }
  return true;
}

bool Encoder::buffer() {
  const bool typed = in_.encoding == Encoding::mtbuf, control = row_->operands[0].field == Field::none;
  if (!put(Bits::offset, static_cast<uint32_t>(in_.offset), "the offset")) return false;
  if (!put(Bits::offen, in_.offen ? 1 : 0, "offen") || !put(Bits::idxen, in_.idxen ? 1 : 0, "idxen") ||
      !put(Bits::addr64, in_.addr64 ? 1 : 0, "addr64") || !cache_policy()) {
    return false;
  }
  // Untyped ones of GFX12 have the field, too, with the usual format.
  if (!typed && can(Bits::data_format)) set(Bits::data_format, names::usual_unified_format);
  if (typed && (!put(Bits::data_format, in_.data_format, "the data format") ||
                !put(Bits::number_format, in_.number_format, "the number format"))) {
    return false;
  }
  if (in_.addr64 && (in_.offen || in_.idxen)) return fail("addr64 is not possible with offen and idxen");
  if (in_.lds) {
    const bool possible =
        row_->has(flag::lds_bit | flag::from_lds) || (row_->has(flag::wide_lds_bit) && layout_.wide_lds_loads);
    if (typed || !possible) return fail("lds is not possible");
    if (!put(Bits::lds, 1, "lds")) return false;
  } else if (row_->has(flag::from_lds)) {
    return fail("lds has to be there");
  }
  if (in_.dlc && row_->has(flag::atomic) && !layout_.atomic_dlc) return fail("dlc is not possible");
  if (row_->has(flag::float_atomic) && in_.scc && !layout_.cache_levels) return fail("scc is not possible");
  if (in_.glc && row_->feature == target::Feature::atomic_fadd_no_rtn_insts && !layout_.fadd_returns) {
    return fail("it cannot return the old value on {}", processor_.name);
  }
  const bool returns = row_->has(flag::load) && !row_->has(flag::atomic) && !in_.lds;
  if (in_.tfe && (!layout_.tfe_bit || typed || !returns)) return fail("tfe is not possible");
  if (control) return operands();
  if (!operands()) return false;
  if (layout_.tfe_bit) return put(Bits::tfe, in_.tfe ? 1 : 0, "tfe");
  if (accumulation_ == 1) set(Bits::tfe, 1);
  return true;
}

// --- Operands ---------------------------------------------------------------------------------------------------

/// The data registers of a memory instruction, which are VGPRs or AGPRs all of them.
bool Encoder::data(const Operand& operand, Field field, Bits place) {
  const int file = operand.kind == OperandKind::agpr ? 1 : 0;
  if (file == 1 && !layout_.accumulation_bit) return wrong(field, "has to be a vector register on {}", processor_.name);
  if (accumulation_ >= 0 && accumulation_ != file) {
    return wrong(field, "has to be in the same register file as the other data");
  }
  accumulation_ = file;
  unsigned number = 0;
  if (!vgpr(operand, field, number, file == 1)) return false;
  set(place, number);
  return true;
}

bool Encoder::memory_operand(const Operand& operand, Field field) {
  unsigned code = 0;
  switch (field) {
    case Field::sdata:
      if (operand.reg == scalar::m0 || (operand.reg & ~1) == scalar::exec_lo)
        return wrong(field, "cannot be m0 or exec");
      if (!scalar_register(operand, field, code)) return false;
      set(Bits::sdata, code);
      return true;
    case Field::sdata_imm:
    case Field::prefetch_length:
      if (!immediate(operand, field, (1u << layout_.smem_immediate_bits) - 1, code)) return false;
      set(Bits::sdata, code);
      return true;
    case Field::sbase:
      if (!scalar_register(operand, field, code)) return false;
      set(Bits::sbase, code / 2);
      return true;
    case Field::soffset:
      if (!scalar_register(operand, field, code)) return false;
      // Alone it is in the immediate's place, until GFX9.
      set(layout_.null_soffset || in_.offset_immediate ? Bits::soffset : Bits::offset, code);
      return true;
    case Field::ds_addr:
      if (!vgpr(operand, field, code)) return false;
      set(Bits::addr, code);
      return true;
    case Field::ds_data0:
      return data(operand, field, Bits::data0);
    case Field::ds_data1:
      return data(operand, field, Bits::data1);
    case Field::ds_dst:
      return data(operand, field, Bits::vdst);
    case Field::lds_address:
      if (!vgpr(operand, field, code)) return false;
      set(Bits::vdst, code);
      return true;
    case Field::lds_data_address:
      if (!vgpr(operand, field, code)) return false;
      set(Bits::data0, code);
      return true;
    case Field::tensor_base:
      if (!scalar_register(operand, field, code)) return false;
      set(Bits::saddr, code);
      return true;
    case Field::flat_dst:
    case Field::flat_return:
    case Field::flat_address:
    case Field::flat_data:
    case Field::flat_base:
      return flat_operand(operand, field);
    case Field::buffer_data:
    case Field::buffer_address:
    case Field::buffer_resource:
    case Field::buffer_offset:
      return buffer_operand(operand, field);
    default:
      return image_operand(operand, field);
  }
}

bool Encoder::flat_operand(const Operand& operand, Field field) {
  unsigned code = 0;
  switch (field) {
    case Field::flat_dst:
    case Field::flat_return:
      return data(operand, field, Bits::vdst);
    case Field::flat_data:
      return data(operand, field, Bits::data0);
    case Field::flat_address: {
      if (in_.encoding == Encoding::scratch) {
        if (operand.kind == OperandKind::off) return true;
        if (!vgpr(operand, field, code)) return false;
        if (can(Bits::vaddr_enable)) {
          set(Bits::vaddr_enable, 1);
        } else if (layout_.scratch_vaddr_bit) {
          set(Bits::lds, 1);
        }
        set(Bits::addr, code);
        return true;
      }
      const Operand* base = find(Field::flat_base);
      const bool based = (base != nullptr && base->kind == OperandKind::scalar) || flat_has_base();
      if (based) set_class(*row_, field, DataType::u32, true);
      if (!vgpr(operand, field, code)) return false;
      set(Bits::addr, code);
      return true;
    }
    case Field::flat_base:
      break;
    default:
      return wrong(field, "cannot be encoded");
  }
  const Operand* address = find(Field::flat_address);
  const bool addressed = address != nullptr && address->kind == OperandKind::vgpr;
  // Both, or neither, are possible where a bit says whether there is an address.
  const bool address_bit = can(Bits::vaddr_enable) || layout_.scratch_vaddr_bit;
  const bool scratch = in_.encoding == Encoding::scratch;
  if (operand.kind == OperandKind::scalar) {
    if (scratch && addressed && !address_bit) {
      return fail("an address in a vector register and a base together are not possible on {}", processor_.name);
    }
    const bool is_prefetch = !row_->has(flag::memory);
    const bool exec_possible =
        scratch || address == nullptr || in_.lds || is_prefetch || row_->has(flag::to_lds | flag::from_lds);
    if (operand.reg == scalar::null || (!exec_possible && operand.reg == scalar::exec_lo)) {
      return wrong(field, "cannot be null or exec");
    }
    if (!scalar_register(operand, field, code)) return false;
    set(Bits::saddr, code);
    return true;
  }
  if (operand.kind != OperandKind::off) return wrong(field, "has to be scalar registers or off");
  const bool neither = scratch && !addressed && !address_bit;
  if (neither && layout_.scratch_none == 0) return fail("it needs an address or a base on {}", processor_.name);
  set(Bits::saddr, neither ? layout_.scratch_none : layout_.flat_saddr_none);
  return true;
}

bool Encoder::buffer_operand(const Operand& operand, Field field) {
  unsigned code = 0;
  switch (field) {
    case Field::buffer_data:
      return data(operand, field, Bits::data0);
    case Field::buffer_address:
      if (class_.off) {
        return operand.kind == OperandKind::off || wrong(field, "has to be off without offen and idxen");
      }
      if (!vgpr(operand, field, code)) return false;
      set(Bits::addr, code);
      return true;
    case Field::buffer_resource:
      return resource(operand, field, Bits::resource);
    case Field::buffer_offset:
      if (!scalar_source(operand, field, code)) return false;
      return put(Bits::soffset, code, "the scalar offset");
    default:
      return wrong(field, "cannot be encoded");
  }
}

/// A buffer or image resource or sampler: its field counts groups of four registers, from GFX12 on registers.
bool Encoder::resource(const Operand& operand, Field field, Bits place) {
  unsigned code = 0;
  if (!scalar_register(operand, field, code)) return false;
  set(place, format_->at(place).count > 5 ? code : code / 4);
  return true;
}

}  // namespace Atoll::isa

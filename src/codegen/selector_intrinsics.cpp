// codegen: selection of intrinsics, and of elements of vectors and pairs.
#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>

#include <algorithm>

#include "codegen/selector.h"
#include "isa/constants.h"

namespace Atoll::codegen {

using isa::Element;
using isa::Opcode;
using isa::Operation;

namespace {

/// Intrinsics that one vector instruction computes, whose operands are in the intrinsic's order. `type` is that of the
/// row; none: the floating-point type of the result.
struct PlainIntrinsic {
  llvm::Intrinsic::ID id;
  Operation operation;
  Element type = Element::none;
};

constexpr PlainIntrinsic plain_intrinsics[] = {
    {llvm::Intrinsic::fma, Operation::fma},
    {llvm::Intrinsic::fmuladd, Operation::fma},
    {llvm::Intrinsic::minnum, Operation::min},
    {llvm::Intrinsic::maxnum, Operation::max},
    {llvm::Intrinsic::minimumnum, Operation::min},
    {llvm::Intrinsic::maximumnum, Operation::max},
    {llvm::Intrinsic::minimum, Operation::minimum},
    {llvm::Intrinsic::maximum, Operation::maximum},
    {llvm::Intrinsic::floor, Operation::floor},
    {llvm::Intrinsic::ceil, Operation::ceil},
    {llvm::Intrinsic::trunc, Operation::trunc},
    {llvm::Intrinsic::rint, Operation::round_even},
    {llvm::Intrinsic::nearbyint, Operation::round_even},
    {llvm::Intrinsic::roundeven, Operation::round_even},
    {llvm::Intrinsic::ldexp, Operation::ldexp},
    {llvm::Intrinsic::amdgcn_rsq, Operation::rsq},
    {llvm::Intrinsic::amdgcn_rcp, Operation::rcp},
    {llvm::Intrinsic::amdgcn_sqrt, Operation::sqrt},
    {llvm::Intrinsic::amdgcn_sin, Operation::sin},
    {llvm::Intrinsic::amdgcn_cos, Operation::cos},
    {llvm::Intrinsic::amdgcn_log, Operation::log2},
    {llvm::Intrinsic::amdgcn_exp2, Operation::exp2},
    {llvm::Intrinsic::amdgcn_fract, Operation::fract},
    {llvm::Intrinsic::amdgcn_frexp_mant, Operation::frexp_mantissa},
    {llvm::Intrinsic::amdgcn_trig_preop, Operation::trig_preop},
    {llvm::Intrinsic::amdgcn_fmed3, Operation::med3},
    {llvm::Intrinsic::amdgcn_div_fixup, Operation::div_fixup},
    {llvm::Intrinsic::umin, Operation::min, Element::u32},
    {llvm::Intrinsic::umax, Operation::max, Element::u32},
    {llvm::Intrinsic::smin, Operation::min, Element::i32},
    {llvm::Intrinsic::smax, Operation::max, Element::i32},
    {llvm::Intrinsic::bitreverse, Operation::bit_reverse, Element::b32},
    {llvm::Intrinsic::fshr, Operation::align_bits, Element::b32},
    {llvm::Intrinsic::ctlz, Operation::find_high_one, Element::u32},
    {llvm::Intrinsic::cttz, Operation::find_first_one, Element::u32},
    {llvm::Intrinsic::ctpop, Operation::count_ones_add, Element::u32},
    {llvm::Intrinsic::amdgcn_mbcnt_lo, Operation::masked_count_low, Element::u32},
    {llvm::Intrinsic::amdgcn_mbcnt_hi, Operation::masked_count_high, Element::u32},
    {llvm::Intrinsic::amdgcn_sffbh, Operation::find_high_sign, Element::i32},
    {llvm::Intrinsic::amdgcn_ubfe, Operation::bit_field_extract, Element::u32},
    {llvm::Intrinsic::amdgcn_sbfe, Operation::bit_field_extract, Element::i32},
    {llvm::Intrinsic::amdgcn_perm, Operation::byte_permute, Element::b32},
    {llvm::Intrinsic::amdgcn_alignbyte, Operation::align_bytes, Element::b32},
    {llvm::Intrinsic::amdgcn_mul_u24, Operation::mul, Element::u24},
    {llvm::Intrinsic::amdgcn_mul_i24, Operation::mul, Element::i24},
};

unsigned dimension_of(llvm::Intrinsic::ID id) {
  using namespace llvm::Intrinsic;
  return id == amdgcn_workitem_id_x || id == amdgcn_workgroup_id_x   ? 0
         : id == amdgcn_workitem_id_y || id == amdgcn_workgroup_id_y ? 1
                                                                     : 2;
}

}  // namespace

void Selector::elements(llvm::Instruction& at) {
  const MachineOperand result = result_of(at);
  auto* type = llvm::cast<llvm::FixedVectorType>(at.getOperand(0)->getType());
  const unsigned bits = static_cast<unsigned>(layout_.getTypeSizeInBits(type->getElementType()).getFixedValue());
  const auto* index = llvm::dyn_cast<llvm::ConstantInt>(at.getOperand(at.getNumOperands() - 1));
  if ((bits % 32 != 0 && bits != 16 && bits != 8) || index == nullptr) return refuse(at, "an element of this vector");
  const MachineOperand whole = value(at.getOperand(0));
  const bool extracts = llvm::isa<llvm::ExtractElementInst>(at);
  const bool is_scalar = bank_of(&at) == Bank::sgpr;
  const RegisterFile file = is_scalar ? RegisterFile::sgpr : RegisterFile::vgpr;
  const unsigned count = dwords_of(type);
  if (bits % 32 == 0) {
    const unsigned dwords = bits / 32, first = static_cast<unsigned>(index->getZExtValue()) * dwords;
    if (extracts) return copy(result, part(whole, first, dwords));
    const MachineOperand element = value(at.getOperand(1));
    Operands operands{result};
    for (unsigned i = 0; i < count; ++i)
      operands.push_back(i >= first && i < first + dwords ? part(element, i - first) : part(whole, i));
    return pseudo(Pseudo::tuple, 1, std::move(operands));
  }
  // Several elements in a register.
  const auto first_bit = static_cast<unsigned>(index->getZExtValue()) * bits;
  const unsigned dword = first_bit / 32, shift = first_bit % 32;
  const auto compute = [&](Operation operation, Element of, const MachineOperand& to, Operands sources) {
    if (is_scalar)
      sop(operation, of, to, std::move(sources));
    else
      vop(operation, of, to, std::move(sources));
  };
  if (extracts) {
    if (shift == 0) return copy(result, part(whole, dword));
    return compute(Operation::lshr, Element::b32, result, {part(whole, dword), MachineOperand::constant_of(shift)});
  }
  const uint32_t mask = ((1u << bits) - 1) << shift;
  MachineOperand element = value(at.getOperand(1));
  const MachineOperand placed = fresh(file), cut = fresh(file), rest = fresh(file), joined = fresh(file);
  if (element.is_constant()) {
    element = MachineOperand::constant_of(element.value << shift & mask);
  } else {
    compute(Operation::shl, Element::b32, placed, {element, MachineOperand::constant_of(shift)});
    compute(Operation::bit_and, Element::b32, cut, {placed, MachineOperand::constant_of(mask)});
    element = cut;
  }
  compute(Operation::bit_and, Element::b32, rest, {part(whole, dword), MachineOperand::constant_of(~mask)});
  compute(Operation::bit_or, Element::b32, joined, {rest, element});
  Operands operands{result};
  for (unsigned i = 0; i < count; ++i) operands.push_back(i == dword ? joined : part(whole, i));
  pseudo(Pseudo::tuple, 1, std::move(operands));
}

void Selector::extract_value(llvm::ExtractValueInst& at) {
  const auto found = pairs_.find(at.getAggregateOperand());
  if (found == pairs_.end() || at.getNumIndices() != 1) return refuse(at, "extractvalue of this aggregate");
  copy(result_of(at), found->second[at.getIndices()[0]]);
}

void Selector::intrinsic(llvm::IntrinsicInst& at) {
  const auto id = at.getIntrinsicID();
  if (const auto* plain = std::ranges::find(plain_intrinsics, id, &PlainIntrinsic::id);
      plain != std::end(plain_intrinsics))
    return plain_intrinsic(at, plain->operation, plain->type);
  switch (id) {
    case llvm::Intrinsic::assume:
    case llvm::Intrinsic::lifetime_start:
    case llvm::Intrinsic::lifetime_end:
    case llvm::Intrinsic::dbg_declare:
    case llvm::Intrinsic::dbg_value:
    case llvm::Intrinsic::experimental_noalias_scope_decl:
    case llvm::Intrinsic::amdgcn_wave_barrier:
      return;
    case llvm::Intrinsic::amdgcn_workitem_id_x:
    case llvm::Intrinsic::amdgcn_workitem_id_y:
    case llvm::Intrinsic::amdgcn_workitem_id_z: {
      const unsigned dimension = dimension_of(id);
      if (!to_.target.processor->packed_work_item_ids) return copy(result_of(at), part(work_items_, dimension));
      return vop(Operation::bit_field_extract, Element::u32, result_of(at),
                 {work_items_, MachineOperand::constant_of(10 * dimension), MachineOperand::constant_of(10)});
    }
    case llvm::Intrinsic::amdgcn_workgroup_id_x:
    case llvm::Intrinsic::amdgcn_workgroup_id_y:
    case llvm::Intrinsic::amdgcn_workgroup_id_z: {
      const unsigned dimension = dimension_of(id);
      return copy(result_of(at), group_ids_[dimension]);
    }
    case llvm::Intrinsic::amdgcn_wavefrontsize:
      return copy(result_of(at), MachineOperand::constant_of(to_.target.wave_size));
    case llvm::Intrinsic::amdgcn_is_shared:
    case llvm::Intrinsic::amdgcn_is_private: {
      const MachineOperand base = aperture(id == llvm::Intrinsic::amdgcn_is_shared ? lds_space : private_space);
      return vector_instruction(vector_comparison(isa::Predicate::eq, Element::u32), result_of(at),
                                {part(base, 1), in_vgprs(part(value(at.getArgOperand(0)), 1), 1)});
    }
    case llvm::Intrinsic::amdgcn_dispatch_ptr:
      return copy(result_of(at), dispatch_);
    case llvm::Intrinsic::amdgcn_kernarg_segment_ptr:
      return copy(result_of(at), kernarg_);
    case llvm::Intrinsic::amdgcn_implicitarg_ptr: {
      const auto first = std::ranges::find_if(
          to_.arguments, [](const KernelArgument& each) { return each.kind.starts_with("hidden"); });
      return add_offset(result_of(at), Bank::sgpr, 2, kernarg_, MachineOperand::constant_of(first->offset));
    }
    case llvm::Intrinsic::amdgcn_s_barrier:
      emit(choice_.has(Opcode::s_barrier) ? Opcode::s_barrier : Opcode::s_barrier_signal, 0, {});
      if (!choice_.has(Opcode::s_barrier)) {
        to_.blocks[block_].instructions.back().operands = {MachineOperand::constant_of(static_cast<uint32_t>(-1))};
        emit(Opcode::s_barrier_wait, 0, {}).immediate = 0xFFFF;
      }
      return;
    case llvm::Intrinsic::amdgcn_readfirstlane: {
      const MachineOperand source = vector(at.getArgOperand(0));
      return copy(result_of(at), read_first_lane(source));
    }
    case llvm::Intrinsic::amdgcn_readlane: {
      MachineOperand lane = value(at.getArgOperand(1));
      if (!lane.is_constant()) lane = in_sgprs(lane, 1);
      const MachineOperand source = vector(at.getArgOperand(0));
      const Opcode opcode = need({.place = Place::valu, .operation = Operation::read_lane, .type = Element::b32});
      if (opcode == Opcode::invalid) return;
      Operands parts{result_of(at)};
      for (unsigned i = 0; i < source.dwords; ++i) {
        const MachineOperand word = fresh(RegisterFile::sgpr);
        emit(opcode, 1, {word, part(source, i), lane});
        parts.push_back(word);
      }
      return pseudo(Pseudo::tuple, 1, std::move(parts));
    }
    case llvm::Intrinsic::amdgcn_ballot: {
      const MachineOperand mask = fresh_mask();
      sop(Operation::bit_and, mask_element(), mask, {as_mask(at.getArgOperand(0)), exec()});
      Operands parts{result_of(at)};
      for (unsigned i = 0; i < dwords_of(at.getType()); ++i)
        parts.push_back(i < mask.dwords ? part(mask, i) : MachineOperand::constant_of(0));
      return pseudo(Pseudo::tuple, 1, std::move(parts));
    }
    case llvm::Intrinsic::amdgcn_ds_bpermute:
    case llvm::Intrinsic::amdgcn_ds_permute: {
      const Operation operation =
          id == llvm::Intrinsic::amdgcn_ds_bpermute ? Operation::lanes_pull : Operation::lanes_push;
      const Opcode opcode = choice_.find_any(Place::lds, operation);
      if (opcode == Opcode::invalid) return refuse(at, at.getCalledFunction()->getName().str());
      emit(opcode, 1, {result_of(at), vector(at.getArgOperand(0)), vector(at.getArgOperand(1))});
      return;
    }
    case llvm::Intrinsic::amdgcn_div_scale: {
      const bool of_numerator = llvm::cast<llvm::ConstantInt>(at.getArgOperand(2))->isOne();
      const llvm::Value *numerator = at.getArgOperand(0), *denominator = at.getArgOperand(1);
      const Element type = float_type(numerator->getType());
      const MachineOperand scaled = fresh(RegisterFile::vgpr, dwords_of(numerator->getType())), flags = fresh_mask();
      vector_instruction(need({.place = Place::valu, .operation = Operation::div_scale, .type = type, .carries = true}),
                         scaled,
                         {flags, value(of_numerator ? numerator : denominator), value(denominator), value(numerator)});
      pairs_[&at] = {scaled, flags};
      return;
    }
    case llvm::Intrinsic::amdgcn_div_fmas: {
      const MachineOperand vcc = MachineOperand::scalar(isa::scalar::vcc_lo, to_.lane_mask_dwords());
      Operands sources;
      for (unsigned i = 0; i < 3; ++i) sources.push_back(in_vgprs(value(at.getArgOperand(i)), dwords_of(at.getType())));
      copy(vcc, as_mask(at.getArgOperand(3)));
      sources.push_back(vcc);
      return vop(Operation::div_fmas, float_type(at.getType()), result_of(at), std::move(sources));
    }
    case llvm::Intrinsic::amdgcn_class: {
      const Element type = float_type(at.getArgOperand(0)->getType());
      return vector_instruction(need({.place = Place::valu, .operation = Operation::classify, .type = type}),
                                result_of(at), {value(at.getArgOperand(0)), value(at.getArgOperand(1))});
    }
    case llvm::Intrinsic::amdgcn_frexp_exp:
      return vop(Operation::frexp_exponent, at.getType()->isIntegerTy(16) ? Element::i16 : Element::i32, result_of(at),
                 {value(at.getArgOperand(0))}, float_type(at.getArgOperand(0)->getType()));
    case llvm::Intrinsic::fabs: {
      const unsigned dwords = dwords_of(at.getType());
      const MachineOperand source = value(at.getArgOperand(0)), result = result_of(at);
      const uint32_t mask = at.getType()->isHalfTy() || at.getType()->isBFloatTy() ? 0x7FFF : 0x7FFFFFFF;
      const MachineOperand high = dwords == 1 ? result : fresh(RegisterFile::vgpr);
      vop(Operation::bit_and, Element::b32, high, {part(source, dwords - 1), MachineOperand::constant_of(mask)});
      if (dwords == 2) pseudo(Pseudo::tuple, 1, {result, part(source, 0), high});
      return;
    }
    default:
      refuse(at, at.getCalledFunction()->getName().str());
  }
}

void Selector::plain_intrinsic(llvm::IntrinsicInst& at, Operation operation, Element type) {
  if (at.getType()->isVectorTy()) return refuse(at, at.getCalledFunction()->getName().str() + " of vectors");
  if (type == Element::none)
    type = float_type(at.getType());
  else if (layout_.getTypeStoreSize(at.getType()) != 4)
    return refuse(at, at.getCalledFunction()->getName().str());
  Operands sources;
  for (const llvm::Use& use : at.args()) sources.push_back(value(use.get()));
  // Whether zero is undefined is no operand; a count is added to one.
  if (operation == Operation::find_high_one || operation == Operation::find_first_one) sources.pop_back();
  if (operation == Operation::count_ones_add) sources.push_back(MachineOperand::constant_of(0));
  Opcode opcode = choice_.find({.place = Place::valu, .operation = operation, .type = type, .from = type});
  if (opcode == Opcode::invalid && type != Element::f32 && type != Element::f64 && type != Element::f16)
    opcode = choice_.find_any(Place::valu, operation);
  if (opcode == Opcode::invalid) return refuse(at, at.getCalledFunction()->getName().str());
  if (choice_.is_reversed(opcode)) std::swap(sources[0], sources[1]);
  vector_instruction(opcode, result_of(at), std::move(sources));
}

}  // namespace Atoll::codegen

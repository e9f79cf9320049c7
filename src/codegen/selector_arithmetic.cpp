// codegen: selection of arithmetic, comparisons and conversions.
//
// The choice of opcodes is the instruction table's (instruction_choice.h). What no single instruction does is put
// together here: integers of 64 bits from halves with carries, conditions by operations on lane masks.
#include <fmt/format.h>
#include <llvm/IR/Constants.h>

#include "codegen/selector.h"
#include "isa/constants.h"

namespace Atoll::codegen {

using isa::Element;
using isa::Opcode;
using isa::Operation;
using isa::Predicate;

namespace {

Operation operation_of(unsigned opcode) {
  switch (opcode) {
    case llvm::Instruction::Add:
    case llvm::Instruction::FAdd:
      return Operation::add;
    case llvm::Instruction::Sub:
    case llvm::Instruction::FSub:
      return Operation::sub;
    case llvm::Instruction::Mul:
    case llvm::Instruction::FMul:
      return Operation::mul;
    case llvm::Instruction::And:
      return Operation::bit_and;
    case llvm::Instruction::Or:
      return Operation::bit_or;
    case llvm::Instruction::Xor:
      return Operation::bit_xor;
    case llvm::Instruction::Shl:
      return Operation::shl;
    case llvm::Instruction::LShr:
      return Operation::lshr;
    case llvm::Instruction::AShr:
      return Operation::ashr;
    default:
      return Operation::none;
  }
}

/// The type that the table gives the operation on integers of that many dwords.
Element integer_type(Operation operation, unsigned dwords) {
  switch (operation) {
    case Operation::add:
    case Operation::sub:
    case Operation::mul:
      return dwords == 2 ? Element::u64 : Element::u32;
    case Operation::ashr:
      return dwords == 2 ? Element::i64 : Element::i32;
    default:
      return dwords == 2 ? Element::b64 : Element::b32;
  }
}

Predicate predicate_of(llvm::CmpInst::Predicate predicate) {
  using enum llvm::CmpInst::Predicate;
  switch (predicate) {
    case FCMP_OEQ:
    case ICMP_EQ:
      return Predicate::eq;
    case FCMP_OGT:
    case ICMP_UGT:
    case ICMP_SGT:
      return Predicate::gt;
    case FCMP_OGE:
    case ICMP_UGE:
    case ICMP_SGE:
      return Predicate::ge;
    case FCMP_OLT:
    case ICMP_ULT:
    case ICMP_SLT:
      return Predicate::lt;
    case FCMP_OLE:
    case ICMP_ULE:
    case ICMP_SLE:
      return Predicate::le;
    case FCMP_ONE:
      return Predicate::lg;
    case FCMP_ORD:
      return Predicate::ordered;
    case FCMP_UNO:
      return Predicate::unordered;
    case FCMP_UEQ:
      return Predicate::nlg;
    case FCMP_UGT:
      return Predicate::nle;
    case FCMP_UGE:
      return Predicate::nlt;
    case FCMP_ULT:
      return Predicate::nge;
    case FCMP_ULE:
      return Predicate::ngt;
    case FCMP_UNE:
    case ICMP_NE:
      return Predicate::ne;
    default:
      return Predicate::no_predicate;
  }
}

}  // namespace

Element float_type(const llvm::Type* type) {
  return type->isDoubleTy() ? Element::f64 : type->isHalfTy() ? Element::f16 : Element::f32;
}

void Selector::arithmetic(llvm::BinaryOperator& at) {
  if (at.getType()->isIntegerTy(1)) return logic_of_conditions(at);
  if (at.getType()->isIntegerTy()) {
    const unsigned bits = at.getType()->getIntegerBitWidth();
    if (bits > 64) return refuse(at, "integers of more than 64 bits");
    return bits > 32 ? wide_integer(at.getOpcode(), at, at.getOperand(0), at.getOperand(1))
                     : integer(at.getOpcode(), at, at.getOperand(0), at.getOperand(1));
  }
  const llvm::Value* const sources[] = {at.getOperand(0), at.getOperand(1)};
  const Operation operation = operation_of(at.getOpcode());
  if (operation == Operation::none || at.getType()->isVectorTy()) return refuse(at, at.getOpcodeName());
  floating(at, operation, sources);
}

void Selector::floating(const llvm::Instruction& at, Operation operation, std::span<const llvm::Value* const> sources) {
  const Element type = float_type(at.getType());
  Operands operands;
  for (const llvm::Value* each : sources) operands.push_back(value(each));
  // There is no subtraction of doubles.
  if (operation == Operation::sub && type == Element::f64) {
    operation = Operation::add;
    if (operands[1].is_constant())
      operands[1].value ^= uint64_t{1} << 63;
    else
      operands[1].neg = true;
  }
  vop(operation, type, result_of(at), std::move(operands));
}

void Selector::integer(unsigned opcode, const llvm::Instruction& at, const llvm::Value* left,
                       const llvm::Value* right) {
  const Operation operation = operation_of(opcode);
  const unsigned bits = at.getType()->getIntegerBitWidth();
  if (operation == Operation::none) return refuse(at, at.getOpcodeName());
  const MachineOperand result = result_of(at);
  const bool is_scalar = bank_of(&at) == Bank::sgpr;
  MachineOperand a = value(left), b = value(right);
  // The bits above those of a narrow integer are undefined.
  if (bits < 32 && (operation == Operation::lshr || operation == Operation::ashr))
    a = extended(left, 1, operation == Operation::ashr, is_scalar ? RegisterFile::sgpr : RegisterFile::vgpr);
  if (bits < 32 && (operation == Operation::shl || operation == Operation::lshr || operation == Operation::ashr) &&
      !b.is_constant())
    b = extended(right, 1, false, is_scalar ? RegisterFile::sgpr : RegisterFile::vgpr);
  Element type = integer_type(operation, 1);
  if (is_scalar) {
    if (operation == Operation::mul) type = Element::i32;
    return sop(operation, type, result, {a, b});
  }
  if (operation == Operation::add || operation == Operation::sub) {
    // Until GFX8 an addition always has a carry-out.
    const Opcode plain = choice_.find({.place = Place::valu, .operation = operation, .type = type, .from = type});
    if (plain != Opcode::invalid) return vector_instruction(plain, result, {a, b});
    const Opcode carries =
        need({.place = Place::valu, .operation = operation, .type = type, .from = type, .carries = true});
    const MachineOperand carry = fresh_mask();
    return vector_instruction(carries, result, {carry, a, b});
  }
  vop(operation, type, result, {a, b});
}

void Selector::wide_integer(unsigned opcode, const llvm::Instruction& at, const llvm::Value* left,
                            const llvm::Value* right) {
  const Operation operation = operation_of(opcode);
  const MachineOperand result = result_of(at);
  const bool is_scalar = bank_of(&at) == Bank::sgpr;
  const MachineOperand a = value(left), b = value(right);
  switch (operation) {
    case Operation::add:
    case Operation::sub: {
      const Operation with_carry = operation == Operation::add ? Operation::add_carry : Operation::sub_borrow;
      if (is_scalar) {
        const MachineOperand low = fresh(RegisterFile::sgpr), high = fresh(RegisterFile::sgpr);
        sop(operation, Element::u32, low, {part(a, 0), part(b, 0)});
        sop(with_carry, Element::u32, high, {part(a, 1), part(b, 1)});
        return pseudo(Pseudo::tuple, 1, {result, low, high});
      }
      const MachineOperand low = fresh(RegisterFile::vgpr), high = fresh(RegisterFile::vgpr);
      const MachineOperand carry = fresh_mask(), last = fresh_mask();
      const Opcode first = need(
          {.place = Place::valu, .operation = operation, .type = Element::u32, .from = Element::u32, .carries = true});
      const Opcode second = need(
          {.place = Place::valu, .operation = with_carry, .type = Element::u32, .from = Element::u32, .carries = true});
      vector_instruction(first, low, {carry, part(a, 0), part(b, 0)});
      vector_instruction(second, high, {last, in_vgprs(part(a, 1), 1), in_vgprs(part(b, 1), 1), carry});
      return pseudo(Pseudo::tuple, 1, {result, low, high});
    }
    case Operation::bit_and:
    case Operation::bit_or:
    case Operation::bit_xor: {
      if (is_scalar) return sop(operation, Element::b64, result, {a, b});
      const MachineOperand low = fresh(RegisterFile::vgpr), high = fresh(RegisterFile::vgpr);
      vop(operation, Element::b32, low, {part(a, 0), part(b, 0)});
      vop(operation, Element::b32, high, {part(a, 1), part(b, 1)});
      return pseudo(Pseudo::tuple, 1, {result, low, high});
    }
    case Operation::shl:
    case Operation::lshr:
    case Operation::ashr: {
      const Element type = operation == Operation::ashr ? Element::i64 : Element::b64;
      const MachineOperand amount = part(b, 0);
      if (is_scalar) return sop(operation, type, result, {a, amount});
      return vop(operation, type, result, {in_vgprs(a, 2), amount});
    }
    case Operation::mul: {
      // low * low, plus the two cross products in the upper half.
      const MachineOperand low = fresh(RegisterFile::vgpr), carry = fresh(RegisterFile::vgpr);
      const MachineOperand cross = fresh(RegisterFile::vgpr), other = fresh(RegisterFile::vgpr);
      const auto multiply = [&](Operation kind, const MachineOperand& to, const MachineOperand& x,
                                const MachineOperand& y) { vop(kind, Element::u32, to, {x, y}); };
      multiply(Operation::mul, low, part(a, 0), part(b, 0));
      multiply(Operation::mul_hi, carry, part(a, 0), part(b, 0));
      multiply(Operation::mul, cross, part(a, 0), part(b, 1));
      multiply(Operation::mul, other, part(a, 1), part(b, 0));
      const MachineOperand sum = fresh(RegisterFile::vgpr), high = fresh(RegisterFile::vgpr);
      add_offset(sum, Bank::vgpr, 1, carry, cross);
      add_offset(high, Bank::vgpr, 1, sum, other);
      return pseudo(Pseudo::tuple, 1, {result, low, high});
    }
    default:
      refuse(at, at.getOpcodeName());
  }
}

void Selector::add_offset(const MachineOperand& result, Bank bank, unsigned dwords, MachineOperand base,
                          MachineOperand offset) {
  if (bank == Bank::sgpr) {
    if (dwords == 1) return sop(Operation::add, Element::u32, result, {base, offset});
    const MachineOperand low = fresh(RegisterFile::sgpr), high = fresh(RegisterFile::sgpr);
    sop(Operation::add, Element::u32, low, {part(base, 0), part(offset, 0)});
    sop(Operation::add_carry, Element::u32, high, {part(base, 1), part(offset, 1)});
    return pseudo(Pseudo::tuple, 1, {result, low, high});
  }
  const MachineOperand carry = fresh_mask();
  const Opcode first = need(
      {.place = Place::valu, .operation = Operation::add, .type = Element::u32, .from = Element::u32, .carries = true});
  if (dwords == 1) {
    const Opcode plain =
        choice_.find({.place = Place::valu, .operation = Operation::add, .type = Element::u32, .from = Element::u32});
    if (plain != Opcode::invalid) return vector_instruction(plain, result, {base, offset});
    return vector_instruction(first, result, {carry, base, offset});
  }
  const MachineOperand low = fresh(RegisterFile::vgpr), high = fresh(RegisterFile::vgpr), last = fresh_mask();
  const Opcode second = need({.place = Place::valu,
                              .operation = Operation::add_carry,
                              .type = Element::u32,
                              .from = Element::u32,
                              .carries = true});
  vector_instruction(first, low, {carry, part(base, 0), part(offset, 0)});
  vector_instruction(second, high, {last, in_vgprs(part(base, 1), 1), in_vgprs(part(offset, 1), 1), carry});
  pseudo(Pseudo::tuple, 1, {result, low, high});
}

void Selector::logic_of_conditions(llvm::BinaryOperator& at) {
  const Operation operation = operation_of(at.getOpcode());
  const MachineOperand result = result_of(at);
  if (bank_of(&at) == Bank::flag)
    return sop(operation, Element::b32, result, {value(at.getOperand(0)), value(at.getOperand(1))});
  const Element type = mask_element();
  sop(operation, type, result, {as_mask(at.getOperand(0)), as_mask(at.getOperand(1))});
}

void Selector::compare(llvm::CmpInst& at) {
  const llvm::Type* type = at.getOperand(0)->getType();
  const Predicate predicate = predicate_of(at.getPredicate());
  if (predicate == Predicate::no_predicate || type->isVectorTy()) return refuse(at, "comparison");
  const MachineOperand result = result_of(at);
  if (llvm::isa<llvm::FCmpInst>(at)) {
    const Element element = float_type(type);
    return vector_instruction(vector_comparison(predicate, element), result,
                              {value(at.getOperand(0)), value(at.getOperand(1))});
  }
  const unsigned bits = static_cast<unsigned>(layout_.getTypeSizeInBits(at.getOperand(0)->getType()).getFixedValue());
  const unsigned dwords = bits > 32 ? 2 : 1;
  const bool is_signed = at.isSigned();
  const bool is_scalar = bank_of(&at) == Bank::flag;
  const RegisterFile file = is_scalar ? RegisterFile::sgpr : RegisterFile::vgpr;
  const auto source = [&](unsigned i) {
    const llvm::Value* each = at.getOperand(i);
    if (bits == 1) return as_number(each);
    if (bits < 32) return extended(each, 1, is_signed, file);
    return value(each);
  };
  if (bits == 1 && !is_scalar) {
    // Conditions differ where their exclusive or is set.
    const Element mask = mask_element();
    const MachineOperand differs = predicate == Predicate::ne ? result : fresh_mask();
    sop(Operation::bit_xor, mask, differs, {as_mask(at.getOperand(0)), as_mask(at.getOperand(1))});
    if (predicate == Predicate::ne) return;
    return sop(Operation::bit_xor, mask, result, {differs, exec()});
  }
  const Element element =
      dwords == 2 ? (is_signed ? Element::i64 : Element::u64) : (is_signed ? Element::i32 : Element::u32);
  if (is_scalar) {
    scalar_instruction(need({.place = Place::salu,
                             .operation = Operation::compare,
                             .type = element,
                             .from = element,
                             .predicate = predicate}),
                       {}, {source(0), source(1)});
    return sop(Operation::select, Element::b32, result,
               {MachineOperand::constant_of(1), MachineOperand::constant_of(0)});
  }
  MachineOperand left = source(0), right = source(1);
  if (dwords == 2) left = in_vgprs(left, 2), right = in_vgprs(right, 2);
  vector_instruction(vector_comparison(predicate, element), result, {left, right});
}

void Selector::select_value(llvm::SelectInst& at) {
  const MachineOperand result = result_of(at);
  const unsigned dwords = dwords_of(at.getType());
  if (at.getCondition()->getType()->isVectorTy()) return refuse(at, "select by a vector");
  if (at.getType()->isIntegerTy(1)) {
    // (condition & a) | (~condition & b)
    const Element type = mask_element();
    if (bank_of(&at) == Bank::flag) {
      const MachineOperand condition = value(at.getCondition());
      test_flag(condition);
      return sop(Operation::select, Element::b32, result, {value(at.getTrueValue()), value(at.getFalseValue())});
    }
    const MachineOperand condition = as_mask(at.getCondition());
    const MachineOperand first = fresh_mask(), second = fresh_mask();
    sop(Operation::bit_and, type, first, {as_mask(at.getTrueValue()), condition});
    sop(Operation::bit_and_not, type, second, {as_mask(at.getFalseValue()), condition});
    return sop(Operation::bit_or, type, result, {first, second});
  }
  const MachineOperand a = value(at.getTrueValue()), b = value(at.getFalseValue());
  if (bank_of(&at) == Bank::sgpr) {
    test_flag(value(at.getCondition()));
    if (dwords <= 2) return sop(Operation::select, dwords == 2 ? Element::b64 : Element::b32, result, {a, b});
    return refuse(at, "scalar select of more than 64 bits");
  }
  const MachineOperand condition = as_mask(at.getCondition());
  Operands parts;
  for (unsigned i = 0; i < dwords; ++i) {
    const MachineOperand word = dwords == 1 ? result : fresh(RegisterFile::vgpr);
    vop(Operation::select, Element::b32, word, {part(a, i), part(b, i), condition});
    parts.push_back(word);
  }
  if (dwords == 1) return;
  parts.insert(parts.begin(), result);
  pseudo(Pseudo::tuple, 1, std::move(parts));
}

MachineOperand Selector::extended(const llvm::Value* each, unsigned dwords, bool is_signed, RegisterFile file) {
  const unsigned bits = each->getType()->getIntegerBitWidth();
  MachineOperand word = bits == 1 ? as_number(each) : value(each);
  const bool is_scalar = file == RegisterFile::sgpr;
  const auto word_of = [&](Operation operation, Element type, Operands sources) {
    const MachineOperand made = fresh(file);
    if (is_scalar)
      sop(operation, type, made, std::move(sources));
    else
      vop(operation, type, made, std::move(sources));
    return made;
  };
  if (word.is_constant()) {
    uint64_t number = word.value & (bits >= 64 ? ~0ull : (1ull << bits) - 1);
    if (is_signed && bits < 64 && (number >> (bits - 1) & 1) != 0) number |= ~0ull << bits;
    return MachineOperand::constant_of(dwords == 1 ? static_cast<uint32_t>(number) : number);
  }
  if (bits < 32) {
    if (is_signed) {
      const MachineOperand amount = MachineOperand::constant_of(32 - bits);
      word = word_of(Operation::ashr, Element::i32, {word_of(Operation::shl, Element::b32, {word, amount}), amount});
    } else if (bits != 1) {
      word = word_of(Operation::bit_and, Element::b32, {word, MachineOperand::constant_of((1ull << bits) - 1)});
    }
  }
  if (dwords == 1) return word;
  const MachineOperand high = is_signed
                                  ? word_of(Operation::ashr, Element::i32, {word, MachineOperand::constant_of(31)})
                                  : MachineOperand::constant_of(0);
  return tuple(file, {word, high});
}

void Selector::cast(llvm::CastInst& at) {
  const MachineOperand result = result_of(at);
  const llvm::Value* from = at.getOperand(0);
  if (at.getType()->isVectorTy() || from->getType()->isVectorTy()) {
    if (at.getOpcode() != llvm::Instruction::BitCast) return refuse(at, "conversion of a vector");
  }
  const bool is_scalar = bank_of(&at) == Bank::sgpr || bank_of(&at) == Bank::flag;
  const RegisterFile file = is_scalar ? RegisterFile::sgpr : RegisterFile::vgpr;
  const unsigned dwords = dwords_of(at.getType());
  switch (at.getOpcode()) {
    case llvm::Instruction::ZExt:
    case llvm::Instruction::SExt:
      return copy(result, extended(from, dwords, at.getOpcode() == llvm::Instruction::SExt, file));
    case llvm::Instruction::Trunc:
      if (at.getType()->isIntegerTy(1)) {
        const MachineOperand bit = fresh(file);
        const MachineOperand low = part(value(from), 0);
        if (is_scalar) return sop(Operation::bit_and, Element::b32, result, {low, MachineOperand::constant_of(1)});
        vop(Operation::bit_and, Element::b32, bit, {low, MachineOperand::constant_of(1)});
        return vector_instruction(vector_comparison(Predicate::ne, Element::u32), result,
                                  {MachineOperand::constant_of(0), bit});
      }
      return copy(result, part(value(from), 0, dwords));
    case llvm::Instruction::BitCast:
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::IntToPtr:
      return copy(result, part(value(from), 0, dwords));
    case llvm::Instruction::SIToFP:
    case llvm::Instruction::UIToFP: {
      const bool is_signed = at.getOpcode() == llvm::Instruction::SIToFP;
      if (from->getType()->getIntegerBitWidth() > 32) return refuse(at, "conversion of 64-bit integers to floats");
      const MachineOperand source =
          from->getType()->getIntegerBitWidth() < 32 ? extended(from, 1, is_signed, RegisterFile::vgpr) : value(from);
      return vop(Operation::convert, float_type(at.getType()), result, {source},
                 is_signed ? Element::i32 : Element::u32);
    }
    case llvm::Instruction::FPToSI:
    case llvm::Instruction::FPToUI: {
      if (at.getType()->getIntegerBitWidth() > 32) return refuse(at, "conversion of floats to 64-bit integers");
      const bool is_signed = at.getOpcode() == llvm::Instruction::FPToSI;
      return vop(Operation::convert, is_signed ? Element::i32 : Element::u32, result, {value(from)},
                 float_type(from->getType()));
    }
    case llvm::Instruction::FPExt:
    case llvm::Instruction::FPTrunc:
      return vop(Operation::convert, float_type(at.getType()), result, {value(from)}, float_type(from->getType()));
    case llvm::Instruction::AddrSpaceCast: {
      const unsigned space = from->getType()->getPointerAddressSpace(), to = at.getType()->getPointerAddressSpace();
      const bool is_short = dwords_of(from->getType()) == 1;
      if (dwords == 2 && is_short) {
        const auto* object = llvm::dyn_cast<llvm::AllocaInst>(from->stripPointerCasts());
        return copy(result, to_flat(value(from), space, object != nullptr));
      }
      if (dwords == 1 && !is_short) {
        // A null pointer of these spaces is -1.
        const MachineOperand flat = value(from), not_null = fresh_mask();
        vector_instruction(vector_comparison(Predicate::ne, Element::u64), not_null,
                           {MachineOperand::constant_of(0), in_vgprs(flat, 2)});
        const MachineOperand chosen = is_scalar ? fresh(RegisterFile::vgpr) : result;
        vop(Operation::select, Element::b32, chosen,
            {part(flat, 0), MachineOperand::constant_of(UINT32_MAX), not_null});
        if (is_scalar) copy(result, read_first_lane(chosen));
        return;
      }
      if (dwords == 2) return copy(result, value(from));
      return refuse(at, fmt::format("a cast from address space {} to {}", space, to));
    }
    default:
      refuse(at, at.getOpcodeName());
  }
}

}  // namespace Atoll::codegen

// codegen: values of the IR as operands: banks, registers, constants, and what an instruction can read.
#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>

#include <algorithm>

#include "codegen/global_data.h"
#include "codegen/selector.h"
#include "isa/opcode_map.h"

namespace Atoll::codegen {

using isa::Element;
using isa::Opcode;
using isa::Operation;

namespace {

bool is_condition(const llvm::Value* value) { return value->getType()->isIntegerTy(1); }

/// Integer operations that the scalar ALU of every GPU has, in 32 and 64 bits or, if not `wide`, in 32 bits only.
bool is_scalar_operation(unsigned opcode, unsigned bits) {
  switch (opcode) {
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
    case llvm::Instruction::And:
    case llvm::Instruction::Or:
    case llvm::Instruction::Xor:
    case llvm::Instruction::Shl:
    case llvm::Instruction::LShr:
    case llvm::Instruction::AShr:
      return bits <= 64;
    case llvm::Instruction::Mul:
      return bits <= 32;
    default:
      return false;
  }
}

}  // namespace

Selector::Selector(llvm::Function& function, MachineFunction& to, const InstructionChoice& choice,
                   llvm::UniformityInfo& uniformity, const DivergentBranches& branches)
    : from_(function),
      to_(to),
      choice_(choice),
      uniformity_(uniformity),
      branches_(branches),
      layout_(function.getParent()->getDataLayout()) {
  const isa::Layout layout(*to.target.processor);
  even_tuples_ = layout.even_tuples;
  has_vector_literals_ = layout.vector_literals;
  scalar_inputs_ = layout.scalar_inputs;
}

bool Selector::is_scalar(const llvm::Value* value) const {
  if (llvm::isa<llvm::Constant>(value) || llvm::isa<llvm::Argument>(value)) return true;
  const Bank bank = bank_of(value);
  return bank == Bank::sgpr || bank == Bank::flag;
}

bool Selector::is_scalar_load(const llvm::LoadInst& load) const {
  const unsigned space = load.getPointerAddressSpace();
  const bool is_constant =
      space == constant_space || (space == global_space && load.hasMetadata(llvm::LLVMContext::MD_invariant_load));
  const uint64_t bytes = layout_.getTypeStoreSize(load.getType());
  return is_constant && !load.isVolatile() && bytes % 4 == 0 && load.getAlign() >= 4 && (bytes & (bytes - 1)) == 0 &&
         is_scalar(load.getPointerOperand());
}

Bank Selector::bank_of(const llvm::Instruction& at) const {
  if (at.getType()->isVoidTy()) return Bank::none;
  const auto all_scalar = [&] {
    return std::ranges::all_of(at.operands(), [&](const llvm::Use& use) {
      return llvm::isa<llvm::BasicBlock>(use.get()) || is_scalar(use.get());
    });
  };
  const bool uniform = is_uniform(at);
  if (is_condition(&at)) {
    if (llvm::isa<llvm::PHINode>(at)) return uniform && all_scalar() ? Bank::flag : Bank::vgpr;
    if (const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(&at)) {
      const uint64_t bits = layout_.getTypeSizeInBits(compare->getOperand(0)->getType()).getFixedValue();
      const bool has_wide = compare->isEquality() && to_.target.processor->generation >= target::Generation::gfx8;
      return uniform && all_scalar() && (bits <= 32 || (bits == 64 && has_wide)) ? Bank::flag : Bank::mask;
    }
    if (llvm::isa<llvm::FCmpInst>(at)) return Bank::mask;
    return uniform && all_scalar() ? Bank::flag : Bank::mask;
  }
  if (!uniform) return Bank::vgpr;
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&at)) return is_scalar_load(*load) ? Bank::sgpr : Bank::vgpr;
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&at)) {
    switch (call->getIntrinsicID()) {
      case llvm::Intrinsic::amdgcn_workgroup_id_x:
      case llvm::Intrinsic::amdgcn_workgroup_id_y:
      case llvm::Intrinsic::amdgcn_workgroup_id_z:
      case llvm::Intrinsic::amdgcn_dispatch_ptr:
      case llvm::Intrinsic::amdgcn_implicitarg_ptr:
      case llvm::Intrinsic::amdgcn_kernarg_segment_ptr:
      case llvm::Intrinsic::amdgcn_readfirstlane:
        return Bank::sgpr;
      default:
        return Bank::vgpr;
    }
  }
  if (llvm::isa<llvm::AllocaInst>(at)) return Bank::sgpr;
  if (!all_scalar()) return Bank::vgpr;
  const llvm::Type* type = at.getType();
  if (const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&at))
    return type->isIntegerTy() && is_scalar_operation(binary->getOpcode(), type->getIntegerBitWidth()) ? Bank::sgpr
                                                                                                       : Bank::vgpr;
  switch (at.getOpcode()) {
    case llvm::Instruction::PHI:
    case llvm::Instruction::Select:
    case llvm::Instruction::GetElementPtr:
    case llvm::Instruction::ZExt:
    case llvm::Instruction::SExt:
    case llvm::Instruction::Trunc:
    case llvm::Instruction::BitCast:
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::IntToPtr:
    case llvm::Instruction::AddrSpaceCast:
    case llvm::Instruction::Freeze:
      return Bank::sgpr;
    case llvm::Instruction::ExtractElement:
      return llvm::isa<llvm::ConstantInt>(at.getOperand(1)) ? Bank::sgpr : Bank::vgpr;
    default:
      return Bank::vgpr;
  }
}

Bank Selector::bank_of(const llvm::Value* value) const {
  const auto at = banks_.find(value);
  return at == banks_.end() ? Bank::none : at->second;
}

void Selector::assign_banks() {
  // Optimistic: every uniform value is scalar until one of its operands turns out not to be.
  for (llvm::BasicBlock& block : from_)
    for (llvm::Instruction& at : block)
      if (!at.getType()->isVoidTy())
        banks_[&at] = !is_uniform(at) ? (is_condition(&at) ? Bank::mask : Bank::vgpr)
                                      : (is_condition(&at) ? Bank::flag : Bank::sgpr);
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::BasicBlock& block : from_) {
      for (llvm::Instruction& at : block) {
        if (at.getType()->isVoidTy()) continue;
        const Bank bank = bank_of(at);
        Bank& known = banks_[&at];
        if (known == bank) continue;
        known = bank;
        changed = true;
      }
    }
  }
}

unsigned Selector::dwords_of(llvm::Type* type) const {
  if (type->isIntegerTy(1)) return 1;
  return static_cast<unsigned>((layout_.getTypeStoreSize(type).getFixedValue() + 3) / 4);
}

RegisterClass Selector::register_class(RegisterFile file, unsigned dwords) const {
  unsigned align = 1;
  if (file == RegisterFile::sgpr)
    align = dwords == 1 ? 1 : dwords == 2 ? 2 : 4;
  else if (dwords > 1 && even_tuples_)
    align = 2;
  return {.file = file, .dwords = static_cast<uint8_t>(dwords), .align = static_cast<uint8_t>(align)};
}

MachineOperand Selector::fresh(RegisterFile file, unsigned dwords) {
  return to_.operand(to_.add(register_class(file, dwords)));
}

MachineOperand Selector::exec() const { return MachineOperand::scalar(isa::scalar::exec_lo, to_.lane_mask_dwords()); }

MachineOperand Selector::result_of(const llvm::Value& value) {
  const auto at = values_.find(&value);
  if (at != values_.end()) return at->second;
  MachineOperand made;
  switch (bank_of(&value)) {
    case Bank::mask:
      made = fresh_mask();
      break;
    case Bank::flag:
      made = fresh(RegisterFile::sgpr);
      break;
    case Bank::sgpr:
      made = fresh(RegisterFile::sgpr, dwords_of(value.getType()));
      break;
    default:
      made = fresh(RegisterFile::vgpr, dwords_of(value.getType()));
  }
  values_[&value] = made;
  return made;
}

MachineOperand Selector::constant(const llvm::Constant& constant) {
  if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(&constant)) {
    if (integer->getBitWidth() <= 64) {
      const uint64_t bits = integer->getValue().getZExtValue();
      return MachineOperand::constant_of(integer->getBitWidth() <= 32 ? static_cast<uint32_t>(bits) : bits);
    }
  }
  if (const auto* real = llvm::dyn_cast<llvm::ConstantFP>(&constant))
    return MachineOperand::constant_of(real->getValueAPF().bitcastToAPInt().getZExtValue());
  if (llvm::isa<llvm::ConstantPointerNull>(constant) || llvm::isa<llvm::UndefValue>(constant) ||
      llvm::isa<llvm::ConstantAggregateZero>(constant)) {
    const unsigned dwords = dwords_of(constant.getType());
    if (dwords <= 2) return MachineOperand::constant_of(0);
    return tuple(RegisterFile::sgpr, Operands(dwords, MachineOperand::constant_of(0)));
  }
  if (const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(constant.getType())) {
    const auto bits = static_cast<unsigned>(layout_.getTypeSizeInBits(type->getElementType()).getFixedValue());
    std::vector<uint64_t> words(dwords_of(constant.getType()));
    for (unsigned i = 0; i < type->getNumElements(); ++i) {
      const llvm::Constant* element = constant.getAggregateElement(i);
      const MachineOperand known = element != nullptr ? this->constant(*element) : MachineOperand{};
      if (!known.is_constant() || bits > 64) {
        refuse(constant, "a vector of these constants");
        break;
      }
      for (unsigned bit = 0; bit < bits; bit += 32) {
        const unsigned at = i * bits + bit, width = std::min(32u, bits - bit);
        words[at / 32] |= (known.value >> bit & (width == 32 ? UINT32_MAX : (1ull << width) - 1)) << at % 32;
      }
    }
    if (words.size() == 1) return MachineOperand::constant_of(words[0]);
    Operands parts;
    for (const uint64_t each : words) parts.push_back(MachineOperand::constant_of(each));
    return tuple(RegisterFile::sgpr, parts);
  }
  if (const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(&constant);
      global != nullptr && global->getAddressSpace() == lds_space) {
    // The module's LDS lies at fixed offsets, which place_lds() has put into the section's name.
    unsigned offset = 0;
    if (!global->getSection().getAsInteger(10, offset)) return MachineOperand::constant_of(offset);
  }
  if (const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(&constant);
      global != nullptr && global->getAddressSpace() != lds_space) {
    if (!has_data(*global))
      refuse(constant, fmt::format("variable {} with this initial value", global->getName().str()));
    const MachineOperand pair = fresh(RegisterFile::sgpr, 2);
    to_.symbols.push_back(global->getName().str());
    pseudo(Pseudo::address, 1, {pair, MachineOperand::constant_of(to_.symbols.size() - 1)});
    return pair;
  }
  if (const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(&constant)) {
    if (const auto opcode = expression->getOpcode(); opcode == llvm::Instruction::PtrToInt ||
                                                     opcode == llvm::Instruction::IntToPtr ||
                                                     opcode == llvm::Instruction::BitCast)
      return this->constant(*expression->getOperand(0)).part(0, dwords_of(expression->getType()));
    if (expression->getOpcode() == llvm::Instruction::AddrSpaceCast) {
      const llvm::Constant& from = *expression->getOperand(0);
      const unsigned space = from.getType()->getPointerAddressSpace();
      if (space == lds_space || space == private_space) return to_flat(this->constant(from), space, true);
      return this->constant(from);
    }
    llvm::APInt offset(layout_.getIndexTypeSizeInBits(expression->getType()), 0);
    if (const auto* step = llvm::dyn_cast<llvm::GEPOperator>(expression);
        step != nullptr && step->accumulateConstantOffset(layout_, offset)) {
      MachineOperand base = this->constant(*llvm::cast<llvm::Constant>(step->getPointerOperand()));
      if (base.is_constant()) {
        base.value += offset.getZExtValue();
        return base;
      }
      const MachineOperand sum = fresh(RegisterFile::sgpr, base.dwords);
      add_offset(sum, Bank::sgpr, base.dwords, base, MachineOperand::constant_of(offset.getZExtValue()));
      return sum;
    }
  }
  refuse(constant, "constant");
  return MachineOperand::constant_of(0);
}

MachineOperand Selector::value(const llvm::Value* each) {
  if (const auto* known = llvm::dyn_cast<llvm::Constant>(each)) return constant(*known);
  return result_of(*each);
}

MachineOperand Selector::part(const MachineOperand& operand, unsigned first, unsigned count) const {
  return operand.part(first, count);
}

MachineOperand Selector::in_vgprs(MachineOperand operand, unsigned dwords) {
  if (operand.is_virtual() && to_.registers[operand.reg].file == RegisterFile::vgpr) return operand;
  if (dwords > 1) {
    Operands parts;
    for (unsigned i = 0; i < dwords; ++i) parts.push_back(part(operand, i));
    return tuple(RegisterFile::vgpr, parts);
  }
  const MachineOperand made = fresh(RegisterFile::vgpr);
  copy(made, operand);
  return made;
}

MachineOperand Selector::in_sgprs(MachineOperand operand, unsigned dwords) {
  if (operand.is_virtual() && to_.registers[operand.reg].file == RegisterFile::sgpr) return operand;
  if (operand.is_constant()) {
    Operands parts;
    for (unsigned i = 0; i < dwords; ++i) parts.push_back(part(operand, i));
    return tuple(RegisterFile::sgpr, parts);
  }
  return read_first_lane(operand);
}

MachineOperand Selector::read_first_lane(const MachineOperand& operand) {
  const Opcode read = need({.place = Place::valu, .operation = Operation::read_first_lane, .type = Element::b32});
  Operands parts;
  for (unsigned i = 0; i < std::max<unsigned>(operand.dwords, 1); ++i) {
    const MachineOperand word = fresh(RegisterFile::sgpr);
    emit(read, 1, {word, part(operand, i)});
    parts.push_back(word);
  }
  return parts.size() == 1 ? parts[0] : tuple(RegisterFile::sgpr, parts);
}

MachineOperand Selector::tuple(RegisterFile file, Operands parts) {
  unsigned dwords = 0;
  for (const MachineOperand& each : parts) dwords += std::max<unsigned>(each.dwords, 1);
  const MachineOperand made = fresh(file, dwords);
  Operands operands{made};
  operands.insert(operands.end(), parts.begin(), parts.end());
  pseudo(Pseudo::tuple, 1, std::move(operands));
  return made;
}

MachineOperand Selector::as_mask(const llvm::Value* condition) {
  const unsigned words = to_.lane_mask_dwords();
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition))
    return known->isOne() ? exec() : MachineOperand::constant_of(0);
  const MachineOperand operand = value(condition);
  const MachineOperand mask = fresh_mask();
  switch (bank_of(condition)) {
    case Bank::mask:
      return operand;
    case Bank::flag: {
      test_flag(operand);
      const Element type = words == 2 ? Element::b64 : Element::b32;
      scalar_instruction(need({.place = Place::salu, .operation = Operation::select, .type = type, .from = type}), mask,
                         {exec(), MachineOperand::constant_of(0)});
      return mask;
    }
    default:
      vector_instruction(vector_comparison(isa::Predicate::ne, Element::u32), mask,
                         {MachineOperand::constant_of(0), operand});
      return mask;
  }
}

MachineOperand Selector::as_number(const llvm::Value* condition) {
  if (llvm::isa<llvm::Constant>(condition) || bank_of(condition) == Bank::flag || bank_of(condition) == Bank::vgpr)
    return value(condition);
  const MachineOperand number = fresh(RegisterFile::vgpr);
  vop(Operation::select, Element::b32, number,
      {MachineOperand::constant_of(1), MachineOperand::constant_of(0), as_mask(condition)});
  return number;
}

}  // namespace Atoll::codegen

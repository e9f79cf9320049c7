// codegen: selection of memory accesses, intrinsics, phis and branches; and how instructions are put down.
#include "codegen/selector.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "isa/constants.h"

namespace Atoll::codegen {

using isa::DataType;
using isa::Element;
using isa::Opcode;
using isa::Operation;
using support::ErrorKind;
using support::fail;
using support::Result;
using target::Generation;

void Selector::refuse(const llvm::Value& at, std::string_view what) {
  if (error_.empty())
    error_ =
        fmt::format("function {}: {} is not implemented (in block {})", from_.getName().str(), what,
                    llvm::isa<llvm::Instruction>(at) ? llvm::cast<llvm::Instruction>(at).getParent()->getName().str()
                                                     : to_.blocks[block_].name);
}

MachineInstruction& Selector::emit(Opcode opcode, unsigned definitions, Operands operands) {
  auto& to = to_.blocks[block_].instructions;
  to.push_back({.opcode = opcode, .definitions = static_cast<uint8_t>(definitions), .operands = std::move(operands)});
  return to.back();
}

void Selector::pseudo(Pseudo kind, unsigned definitions, Operands operands) {
  to_.blocks[block_].instructions.push_back(
      {.pseudo = kind, .definitions = static_cast<uint8_t>(definitions), .operands = std::move(operands)});
}

void Selector::copy(MachineOperand to, MachineOperand from) {
  const bool is_downward =
      to.is_virtual() && from.is_virtual() && file_of(to) == RegisterFile::sgpr && file_of(from) == RegisterFile::vgpr;
  pseudo(Pseudo::copy, 1, {to, is_downward ? read_first_lane(from) : from});
}

Opcode Selector::need(Choice choice) {
  if (choice.from == Element::none) choice.from = choice.type;
  const Opcode opcode = choice_.find(choice);
  if (opcode == Opcode::invalid && error_.empty()) {
    error_ = fmt::format("function {}: {} has no {} instruction for {} of {}", from_.getName().str(),
                         to_.target.processor->name, name_of(choice.place), isa::name_of(choice.operation),
                         isa::name_of(choice.type));
  }
  return opcode;
}

Opcode Selector::vector_comparison(isa::Predicate predicate, Element type) {
  return need({.place = Place::valu, .operation = Operation::compare, .type = type, .predicate = predicate});
}

void Selector::test_flag(const MachineOperand& flag) {
  scalar_instruction(need({.place = Place::salu,
                           .operation = Operation::compare,
                           .type = Element::u32,
                           .predicate = isa::Predicate::ne}),
                     {}, {flag, MachineOperand::constant_of(0)});
}

void Selector::vop(Operation operation, Element type, const MachineOperand& result, Operands sources, Element from) {
  const Opcode opcode = need({.place = Place::valu, .operation = operation, .type = type, .from = from});
  if (opcode == Opcode::invalid) return;
  if (choice_.is_reversed(opcode)) std::swap(sources[0], sources[1]);
  vector_instruction(opcode, result, std::move(sources));
}

void Selector::sop(Operation operation, Element type, const MachineOperand& result, Operands sources, Element from) {
  const Opcode opcode = need({.place = Place::salu, .operation = operation, .type = type, .from = from});
  if (opcode != Opcode::invalid) scalar_instruction(opcode, result, std::move(sources));
}

void Selector::scalar_instruction(Opcode opcode, const MachineOperand& result, Operands sources) {
  if (opcode == Opcode::invalid) return;
  const isa::InstructionRow& row = choice_.row(opcode);
  const unsigned results = result.kind == MachineOperand::Kind::none ? 0 : 1;
  bool has_literal = false;
  for (size_t i = 0; i < sources.size(); ++i) {
    MachineOperand& each = sources[i];
    const DataType type = row.operands[i + results].type;
    if (each.is_virtual() && to_.registers[each.reg].file == RegisterFile::vgpr) each = in_sgprs(each, each.dwords);
    if (!each.is_constant() || is_inline_constant(each.value, type)) continue;
    // One literal of 32 bits, which 64-bit operands extend.
    const bool fits = isa::words_of(type) == 1 || static_cast<int64_t>(each.value) == static_cast<int32_t>(each.value);
    if (has_literal || !fits)
      each = in_sgprs(each, isa::words_of(type));
    else
      has_literal = true;
  }
  Operands operands;
  if (results != 0) operands.push_back(result);
  operands.insert(operands.end(), sources.begin(), sources.end());
  emit(opcode, results, std::move(operands));
}

void Selector::vector_instruction(Opcode opcode, const MachineOperand& result, Operands sources) {
  if (opcode == Opcode::invalid) return;
  const isa::InstructionRow& row = choice_.row(opcode);
  unsigned definitions = 1, first = 1;
  // A carry-out stands first among the sources that are given.
  const bool has_carry = row.operands[1].field == isa::Field::carry_out;
  if (has_carry) definitions = 2;
  unsigned scalars = 0;
  bool has_literal = false;
  std::vector<uint32_t> read;
  for (size_t i = has_carry ? 1 : 0; i < sources.size(); ++i) {
    MachineOperand& each = sources[i];
    const isa::OperandSpec& spec = row.operands[i + first];
    const unsigned dwords = isa::words_of(spec.type);
    const bool is_mask = spec.type == DataType::lane_mask;
    const bool needs_vgpr = spec.field == isa::Field::vgpr_src0 || spec.field == isa::Field::vgpr_src1;
    if (each.is_constant()) {
      if (is_inline_constant(each.value, spec.type) && !needs_vgpr) continue;
      const bool literal_fits = dwords == 1 && has_vector_literals_ && scalars < scalar_inputs_ && !has_literal;
      const bool is_move = row.encoding == isa::Encoding::vop1 && dwords == 1;
      if ((literal_fits || is_move) && !needs_vgpr) {
        has_literal = true;
        ++scalars;
      } else {
        each = in_vgprs(each, dwords);
      }
      continue;
    }
    const bool is_scalar = each.kind == MachineOperand::Kind::sgpr ||
                           (each.is_virtual() && to_.registers[each.reg].file == RegisterFile::sgpr);
    if (!is_scalar) continue;
    if (std::ranges::find(read, each.reg) != read.end()) continue;
    if (is_mask) {
      // A lane mask has to stay in SGPRs: another scalar before it makes room.
      if (scalars >= scalar_inputs_) {
        for (size_t j = has_carry ? 1 : 0; j < i; ++j) {
          MachineOperand& other = sources[j];
          const bool other_is_scalar = other.is_virtual() && to_.registers[other.reg].file == RegisterFile::sgpr;
          if (other_is_scalar) other = in_vgprs(other, other.dwords);
        }
      }
      ++scalars;
      read.push_back(each.reg);
      continue;
    }
    if (scalars >= scalar_inputs_ || needs_vgpr) {
      each = in_vgprs(each, std::max(1u, dwords));
    } else {
      ++scalars;
      read.push_back(each.reg);
    }
  }
  Operands operands{result};
  operands.insert(operands.end(), sources.begin(), sources.end());
  emit(opcode, definitions, std::move(operands));
}

MachineOperand Selector::scaled(const MachineOperand& index, uint64_t by, unsigned dwords, RegisterFile file) {
  if (by == 1) return index;
  const bool is_scalar = file == RegisterFile::sgpr;
  const auto compute = [&](Operation operation, Element type, unsigned width, Operands sources) {
    const MachineOperand made = fresh(file, width);
    if (is_scalar)
      sop(operation, type, made, std::move(sources));
    else
      vop(operation, type, made, std::move(sources));
    return made;
  };
  const MachineOperand scale = MachineOperand::constant_of(dwords == 1 ? static_cast<uint32_t>(by) : by);
  if ((by & (by - 1)) == 0) {
    const MachineOperand shift = MachineOperand::constant_of(static_cast<uint64_t>(std::countr_zero(by)));
    const MachineOperand whole = is_scalar || dwords == 1 ? index : in_vgprs(index, dwords);
    return compute(Operation::shl, dwords == 2 ? Element::b64 : Element::b32, dwords, {whole, shift});
  }
  const Element product = is_scalar ? Element::i32 : Element::u32;
  const MachineOperand low = compute(Operation::mul, product, 1, {part(index, 0), part(scale, 0)});
  if (dwords == 1) return low;
  MachineOperand high;
  if (is_scalar &&
      choice_.find(
          {.place = Place::salu, .operation = Operation::mul_hi, .type = Element::u32, .from = Element::u32}) ==
          Opcode::invalid) {
    const MachineOperand wide = fresh(RegisterFile::vgpr);
    vop(Operation::mul_hi, Element::u32, wide, {part(index, 0), part(scale, 0)});
    high = read_first_lane(wide);
  } else {
    high = compute(Operation::mul_hi, Element::u32, 1, {part(index, 0), part(scale, 0)});
  }
  const auto add = [&](const MachineOperand& more) {
    const MachineOperand sum = fresh(file);
    add_offset(sum, is_scalar ? Bank::sgpr : Bank::vgpr, 1, high, more);
    high = sum;
  };
  add(compute(Operation::mul, product, 1, {part(index, 1), part(scale, 0)}));
  if (part(scale, 1).value != 0) add(compute(Operation::mul, product, 1, {part(index, 0), part(scale, 1)}));
  return tuple(file, {low, high});
}

void Selector::address(llvm::GetElementPtrInst& at) {
  const Bank bank = bank_of(&at);
  const unsigned bits = layout_.getIndexTypeSizeInBits(at.getType()), dwords = bits / 32;
  const RegisterFile file = bank == Bank::sgpr ? RegisterFile::sgpr : RegisterFile::vgpr;
  llvm::SmallMapVector<llvm::Value*, llvm::APInt, 4> steps;
  llvm::APInt offset(bits, 0);
  if (at.getType()->isVectorTy() || !at.collectOffset(layout_, bits, steps, offset))
    return refuse(at, "address of this type");
  MachineOperand sum = value(at.getPointerOperand());
  for (const auto& [index, scale] : steps) {
    MachineOperand term =
        index->getType()->getIntegerBitWidth() == bits ? value(index)
        : index->getType()->getIntegerBitWidth() < bits
            ? extended(index, dwords, true, is_scalar(index) ? RegisterFile::sgpr : RegisterFile::vgpr)
            : part(value(index), 0, dwords);
    term = scaled(term, scale.getZExtValue(), dwords, file);
    const MachineOperand next = fresh(file, dwords);
    add_offset(next, bank, dwords, sum, term);
    sum = next;
  }
  if (!offset.isZero()) {
    const MachineOperand next = fresh(file, dwords);
    const uint64_t distance = dwords == 2 ? offset.getZExtValue() : static_cast<uint32_t>(offset.getZExtValue());
    add_offset(next, bank, dwords, sum, MachineOperand::constant_of(distance));
    sum = next;
  }
  copy(result_of(at), sum);
}

void Selector::phi(llvm::PHINode& at) {
  // Its sources are known when all blocks are selected: run() puts them in.
  pseudo(Pseudo::phi, 1, {result_of(at)});
}

void Selector::terminator(llvm::Instruction& at) {
  llvm::BasicBlock* block = at.getParent();
  if (llvm::isa<llvm::ReturnInst>(at) || llvm::isa<llvm::UnreachableInst>(at)) {
    pseudo(Pseudo::terminators, 0, {});
    emit(Opcode::s_endpgm, 0, {});
    return;
  }
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&at);
  if (branch == nullptr) return refuse(at, at.getOpcodeName());
  const auto number = [&](const llvm::BasicBlock* each) { return MachineOperand::block_of(blocks_.at(each)); };
  const auto leave = [&](Opcode opcode, const llvm::BasicBlock* each) { emit(opcode, 0, {number(each)}); };
  const Element mask = mask_element();
  if (const auto preheader = loop_exec_.find(block); preheader != loop_exec_.end()) copy(preheader->second, exec());
  if (branch->isUnconditional()) {
    pseudo(Pseudo::terminators, 0, {});
    return leave(Opcode::s_branch, branch->getSuccessor(0));
  }
  if (const auto found = branches_.ifs.find(block); found != branches_.ifs.end()) {
    const DivergentIf& kind = found->second;
    const MachineOperand condition = as_mask(branch->getCondition());
    pseudo(Pseudo::terminators, 0, {});
    copy(saved_exec_.at(kind.join), exec());
    if (kind.enters_on_true)
      sop(Operation::bit_and, mask, exec(), {exec(), condition});
    else
      sop(Operation::bit_and_not, mask, exec(), {exec(), condition});
    leave(Opcode::s_cbranch_execz, kind.join);
    return leave(Opcode::s_branch, kind.body);
  }
  if (const auto found = branches_.latches.find(block); found != branches_.latches.end()) {
    const DivergentLatch& kind = found->second;
    const MachineOperand condition = as_mask(branch->getCondition());
    pseudo(Pseudo::terminators, 0, {});
    if (kind.leaves_on_true)
      sop(Operation::bit_and_not, mask, exec(), {exec(), condition});
    else
      sop(Operation::bit_and, mask, exec(), {exec(), condition});
    leave(Opcode::s_cbranch_execz, kind.exit);
    return leave(Opcode::s_branch, kind.next);
  }
  // Uniform: SCC has the condition.
  if (bank_of(branch->getCondition()) == Bank::flag || llvm::isa<llvm::Constant>(branch->getCondition())) {
    const MachineOperand flag = value(branch->getCondition());
    pseudo(Pseudo::terminators, 0, {});
    test_flag(flag);
  } else {
    const MachineOperand condition = as_mask(branch->getCondition());
    const MachineOperand unused = fresh_mask();
    pseudo(Pseudo::terminators, 0, {});
    sop(Operation::bit_and, mask, unused, {condition, exec()});
  }
  leave(Opcode::s_cbranch_scc1, branch->getSuccessor(0));
  leave(Opcode::s_branch, branch->getSuccessor(1));
}

void Selector::select(llvm::Instruction& at) {
  if (at.isTerminator()) return terminator(at);
  if (auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&at)) return arithmetic(*binary);
  if (auto* compared = llvm::dyn_cast<llvm::CmpInst>(&at)) return compare(*compared);
  if (auto* cast_ = llvm::dyn_cast<llvm::CastInst>(&at)) return cast(*cast_);
  if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&at)) return intrinsic(*call);
  switch (at.getOpcode()) {
    case llvm::Instruction::PHI:
      return phi(llvm::cast<llvm::PHINode>(at));
    case llvm::Instruction::Select:
      return select_value(llvm::cast<llvm::SelectInst>(at));
    case llvm::Instruction::Load:
      return load(llvm::cast<llvm::LoadInst>(at));
    case llvm::Instruction::Store:
      return store(llvm::cast<llvm::StoreInst>(at));
    case llvm::Instruction::AtomicRMW:
      return atomic(llvm::cast<llvm::AtomicRMWInst>(at));
    case llvm::Instruction::AtomicCmpXchg:
      return compare_exchange(llvm::cast<llvm::AtomicCmpXchgInst>(at));
    case llvm::Instruction::ExtractValue:
      return extract_value(llvm::cast<llvm::ExtractValueInst>(at));
    case llvm::Instruction::Alloca:
      return frame_object(llvm::cast<llvm::AllocaInst>(at));
    case llvm::Instruction::GetElementPtr:
      return address(llvm::cast<llvm::GetElementPtrInst>(at));
    case llvm::Instruction::ExtractElement:
    case llvm::Instruction::InsertElement:
      return elements(at);
    case llvm::Instruction::Freeze:
      if (at.getType()->isIntegerTy(1))
        return copy(result_of(at),
                    bank_of(&at) == Bank::mask ? as_mask(at.getOperand(0)) : as_number(at.getOperand(0)));
      return copy(result_of(at), value(at.getOperand(0)));
    case llvm::Instruction::FNeg: {
      const unsigned dwords = dwords_of(at.getType());
      const MachineOperand source = value(at.getOperand(0)), result = result_of(at);
      if (dwords == 1) {
        const uint32_t sign = at.getType()->isFloatTy() ? 0x80000000 : 0x8000;
        return vop(Operation::bit_xor, Element::b32, result, {source, MachineOperand::constant_of(sign)});
      }
      const MachineOperand high = fresh(RegisterFile::vgpr);
      vop(Operation::bit_xor, Element::b32, high, {part(source, 1), MachineOperand::constant_of(0x80000000)});
      return pseudo(Pseudo::tuple, 1, {result, part(source, 0), high});
    }
    case llvm::Instruction::Fence: {
      const auto& fence = llvm::cast<llvm::FenceInst>(at);
      memory_model::Operation operation =
          memory_operation(at, memory_model::Access::fence, fence.getOrdering(), fence.getSyncScopeID(), 0);
      operation.space = memory_model::Space::all;
      return in_order(at, operation, [] {});
    }
    default:
      refuse(at, at.getOpcodeName());
  }
}

void Selector::entry_registers() {
  // User SGPRs in the order of the descriptor's bits, then the work-group's place (user guide, "Initial Kernel
  // Execution State").
  const target::Processor& processor = *to_.target.processor;
  Operands results, sources;
  uint32_t next = 0;
  const auto take = [&](MachineOperand& to, unsigned dwords) {
    to = fresh(RegisterFile::sgpr, dwords);
    results.push_back(to);
    sources.push_back(MachineOperand::scalar(next, dwords));
    next += dwords;
  };
  const bool has_buffer = to_.inputs.scratch && processor.flat_scratch < target::FlatScratch::absolute;
  const bool has_absolute = to_.inputs.scratch && processor.flat_scratch == target::FlatScratch::absolute;
  MachineOperand scratch_base;
  if (has_buffer) take(scratch_resource_, 4);
  if (to_.inputs.dispatch_ptr) take(dispatch_, 2);
  if (to_.inputs.kernarg_ptr) take(kernarg_, 2);
  if (has_absolute) take(scratch_base, 2);
  if (!processor.architected_work_group_ids) {
    for (unsigned i = 0; i < 3; ++i)
      if (to_.inputs.work_group_id[i]) take(group_ids_[i], 1);
  }
  if (has_buffer || has_absolute) take(scratch_offset_, 1);
  const unsigned ids = processor.packed_work_item_ids ? 1 : to_.inputs.work_item_dimensions;
  work_items_ = fresh(RegisterFile::vgpr, ids);
  {
    results.push_back(work_items_);
    sources.push_back(MachineOperand::vector(0, ids));
  }
  const auto count = static_cast<unsigned>(results.size());
  results.insert(results.end(), sources.begin(), sources.end());
  pseudo(Pseudo::copy, count, std::move(results));
  if (has_absolute) set_flat_scratch(scratch_base);
  if (!processor.architected_work_group_ids) return;
  // TTMP9 has x; TTMP7 has y in the lower and z in the upper half (user guide, "Architected SGPRs").
  group_ids_[0] = fresh(RegisterFile::sgpr);
  copy(group_ids_[0], MachineOperand::scalar(isa::scalar::ttmp0 + 9));
  const MachineOperand both = MachineOperand::scalar(isa::scalar::ttmp0 + 7);
  if (to_.inputs.work_group_id[1]) {
    group_ids_[1] = fresh(RegisterFile::sgpr);
    sop(Operation::bit_and, Element::b32, group_ids_[1], {both, MachineOperand::constant_of(0xFFFF)});
  }
  if (to_.inputs.work_group_id[2]) {
    group_ids_[2] = fresh(RegisterFile::sgpr);
    sop(Operation::lshr, Element::b32, group_ids_[2], {both, MachineOperand::constant_of(16)});
  }
}

void Selector::set_flat_scratch(const MachineOperand& base) {
  // FLAT_SCRATCH is the address of the wave's scratch: that of the queue's and the wave's offset in it. It is an SGPR
  // pair on GFX9 and a hardware register on GFX10 (user guide, "Flat Scratch").
  const bool is_register = to_.target.processor->generation >= Generation::gfx10;
  const MachineOperand pair = MachineOperand::scalar(isa::scalar::flat_scratch_lo, 2);
  const MachineOperand low = is_register ? fresh(RegisterFile::sgpr) : part(pair, 0);
  const MachineOperand high = is_register ? fresh(RegisterFile::sgpr) : part(pair, 1);
  sop(Operation::add, Element::u32, low, {part(base, 0), scratch_offset_});
  sop(Operation::add_carry, Element::u32, high, {part(base, 1), MachineOperand::constant_of(0)});
  if (!is_register) return;
  // hwreg(HW_REG_FLAT_SCR_LO) and _HI, all 32 bits.
  emit(Opcode::s_setreg_b32, 0, {low}).immediate = 31 << 11 | 20;
  emit(Opcode::s_setreg_b32, 0, {high}).immediate = 31 << 11 | 21;
}

void Selector::enter_block(llvm::BasicBlock& block) {
  block_ = blocks_.at(&block);
  if (&block != &from_.getEntryBlock()) return;
  entry_registers();
  // Arguments are in the kernarg segment.
  for (llvm::Argument& argument : from_.args()) {
    if (argument.use_empty()) continue;
    const KernelArgument& at = to_.arguments[argument.getArgNo()];
    const MachineOperand whole = fresh(RegisterFile::sgpr, dwords_of(argument.getType()));
    values_[&argument] = whole;
    unsigned first = 0, left = whole.dwords;
    Operands parts;
    const uint32_t begin = at.offset / 4 * 4;
    const unsigned shift = (at.offset - begin) * 8;
    while (left != 0) {
      const unsigned width = left >= 16 ? 16 : left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
      const Opcode opcode =
          need({.place = Place::smem, .operation = Operation::load, .type = memory_element(width * 4)});
      if (opcode == Opcode::invalid) return;
      const MachineOperand piece = fresh(RegisterFile::sgpr, width);
      emit(opcode, 1, {piece, kernarg_, MachineOperand::left_out()}).offset = static_cast<int32_t>(begin + 4 * first);
      parts.push_back(piece);
      first += width, left -= width;
    }
    if (shift != 0) {
      sop(Operation::lshr, Element::b32, whole, {parts[0], MachineOperand::constant_of(shift)});
    } else {
      parts.insert(parts.begin(), whole);
      pseudo(Pseudo::tuple, 1, std::move(parts));
    }
  }
}

Result<void> Selector::run() {
  assign_banks();
  llvm::ReversePostOrderTraversal<llvm::Function*> order(&from_);
  for (llvm::BasicBlock* block : order) {
    blocks_[block] = static_cast<BlockNumber>(to_.blocks.size());
    to_.blocks.emplace_back().name = block->hasName() ? block->getName().str() : fmt::format("bb{}", blocks_.at(block));
  }
  for (const auto& [head, kind] : branches_.ifs) saved_exec_[kind.join] = fresh_mask();
  for (const auto& [latch, kind] : branches_.latches) {
    saved_exec_[kind.exit] = fresh_mask();
    loop_exec_[kind.preheader] = saved_exec_[kind.exit];
  }
  for (llvm::BasicBlock* block : order) {
    enter_block(*block);
    bool is_begin = true;
    for (llvm::Instruction& at : *block) {
      if (is_begin && !llvm::isa<llvm::PHINode>(at)) {
        is_begin = false;
        // EXEC first: what follows is for all lanes that meet here.
        if (const auto saved = saved_exec_.find(block); saved != saved_exec_.end()) copy(exec(), saved->second);
      }
      select(at);
      if (!error_.empty()) return fail(ErrorKind::unsupported, "{}", error_);
    }
    MachineBlock& made = to_.blocks[blocks_.at(block)];
    for (llvm::BasicBlock* next : llvm::successors(block)) made.successors.push_back(blocks_.at(next));
    for (llvm::BasicBlock* before : llvm::predecessors(block))
      if (blocks_.contains(before)) made.predecessors.push_back(blocks_.at(before));
  }
  // Sources of phis. Conditions are numbers there; what that takes is put before the terminators of the predecessor.
  for (llvm::BasicBlock* block : order) {
    size_t at = 0;
    for (llvm::PHINode& each : block->phis()) {
      for (unsigned i = 0; i < each.getNumIncomingValues(); ++i) {
        const BlockNumber before = blocks_.at(each.getIncomingBlock(i));
        auto& into = to_.blocks[before].instructions;
        std::vector<MachineInstruction> tail;
        const auto end = std::ranges::find_if(into, [](const auto& x) { return x.pseudo == Pseudo::terminators; });
        tail.assign(std::make_move_iterator(end), std::make_move_iterator(into.end()));
        into.erase(end, into.end());
        block_ = before;
        MachineOperand source =
            each.getType()->isIntegerTy(1) ? as_number(each.getIncomingValue(i)) : value(each.getIncomingValue(i));
        if (source.is_constant()) {
          // Constants are copied by the copy that takes the phi's place.
          source.dwords = static_cast<uint8_t>(dwords_of(each.getType()));
        }
        auto& again = to_.blocks[before].instructions;
        again.insert(again.end(), std::make_move_iterator(tail.begin()), std::make_move_iterator(tail.end()));
        MachineInstruction& phi = to_.blocks[blocks_.at(block)].instructions[at];
        phi.operands.push_back(source);
        phi.operands.push_back(MachineOperand::block_of(before));
      }
      ++at;
    }
  }
  if (!error_.empty()) return fail(ErrorKind::unsupported, "{}", error_);
  return {};
}

}  // namespace Atoll::codegen

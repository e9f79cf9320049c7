// codegen: instruction selection: LLVM IR of a kernel, structured and prepared, to machine IR in SSA form.
//
// Divergence comes first: each value gets a bank before any instruction is chosen. A value that is the same in all
// lanes and can be computed by the scalar ALU or loaded by scalar memory is in SGPRs; all others are in VGPRs. A
// condition is a lane mask (a bit for each lane in SGPRs) or, if the scalar ALU computes it, a flag (0 or 1 in an
// SGPR). A condition that crosses the join of divergent paths is 0 or 1 in a VGPR.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/address_space.h"
#include "codegen/control_flow.h"
#include "codegen/instruction_choice.h"
#include "codegen/machine_ir.h"
#include "memory_model/sequence.h"
#include "support/error.h"

namespace Atoll::codegen {

/// The type of a load or store of that many bytes; none if no instruction has it.
isa::Element memory_element(unsigned bytes);
isa::Element float_type(const llvm::Type* type);

/// Returns whether one instruction computes the atomic operation.
bool has_atomic_instruction(const llvm::AtomicRMWInst& instruction, const llvm::DataLayout& layout);

enum class Bank : uint8_t { none, sgpr, vgpr, mask, flag };

class Selector {
 public:
  Selector(llvm::Function& function, MachineFunction& to, const InstructionChoice& choice,
           llvm::UniformityInfo& uniformity, const DivergentBranches& branches);

  support::Result<void> run();

 private:
  using Operands = std::vector<MachineOperand>;

  // Banks.
  void assign_banks();
  Bank bank_of(const llvm::Instruction& instruction) const;
  Bank bank_of(const llvm::Value* value) const;
  bool is_scalar(const llvm::Value* value) const;
  bool is_scalar_load(const llvm::LoadInst& load) const;
  bool is_uniform(const llvm::Instruction& instruction) const { return !uniformity_.isDivergent(&instruction); }

  // Registers.
  RegisterClass register_class(RegisterFile file, unsigned dwords) const;
  MachineOperand fresh(RegisterFile file, unsigned dwords = 1);
  MachineOperand fresh_mask() { return fresh(RegisterFile::sgpr, to_.lane_mask_dwords()); }
  MachineOperand result_of(const llvm::Value& value);
  unsigned dwords_of(llvm::Type* type) const;
  MachineOperand exec() const;

  // Values as operands.
  MachineOperand value(const llvm::Value* value);
  MachineOperand constant(const llvm::Constant& constant);
  MachineOperand in_vgprs(MachineOperand operand, unsigned dwords);
  MachineOperand in_sgprs(MachineOperand operand, unsigned dwords);
  /// Copies VGPRs of the first active lane into SGPRs.
  MachineOperand read_first_lane(const MachineOperand& operand);
  MachineOperand vector(const llvm::Value* each) { return in_vgprs(value(each), dwords_of(each->getType())); }
  MachineOperand part(const MachineOperand& operand, unsigned first, unsigned count = 1) const;
  MachineOperand as_mask(const llvm::Value* condition);
  MachineOperand as_number(const llvm::Value* condition);

  // Instructions.
  MachineInstruction& emit(isa::Opcode opcode, unsigned definitions, Operands operands);
  void pseudo(Pseudo kind, unsigned definitions, Operands operands);
  void copy(MachineOperand to, MachineOperand from);
  /// A vector instruction: moves sources into VGPRs where the instruction cannot read so many scalars or literals.
  void vector_instruction(isa::Opcode opcode, const MachineOperand& result, Operands sources);
  void scalar_instruction(isa::Opcode opcode, const MachineOperand& result, Operands sources);
  isa::Opcode need(Choice choice);
  /// Returns the vector comparison of that type.
  isa::Opcode vector_comparison(isa::Predicate predicate, isa::Element type);
  /// Compares an SGPR with 0: SCC is whether they differ.
  void test_flag(const MachineOperand& flag);
  isa::Element mask_element() const { return to_.lane_mask_dwords() == 2 ? isa::Element::b64 : isa::Element::b32; }
  void vop(isa::Operation operation, isa::Element type, const MachineOperand& result, Operands sources,
           isa::Element from = isa::Element::none);
  void sop(isa::Operation operation, isa::Element type, const MachineOperand& result, Operands sources,
           isa::Element from = isa::Element::none);
  MachineOperand tuple(RegisterFile file, Operands parts);

  // Kinds of instructions.
  void select(llvm::Instruction& instruction);
  void arithmetic(llvm::BinaryOperator& instruction);
  void integer(unsigned opcode, const llvm::Instruction& at, const llvm::Value* left, const llvm::Value* right);
  void wide_integer(unsigned opcode, const llvm::Instruction& at, const llvm::Value* left, const llvm::Value* right);
  void floating(const llvm::Instruction& at, isa::Operation operation, std::span<const llvm::Value* const> sources);
  void logic_of_conditions(llvm::BinaryOperator& instruction);
  void compare(llvm::CmpInst& instruction);
  void select_value(llvm::SelectInst& instruction);
  void cast(llvm::CastInst& instruction);
  void address(llvm::GetElementPtrInst& instruction);
  void phi(llvm::PHINode& instruction);
  void elements(llvm::Instruction& instruction);
  void load(llvm::LoadInst& instruction);
  void plain_load(llvm::LoadInst& instruction);
  void plain_store(llvm::StoreInst& instruction);
  void store(llvm::StoreInst& instruction);
  void atomic(llvm::AtomicRMWInst& instruction);
  void compare_exchange(llvm::AtomicCmpXchgInst& instruction);
  void atomic_instruction(const llvm::Instruction& at, const llvm::Value* pointer, Operands data,
                          const MachineOperand& old, Choice choice);
  void extract_value(llvm::ExtractValueInst& instruction);
  void intrinsic(llvm::IntrinsicInst& instruction);
  void plain_intrinsic(llvm::IntrinsicInst& instruction, isa::Operation operation, isa::Element type);
  void terminator(llvm::Instruction& instruction);
  /// The product of an index and a constant, as wide as the address.
  MachineOperand scaled(const MachineOperand& index, uint64_t by, unsigned dwords, RegisterFile file);
  void add_offset(const MachineOperand& result, Bank bank, unsigned dwords, MachineOperand base, MachineOperand offset);
  MachineOperand extended(const llvm::Value* each, unsigned dwords, bool is_signed, RegisterFile file);
  void enter_block(llvm::BasicBlock& block);
  void entry_registers();
  void set_flat_scratch(const MachineOperand& base);
  void frame_object(llvm::AllocaInst& instruction);
  void refuse(const llvm::Value& at, std::string_view what);

  // The memory model.
  memory_model::Operation memory_operation(const llvm::Instruction& at, memory_model::Access access,
                                           llvm::AtomicOrdering ordering, llvm::SyncScope::ID scope,
                                           unsigned address_space);
  /// Emits the access with what the operation needs before and behind it.
  void in_order(const llvm::Instruction& at, const memory_model::Operation& operation,
                const std::function<void()>& access);
  void cache_operation(const std::string& text);
  /// Sets the modifiers that the access has in an example of it, as assembly text.
  void set_cache_policy(MachineInstruction& to, const std::string& example);

  struct Address {
    MachineOperand base;
    int32_t offset = 0;
  };
  /// Splits a constant off the address, such that it and `bytes` after it can be encoded.
  Address address_of(const llvm::Value* pointer, unsigned bytes);
  /// Returns the greatest immediate offset of accesses to an address space.
  int64_t greatest_offset(unsigned space) const;
  /// Moves the address on by that many bytes.
  void advance(Address& address, unsigned bytes, unsigned space);
  /// Returns how many bytes of a wide access one instruction moves.
  unsigned piece_of(unsigned bytes, uint64_t align, unsigned space) const;
  /// Returns the address of the aperture of LDS or private memory.
  MachineOperand aperture(unsigned space);
  /// Returns the flat address of a pointer to LDS or private memory. `is_object`: it is not null.
  MachineOperand to_flat(const MachineOperand& pointer, unsigned space, bool is_object);
  RegisterFile file_of(const MachineOperand& operand) const { return to_.registers[operand.reg].file; }
  void global_buffer_memory(bool loads, const Address& address, const MachineOperand& data, isa::Element element);
  void private_memory(bool loads, const Address& address, const MachineOperand& data, unsigned bytes,
                      isa::Element element);
  void memory(bool loads, const Address& address, const MachineOperand& data, unsigned bytes, unsigned space);

  llvm::Function& from_;
  MachineFunction& to_;
  const InstructionChoice& choice_;
  llvm::UniformityInfo& uniformity_;
  const DivergentBranches& branches_;
  const llvm::DataLayout& layout_;
  bool even_tuples_ = false, has_vector_literals_ = false;
  unsigned scalar_inputs_ = 1;
  llvm::DenseMap<const llvm::Value*, Bank> banks_;
  llvm::DenseMap<const llvm::Value*, MachineOperand> values_;
  llvm::DenseMap<const llvm::Value*, std::array<MachineOperand, 2>> pairs_;  ///< of instructions with two results
  llvm::DenseMap<const llvm::BasicBlock*, BlockNumber> blocks_;
  llvm::DenseMap<const llvm::BasicBlock*, MachineOperand> saved_exec_;  ///< by block that restores it
  llvm::DenseMap<const llvm::BasicBlock*, MachineOperand> loop_exec_;   ///< by preheader
  BlockNumber block_ = 0;
  MachineOperand kernarg_, dispatch_, work_items_, group_ids_[3], scratch_resource_, scratch_offset_;
  std::string error_;
};

}  // namespace Atoll::codegen

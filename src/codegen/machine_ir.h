// codegen: the machine IR: functions of basic blocks of target instructions, over virtual registers and, after register
// allocation, over physical ones.
//
// Selection makes it in SSA form: a virtual register has one definition, and phis stand at the begin of blocks. Phi
// elimination ends that form. An instruction names an Opcode of the instruction table, and has its operands in the
// order of the table's row: results first. Pseudos are what no single instruction is: phis, copies, tuples put
// together. EXEC is explicit: instructions that change it name it as an operand. SCC is not an operand: an instruction
// that reads it follows the one that writes it, and only copies without an effect on SCC come between.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isa/instruction.h"
#include "isa/opcode.h"
#include "target/target.h"

namespace Atoll::codegen {

enum class RegisterFile : uint8_t { sgpr, vgpr };

/// A tuple of consecutive 32-bit registers. `align` is in registers: SGPR pairs begin at even numbers, wider SGPR
/// tuples at multiples of four; VGPR tuples at even numbers where the processor requires it.
struct RegisterClass {
  RegisterFile file = RegisterFile::vgpr;
  uint8_t dwords = 1;
  uint8_t align = 1;
  friend bool operator==(const RegisterClass&, const RegisterClass&) = default;
};

using VirtualRegister = uint32_t;
using BlockNumber = uint32_t;

struct MachineOperand {
  enum class Kind : uint8_t {
    none,
    virtual_register,
    sgpr,      ///< physical: `reg` is a number of namespace isa::scalar
    vgpr,      ///< physical
    constant,  ///< `value`, as the operand's type sees it
    block,     ///< of a branch or a phi
    off,       ///< an address operand that is left out
    aperture,  ///< `reg` is an isa::OperandKind: shared_base or private_base
  };
  Kind kind = Kind::none;
  bool neg = false, abs = false;
  uint8_t first = 0, dwords = 0;  ///< of a virtual register: the part that is meant
  uint32_t reg = 0;
  uint64_t value = 0;

  bool is_virtual() const { return kind == Kind::virtual_register; }
  bool is_constant() const { return kind == Kind::constant; }
  bool is_physical() const { return kind == Kind::sgpr || kind == Kind::vgpr; }
  /// Returns the operand for some of its registers.
  MachineOperand part(unsigned begin, unsigned count = 1) const;

  static MachineOperand constant_of(uint64_t value) { return {.kind = Kind::constant, .value = value}; }
  static MachineOperand block_of(BlockNumber block) { return {.kind = Kind::block, .reg = block}; }
  static MachineOperand scalar(uint32_t reg, unsigned dwords = 1) {
    return {.kind = Kind::sgpr, .dwords = static_cast<uint8_t>(dwords), .reg = reg};
  }
  static MachineOperand vector(uint32_t reg, unsigned dwords = 1) {
    return {.kind = Kind::vgpr, .dwords = static_cast<uint8_t>(dwords), .reg = reg};
  }
  static MachineOperand aperture_of(isa::OperandKind kind) {
    return {.kind = Kind::aperture, .dwords = 2, .reg = static_cast<uint32_t>(kind)};
  }
  static MachineOperand left_out() { return {.kind = Kind::off}; }
};

enum class Pseudo : uint8_t {
  none,         ///< a real instruction
  phi,          ///< result, then a value and a block for each predecessor
  copy,         ///< results, then as many sources of the same widths, all read before any is written
  cache,        ///< an operation on caches: its number in MachineFunction::texts
  address,      ///< result, an SGPR pair; the symbol's number in MachineFunction::symbols
  tuple,        ///< result, then its parts from the lowest register on, none of which may overlap it
  terminators,  ///< the branches of the block, and what changes EXEC with them, begin here
};

struct MachineInstruction {
  isa::Opcode opcode = isa::Opcode::invalid;
  Pseudo pseudo = Pseudo::none;
  uint8_t definitions = 0;
  bool clamp = false, glc = false, slc = false, dlc = false, scc = false;
  bool offen = false, addr64 = false;    ///< of buffer instructions: what the address register holds
  uint8_t scope = 0, temporal_hint = 0;  ///< of memory instructions from GFX12 on
  uint16_t immediate = 0;                ///< SIMM16
  int32_t offset = 0;                    ///< of memory instructions
  std::vector<MachineOperand> operands;
};

struct MachineBlock {
  std::string name;
  std::vector<MachineInstruction> instructions;
  std::vector<BlockNumber> successors, predecessors;
  uint32_t loop_depth = 0;
};

struct KernelArgument {
  std::string name;
  std::string kind;           ///< .value_kind of the metadata
  std::string address_space;  ///< of a pointer: "global", "constant", "local"; else empty
  std::string type_name;      ///< in OpenCL; may be empty
  bool is_const = false, is_restrict = false, is_volatile = false;
  uint32_t offset = 0, size = 0;
};

/// Registers that the hardware sets before a kernel begins (user guide, "Initial Kernel Execution State").
struct KernelInputs {
  bool dispatch_ptr = false, kernarg_ptr = false, dispatch_id = false;
  bool scratch = false;  ///< what the processor needs to address private memory
  bool work_group_id[3] = {true, false, false};
  uint8_t work_item_dimensions = 1;
};

struct MachineFunction {
  std::string name;
  target::Target target;
  std::vector<RegisterClass> registers;  ///< by virtual register
  std::vector<MachineBlock> blocks;      ///< in the order of their addresses; the first is the entry
  KernelInputs inputs;
  std::vector<KernelArgument> arguments;
  uint32_t kernarg_bytes = 0, kernarg_align = 8, lds_bytes = 0, scratch_bytes = 0, max_work_group_size = 1024;
  uint32_t required_work_group_size[3] = {0, 0, 0};
  std::vector<std::string> symbols;  ///< whose addresses are used
  std::vector<std::string> texts;    ///< instructions without registers, as assembly text
  uint32_t sgprs = 0, vgprs = 0;     ///< that are used, after allocation

  VirtualRegister add(RegisterClass register_class) {
    registers.push_back(register_class);
    return static_cast<VirtualRegister>(registers.size() - 1);
  }
  MachineOperand operand(VirtualRegister reg) const {
    return {.kind = MachineOperand::Kind::virtual_register, .dwords = registers[reg].dwords, .reg = reg};
  }
  unsigned lane_mask_dwords() const { return target.wave_size / 32; }
};

/// Returns the function as text: blocks with their predecessors, one instruction in a line.
std::string print(const MachineFunction& function);
std::string print(const MachineFunction& function, const MachineInstruction& instruction);

/// Returns what is wrong with the function, a line each; empty if nothing is. Checks operand counts and register files
/// against the instruction table, that blocks end in terminators and agree with their successors, and, `is_ssa`, that
/// each virtual register has one definition, which dominates its uses.
std::string validate(const MachineFunction& function, bool is_ssa);

}  // namespace Atoll::codegen

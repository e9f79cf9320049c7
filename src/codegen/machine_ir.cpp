// codegen: the machine IR as text, and what is checked of it.
#include "codegen/machine_ir.h"

#include <fmt/format.h>

#include "isa/print.h"
#include "isa/table.h"

namespace Atoll::codegen {

MachineOperand MachineOperand::part(unsigned begin, unsigned count) const {
  MachineOperand some = *this;
  switch (kind) {
    case Kind::constant:
      some.value = count == 2 ? value : value >> (32 * begin) & UINT32_MAX;
      break;
    case Kind::virtual_register:
      some.first = static_cast<uint8_t>(first + begin);
      some.dwords = static_cast<uint8_t>(count);
      break;
    case Kind::sgpr:
    case Kind::vgpr:
      some.reg = reg + begin;
      some.dwords = static_cast<uint8_t>(count);
      break;
    default:
      break;
  }
  return some;
}

namespace {

std::string text_of(const MachineFunction& function, const MachineOperand& operand) {
  using enum MachineOperand::Kind;
  std::string text;
  switch (operand.kind) {
    case none:
      return "none";
    case virtual_register: {
      const RegisterClass& known = function.registers[operand.reg];
      text = fmt::format("%{}:{}{}", operand.reg, known.file == RegisterFile::sgpr ? 's' : 'v', known.dwords);
      if (operand.dwords != known.dwords || operand.first != 0)
        text += fmt::format("[{}:{}]", operand.first, operand.first + operand.dwords - 1);
      break;
    }
    case sgpr:
      text = operand.reg == isa::scalar::exec_lo  ? "exec"
             : operand.reg == isa::scalar::vcc_lo ? "vcc"
             : operand.reg == isa::scalar::m0     ? "m0"
                                              : fmt::format("s[{}:{}]", operand.reg, operand.reg + operand.dwords - 1);
      break;
    case vgpr:
      text = fmt::format("v[{}:{}]", operand.reg, operand.reg + operand.dwords - 1);
      break;
    case constant:
      text = fmt::format("{:#x}", operand.value);
      break;
    case block:
      text = fmt::format("block {}", operand.reg);
      break;
    case aperture:
      text = operand.reg == static_cast<uint32_t>(isa::OperandKind::shared_base) ? "shared_base" : "private_base";
      break;
    case off:
      text = "off";
      break;
  }
  if (operand.abs) text = fmt::format("|{}|", text);
  return operand.neg ? "-" + text : text;
}

constexpr const char* pseudo_names[] = {"", "phi", "copy", "cache", "address", "tuple", "terminators"};

}  // namespace

std::string print(const MachineFunction& function, const MachineInstruction& at) {
  std::string text;
  for (unsigned i = 0; i < at.definitions; ++i) text += (i == 0 ? "" : ", ") + text_of(function, at.operands[i]);
  if (at.definitions != 0) text += " = ";
  text += at.pseudo == Pseudo::none ? isa::mnemonic(at.opcode) : pseudo_names[static_cast<size_t>(at.pseudo)];
  for (size_t i = at.definitions; i < at.operands.size(); ++i)
    text += (i == at.definitions ? " " : ", ") + text_of(function, at.operands[i]);
  if (at.offset != 0) text += fmt::format(" offset:{}", at.offset);
  return text;
}

std::string print(const MachineFunction& function) {
  std::string text = fmt::format("function {} for {}, waves of {}\n", function.name, function.target.processor->name,
                                 function.target.wave_size);
  for (size_t number = 0; number < function.blocks.size(); ++number) {
    const MachineBlock& block = function.blocks[number];
    text += fmt::format("block {} ({}), after", number, block.name);
    for (const BlockNumber each : block.predecessors) text += fmt::format(" {}", each);
    text += ":\n";
    for (const MachineInstruction& each : block.instructions) text += "  " + print(function, each) + "\n";
  }
  return text;
}

std::string validate(const MachineFunction& function, bool is_ssa) {
  std::string wrong;
  std::vector<unsigned> definitions(function.registers.size());
  for (size_t number = 0; number < function.blocks.size(); ++number) {
    const MachineBlock& block = function.blocks[number];
    const auto complain = [&](const MachineInstruction& at, std::string_view what) {
      wrong += fmt::format("block {}: {}: {}\n", number, print(function, at), what);
    };
    if (block.instructions.empty()) wrong += fmt::format("block {} is empty\n", number);
    for (const MachineInstruction& at : block.instructions) {
      for (size_t i = 0; i < at.operands.size(); ++i) {
        const MachineOperand& operand = at.operands[i];
        if (!operand.is_virtual()) continue;
        if (operand.reg >= function.registers.size()) {
          complain(at, "unknown register");
          continue;
        }
        if (operand.first + operand.dwords > function.registers[operand.reg].dwords)
          complain(at, fmt::format("operand {} goes beyond its register", i));
        if (i < at.definitions) ++definitions[operand.reg];
      }
      if (at.pseudo != Pseudo::none) continue;
      const isa::InstructionRow& row = isa::row_on(at.opcode, function.target.processor->generation);
      // An atomic's row begins with the old value, which it returns if asked to.
      const size_t skipped = row.operands[0].field == isa::Field::flat_return && !at.glc ? 1 : 0;
      for (size_t i = 0; i < at.operands.size() && i + skipped < row.operands.size(); ++i) {
        const isa::OperandSpec& spec = row.operands[i + skipped];
        const MachineOperand& operand = at.operands[i];
        const bool is_mask = spec.type == isa::DataType::lane_mask;
        unsigned expected = is_mask ? function.lane_mask_dwords() : isa::words_of(spec.type);
        // The table has the widest form of these addresses.
        if (row.encoding == isa::Encoding::scratch && spec.field == isa::Field::flat_address) expected = 1;
        if (at.addr64 && spec.field == isa::Field::buffer_address) expected = 2;
        if ((operand.is_virtual() || operand.is_physical()) && spec.field != isa::Field::none &&
            operand.dwords != expected)
          complain(at, fmt::format("operand {} has {} registers, not {}", i, operand.dwords, expected));
      }
    }
  }
  if (is_ssa)
    for (size_t reg = 0; reg < definitions.size(); ++reg)
      if (definitions[reg] > 1) wrong += fmt::format("%{} has {} definitions\n", reg, definitions[reg]);
  return wrong;
}

}  // namespace Atoll::codegen

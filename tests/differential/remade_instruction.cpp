// Random instructions of GFX10 and later (random_instruction.h): one of the pool (instruction_pool.h), with registers
// that programs use, and the addresses that memory instructions have here.
#include <algorithm>
#include <cstring>

#include "differential/instruction_pool.h"
#include "differential/random_instruction.h"
#include "isa/encode.h"

namespace Atoll::test {

namespace {

using isa::Encoding;
using isa::Instruction;
using isa::Operand;
using isa::OperandKind;

bool is_row(const Operand& operand) { return operand.kind == OperandKind::vgpr || operand.kind == OperandKind::agpr; }

/// Takes back what changes operands and results, as most instructions of a program have none of it.
void clear_modifiers(Instruction& instruction) {
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    Operand& operand = instruction.operands[i];
    operand.neg = operand.abs = operand.neg_hi = operand.sext = false;
    if (!operand.half) operand.op_sel = false;
    if (instruction.encoding == Encoding::vop3p) operand.op_sel_hi = true;
  }
  instruction.clamp = instruction.op_sel_dst = false;
  instruction.omod = 0;
}

}  // namespace

void RandomInstruction::remake_registers(Instruction& instruction) {
  const bool is_dual = instruction.encoding == Encoding::vopd;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    Operand& operand = instruction.operands[i];
    if (is_row(operand)) {
      // Halves of dual instructions need registers of different banks.
      operand.reg = static_cast<uint16_t>(is_dual ? vgpr() / 4 * 4 + operand.reg % 4 : vgpr());
    } else if (operand.kind == OperandKind::scalar && operand.reg != isa::scalar::null) {
      const bool is_result = i < instruction.destinations;
      const unsigned kind = pick(100);
      if (operand.words > 2) {
        operand.reg = static_cast<uint16_t>(pick((fuzz_register::first_kept - operand.words) / 4) * 4);
      } else if (kind < 12) {
        operand.reg = isa::scalar::vcc_lo;
      } else if (kind < 16 || (kind < 30 && !is_result && operand.type == isa::DataType::lane_mask)) {
        operand.reg = isa::scalar::exec_lo;
      } else if (kind < 18 && operand.words == 1) {
        operand.reg = is_result ? isa::scalar::m0 : isa::scalar::vcc_hi;
      } else {
        operand.reg = static_cast<uint16_t>(pick(fuzz_register::first_kept / 2) * 2);
        if (operand.words == 1 && chance(50)) ++operand.reg;
      }
    }
  }
}

/// False: an access of a kind that is not made.
bool RandomInstruction::remake_address(Instruction& instruction, std::vector<uint32_t>& words) {
  instruction.lds = instruction.gds = instruction.tfe = false;
  const auto set_scalar = [](Operand& operand, unsigned reg) {
    if (operand.kind == OperandKind::scalar && operand.reg != isa::scalar::null)
      operand.reg = static_cast<uint16_t>(reg);
  };
  switch (instruction.encoding) {
    case Encoding::smem: {
      if (instruction.operand_count < 2) return true;
      set_scalar(instruction.operands[1],
                 instruction.operands[1].words == 4 ? fuzz_register::resource : fuzz_register::buffer);
      for (unsigned i = 2; i < instruction.operand_count; ++i)
        set_scalar(instruction.operands[i], fuzz_register::private_offset);
      instruction.offset = instruction.offset_immediate ? static_cast<int32_t>(pick(1024) * 4) : 0;
      return true;
    }
    case Encoding::flat:
    case Encoding::global:
    case Encoding::scratch: {
      if (instruction.sources() == 0) return true;
      Operand& address = instruction.operands[instruction.destinations];
      Operand* base = nullptr;
      for (unsigned i = instruction.destinations + 1u; i < instruction.operand_count; ++i) {
        const OperandKind kind = instruction.operands[i].kind;
        if (kind == OperandKind::scalar || kind == OperandKind::off) base = &instruction.operands[i];
      }
      const bool is_scratch = instruction.encoding == Encoding::scratch;
      if (base != nullptr && base->kind == OperandKind::scalar && !is_scratch && chance(50)) {
        base->kind = OperandKind::off;
        base->words = 0;
        address.words = 2;
      }
      const bool has_base = base != nullptr && base->kind == OperandKind::scalar;
      if (has_base) set_scalar(*base, is_scratch ? fuzz_register::private_offset : fuzz_register::buffer);
      if (address.kind == OperandKind::vgpr) address.reg = fuzz_register::address;
      instruction.offset = static_cast<int32_t>(pick(256) * 8);
      if (is_scratch) {
        instruction.offset = static_cast<int32_t>(chance(80) ? pick(16) * 4 : pick(64));
        set_address(fuzz_register::address, chance(80) ? 0x7C : 0x7F, words);
      } else if (has_base) {
        set_address(fuzz_register::address, instruction.scale_offset ? 0xF8 : 0xFF8, words);
      } else {
        const size_t before = words.size();
        set_flat_address(instruction.encoding == Encoding::flat, words);
        const auto begin = words.begin() + static_cast<ptrdiff_t>(before);
        if (std::find(begin, words.end(), 0x0002'0000u) != words.end()) {  // scratch is small
          instruction.offset = static_cast<int32_t>(pick(32) * 4);
        }
      }
      if (instruction.encoding == Encoding::global && chance(30)) instruction.offset = -instruction.offset;
      return true;
    }
    case Encoding::ds: {
      if (instruction.sources() == 0 || !is_row(instruction.src(0))) return true;
      if (chance(75)) {
        instruction.operands[instruction.destinations].reg = fuzz_register::address;
        set_address(fuzz_register::address, chance(80) ? 0x7F8 : 0xFFC, words);
      }
      if (instruction.opcode != isa::Opcode::ds_swizzle_b32) instruction.offset = static_cast<int32_t>(pick(64));
      return true;
    }
    case Encoding::mubuf:
    case Encoding::mtbuf: {
      if (instruction.operand_count < 4) return true;
      Operand& address = instruction.operands[1];
      const bool to_scratch = instruction.encoding == Encoding::mubuf && !has_banks() && chance(50);
      if (to_scratch && instruction.idxen) return false;
      for (unsigned word = 0; word < address.words && is_row(address); ++word) {
        set_address(fuzz_register::address + word, to_scratch ? 0x7C : 0x1F8, words);
      }
      if (is_row(address)) address.reg = fuzz_register::address;
      set_scalar(instruction.operands[2], to_scratch ? fuzz_register::scratch_resource : fuzz_register::resource);
      set_scalar(instruction.operands[3], to_scratch ? fuzz_register::stack_offset : fuzz_register::private_offset);
      if (instruction.operands[3].kind == OperandKind::constant) instruction.operands[3].value = 0;
      if (!to_scratch && chance(70)) {  // a resource that is computed is not taken for scratch's
        constexpr unsigned last = fuzz_register::resource + 3;
        words.push_back(encode.sop2(isa::Opcode::s_or_b32, last, last, operand_code::zero));
      }
      instruction.offset = static_cast<int32_t>(to_scratch ? pick(32) * 4 : pick(256) * 8);
      return true;
    }
    default:
      return true;
  }
}

std::optional<std::vector<uint32_t>> RandomInstruction::remade(const std::vector<Instruction>& pool) {
  if (pool.empty()) return {};
  Instruction instruction = pool[pick(static_cast<unsigned>(pool.size()))];
  if (!chance(modifiers_)) clear_modifiers(instruction);
  remake_registers(instruction);
  std::vector<uint32_t> words;
  if (!remake_address(instruction, words)) return {};
  const auto encoded = isa::encode(instruction, *target_.processor, target_.wave_size);
  if (!encoded) return {};
  std::vector<uint32_t> last(encoded->size / 4);
  std::memcpy(last.data(), encoded->bytes.data(), encoded->size);
  if (!fits(last, instruction.opcode)) return {};
  // Other banks for this instruction alone, but for an address, which is where it was set.
  const bool has_own_banks = has_banks() && chance(20);
  constexpr uint32_t of_address = 3;
  uint32_t own = pick(256);
  if (isa::row_of(instruction).has(isa::flag::memory)) own = (own & ~of_address) | (banks() & of_address);
  if (has_own_banks) words.push_back(encode.sopp(isa::Opcode::s_set_vgpr_msb, own));
  words.insert(words.end(), last.begin(), last.end());
  if (has_own_banks) words.push_back(encode.sopp(isa::Opcode::s_set_vgpr_msb, banks()));
  return words;
}

}  // namespace Atoll::test

// Classes of operands (isa/operand_class.h) against LLVM: the register class and the operand type of each operand in
// the descriptions of machine instructions (MCOperandInfo), for every opcode value of every processor that LLVM 19's
// disassembler knows, in each wave size.
//
// Operands are paired by the registers that stand in a decoded instruction, so random register numbers reach every
// operand that names registers. Each exception below has its reason.
#include "isa/operand_class.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>

#include <fmt/format.h>

#include "isa/decode.h"
#include "isa/llvm_disassembler.h"
#include "isa/patterns.h"
#include "isa/print.h"
#include "isa/subject.h"

namespace Atoll::isa::test {
namespace {

/// LLVM's description of one operand.
struct OperandDescription {
  std::string name;  ///< of the register class
  bool vgpr = false, agpr = false, scalar = false;
  unsigned words = 0, scalar_alignment = 1;
  bool inline_constant = false, literal = false;
  // The register in the instruction at hand.
  OperandKind kind = OperandKind::none;
  unsigned first = 0, register_words = 0;
};

struct InstructionDescription {
  std::string name;
  size_t size = 0;
  std::vector<OperandDescription> operands;
};

/// LLVM 19's AMDGPU::OperandType (SIDefines.h), counted from the first of a target's own.
struct OperandTypes {
  static constexpr unsigned first = llvm::MCOI::OPERAND_FIRST_TARGET;
  static constexpr unsigned first_inline = first + 15, split_barrier = first_inline + 12, kimm32 = split_barrier + 1,
                            kimm16 = kimm32 + 1, first_agpr = kimm16 + 1, end = first_agpr + 11;
  static bool has_literal(unsigned type) { return (type >= first && type < first_inline) || is_number(type); }
  static bool has_inline(unsigned type) { return type >= first && type < end && !is_number(type); }
  static bool is_number(unsigned type) { return type == kimm32 || type == kimm16; }
};

class Llvm : public LlvmDisassembler {
 public:
  using LlvmDisassembler::LlvmDisassembler;

  std::optional<InstructionDescription> describe(const Bytes& bytes) const {
    llvm::MCInst instruction;
    InstructionDescription result;
    uint64_t size = 0;
    if (!disassemble(bytes, instruction, size)) return std::nullopt;
    const llvm::MCInstrDesc& description = instructions_->get(instruction.getOpcode());
    result.name = instructions_->getName(instruction.getOpcode()).str();
    result.size = size;
    const unsigned count = std::min<unsigned>(instruction.getNumOperands(), description.getNumOperands());
    for (unsigned i = 0; i < count; ++i) {
      const llvm::MCOperandInfo& info = description.operands()[i];
      if (!instruction.getOperand(i).isReg() || instruction.getOperand(i).getReg() == 0 || info.RegClass < 0) continue;
      OperandDescription operand;
      if (!locate(instruction.getOperand(i).getReg(), operand)) continue;
      const llvm::MCRegisterClass& of_class = registers_->getRegClass(static_cast<unsigned>(info.RegClass));
      operand.name = registers_->getRegClassName(&of_class);
      classify(of_class, operand);
      operand.inline_constant = OperandTypes::has_inline(info.OperandType);
      operand.literal = OperandTypes::has_literal(info.OperandType);
      result.operands.push_back(operand);
    }
    return result;
  }

 private:
  /// The 32-bit registers that a register consists of: kind, number of the first, how many. False for those that are in
  /// no file.
  bool locate(unsigned reg, OperandDescription& to) const {
    static const std::regex numbered("(SGPR|VGPR|AGPR|TTMP)([0-9]+)(_LO16|_HI16|_vi|_gfx9plus)?");
    std::set<unsigned> numbers;
    for (const auto part : registers_->subregs_inclusive(reg)) {
      const std::string name = registers_->getName(part);
      std::smatch match;
      if (!std::regex_match(name, match, numbered)) continue;
      to.kind = match[1] == "VGPR" ? OperandKind::vgpr : match[1] == "AGPR" ? OperandKind::agpr : OperandKind::scalar;
      const auto number = static_cast<unsigned>(std::stoul(match[2]));
      numbers.insert(match[1] == "TTMP" ? scalar::ttmp0 + number : number);
    }
    if (numbers.empty()) return false;
    to.first = *numbers.begin();
    to.register_words = static_cast<unsigned>(numbers.size());
    return true;
  }

  /// Which files a register class is of, how wide its registers are, and how those of SGPRs are aligned.
  void classify(const llvm::MCRegisterClass& of_class, OperandDescription& to) const {
    auto [known, is_new] = classes_.try_emplace(of_class.getID());
    if (is_new) {
      OperandDescription& made = known->second;
      unsigned alignment = 4;
      for (const unsigned reg : of_class) {
        OperandDescription one;
        if (!locate(reg, one)) continue;
        made.words = one.register_words;
        made.vgpr |= one.kind == OperandKind::vgpr;
        made.agpr |= one.kind == OperandKind::agpr;
        if (one.kind != OperandKind::scalar || one.first >= scalar::ttmp0) continue;
        made.scalar = true;
        while (one.first % alignment != 0) alignment /= 2;
      }
      made.scalar_alignment = alignment;
    }
    to.vgpr = known->second.vgpr;
    to.agpr = known->second.agpr;
    to.scalar = known->second.scalar;
    to.words = known->second.words;
    to.scalar_alignment = known->second.scalar_alignment;
  }

  mutable std::map<unsigned, OperandDescription> classes_;
};

/// LLVM's description of an operand: that which names the same registers, if there is exactly one.
const OperandDescription* description_of(const Operand& operand, const InstructionDescription& llvm) {
  const OperandDescription* found = nullptr;
  for (const OperandDescription& other : llvm.operands) {
    if (other.kind != operand.kind || other.first != operand.reg || other.register_words != operand.words) continue;
    if (found != nullptr) return nullptr;
    found = &other;
  }
  return found;
}

/// Returns the differences between both classes that matter; empty if there are none.
std::string difference(const Instruction& in, const OpcodeMap& map, const OperandClass& ours,
                       const OperandDescription& llvm) {
  std::string text;
  const auto differ = [&](const char* what, auto a, auto b) {
    if (a != b) text += fmt::format("\n    {}: {}, LLVM's {} has {}", what, a, llvm.name, b);
  };
  const InstructionRow& row = row_of(in);
  // Lane masks have a class without a width; the register at hand has that of the wave size.
  const bool is_mask = llvm.name.starts_with("SReg_1");
  // The modifiers of an image determine its widths.
  if (ours.words != 0) differ("words", unsigned{ours.words}, is_mask ? llvm.register_words : llvm.words);
  // An MFMA has a description for results in each file. Data has classes with both files on all GPUs, but images of
  // GPUs with AGPRs have classes with VGPRs where no instruction has that many components.
  const bool is_one_of_two = llvm.vgpr != llvm.agpr && row.has(flag::matrix);
  const bool is_image = in.encoding == Encoding::mimg || in.encoding == Encoding::vsample;
  if (!is_one_of_two) differ("vgpr", ours.vgpr, llvm.vgpr);
  // AGPRs as operands of global wave sync are a fault of LLVM's.
  const bool is_gws = row.has(flag::gws) && in.encoding == Encoding::ds;
  if (!is_one_of_two && !is_image && !is_gws && map.layout.accumulation_bit) differ("agpr", ours.agpr, llvm.agpr);
  // GFX8's SDWA shares its classes with GFX9's, which has scalar sources, and DPP in VOP3 of GFX11 with GFX11.5's.
  const bool is_gfx8_sdwa = in.extension == Extension::sdwa && !map.layout.scalar_sdwa;
  const bool is_dpp = in.extension == Extension::dpp16 || in.extension == Extension::dpp8;
  if (is_gfx8_sdwa || (is_dpp && !map.layout.scalar_dpp_sources)) return text;
  differ("scalar", ours.scalar, llvm.scalar);
  if (ours.scalar && llvm.scalar && !is_mask) {
    differ("alignment", unsigned{ours.scalar_alignment}, llvm.scalar_alignment);
  }
  differ("inline constant", ours.inline_constant, llvm.inline_constant);
  // Types of operands are those of all generations: in VOP3 only GFX10 and later have literals. LLVM 19's v_fma_mix has
  // none, LLVM 22's has.
  const bool is_vop3 = in.encoding == Encoding::vop3 || in.encoding == Encoding::vop3p;
  const bool is_known = (!is_vop3 || map.layout.vector_literals) && !row.has(flag::mix);
  if (is_known) differ("literal", ours.literal, llvm.literal);
  return text;
}

class OperandClassOf : public testing::TestWithParam<Subject> {};

TEST_P(OperandClassOf, EveryOperandIsThatOfLlvm) {
  const Subject& subject = GetParam();
  const target::Processor& processor = *subject.processor;
  const bool has_wave32 = processor.has_wave_size(32);
  const unsigned wave_size = subject.wave_size != 0 ? subject.wave_size : has_wave32 ? 32 : 64;
  const OpcodeMap& map = opcode_map_of(processor, wave_size);
  const Llvm llvm(processor, has_wave32 ? wave_size : 0);
  std::map<std::pair<Opcode, unsigned>, std::string> different;
  std::set<std::pair<Opcode, unsigned>> equal;
  for (const Bytes& bytes : patterns(processor, 6, 5)) {
    const auto instruction = decode(bytes, processor, wave_size);
    if (!instruction || instruction->second != Opcode::invalid) continue;
    const auto description = llvm.describe(bytes);
    if (!description || description->size != instruction->size) continue;
    // LLVM's split barriers with M0 or a constant are two instructions, whose operands are those of their own.
    if (row_of(*instruction).has(flag::m0_source)) continue;
    for (unsigned i = 0; i < instruction->operand_count; ++i) {
      const OperandDescription* theirs = description_of(instruction->operands[i], *description);
      if (theirs == nullptr) continue;
      const OperandClass ours = operand_class(map, *instruction, i);
      const std::string text = difference(*instruction, map, ours, *theirs);
      if (text.empty()) {
        equal.insert({instruction->opcode, i});
      } else {
        different.try_emplace(
            {instruction->opcode, i},
            fmt::format("{} ({}), operand {}{}", print(*instruction, processor), description->name, i, text));
      }
    }
  }
  for (const auto& [operand, text] : different) ADD_FAILURE() << text;
  std::printf("%s: %zu operands equal\n", subject.name().c_str(), equal.size());
}

// Loads to LDS have no data operand: the operands after it keep their fields.
TEST(OperandClass, LoadsToLdsHaveNoData) {
  const target::Processor& processor = *target::find_processor("gfx90a");
  // buffer_load_dword off, s[8:11], s3 offset:4 lds; global_load_dword v[2:3], off lds (LLVM 22's assembler)
  const Bytes buffer{0x04, 0x00, 0x51, 0xE0, 0x00, 0x00, 0x02, 0x03};
  const Bytes global{0x00, 0xA0, 0x50, 0xDC, 0x02, 0x00, 0x7F, 0x00};
  const auto from_buffer = decode(buffer, processor, 64);
  ASSERT_TRUE(from_buffer && from_buffer->lds);
  const Operand* resource = operand_of(*from_buffer, Field::buffer_resource);
  ASSERT_NE(resource, nullptr);
  EXPECT_EQ(resource->reg, 8);
  EXPECT_EQ(operand_of(*from_buffer, Field::buffer_data), nullptr);
  EXPECT_EQ(operand_of(*from_buffer, Field::buffer_offset)->reg, 3);
  const auto from_global = decode(global, processor, 64);
  ASSERT_TRUE(from_global && from_global->lds);
  const Operand* address = operand_of(*from_global, Field::flat_address);
  ASSERT_NE(address, nullptr);
  EXPECT_EQ(address->kind, OperandKind::vgpr);
  EXPECT_EQ(address->reg, 2);
  EXPECT_EQ(address->words, 2);
}

std::vector<Subject> disassembled_subjects() {
  std::vector<Subject> subjects = all_subjects();
  std::erase_if(subjects, [](const Subject& subject) {
    return subject.processor->generation < target::Generation::gfx8 || !Llvm(*subject.processor, 0).knows_processor();
  });
  return subjects;
}

INSTANTIATE_TEST_SUITE_P(All, OperandClassOf, testing::ValuesIn(disassembled_subjects()),
                         [](const auto& info) { return info.param.name(); });

}  // namespace
}  // namespace Atoll::isa::test

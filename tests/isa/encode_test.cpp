// The encoder against llvm-mc-22: what decode() makes of the sweep's patterns is encoded again, and must have the bytes
// to which the oracle assembles its text. A sample by default; ATOLL_SWEEP and ATOLL_SEED as for the sweep.
#include "isa/encode.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "isa/decode.h"
#include "isa/oracle.h"
#include "isa/oracle_faults.h"
#include "isa/patterns.h"
#include "isa/print.h"
#include "isa/subject.h"

namespace Atoll::isa::test {
namespace {

Bytes encoded(const Instruction& instruction, const target::Processor& processor, unsigned wave_size = 0) {
  const auto result = encode(instruction, processor, wave_size);
  return result ? Bytes(result->view().begin(), result->view().end()) : Bytes();
}

class EncodeSweep : public testing::TestWithParam<Subject> {};

TEST_P(EncodeSweep, EveryInstructionIsEncodedAsByTheOraclesAssembler) {
  const Subject& subject = GetParam();
  const target::Processor& processor = *subject.processor;
  const unsigned wave_size = subject.wave_size;
  const std::string name(processor.name);
  const std::vector<Fault> faults = read_faults();
  std::vector<Instruction> instructions;
  std::vector<std::string> texts;
  for (const Bytes& bytes :
       patterns(processor, from_environment("ATOLL_SWEEP", 6), from_environment("ATOLL_SEED", 1))) {
    const auto instruction = decode(bytes, processor, wave_size);
    if (!instruction) continue;
    instructions.push_back(*instruction);
    texts.push_back(print(*instruction, processor));
  }
  const std::vector<Bytes> answers = assemble(name, texts, subject.features());
  // Two instructions can have the same text, such as the same halves in VOPD and in VOPD3. Then the one that the oracle
  // takes it for must have the oracle's bytes, and the other one must be itself again.
  const auto is_ambiguous = [&](const Instruction& instruction, const std::string& text, const Bytes& atoll,
                                const Bytes& oracle) {
    const auto same = decode(atoll, processor, wave_size), other = decode(oracle, processor, wave_size);
    return same && same->encoding == instruction.encoding && same->size == instruction.size &&
           same->literal == instruction.literal && same->literal_high == instruction.literal_high &&
           print(*same, processor) == text && other && print(*other, processor) == text &&
           encoded(*other, processor, wave_size) == oracle;
  };
  unsigned equal = 0, refused = 0, ambiguous = 0, known = 0, different = 0;
  const unsigned shown = from_environment("ATOLL_SHOWN", 20);
  for (size_t i = 0; i < texts.size(); ++i) {
    const Bytes atoll = encoded(instructions[i], processor, wave_size);
    // Where the oracle has no answer, the instruction must be the same again. Of a compressed export the first and the
    // third source decide; texts of known faults don't say everything.
    if (!atoll.empty() && answers[i].empty() && !instructions[i].compressed &&
        !is_known_of_encoder(faults, name, texts[i])) {
      const auto again = decode(atoll, processor, wave_size);
      const std::string text = again ? print(*again, processor) : "(refused)";
      if (text != texts[i]) ADD_FAILURE() << texts[i] << " is encoded as " << text << ", " << spelled(atoll);
    }
    if (answers[i].empty()) {
      // The oracle disassembles much that it does not assemble, such as two scalar sources where there is one bus.
      ++refused;
    } else if (atoll == answers[i]) {
      ++equal;
    } else if (is_ambiguous(instructions[i], texts[i], atoll, answers[i])) {
      ++ambiguous;
    } else if (is_known_of_encoder(faults, name, texts[i])) {
      ++known;
      // The instruction that the text says is encoded as by the oracle.
      const auto said = decode(answers[i], processor, wave_size);
      EXPECT_TRUE(atoll.empty() || (said && encoded(*said, processor, wave_size) == answers[i])) << texts[i];
    } else if (++different <= shown) {
      const auto error = encode(instructions[i], processor, wave_size);
      ADD_FAILURE() << texts[i] << "\n  oracle: " << spelled(answers[i])
                    << "\n  atoll:  " << (error ? spelled(atoll) : error.error().message);
    }
  }
  std::printf(
      "%s: %zu instructions encoded, %u equal, %u refused by the oracle, %u with the text of others, "
      "%u known faults of the oracle, %u different\n",
      subject.name().c_str(), texts.size(), equal, refused, ambiguous, known, different);
  EXPECT_EQ(different, 0u);
  EXPECT_GT(equal, texts.size() * 3 / 4);
}

INSTANTIATE_TEST_SUITE_P(All, EncodeSweep, testing::ValuesIn(all_subjects()),
                         [](const auto& info) { return info.param.name(); });

TEST(OracleFaults, EachOfTheAssemblerIsStillThere) {
  for (const Fault& fault : read_faults()) {
    if (fault.whose != "assembler" && fault.whose != "text") continue;
    const target::Processor& processor = *target::find_processor(fault.processor);
    const auto instruction = decode(fault.sample, processor);
    ASSERT_TRUE(instruction) << spelled(fault.sample);
    const std::string text = print(*instruction, processor);
    const Bytes oracle = assemble(fault.processor, std::vector{text}).front();
    std::string answer;
    for (const uint8_t byte : oracle) answer += fmt::format("{:02x}", byte);
    EXPECT_EQ(answer.empty() ? "refused" : answer, fault.answer) << text << ":" << fault.reason;
    EXPECT_NE(encoded(*instruction, processor), oracle) << "no difference any more: " << text << ":" << fault.reason;
    EXPECT_TRUE(std::regex_search(fault.processor + ' ' + text, fault.expression)) << text << ":" << fault.reason;
  }
}

Operand vgpr(uint16_t reg, uint8_t words = 1) { return {.kind = OperandKind::vgpr, .words = words, .reg = reg}; }
Operand scalar_register(uint16_t reg, uint8_t words = 1) {
  return {.kind = OperandKind::scalar, .words = words, .reg = reg};
}
Operand constant(uint64_t value) { return {.kind = OperandKind::constant, .value = value}; }

Instruction instruction(Opcode opcode, Encoding encoding, std::initializer_list<Operand> operands) {
  Instruction made;
  made.opcode = opcode;
  made.encoding = encoding;
  for (const Operand& operand : operands) made.operands[made.operand_count++] = operand;
  return made;
}

std::string error_of(const Instruction& instruction, const char* processor) {
  const auto result = encode(instruction, *target::find_processor(processor));
  return result ? "no error" : result.error().message;
}

TEST(Encode, SaysWhatTheEncodingCannotHold) {
  using enum Opcode;
  using E = Encoding;
  EXPECT_EQ(error_of(instruction(v_add_f32, E::vop2, {vgpr(0), vgpr(1), scalar_register(2)}), "gfx900"),
            "v_add_f32: the second source has to be a vector register in VOP2");
  EXPECT_EQ(error_of(instruction(v_add_f32, E::vop3, {vgpr(0), vgpr(1), constant(0x12345678)}), "gfx900"),
            "v_add_f32: literals are not possible in VOP3 on gfx900");
  EXPECT_EQ(error_of(instruction(v_add_f32, E::vop3, {vgpr(0), vgpr(1), constant(0x12345678)}), "gfx1030"), "no error");
  EXPECT_EQ(error_of(instruction(v_add_f32, E::vop2, {vgpr(0), vgpr(1)}), "gfx900"),
            "v_add_f32: the second source is missing");
  EXPECT_EQ(error_of(instruction(v_add_f32, E::sop2, {vgpr(0), vgpr(1), vgpr(2)}), "gfx900"),
            "v_add_f32: gfx900 has no SOP2 form of it");
  EXPECT_EQ(error_of(instruction(s_mov_b64, E::sop1, {scalar_register(1, 2), constant(0)}), "gfx900"),
            "s_mov_b64: the destination has to begin at a register whose number 2 divides");
  EXPECT_EQ(error_of(instruction(s_mov_b64, E::sop1, {scalar_register(2, 2), constant(1ull << 40)}), "gfx900"),
            "s_mov_b64: the first source has more bits than a literal");
  EXPECT_EQ(error_of(instruction(s_mov_b32, E::sop1, {scalar_register(110), constant(0)}), "gfx900"), "no error");
  EXPECT_EQ(error_of(instruction(s_mov_b64, E::sop1, {scalar_register(105, 2), constant(0)}), "gfx1030"),
            "s_mov_b64: the destination has to begin at a register whose number 2 divides");
  EXPECT_EQ(error_of(instruction(s_mov_b32, E::sop1, {scalar_register(103), constant(0)}), "gfx900"),
            "s_mov_b32: the destination is a register that gfx900 does not have");
  EXPECT_EQ(error_of(instruction(s_mov_b32, E::sop1, {scalar_register(scalar::null), constant(0)}), "gfx900"),
            "s_mov_b32: the destination is a register that gfx900 does not have");
  EXPECT_EQ(error_of(instruction(s_add_u32, E::sop2, {scalar_register(0), constant(1000), constant(2000)}), "gfx900"),
            "s_add_u32: an instruction can have one literal only");
  EXPECT_EQ(error_of(instruction(v_pk_fma_f32, E::vop3p, {vgpr(1, 2), vgpr(2, 2), vgpr(4, 2), vgpr(6, 2)}), "gfx90a"),
            "v_pk_fma_f32: the destination has to begin at an even register on gfx90a");

  Instruction clamped = instruction(v_add_f32, E::vop2, {vgpr(0), vgpr(1), vgpr(2)});
  clamped.clamp = true;
  EXPECT_EQ(error_of(clamped, "gfx900"), "v_add_f32: clamp is not possible in VOP2");
  Instruction far = instruction(ds_read_b32, E::ds, {vgpr(0), vgpr(1)});
  far.offset = 65536;
  EXPECT_EQ(error_of(far, "gfx900"), "ds_read_b32: the offset has to be from 0 to 65535, but is 65536");
  Instruction coherent = instruction(global_load_dword, E::global, {vgpr(0), vgpr(1, 2), {.kind = OperandKind::off}});
  EXPECT_EQ(error_of(coherent, "gfx900"), "no error");
  coherent.dlc = true;
  EXPECT_EQ(error_of(coherent, "gfx900"), "global_load_dword: GLOBAL has no dlc on gfx900");
  Instruction dual = instruction(v_mov_b32, E::vopd, {vgpr(0), vgpr(4), vgpr(1), vgpr(8)});
  dual.second = v_mov_b32;
  dual.second_operands = 2;
  EXPECT_EQ(error_of(dual, "gfx1100"),
            "v_mov_b32: the first sources of both halves have to be registers whose numbers differ modulo 4");
}

TEST(Encode, ChoosesInlineConstantsAndLiterals) {
  const auto bytes_of = [](uint64_t value, bool is_literal) {
    Instruction move = instruction(Opcode::s_mov_b32, Encoding::sop1, {scalar_register(0), constant(value)});
    move.operands[1].is_literal = is_literal;
    move.literal = static_cast<uint32_t>(value);
    return encoded(move, *target::find_processor("gfx900"));
  };
  const std::vector<std::string> lines{"s_mov_b32 s0, 64", "s_mov_b32 s0, 65", "s_mov_b32 s0, -16", "s_mov_b32 s0, 1.0",
                                       "s_mov_b32 s0, lit(1)"};
  const std::vector<Bytes> oracle = assemble("gfx900", lines);
  EXPECT_EQ(bytes_of(64, false), oracle[0]);
  EXPECT_EQ(bytes_of(65, false), oracle[1]);
  EXPECT_EQ(bytes_of(uint32_t(-16), false), oracle[2]);
  EXPECT_EQ(bytes_of(uint64_t(int64_t{-16}), false), oracle[2]);
  EXPECT_EQ(bytes_of(0x3F800000, false), oracle[3]);
  EXPECT_EQ(bytes_of(1, true), oracle[4]);
}

// Whatever an Instruction holds, encode() answers, and what it makes is an instruction for decode().
TEST(Encode, TakesAnyInstruction) {
  std::mt19937 random(1);
  unsigned good = 0;
  for (const char* name : {"gfx803", "gfx900", "gfx90a", "gfx950", "gfx1030", "gfx1100", "gfx1250"}) {
    const target::Processor& processor = *target::find_processor(name);
    for (const Bytes& bytes : patterns(processor, 3, 1)) {
      const auto decoded = decode(bytes, processor);
      if (!decoded) continue;
      for (unsigned turn = 0; turn < 20; ++turn) {
        Instruction mutated = *decoded;
        Operand& operand = mutated.operands[random() % mutated.operands.size()];
        switch (random() % 8) {
          case 0:
            operand.kind = static_cast<OperandKind>(random() % 16);
            break;
          case 1:
            operand.reg = static_cast<uint16_t>(random());
            break;
          case 2:
            operand.words = static_cast<uint8_t>(random() % 40);
            break;
          case 3:
            operand.value = random();
            break;
          case 4:
            mutated.opcode = static_cast<Opcode>(random() % (static_cast<unsigned>(Opcode::count) + 10));
            break;
          case 5:
            mutated.encoding = static_cast<Encoding>(random() % 26);
            break;
          case 6:
            mutated.operand_count = static_cast<uint8_t>(random());
            mutated.second = static_cast<Opcode>(random() % (static_cast<unsigned>(Opcode::count) + 10));
            mutated.second_operands = static_cast<uint8_t>(random());
            break;
          default:
            mutated.extension = static_cast<Extension>(random() % 5);
            mutated.address_count = static_cast<uint8_t>(random() % 20);
            mutated.omod = static_cast<uint8_t>(random() % 8);
            mutated.dim = static_cast<uint8_t>(random());
            mutated.offset = static_cast<int32_t>(random());
            mutated.dpp.control = random() % 1024;
            break;
        }
        const Bytes made = encoded(mutated, processor);
        if (made.empty()) continue;
        ++good;
        const auto again = decode(made, processor);
        ASSERT_TRUE(again) << name << ", " << mnemonic(mutated.opcode) << ": " << spelled(made);
        EXPECT_EQ(again->opcode, mutated.opcode) << spelled(made);
        EXPECT_EQ(again->size, made.size()) << spelled(made);
      }
    }
  }
  EXPECT_GT(good, 10'000u);
}

}  // namespace
}  // namespace Atoll::isa::test

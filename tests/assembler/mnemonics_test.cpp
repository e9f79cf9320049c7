// The names of instructions: every mnemonic in the table of llvm-mc-22 on every processor that it knows. Atoll's
// assembler has those that the oracle has there, and no others. Halves of dual instructions are left out, as one of
// them is no instruction. They and the suffixes that a name can have are in the texts of the sweep
// (instruction_sweep_test.cpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "assembler/instruction/mnemonics.h"
#include "assembler/llvm_assembler.h"
#include "isa/oracle.h"
#include "isa/subject.h"
#include "support/llvm_processors.h"

namespace Atoll::isa::test {
namespace {

bool atoll_has(std::string_view mnemonic, const target::Processor& processor) {
  const assembler::Mnemonics& mnemonics = assembler::mnemonics_of(processor, 0);
  const auto found = mnemonics.find(mnemonic);
  return std::ranges::any_of(found.forms,
                             [&](const assembler::Form& form) { return assembler::allows(found.suffix, form); });
}

class MnemonicsOf : public testing::TestWithParam<const char*> {};

TEST_P(MnemonicsOf, AreThoseOfTheOracle) {
  const std::string name = GetParam();
  const target::Processor& processor = *target::find_processor(name);
  std::vector<std::string> lines = oracle_mnemonics();
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("v_dual_"); });
  ASSERT_GT(lines.size(), 2500u);
  const std::vector<Assembled> answers = assemble_and_print(name, lines);
  const std::regex missing(
      "instruction not supported on this GPU.*|.*variant of this instruction is not supported|invalid instruction.*");
  unsigned both = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool oracle_has = !std::regex_match(answers[i].error, missing);
    const bool has = atoll_has(lines[i], processor);
    both += oracle_has && has ? 1 : 0;
    if (oracle_has != has) {
      ADD_FAILURE() << lines[i] << ": only " << (has ? "Atoll" : "the oracle") << " has it " << answers[i].error;
    }
  }
  std::printf("%s: %zu names, %u in both\n", GetParam(), lines.size(), both);
  EXPECT_GT(both, 900u);
}

std::vector<const char*> all_names() {
  std::vector<const char*> names;
  for (const Subject& subject : all_subjects()) {
    const std::string_view name = subject.processor->name;
    if (subject.wave_size == 0 && Atoll::test::is_known_to_llvm(name)) names.push_back(name.data());
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, MnemonicsOf, testing::ValuesIn(all_names()), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(OtherNames, AreAssembledAsByTheOracle) {
  const std::string matrices = R"(
v_accvgpr_read v0, a1
v_accvgpr_write a0, v1
v_mfma_f32_16x16x16bf16 a[0:3], v[0:1], v[0:1], a[0:3]
v_mfma_f32_16x16x16bf16_1k a[0:3], v[0:1], v[0:1], a[0:3]
v_mfma_f32_16x16x1f32 a[0:15], v0, v0, a[0:15]
v_mfma_f32_32x32x4bf16 a[0:31], v[0:1], v[0:1], a[0:31]
v_mfma_f32_32x32x4bf16_1k a[0:31], v[0:1], v[0:1], a[0:31]
v_mfma_f32_4x4x4f16 a[0:3], v[0:1], v[0:1], a[0:3]
v_mfma_f64_4x4x4f64 a[0:1], v[0:1], v[0:1], a[0:1]
v_mfma_i32_16x16x32i8 a[0:3], v[0:1], v[0:1], a[0:3]
v_mul_lo_i32 v0, v1, v2
)";
  Atoll::test::expect_same_object(matrices + "v_mfma_f32_32x32x4xf32 a[0:15], v[0:1], v[0:1], a[0:15]\n", "gfx942");
  Atoll::test::expect_same_object(matrices + R"(
v_mfma_f32_16x16x32bf16 a[0:3], v[0:3], v[0:3], a[0:3]
v_mfma_f32_32x32x16f16 a[0:15], v[0:3], v[0:3], a[0:15]
v_mfma_i32_32x32x32i8 a[0:15], v[0:3], v[0:3], a[0:15]
)",
                                  "gfx950");
  for (const char* gpu : {"gfx600", "gfx701"}) {
    Atoll::test::expect_same_object(
        "v_add_co_u32 v0, vcc, v1, v2\nv_sub_co_u32 v0, s[0:1], v1, v2\nv_subrev_co_u32_e64 v0, vcc, v1, v2\n", gpu);
  }
  for (const char* gpu : {"gfx1100", "gfx1201", "gfx1250"}) {
    Atoll::test::expect_same_object("v_dot4_i32_i8 v0, v1, v2, v3 neg_lo:[1,1,0]\nv_dot8_i32_i4 v0, v1, v2, v3 clamp\n",
                                    gpu);
  }
  for (const char* gpu : {"gfx1201", "gfx1250"}) {
    Atoll::test::expect_same_object(
        "ds_subrev_u32 v0, v1\nds_subrev_u64 v0, v[2:3]\nds_subrev_rtn_u32 v0, v1, v2\n"
        "ds_subrev_rtn_u64 v[0:1], v1, v[2:3]\n",
        gpu);
  }
}

TEST(OtherNames, HaveLettersOfEitherCase) {
  for (const char* gpu : {"gfx803", "gfx90a", "gfx1030", "gfx1100", "gfx1250"}) {
    Atoll::test::expect_same_object(
        "V_ADD_F32 v0, v1, v2\nV_Add_F32_E64 v0, v1, v2\nS_MOV_B32 s0, s1\nS_NOP 0\nDS_ADD_U32 v0, v1\n", gpu);
  }
}

// Registers one by one: special ones, too.
TEST(ListsOfRegisters, AreAssembledAsByTheOracle) {
  const std::string texts = R"(
s_mov_b64 s[0:1], [exec_lo, exec_hi]
s_mov_b64 s[0:1], [vcc_lo,vcc_hi]
s_mov_b64 [vcc_lo,vcc_hi], s[0:1]
s_mov_b64 s[0:1], [ttmp0, ttmp1]
s_mov_b64 s[0:1], [ttmp[0],ttmp[1]]
s_mov_b64 s[0:1], [s2,s3]
s_mov_b64 s[0:1], [s[2:2],s3]
s_mov_b64 s[0:1], [exec]
s_mov_b32 s0, [m0]
s_mov_b32 s0, [exec_lo]
s_mov_b32 s0, [src_scc]
s_mov_b32 s0, ttmp[3]
v_mov_b32 v0, [v1]
s_load_dwordx4 [ttmp4,ttmp5,ttmp6,ttmp7], s[2:3], 0x0
)";
  for (const char* gpu : {"gfx600", "gfx701", "gfx803", "gfx900", "gfx90a", "gfx1030", "gfx1100", "gfx1201"}) {
    Atoll::test::expect_same_object(texts, gpu);
  }
  Atoll::test::expect_same_object(
      "s_mov_b64 s[0:1], [flat_scratch_lo,flat_scratch_hi]\ns_mov_b64 s[0:1], [xnack_mask_lo,xnack_mask_hi]\n"
      "s_mov_b64 s[0:1], [src_shared_base]\n",
      "gfx900");
  Atoll::test::expect_same_object("s_mov_b64 s[0:1], [tba_lo,tba_hi]\ns_mov_b64 s[0:1], [tma_lo,tma_hi]\n", "gfx803");
  Atoll::test::expect_same_object("s_mov_b64 s[0:1], [null]\ns_mov_b32 s0, [null]\n", "gfx1030");
  EXPECT_TRUE(Atoll::test::llvm_assemble("s_mov_b64 s[0:1], [exec_hi,exec_lo]", "gfx900").object.empty());
  EXPECT_TRUE(Atoll::test::atoll_assemble("s_mov_b64 s[0:1], [exec_hi,exec_lo]", "gfx900").object.empty());
}

}  // namespace
}  // namespace Atoll::isa::test

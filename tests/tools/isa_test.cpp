// `atoll isa`: which instructions there are and what their opcodes are, against LLVM's assembler; what differs between
// GPUs; names that there are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "isa/table.h"
#include "support/command.h"
#include "support/llvm_processors.h"
#include "target/processor.h"

namespace Atoll {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

test::CommandResult isa_command(const std::string& arguments) {
  return test::run_command(fmt::format("{} isa {} 2>&1", ATOLL_COMMAND, arguments));
}

json isa_json(const std::string& arguments) {
  const auto run = isa_command(arguments + " --json");
  EXPECT_EQ(run.exit_code, 0) << arguments << "\n" << run.output.substr(0, 500);
  return json::parse(run.output, nullptr, false);
}

/// What a processor has: the names there, each with those of its rows in the instruction table.
std::map<std::string, std::set<std::string>> instructions_on(const std::string& processor) {
  std::map<std::string, std::set<std::string>> instructions;
  for (const auto& each : isa_json("--gpu " + processor)) instructions[each["name"]].insert(each["instruction"]);
  return instructions;
}

/// Of these names, those that LLVM's assembler takes for instructions of the processor: without operands, they are too
/// few for it, or it finds fault with something else.
std::set<std::string> known_to_llvm(const std::set<std::string>& names, const std::string& processor) {
  const test::TemporaryDirectory directory;
  std::string text;
  std::vector<std::string> lines;
  for (const std::string& name : names) {
    text += name + "\n";
    lines.push_back(name);
  }
  test::write_file(directory / "names.s", text);
  const auto run = test::run_command(fmt::format("llvm-mc-22 --arch=amdgcn --mcpu={} --mattr={} {} 2>&1 >/dev/null",
                                                 processor, test::halves_feature(processor), directory / "names.s"));
  std::set<std::string> known = names;
  const std::regex error("names\\.s:([0-9]+):[0-9]+: error: (.*)");
  std::istringstream output(run.output);
  for (std::string line; std::getline(output, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, error)) continue;
    const std::string& message = match[2];
    if (message.starts_with("invalid instruction") || message.find("not supported on this GPU") != std::string::npos) {
      known.erase(lines[std::stoul(match[1]) - 1]);
    }
  }
  return known;
}

class IsaOf : public testing::TestWithParam<std::string> {};

TEST_P(IsaOf, HasTheInstructionsThatLlvmHas) {
  const std::string processor = GetParam();
  // All names on any processor, including those that this one lacks.
  static const std::map<std::string, std::set<std::string>> everything = [] {
    std::map<std::string, std::set<std::string>> rows_of;
    for (const char* each : {"gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950",
                             "gfx1010", "gfx1012", "gfx1030", "gfx1100", "gfx1150", "gfx1201", "gfx1250"}) {
      for (const auto& [name, rows] : instructions_on(each)) rows_of[name].insert(rows.begin(), rows.end());
    }
    return rows_of;
  }();
  ASSERT_GT(everything.size(), 2000u);
  // Names that LLVM's assembler takes for other instructions: v_mul_lo_u32, matrices with their older names, and dot
  // products whose signs are modifiers.
  const std::set<std::string> aliases = {"v_mul_lo_i32", "v_mfma_f32_32x32x4bf16", "v_dot4_i32_i8", "v_dot8_i32_i4"};
  const auto ours = instructions_on(processor);
  std::set<std::string> asked, present;
  for (const auto& [name, rows] : everything) {
    if (name != "v_illegal") asked.insert(name);  // has no text in LLVM
  }
  for (const auto& [name, rows] : ours) present.insert(rows.begin(), rows.end());
  const std::set<std::string> llvm = known_to_llvm(asked, processor);
  for (const std::string& name : asked) {
    if (ours.contains(name)) {
      EXPECT_TRUE(llvm.contains(name)) << processor << " has no " << name << " for LLVM";
    } else if (llvm.contains(name) && !aliases.contains(name)) {
      // An older or newer name of what the processor has.
      const bool has = std::ranges::any_of(everything.at(name), [&](const auto& row) { return present.contains(row); });
      EXPECT_TRUE(has) << processor << " has " << name << " for LLVM";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Llvm, IsaOf,
                         testing::Values("gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950",
                                         "gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1201", "gfx1250"),
                         [](const auto& info) { return std::string(info.param); });

TEST(IsaCommand, HasLlvmsOpcodes) {
  struct Sample {
    const char *name, *text, *encoding;
    unsigned low, bits;  ///< of the opcode
  };
  // Where the opcode is, as the ISA guides' "Microcode Formats" have it for all of these generations but GFX9's VOP3P,
  // MUBUF and FLAT of other generations.
  const Sample samples[] = {
      {"v_perm_b32", "v_perm_b32 v0, v1, v2, v3", "VOP3", 16, 10},
      {"v_add_f32", "v_add_f32_e32 v0, v1, v2", "VOP2", 25, 6},
      {"v_add_f32", "v_add_f32_e64 v0, v1, v2", "VOP3", 16, 10},
      {"v_rcp_f32", "v_rcp_f32_e32 v0, v1", "VOP1", 9, 8},
      {"v_rcp_f32", "v_rcp_f32_e64 v0, v1", "VOP3", 16, 10},
      {"v_cmp_lt_f32", "v_cmp_lt_f32_e32 vcc, v0, v1", "VOPC", 17, 8},
      {"s_and_b64", "s_and_b64 s[0:1], s[2:3], s[4:5]", "SOP2", 23, 7},
      {"s_mov_b32", "s_mov_b32 s0, s1", "SOP1", 8, 8},
      {"s_cmp_eq_u32", "s_cmp_eq_u32 s0, s1", "SOPC", 16, 7},
      {"s_endpgm", "s_endpgm", "SOPP", 16, 7},
      {"s_movk_i32", "s_movk_i32 s0, 1", "SOPK", 23, 5},
      {"v_pk_add_f16", "v_pk_add_f16 v0, v1, v2", "VOP3P", 16, 7},
  };
  for (const char* processor : {"gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"}) {
    // One run of llvm-mc for all samples: it prints one encoding for each line.
    std::string texts;
    for (const Sample& sample : samples) {
      std::string text = sample.text;
      const bool wave32 = std::string_view(processor).starts_with("gfx1");
      if (const size_t at = text.find("vcc,"); at != std::string::npos && wave32) text.replace(at, 3, "vcc_lo");
      texts += text + "\n";
    }
    const auto run = test::run_command(
        fmt::format("echo '{}' | llvm-mc-22 --arch=amdgcn --mcpu={} --show-encoding 2>&1", texts, processor));
    const std::regex encoding("encoding: \\[0x(..),0x(..),0x(..),0x(..)");
    std::sregex_iterator match(run.output.begin(), run.output.end(), encoding);
    ASSERT_EQ(static_cast<size_t>(std::distance(match, {})), std::size(samples)) << run.output;
    for (const Sample& sample : samples) {
      uint32_t word = 0;
      for (unsigned i = 0; i < 4; ++i) {
        word |= static_cast<uint32_t>(std::stoul((*match)[i + 1].str(), nullptr, 16)) << (8 * i);
      }
      ++match;
      const unsigned opcode = word >> sample.low & ((1u << sample.bits) - 1);
      const auto facts = isa_json(fmt::format("{} --gpu {}", sample.name, processor));
      bool found = false;
      for (const auto& each : facts[0]["processors"][0]["encodings"]) {
        found |= each["encoding"] == sample.encoding && each["opcode"] == opcode;
      }
      EXPECT_TRUE(found) << processor << " " << sample.text << ": " << opcode << " " << facts.dump();
    }
  }
}

TEST(IsaCommand, DescribesEveryInstruction) {
  const auto all = isa_json("'*'");
  EXPECT_EQ(all.size(), static_cast<size_t>(isa::Opcode::count) - 1);
  for (const auto& each : all) {
    EXPECT_FALSE(each["description"].get<std::string>().empty()) << each["name"];
    EXPECT_FALSE(each["processors"].empty()) << each["name"];
  }
}

TEST(IsaCommand, SaysWhatAnInstructionIs) {
  const auto perm = isa_command("v_perm_b32");
  EXPECT_EQ(perm.exit_code, 0);
  EXPECT_THAT(perm.output, AllOf(HasSubstr("byte of S2"), HasSubstr("VOP3 0x1ed"), HasSubstr("VOP3 0x344"),
                                 HasSubstr("VOP3 0x244"), HasSubstr("reads      EXEC")));
  const auto carry = isa_json("v_addc_co_u32 --gpu gfx900")[0];
  EXPECT_EQ(carry["instruction"], "v_addc_co_u32");
  const auto& facts = carry["processors"][0];
  EXPECT_EQ(facts["operands"][0]["field"], "vdst");
  EXPECT_EQ(facts["operands"][0]["bits"], 32);
  EXPECT_TRUE(facts["operands"][0]["result"]);
  EXPECT_EQ(facts["operands"][1]["type"], "lane mask");
  EXPECT_TRUE(facts["executed"]);
  const auto add = isa_json("s_addc_u32 --gpu gfx90a")[0]["processors"][0];
  EXPECT_EQ(add["reads"], json::array({"SCC"}));
  EXPECT_EQ(add["writes"], json::array({"SCC"}));
  EXPECT_EQ(add["unit"], "SALU");
  EXPECT_EQ(add["latency_cycles"], 4);
  EXPECT_THAT(isa_command("v_exp_f32 --gpu gfx1030").output,
              HasSubstr("unit       transcendental: 10 cycles, 4 to issue"));
  const auto global = isa_command("ds_ordered_count --gpu gfx1100");
  EXPECT_THAT(global.output, HasSubstr("executed   no: global data share"));
  // A name of another generation, an encoding's suffix, a dual instruction's half.
  EXPECT_THAT(isa_command("ds_load_b32 --gpu gfx1100").output, HasSubstr("ds_read_b32"));
  EXPECT_THAT(isa_command("v_add_f32_e64 --gpu gfx1100").output, HasSubstr("v_add_f32\n"));
  EXPECT_THAT(isa_command("v_dual_mov_b32 --gpu gfx1100").output,
              AllOf(HasSubstr("v_mov_b32\n"), HasSubstr("(v_dual_mov_b32, X and Y)")));
}

TEST(IsaCommand, SuggestsNames) {
  const auto wrong = isa_command("v_addf32");
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.output, AllOf(HasSubstr("there is no instruction 'v_addf32'"), HasSubstr("v_add_f32")));
  EXPECT_EQ(isa_command(std::string(100'000, 'x')).exit_code, 1);
  const auto absent = isa_command("v_dot2_f16_f16 --gpu gfx900");
  EXPECT_EQ(absent.exit_code, 1);
  EXPECT_THAT(absent.output, AllOf(HasSubstr("gfx900 does not have v_dot2_f16_f16"), HasSubstr("gfx1100")));
  EXPECT_EQ(isa_command("").exit_code, 2);
  EXPECT_EQ(isa_command("v_add_f32 --gpu gfx1").exit_code, 2);
  EXPECT_EQ(isa_command("--diff gfx900").exit_code, 2);
  EXPECT_EQ(isa_command("--diff gfx900 nothing").exit_code, 2);
  EXPECT_EQ(isa_command("--diff gfx900 gfx906 --gpu gfx900").exit_code, 2);
  EXPECT_EQ(isa_command("'q*' --gpu gfx900").exit_code, 1);
}

TEST(IsaCommand, ListsByPattern) {
  const auto list = isa_command("'v_wmma_*' --gpu rx7900xtx");
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_EQ(std::ranges::count(list.output, '\n'), 6);
  EXPECT_THAT(list.output, HasSubstr("16x16x16"));
}

TEST(IsaCommand, ComparesProcessors) {
  const auto diff = isa_json("--diff gfx1030 gfx1100");
  std::map<std::string, std::set<std::string>> names;
  for (const char* which : {"came", "went", "changed"}) {
    for (const auto& each : diff[which]) names[which].insert(each["name"].get<std::string>());
  }
  EXPECT_TRUE(names["came"].contains("v_dot2_f16_f16"));
  EXPECT_TRUE(names["went"].contains("v_interp_p1_f32") && names["went"].contains("s_memtime"));
  EXPECT_TRUE(names["changed"].contains("v_perm_b32"));
  EXPECT_TRUE(std::ranges::any_of(
      diff["renamed"], [](const json& each) { return each["from"] == "ds_read_b32" && each["to"] == "ds_load_b32"; }));
  // The sets follow from the lists of each.
  const auto before = instructions_on("gfx1030"), after = instructions_on("gfx1100");
  for (const std::string& name : names["came"]) EXPECT_TRUE(after.contains(name)) << name;
  for (const std::string& name : names["went"]) EXPECT_TRUE(before.contains(name)) << name;
  EXPECT_EQ(before.size() - names["went"].size() + names["came"].size(), after.size());
  EXPECT_THAT(isa_command("--diff gfx1100 gfx1100").output, HasSubstr("gfx1100 has, gfx1100 has not: 0\n"));
}

}  // namespace
}  // namespace Atoll

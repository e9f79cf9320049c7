// `atoll inspect` and `atoll disasm` of code object V2 against clang 15, the last one that makes it: the kernel's
// record as clang 15 writes it in assembly, the notes as llvm-readelf-15 prints them, metadata against that of V3 for
// the same source, and code against llvm-objdump-22, to which the code is given without what makes it V2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <regex>

#include "support/command.h"

namespace Atoll {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* source = R"(
kernel __attribute__((reqd_work_group_size(8, 4, 2)))
void scale(global float* restrict out, float factor, local int* tmp, double more, char c, constant int* table) {
  int i = __builtin_amdgcn_workitem_id_x() + 8 * __builtin_amdgcn_workitem_id_y();
  local int fixed[100];
  volatile int many[20];
  for (int k = 0; k < 20; ++k) many[k] = tmp[k];
  fixed[i] = many[c] + table[__builtin_amdgcn_workgroup_id_z()];
  if (i > 3) out[i] *= factor + (float)more + fixed[63 - i];
}
)";

class CodeObjectV2 : public testing::Test {
 protected:
  void SetUp() override { test::write_file(directory_ / "scale.cl", source); }

  test::CommandResult run(const std::string& command) {
    return test::run_command(fmt::format("cd {} && ({}) 2>&1", directory_.path().string(), command));
  }
  void compile(const std::string& gpu, const std::string& options, const std::string& out, int version = 2) {
    const auto result = run(fmt::format(
        "clang-15 --target=amdgcn-amd-amdhsa -mcpu={} -nogpulib -O2 -mcode-object-version={} -Wno-deprecated "
        "-cl-kernel-arg-info {} scale.cl -o {}",
        gpu, version, options, out));
    ASSERT_EQ(result.exit_code, 0) << result.output;
  }
  json inspect(const std::string& file) {
    const auto result = run(fmt::format("{} inspect {} --json", ATOLL_COMMAND, file));
    EXPECT_EQ(result.exit_code, 0) << result.output;
    const auto parsed = json::parse(result.output, nullptr, false);
    return parsed.is_array() && !parsed.empty() ? parsed[0] : json();
  }

  test::TemporaryDirectory directory_;
};

/// A relocatable object; a linked one is the same but for the addresses.
TEST_F(CodeObjectV2, RecordIsClangs) {
  for (const char* gpu : {"gfx600", "gfx701", "gfx801", "gfx803", "gfx900", "gfx906"}) {
    SCOPED_TRACE(gpu);
    compile(gpu, "-S", "scale.s");
    compile(gpu, "-c", "scale.o");
    const json kernels = inspect("scale.o")["kernels"];
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0]["name"], "scale");
    const std::string assembly = run("cat scale.s").output;
    unsigned compared = 0;
    for (const json& field : kernels[0]["kernel_code"]) {
      std::smatch found;
      const std::regex line(fmt::format("\t{} = (-?\\d+)\n", field["name"].get<std::string>()));
      if (!std::regex_search(assembly, found, line)) continue;  // clang doesn't write it: it is 0
      const unsigned width = field["bits"];
      const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
      EXPECT_EQ(field["value"].get<uint64_t>(), static_cast<uint64_t>(std::stoll(found[1])) & mask) << field;
      ++compared;
    }
    const std::regex any_line("\t[a-z_0-9]+ = -?\\d+\n");
    EXPECT_EQ(compared, std::distance(std::sregex_iterator(assembly.begin(), assembly.end(), any_line), {}));
    EXPECT_GT(compared, 50u);
    EXPECT_EQ(kernels[0]["lds_bytes"], 400);
    EXPECT_GE(kernels[0]["scratch_bytes"], 80);
  }
}

TEST_F(CodeObjectV2, TargetAndNotesAreReadelfs) {
  // User guide, "AMDGPU Code Object V2 Supported Processors and Fixed Target Feature Settings".
  constexpr const char* targets[][2] = {{"gfx600", "gfx600"},
                                        {"gfx701", "gfx701"},
                                        {"gfx801", "gfx801:xnack+"},
                                        {"gfx802", "gfx802"},
                                        {"gfx803", "gfx803"},
                                        {"gfx810", "gfx810:xnack+"},
                                        {"gfx900", "gfx900:xnack+"},
                                        {"gfx900:xnack-", "gfx900:xnack-"},
                                        {"gfx902", "gfx902:xnack+"},
                                        {"gfx904:xnack-", "gfx904:xnack-"},
                                        {"gfx906", "gfx906:sramecc-:xnack+"},
                                        {"gfx906:xnack-", "gfx906:sramecc-:xnack-"}};
  for (const auto& [gpu, target] : targets) {
    SCOPED_TRACE(gpu);
    compile(gpu, "", "scale.co");
    const json code = inspect("scale.co");
    EXPECT_EQ(code["target"], target);
    EXPECT_EQ(code["header"]["code_object_version"], 2);
    EXPECT_FALSE(code.contains("errors")) << code["errors"];
    const std::string oracle = run("llvm-readelf-15 -n scale.co").output;
    ASSERT_EQ(code["notes"].size(), 4u);
    std::string texts;
    for (const json& note : code["notes"]) {
      EXPECT_THAT(oracle, HasSubstr("\t" + note["type"].get<std::string>() + " (")) << oracle;
      std::string text = note.value("text", std::string());
      if (note["type"] == "NT_AMD_HSA_CODE_OBJECT_VERSION")
        text = fmt::format("[Major: {}, Minor: {}]", text.substr(0, text.find('.')), text.substr(text.find('.') + 1));
      if (note["type"] == "NT_AMD_HSA_ISA_VERSION")
        text = std::regex_replace(text, std::regex("(.*):(.*):(.*):(.*):(.*)"),
                                  "[Vendor: $1, Architecture: $2, Major: $3, Minor: $4, Stepping: $5]");
      EXPECT_THAT(oracle, HasSubstr(text + (text.empty() ? "" : "\n")));
    }
  }
}

TEST_F(CodeObjectV2, MetadataSaysWhatV3Does) {
  compile("gfx900", "", "two.co");
  compile("gfx900", "", "three.co", 3);
  json two = inspect("two.co")["kernels"][0], three = inspect("three.co")["kernels"][0];
  for (const char* key : {"language", "max_work_group_size", "required_work_group_size", "kernarg_alignment", "vgprs"})
    EXPECT_EQ(two[key], three[key]) << key;
  ASSERT_GE(two["arguments"].size(), 6u);
  ASSERT_GE(three["arguments"].size(), 6u);
  for (size_t i = 0; i < 6; ++i) {
    const json &ours = two["arguments"][i], &theirs = three["arguments"][i];
    for (const char* key : {"offset", "bytes", "name", "type", "pointee_alignment", "const", "restrict", "volatile"})
      EXPECT_EQ(ours.value(key, json()), theirs.value(key, json())) << key << " of " << ours;
  }
  EXPECT_EQ(two["arguments"][0]["kind"], "GlobalBuffer");
  EXPECT_EQ(two["kernarg_bytes"], three["kernarg_bytes"]);
}

TEST_F(CodeObjectV2, CodeIsDisassembledBehindTheRecord) {
  for (const char* gpu : {"gfx803", "gfx900", "gfx906:xnack-"}) {
    SCOPED_TRACE(gpu);
    compile(gpu, "-S", "scale.s");
    compile(gpu, "-c", "scale.o");
    const std::string instructions = "grep -P '^\\t[a-z]' | sed 's| *//.*||'";
    const auto oracle =
        run(fmt::format("sed -e '/amd_amdgpu_isa/,$d' -e '/hsa_code_object/d' -e '/amdgpu_hsa_kernel/d' "
                        "-e '/\\.amd_kernel_code_t/,/\\.end_amd_kernel_code_t/d' scale.s > code.s && "
                        "llvm-mc-15 -triple amdgcn-amd-amdhsa -mcpu={} -filetype=obj code.s -o code.o && "
                        "llvm-objdump-22 -d --no-show-raw-insn --symbolize-operands code.o | {}",
                        std::string(gpu).substr(0, 6), instructions));
    EXPECT_EQ(oracle.exit_code, 0);
    EXPECT_THAT(oracle.output, HasSubstr("\ts_endpgm\n"));
    const auto atoll = run(fmt::format("{} disasm scale.o --kernel scale | {}", ATOLL_COMMAND, instructions));
    EXPECT_EQ(atoll.output, oracle.output);
    EXPECT_THAT(run(fmt::format("{} disasm scale.o", ATOLL_COMMAND)).output, HasSubstr(" <scale>:\n; kernel scale: "));
  }
}

}  // namespace
}  // namespace Atoll

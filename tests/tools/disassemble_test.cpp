// `atoll disasm`: the files that it takes, what it chooses from them, JSON and raw bytes. That the text of whole files
// is llvm-objdump's is tested in tests/assembler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/command.h"

namespace Atoll {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// In the directory: `program`, an executable with code for two GPUs; `compressed`, the same with a compressed bundle;
/// program.o and library.a, which it is in before it is linked; gfx900.co and gfx90a.co, taken out by clang's bundler.
class DisassembleCommand : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory = new test::TemporaryDirectory;
    test::write_file(*directory / "program.hip",
                     "#include <hip/hip_runtime.h>\n"
                     "__global__ void add(int* p, int n) { for (int i = 0; i < n; i++) p[i * 64] += n; }\n"
                     "__global__ void twice(float* p) { p[threadIdx.x] *= 2; }\n"
                     "int main() {}\n");
    const std::string script = fmt::format(
        "cd {} && hipcc --offload-arch=gfx900 --offload-arch=gfx90a -c program.hip -o program.o && "
        "hipcc --offload-arch=gfx900 --offload-arch=gfx90a program.o -o program && ar rc library.a program.o && "
        "objcopy --dump-section .hip_fatbin=bundle program.o && clang-offload-bundler-19 -type=o -unbundle "
        "-targets=hipv4-amdgcn-amd-amdhsa--gfx900,hipv4-amdgcn-amd-amdhsa--gfx90a "
        "-input=bundle -output=gfx900.co -output=gfx90a.co && "
        "clang-offload-bundler-19 -type=o -compress -targets=host-x86_64-unknown-linux,"
        "hipv4-amdgcn-amd-amdhsa--gfx900,hipv4-amdgcn-amd-amdhsa--gfx90a -input=/dev/null -input=gfx900.co "
        "-input=gfx90a.co -output=compressed",
        directory->path().string());
    const auto run = test::run_command("(" + script + ") 2>&1");
    ASSERT_EQ(run.exit_code, 0) << run.output;
  }
  static void TearDownTestSuite() { delete directory; }

  static test::CommandResult run(const std::string& command) {
    return test::run_command(fmt::format("cd {} && {} 2>&1", directory->path().string(), command));
  }
  static test::CommandResult disasm(const std::string& arguments) {
    return run(fmt::format("{} disasm {}", ATOLL_COMMAND, arguments));
  }
  /// The output without the comments that tell where the code was.
  static std::string code(const std::string& arguments) {
    return run(fmt::format("{} disasm {} | grep -v '^;'", ATOLL_COMMAND, arguments)).output;
  }

  static inline test::TemporaryDirectory* directory = nullptr;
};

TEST_F(DisassembleCommand, FindsCodeInEveryKindOfFile) {
  const std::string gfx900 = code("gfx900.co"), gfx90a = code("gfx90a.co");
  const auto oracle = run("llvm-objdump-22 -d --symbolize-operands gfx900.co | grep -c '// 0'");
  const auto atoll = run(fmt::format("{} disasm gfx900.co --bytes | grep -c '// 0'", ATOLL_COMMAND));
  EXPECT_EQ(oracle.output, atoll.output);
  EXPECT_THAT(gfx900, AllOf(HasSubstr("<_Z3addPii>:\n"), HasSubstr("\ts_endpgm\n")));
  EXPECT_NE(gfx900, gfx90a);
  for (const char* file : {"program", "compressed", "program.o", "library.a"}) {
    SCOPED_TRACE(file);
    EXPECT_EQ(code(std::string(file) + " --gpu gfx900"), gfx900);
    EXPECT_EQ(code(std::string(file) + " --gpu gfx90a"), gfx90a);
    EXPECT_EQ(code(std::string(file) + " --gpu mi250x"), gfx90a);
    EXPECT_EQ(code(file), gfx900 + "\n" + gfx90a);
  }
  EXPECT_THAT(disasm("library.a").output, HasSubstr("; member program.o, section .hip_fatbin, bundle 0, entry hipv4-"));
}

TEST_F(DisassembleCommand, ChoosesAKernelByEitherName) {
  const auto one = disasm("program --gpu gfx90a --kernel add");
  EXPECT_THAT(one.output, AllOf(HasSubstr("<_Z3addPii>:\n; kernel add(int*, int): "), Not(HasSubstr("twice"))));
  EXPECT_EQ(disasm("program --gpu gfx90a --kernel _Z3addPii").output, one.output);
  const auto none = disasm("program --kernel sub");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.output, AllOf(HasSubstr("there is no kernel sub"), HasSubstr("add(int*, int), twice(float*)")));
}

TEST_F(DisassembleCommand, JsonHasEveryLine) {
  const auto json = nlohmann::json::parse(disasm("program --gpu gfx90a --json").output, nullptr, false);
  ASSERT_TRUE(json.is_array());
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0]["id"], "hipv4-amdgcn-amd-amdhsa--gfx90a");
  const auto& section = json[0]["sections"][0];
  EXPECT_EQ(section["name"], ".text");
  std::string text;
  size_t branches = 0;
  for (const auto& line : section["lines"]) {
    if (line.contains("kernel")) text += fmt::format("{} ", line["kernel"].get<std::string>());
    if (line.contains("text")) EXPECT_EQ(line["bytes"].get<std::string>().size(), line["size"].get<size_t>() * 2);
    if (line.contains("target")) ++branches;
  }
  EXPECT_EQ(text, "_Z3addPii _Z5twicePf ");
  EXPECT_GT(branches, 1u);
}

TEST_F(DisassembleCommand, RawBytesAreWordsOrBytesOrBinary) {
  const auto raw = [](const std::string& input, const std::string& options) {
    return run(fmt::format("printf '{}' | {} disasm --raw {}", input, ATOLL_COMMAND, options)).output;
  };
  const std::string expected = "\tv_mov_b32_e32 v0, 0\n\ts_endpgm\n";
  EXPECT_EQ(raw("7e000280 bf810000", "--gpu gfx900"), expected);
  EXPECT_EQ(raw("80 02 00 7e 00 00 81 bf", "--gpu gfx900"), expected);
  EXPECT_EQ(raw("[0x80,0x02,0x00,0x7e]\n[0x00,0x00,0x81,0xbf]\n", "--gpu vega64"), expected);
  EXPECT_EQ(raw("\\200\\002\\000\\176\\000\\000\\201\\277", "--gpu gfx900"), expected);
  EXPECT_EQ(raw("d5010002 01aa0701", "--gpu gfx1030"), "\tv_cndmask_b32_e64 v2, v1, v3, vcc_lo\n");
  EXPECT_EQ(raw("d5010002 01aa0701", "--gpu gfx1030 --wave-size 64"), "\tv_cndmask_b32_e64 v2, v1, v3, vcc\n");
  EXPECT_EQ(raw("01aa0701d5010002", "--gpu gfx1030"), "\tv_cndmask_b32_e64 v2, v1, v3, vcc_lo\n");
  EXPECT_EQ(raw("ffffffff", "--gpu gfx900"), "\t.long 0xffffffff\n");
  EXPECT_THAT(raw("bf810000", "--gpu gfx900 --bytes"), HasSubstr("// 000000000000: BF810000\n"));
}

TEST_F(DisassembleCommand, SaysWhatIsWrong) {
  struct Case {
    const char *arguments, *message;
    int exit_code;
  };
  const Case cases[] = {{"", "FILE is required", 2},
                        {"--raw", "--raw requires --gpu", 2},
                        {"--raw --gpu gfx900 --wave-size 32 /dev/null", "gfx900 has no waves of 32 lanes", 2},
                        {"nothing", "No such file", 1},
                        {"program.hip", "neither a code object nor an offload bundle", 1},
                        {"/bin/true", "contains no GPU code", 1},
                        {"program --gpu gfx908", "no code for gfx908; there is code for gfx900, gfx90a", 1},
                        {"program --gpu nvidia", "nvidia", 1}};
  for (const Case& each : cases) {
    const auto run = disasm(each.arguments);
    EXPECT_THAT(run.output, HasSubstr(each.message));
    EXPECT_EQ(run.exit_code, each.exit_code) << each.arguments;
  }
}

}  // namespace
}  // namespace Atoll

// `atoll cc`: what it accepts, what it refuses by name, and that nothing of LLVM's AMDGPU target is in atoll-codegen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/command.h"

namespace Atoll::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* doubling = R"(target triple = "amdgcn-amd-amdhsa"
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
define amdgpu_kernel void @twice(ptr addrspace(1) %data) {
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %at = getelementptr i32, ptr addrspace(1) %data, i32 %item
  %old = load i32, ptr addrspace(1) %at
  %new = shl i32 %old, 1
  store i32 %new, ptr addrspace(1) %at
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
)";

class CompileCommand : public testing::Test {
 protected:
  CommandResult compile(const std::string& options) { return run_command(ATOLL " cc " + options + " 2>&1"); }
  const TemporaryDirectory directory_;
  const std::string ir_ = directory_ / "twice.ll", code_ = directory_ / "twice.co";
};

TEST_F(CompileCommand, MakesCodeThatRuns) {
  write_file(ir_, doubling);
  for (const std::string gpu :
       {"gfx600", "gfx803", "gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201", "gfx1250"}) {
    ASSERT_EQ(compile(ir_ + " --gpu " + gpu + " -o " + code_).exit_code, 0) << gpu;
    const CommandResult ran = run_command(ATOLL " launch " + code_ + " --kernel twice --gpu " + gpu +
                                          " --grid 8 --block 8 --arg buf:8:i32=ramp --print 1:8 2>&1");
    EXPECT_THAT(ran.output, HasSubstr("0 2 4 6 8 10 12 14")) << gpu;
  }
}

// llvm-mc and Atoll's assembler make the same bytes of the text.
TEST_F(CompileCommand, AssemblyIsWhatLlvmReads) {
  write_file(ir_, doubling);
  for (const std::string gpu : {"gfx803", "gfx90a", "gfx1100", "gfx1201"}) {
    const std::string text = directory_ / "twice.s", own = directory_ / "own.o", theirs = directory_ / "theirs.o";
    ASSERT_EQ(compile(ir_ + " --gpu " + gpu + " -S -o " + text).exit_code, 0);
    ASSERT_EQ(compile(ir_ + " --gpu " + gpu + " -c -o " + own).exit_code, 0);
    const CommandResult assembled = run_command("llvm-mc-22 -triple=amdgcn-amd-amdhsa -mcpu=" + gpu +
                                                " -filetype=obj " + text + " -o " + theirs + " 2>&1");
    ASSERT_EQ(assembled.exit_code, 0) << assembled.output;
    const auto bytes = [&](const std::string& file) {
      return run_command("llvm-objcopy-22 -O binary --only-section=.text " + file + " " + file +
                         ".text && od -An -tx1 " + file + ".text")
          .output;
    };
    EXPECT_FALSE(bytes(own).empty());
    EXPECT_EQ(bytes(own), bytes(theirs)) << gpu;
  }
}

TEST_F(CompileCommand, TheSameInputGivesTheSameBytes) {
  const std::string kernels = ATOLL_SOURCES "/tests/kernels/integers.h -x c --std c2x --keep-going --clang-option=-w";
  ASSERT_EQ(compile(kernels + " --gpu gfx90a -o " + code_).exit_code, 0);
  const auto first = read_bytes(code_);
  ASSERT_EQ(compile(kernels + " --gpu gfx90a -o " + code_).exit_code, 0);
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(first, read_bytes(code_));
}

TEST_F(CompileCommand, RefusesByName) {
  struct Case {
    std::string ir, options, message;
  };
  const std::string triple = "target triple = \"amdgcn-amd-amdhsa\"\n";
  const Case cases[] = {
      {"define void @f( {\n", "", "twice.ll:2: expected type"},
      {"target triple = \"x86_64-linux-gnu\"\n", "", "the IR is for x86_64-linux-gnu, not for amdgcn"},
      {triple + "define amdgpu_kernel void @f(ptr %f) {\n  call void %f()\n  ret void\n}\n", "",
       "function f: call is not implemented"},
      {triple, "--gpu gfx9999", "gfx9999"},
      {triple, "--wave32 --gpu gfx90a", "waves of 32"},
      {triple, "-O7", "-O"},
      {triple, "--unknown", "unknown"},
  };
  for (const Case& each : cases) {
    write_file(ir_, each.ir);
    const std::string gpu = each.options.find("--gpu") == std::string::npos ? " --gpu gfx90a " : " ";
    const CommandResult refused = compile(ir_ + gpu + each.options + " -o " + code_);
    EXPECT_NE(refused.exit_code, 0) << each.message;
    EXPECT_THAT(refused.output, HasSubstr(each.message));
  }
  write_file(directory_ / "x.txt", "");
  EXPECT_THAT(compile(directory_ / "x.txt" + " --gpu gfx90a -o " + code_).output, HasSubstr("the language is unknown"));
  write_file(directory_ / "x.cl", "kernel void f() {}");
  EXPECT_THAT(compile(directory_ / "x.cl" + " --gpu gfx90a --clang no-such-clang -o " + code_).output,
              HasSubstr("no-such-clang"));
  EXPECT_THAT(compile(directory_ / "missing.ll" + " --gpu gfx90a -o " + code_).output, HasSubstr("missing.ll"));
}

TEST_F(CompileCommand, DiffComparesWithLlvm) {
  const CommandResult same =
      run_command(ATOLL " diff " ATOLL_SOURCES
                        "/examples/shown/saxpy.cl --gpu gfx90a,gfx1100 --kernel saxpy --grid 1000 --arg 2 "
                        "--arg buf:1000:f32=seed:1 --arg buf:1000:f32=seed:2 2>&1");
  EXPECT_EQ(same.exit_code, 0) << same.output;
  EXPECT_THAT(same.output, HasSubstr("gfx90a: equal; "));
  EXPECT_THAT(same.output, HasSubstr("gfx1100: equal; "));
  // A product and a sum may be fused or not: LLVM does not on GFX8, where that takes four times as long.
  write_file(directory_ / "fused.cl",
             "kernel void fused(float a, global const float* x, global float* y) {\n"
             "  const size_t i = get_global_id(0);\n  y[i] = fma(-a, x[i], a * x[i] + y[i]);\n}\n");
  const CommandResult different = run_command(ATOLL " diff " + directory_ / "fused.cl" +
                                              " --gpu gfx803 --kernel fused --grid 1000 --arg 0.3 "
                                              "--arg buf:1000:f32=seed:1 --arg buf:1000:f32=seed:2 2>&1");
  EXPECT_EQ(different.exit_code, 3) << different.output;
  EXPECT_THAT(different.output, HasSubstr("gfx803: argument 3 differs in "));
}

TEST(CodeGenerator, LinksNothingOfLlvmsTarget) {
  const CommandResult symbols = run_command(
      "nm --demangle " ATOLL_CODEGEN " | grep -c -E 'llvm::(AMDGPU|SI|GCN)[A-Z][A-Za-z]*(Pass|Target|Instr|Lowering)'");
  EXPECT_EQ(symbols.output, "0\n");
  EXPECT_THAT(run_command("nm --demangle " ATOLL_CODEGEN " | grep -c 'llvm::StructurizeCFGPass'").output,
              Not(HasSubstr("0\n")));
}

}  // namespace
}  // namespace Atoll::test

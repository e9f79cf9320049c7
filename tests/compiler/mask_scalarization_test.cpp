// Logic of lane masks that LLVM's instruction selection does not come to an end over where it sees what words lanes'
// bits are made of.
#include "compiler/llvm/mask_scalarization.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/SourceMgr.h>
#include <sys/resource.h>
#include <unistd.h>

#include "compiler/driver/passes.h"

namespace Atoll::test {
namespace {

/// IR after the two paths of a condition: lanes blended by one word, lanes blended by the words' difference, and
/// registers written under the whole mask.
constexpr const char* blends = R"(
declare void @llvm.masked.store.v16i32.p0(<16 x i32>, ptr, i32, <16 x i1>)
declare void @last()

define void @blends(i16 %taken, <16 x i32> %old, i16 %whole, <16 x i32> %a, <16 x i32> %b, ptr %row, ptr %other_row,
                    i64 %chunk) {
  %taken_lanes = bitcast i16 %taken to <16 x i1>
  %first = select <16 x i1> %taken_lanes, <16 x i32> splat (i32 88), <16 x i32> %old
  %others = xor i16 %taken, %whole
  %other_lanes = bitcast i16 %others to <16 x i1>
  %second = select <16 x i1> %other_lanes, <16 x i32> %a, <16 x i32> %b
  %whole_lanes = bitcast i16 %whole to <16 x i1>
  call void @llvm.masked.store.v16i32.p0(<16 x i32> %second, ptr %row, i32 64, <16 x i1> %whole_lanes)
  call void @llvm.masked.store.v16i32.p0(<16 x i32> %first, ptr %other_row, i32 64, <16 x i1> %whole_lanes)
  %is_last = icmp eq i64 %chunk, 64
  br i1 %is_last, label %after, label %next
after:
  call void @last()
  ret void
next:
  ret void
}
)";

/// In a process that may compute for some seconds, of which it needs few hundredths.
[[noreturn]] void compile(semantics::HostVectors level) {
  constexpr rlimit seconds{3, 3};
  setrlimit(RLIMIT_CPU, &seconds);
  auto host = compiler::HostCompiler::create();
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const auto module = llvm::parseAssemblyString(blends, error, context);
  if (!host || module == nullptr) _exit(1);
  const auto code = compiler::compile_module(*module, **host, level, false);
  _exit(code && !code->empty() ? 0 : 2);
}

TEST(MaskWords, OfWhichSomeAreTheDifferenceOfOthersAreCompiled) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  using enum semantics::HostVectors;
  EXPECT_EXIT(compile(avx512), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(compile(avx2), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace Atoll::test

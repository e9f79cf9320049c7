// Lane masks in another block than the one that makes them, for hosts whose masks are vectors: LLVM by itself takes
// them apart bit by bit.
#include "compiler/llvm/mask_expansion.h"

#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/SourceMgr.h>
#include <sys/mman.h>

#include "compiler/driver/passes.h"
#include "compiler/llvm/linking.h"

namespace Atoll::test {
namespace {

constexpr const char* store_under_mask = R"(
declare void @llvm.masked.store.v16i32.p0(<16 x i32>, ptr, i32, <16 x i1>)

define void @code0(i16 %mask, ptr %from, ptr %to) {
  %lanes = bitcast i16 %mask to <16 x i1>
  %none = icmp eq i16 %mask, 0
  br i1 %none, label %out, label %some
some:
  %row = load <16 x i32>, ptr %from, align 4
  call void @llvm.masked.store.v16i32.p0(<16 x i32> %row, ptr %to, i32 4, <16 x i1> %lanes)
  br label %out
out:
  ret void
}
)";

/// Code for a level of host vectors.
compiler::LinkedCode compiled(semantics::HostVectors level) {
  const auto host = compiler::HostCompiler::create();
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const auto module = llvm::parseAssemblyString(store_under_mask, error, context);
  if (!host || module == nullptr) return {};
  const auto object = compiler::compile_module(*module, **host, level, false);
  if (!object) return {};
  const std::string name = "code0";
  return compiler::link_object(*object, std::span(&name, 1)).value_or(compiler::LinkedCode{});
}

TEST(SpreadMasks, TakeFewInstructionsAndKeepLanesApart) {
  for (const semantics::HostVectors level : semantics::available_host_vectors()) {
    SCOPED_TRACE(semantics::name(level));
    const compiler::LinkedCode code = compiled(level);
    ASSERT_FALSE(code.bytes.empty());
    // Bit by bit it is 300 bytes for AVX2.
    if (level == semantics::HostVectors::avx2) EXPECT_LT(code.bytes.size(), 200u);

    void* memory = mmap(nullptr, code.bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    std::memcpy(memory, code.bytes.data(), code.bytes.size());
    ASSERT_EQ(mprotect(memory, code.bytes.size(), PROT_READ | PROT_EXEC), 0);
    const auto store =
        reinterpret_cast<void (*)(uint16_t, const uint32_t*, uint32_t*)>(static_cast<char*>(memory) + code.entries[0]);
    uint32_t from[16], to[16];
    for (uint32_t lane = 0; lane < 16; ++lane) from[lane] = lane + 1;
    for (unsigned mask = 0; mask <= 0xFFFF; ++mask) {
      std::memset(to, 0, sizeof to);
      store(static_cast<uint16_t>(mask), from, to);
      for (uint32_t lane = 0; lane < 16; ++lane) {
        ASSERT_EQ(to[lane], (mask >> lane & 1) != 0 ? lane + 1 : 0) << mask << ' ' << lane;
      }
    }
    munmap(memory, code.bytes.size());
  }
}

}  // namespace
}  // namespace Atoll::test

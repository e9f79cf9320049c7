// Assembling, linking, disassembling, inspecting and evaluating as functions. What they know of instructions is tested
// with their rooms; here, that the functions give it, against llvm-mc, llvm-objdump and host arithmetic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "atoll/atoll.h"
#include "library/kernels.h"

namespace Atoll {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* caller = R"(
  .globl start
  .type start,@function
start:
  s_getpc_b64 s[4:5]
  s_add_u32 s4, s4, helper@rel32@lo+4
  s_addc_u32 s5, s5, helper@rel32@hi+12
  s_swappc_b64 s[30:31], s[4:5]
  s_endpgm
)";
constexpr const char* helper = R"(
  .globl helper
  .type helper,@function
helper:
  v_add_f32_e32 v0, v1, v2
  s_setpc_b64 s[30:31]
)";

std::string objdump(const std::vector<std::byte>& file) {
  const test::TemporaryDirectory directory;
  test::write_file(directory / "file", std::string(reinterpret_cast<const char*>(file.data()), file.size()));
  return test::run_command(fmt::format("llvm-objdump-22 -d {} 2>&1", directory / "file")).output;
}

TEST(Assembling, GivesWhatLlvmReads) {
  const auto code = assemble(helper, {.gpu = "gfx90a"});
  ASSERT_TRUE(code) << code.error().message;
  EXPECT_THAT(objdump(*code), AllOf(HasSubstr("<helper>"), HasSubstr("v_add_f32_e32 v0, v1, v2")));
  EXPECT_TRUE(assemble("v_add_f32 v0, s[NUMBER], v1", {.gpu = "gfx90a", .symbols = {{"NUMBER", 3}}}));
}

TEST(Assembling, ListsAllMistakes) {
  const auto bad = assemble("v_add_f32 v0, v1, v2 glc\nv_add_f32_e32 v0, v1, s2\n", {.gpu = "gfx900", .name = "bad.s"});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind, FailureKind::invalid_argument);
  EXPECT_THAT(bad.error().message, AllOf(HasSubstr("bad.s:1:22: error"), HasSubstr("bad.s:2:23: error")));
  EXPECT_THAT(assemble("s_nop 0", {.gpu = "gfx1"}).error().message, HasSubstr("gfx1"));
  EXPECT_THAT(assemble("s_nop 0", {.gpu = "gfx900", .wave_size = 32}).error().message, HasSubstr("32 lanes"));
  EXPECT_EQ(assemble("s_nop 0", {.gpu = "gfx900", .code_object_version = 9}).error().kind, FailureKind::unsupported);
}

TEST(Linking, ResolvesWhatObjectsUseOfEachOther) {
  const auto first = assemble(caller, {.gpu = "gfx90a", .relocatable = true});
  const auto second = assemble(helper, {.gpu = "gfx90a", .relocatable = true});
  ASSERT_TRUE(first && second);
  const LinkInput inputs[] = {{"caller.o", *first}, {"helper.o", *second}};
  const auto linked = link(inputs);
  ASSERT_TRUE(linked) << linked.error().message;
  EXPECT_THAT(objdump(*linked), AllOf(HasSubstr("<start>"), HasSubstr("<helper>")));
  const LinkInput damaged[] = {{"damaged.o", std::span(*first).first(70)}};
  EXPECT_THAT(link(damaged).error().message, testing::StartsWith("damaged.o: "));
  EXPECT_EQ(link({}).error().kind, FailureKind::invalid_argument);
}

TEST(Disassembling, IsOfFilesAndOfBytes) {
  const test::TemporaryDirectory directory;
  test::compile_kernels("clang-22", 5, "gfx1100", directory / "kernels.co");
  const auto bytes = test::read_bytes(directory / "kernels.co");
  const auto file = std::as_bytes(std::span(bytes));
  const auto all = disassemble(file);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_THAT(*all, AllOf(HasSubstr("<scale>:"), HasSubstr("<reverse>:"), HasSubstr("s_endpgm")));
  const auto one = disassemble(file, {.kernel = "scale", .bytes = true});
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_THAT(*one, AllOf(HasSubstr("<scale>:"), testing::Not(HasSubstr("<reverse>:")), HasSubstr("// 0")));
  EXPECT_EQ(disassemble(file, {.kernel = "nothing"}).error().kind, FailureKind::not_found);
  EXPECT_THAT(disassemble(file, {.gpu = "gfx900"}).error().message, HasSubstr("gfx1100"));
  EXPECT_FALSE(disassemble({}));

  // llvm-mc's encodings: v_mov_b32 v0, 0; a literal; a branch over it; no instruction.
  const uint32_t words[] = {0x7E000280, 0x7E0202FF, 0x40490FDB, 0xBFA0FFFD, 0xFFFFFFFF};
  const auto decoded = decode(std::as_bytes(std::span(words)), "gfx1100");
  ASSERT_TRUE(decoded) << decoded.error().message;
  ASSERT_EQ(decoded->size(), 4u);
  EXPECT_EQ((*decoded)[0].text, "v_mov_b32_e32 v0, 0");
  EXPECT_EQ((*decoded)[1].text, "v_mov_b32_e32 v1, 0x40490fdb");
  EXPECT_EQ((*decoded)[1].size, 8u);
  EXPECT_THAT((*decoded)[2].text, testing::StartsWith("s_branch "));
  EXPECT_EQ((*decoded)[3].offset, 16u);
  EXPECT_EQ((*decoded)[3].text, "");
  EXPECT_FALSE(decode({}, "gfx1"));

  const auto inspected = inspect(file, {.kernel = "fixed"});
  ASSERT_TRUE(inspected) << inspected.error().message;
  EXPECT_THAT(*inspected, AllOf(HasSubstr("\"required_work_group_size\""), HasSubstr("\"fixed\""),
                                testing::Not(HasSubstr("\"factor\""))));
  EXPECT_EQ(inspect(file, {.kernel = "nothing"}).error().kind, FailureKind::not_found);
}

TEST(Evaluating, GivesTheChangesOfEachLane) {
  const std::string code[] = {"v_fma_f32 v0, v1, v2, 1.0", "s_mov_b32 s3, 7"};
  const std::string values[] = {"v1=1.5", "v2=f32:lane", "exec=0xff"};
  const auto result = evaluate(code, {.gpu = "gfx1100", .values = values});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->failure);
  EXPECT_EQ(result->processor, "gfx1100");
  EXPECT_EQ(result->wave_size, 32u);
  EXPECT_EQ(result->instructions, 2u);
  ASSERT_EQ(result->registers.size(), 2u);
  const RegisterChange& v0 = result->registers[0];
  EXPECT_EQ(v0.name, "v0");
  EXPECT_EQ(v0.type, "f32");
  EXPECT_TRUE(v0.per_lane);
  ASSERT_EQ(v0.lanes.size(), 8u);
  for (uint32_t lane = 0; lane < 8; lane++) {
    EXPECT_EQ(v0.lanes[lane].lane, lane);
    EXPECT_EQ(v0.lanes[lane].after, std::bit_cast<uint32_t>(1.5F * static_cast<float>(lane) + 1.0F));
  }
  EXPECT_EQ(result->registers[1].name, "s3");
  EXPECT_EQ(result->registers[1].lanes[0].after, 7u);
  EXPECT_THAT(result->text, AllOf(HasSubstr("v0[1] = 0x40200000  f32 2.5\n"), HasSubstr("s3 = 0x00000007")));
  EXPECT_THAT(result->json, HasSubstr("\"outcome\": \"ended\""));
}

TEST(Evaluating, MemoryAndFaults) {
  const std::string code[] = {"global_store_dword v0, v1, s[2:3] offset:4", "s_waitcnt vmcnt(0)",
                              "global_load_dword v2, v0, s[4:5]"};
  const std::string values[] = {"v1=0x1234", "s[2:3]=0x10000000", "s[4:5]=0x20000000", "mem[0x10000000:64]=0",
                                "exec=1"};
  const auto result = evaluate(code, {.gpu = "gfx90a", .values = values});
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->memory.size(), 1u);
  EXPECT_EQ(result->memory[0].address, 0x10000004u);
  EXPECT_THAT(result->memory[0].dwords, testing::ElementsAre(0x1234));
  ASSERT_TRUE(result->failure);
  EXPECT_EQ(result->failure->kind, FailureKind::memory_fault);
  ASSERT_TRUE(result->failure->fault);
  EXPECT_EQ(result->failure->fault->address, 0x20000000u);
  EXPECT_FALSE(result->failure->fault->is_write);
}

TEST(Evaluating, SeesNothingOfTheProgramAroundIt) {
  uint32_t own[64] = {0x12345678};
  const auto address = reinterpret_cast<uint64_t>(own);
  const std::vector<std::string> values = {fmt::format("s[2:3]={:#x}", address),
                                           fmt::format("v[2:3]={:#x}", address),
                                           fmt::format("s[4:7]={:#x}", address),
                                           "s6=256",
                                           "s7=0x27fac",  // a buffer of dwords
                                           "v1=7",
                                           "exec=1"};
  const struct {
    const char *code, *gpu;
    bool writes;
  } accesses[] = {
      {"global_load_dword v4, v0, s[2:3]", "gfx90a", false},
      {"global_load_dword v4, v[2:3], off", "gfx90a", false},
      {"flat_load_dword v4, v[2:3]", "gfx90a", false},
      {"flat_store_dword v[2:3], v1", "gfx803", true},
      {"global_store_dword v0, v1, s[2:3]", "gfx90a", true},
      {"global_atomic_add v4, v0, v1, s[2:3] glc", "gfx90a", true},
      {"global_atomic_add v[2:3], v1, off", "gfx90a", true},
      {"s_load_dwordx2 s[8:9], s[2:3], 0x0", "gfx90a", false},
      {"s_scratch_store_dword s8, s[2:3], 0x0", "gfx906", true},
      {"s_store_dword s8, s[2:3], 0x0", "gfx803", true},
      {"s_buffer_load_dword s8, s[4:7], 0x0", "gfx803", false},
      {"buffer_load_dword v4, off, s[4:7], 0", "gfx803", false},
      {"buffer_store_dword v1, off, s[4:7], 0", "gfx906", true},
      {"buffer_load_dword off, s[4:7], 0 lds", "gfx90a", false},
      {"global_load_async_to_lds_b32 v4, v[2:3], off", "gfx1250", false},
      {"global_load_tr_b64 v[4:5], v[2:3], off", "gfx1200", false},
  };
  for (const auto& access : accesses) {
    SCOPED_TRACE(access.code);
    const std::string code[] = {access.code};
    const auto result = evaluate(code, {.gpu = access.gpu, .values = values});
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_TRUE(result->failure && result->failure->fault) << result->text;
    EXPECT_EQ(result->failure->fault->address, address);
    EXPECT_EQ(result->failure->fault->is_write, access.writes);
    EXPECT_THAT(result->failure->message, HasSubstr("no memory is given there"));
    EXPECT_EQ(own[0], 0x12345678u);
  }
}

TEST(Evaluating, ReadsItsCodeAndMemoryAcrossPages) {
  const std::string code[] = {"s_getpc_b64 s[2:3]", "s_load_dword s4, s[2:3], 0x0",
                              "global_load_dwordx2 v[2:3], v0, s[6:7]", "s_waitcnt 0"};
  const std::string values[] = {"s[6:7]=0x10000ffc", "mem[0x10000ffc:8]=3", "exec=1"};
  const auto result = evaluate(code, {.gpu = "gfx90a", .values = values});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->failure) << result->failure->message;
  // The instruction after s_getpc: the encoding of s_load_dword (llvm-mc).
  EXPECT_THAT(result->text, AllOf(HasSubstr("s4 = 0xc0020101"), HasSubstr("v[2:3][0] = 0x0000000300000003")));
}

TEST(Evaluating, StopsAndSaysWhatIsWrong) {
  const auto message = [](std::vector<std::string> code, std::vector<std::string> values = {}) {
    const auto result = evaluate(code, {.gpu = "gfx90a", .values = values, .max_instructions = 1000});
    if (!result) return result.error().message;
    return result->failure ? result->failure->message : std::string("ended");
  };
  EXPECT_THAT(message({"loop:", "s_branch loop"}), HasSubstr("stopped after"));
  EXPECT_THAT(message({"v_nonsense v0"}), HasSubstr("<text>:1:1: error"));
  EXPECT_THAT(message({}), HasSubstr("no instruction"));
  EXPECT_THAT(message({"s_nop 0"}, {"q7=1"}), HasSubstr("'q7'"));
  EXPECT_THAT(message({"s_nop 0"}, {"v1"}), HasSubstr("DESTINATION=VALUE"));
  EXPECT_EQ(message({"s_nop 0"}), "ended");
}

}  // namespace
}  // namespace Atoll

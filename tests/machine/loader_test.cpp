// Code objects as clang and lld make them, placed in memory: compared with what readelf says about the files.
#include "machine/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <sstream>

#include "debug_info/code_address.h"
#include "fixture.h"
#include "machine/memory/memory.h"

namespace Atoll::machine {
namespace {

using support::ErrorKind;
using testing::HasSubstr;

constexpr uint64_t outside = 0x7000'1234'5678;  ///< where the external symbol is

/// A table that refers to an external symbol, to itself and to a weak symbol that nobody has.
constexpr const char* source = R"(
.amdhsa_code_object_version 5
.text
.globl k
.p2align 8
.type k,@function
k:
  s_endpgm
.Lend:
.size k, .Lend-k
.globl helper
.type helper,@function
helper:
  s_nop 0
  s_setpc_b64 s[30:31]
.Lhelper:
.size helper, .Lhelper-helper
.rodata
.p2align 6
.amdhsa_kernel k
.amdhsa_next_free_vgpr 8
.amdhsa_next_free_sgpr 16
.amdhsa_accum_offset 4
.end_amdhsa_kernel
.data
.globl table
.type table,@object
.p2align 3
table:
  .quad outside+24
  .quad table+8
  .quad weak_one
  .quad outside+4
  .quad outside+12
  .quad 0x1122334455667788
.Ltable:
.size table, .Ltable-table
.weak weak_one
.section .bss,"aw",@nobits
.globl zeros
.type zeros,@object
zeros: .zero 10000
.size zeros, 10000
)";

/// Assembled and linked by hand: clang's driver does not let a code object have undefined symbols.
std::vector<uint8_t> build(std::string* readelf = nullptr) {
  const test::TemporaryDirectory directory;
  test::write_file(directory / "k.s", source);
  const auto run = test::run_command(
      fmt::format("cd {} && llvm-mc-22 -triple amdgcn-amd-amdhsa -mcpu=gfx90a -filetype=obj k.s -o k.o 2>&1 && "
                  "ld.lld-22 -shared -z notext k.o -o k.co 2>&1",
                  directory.path().string()));
  EXPECT_EQ(run.exit_code, 0) << run.output;
  if (readelf != nullptr) *readelf = test::run_command("llvm-readelf-22 --dyn-syms -W " + (directory / "k.co")).output;
  return test::read_bytes(directory / "k.co");
}

/// Changes the type of the relocation in .rela.dyn that has this type and addend.
bool change_relocation(std::vector<uint8_t>& file, uint32_t type, int64_t addend, uint32_t new_type) {
  for (size_t i = 0; i + 24 <= file.size(); i += 8) {
    uint64_t words[3];  // offset; type, and the symbol in the upper half; addend
    std::memcpy(words, file.data() + i, sizeof words);
    const bool plausible = words[0] % 8 == 0 && words[0] < 1u << 20 && words[1] >> 32 < 16;
    if (!plausible || static_cast<uint32_t>(words[1]) != type || words[2] != static_cast<uint64_t>(addend)) continue;
    std::memcpy(file.data() + i + 8, &new_type, sizeof new_type);
    return true;
  }
  return false;
}

class Loader : public testing::Test {
 protected:
  Memory memory;
  target::TargetId gpu = target::find_gpu("gfx90a")->target;
  ExternalSymbols externals = [](std::string_view name) {
    return name == "outside" ? std::optional(outside) : std::nullopt;
  };
};

uint64_t quad_at(uint64_t address) {
  uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

TEST_F(Loader, SymbolsLieWhereReadelfSays) {
  std::string listing;
  const auto file = build(&listing);
  const auto code = LoadedCode::load(memory, gpu, file, externals, "memory://x");
  ASSERT_TRUE(code) << code.error().message;
  // "   5: 0000000000003040  10000 OBJECT  GLOBAL PROTECTED     7 zeros"
  std::istringstream lines(listing);
  unsigned objects = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, value, size, type, binding, visibility, index, name;
    words >> number >> value >> size >> type >> binding >> visibility >> index >> name;
    if (type != "OBJECT") continue;
    ++objects;
    const LoadedSymbol* symbol = (*code)->find(name);
    ASSERT_NE(symbol, nullptr) << name;
    EXPECT_EQ(symbol->address, (*code)->base() + std::stoull(value, nullptr, 16)) << name;
    EXPECT_EQ(symbol->size, std::stoull(size)) << name;
    EXPECT_EQ(symbol->kind, name == "k.kd" ? LoadedSymbol::Kind::kernel : LoadedSymbol::Kind::variable);
  }
  EXPECT_EQ(objects, 3u) << listing;
  EXPECT_EQ((*code)->symbols().size(), 3u);
  EXPECT_EQ((*code)->find("helper"), nullptr) << "a function is no symbol of an executable";
  EXPECT_EQ((*code)->kernel_at((*code)->find("k.kd")->address), (*code)->find("k.kd"));
}

TEST_F(Loader, RelocationsAreApplied) {
  const auto file = build();
  const auto code = LoadedCode::load(memory, gpu, file, externals, "memory://x");
  ASSERT_TRUE(code) << code.error().message;
  const uint64_t table = (*code)->find("table")->address;
  EXPECT_EQ(quad_at(table), outside + 24);
  EXPECT_EQ(quad_at(table + 8), table + 8);
  EXPECT_EQ(quad_at(table + 16), 0u) << "an undefined weak symbol";
  EXPECT_EQ(quad_at(table + 24), outside + 4);
  EXPECT_EQ(quad_at(table + 40), 0x1122334455667788u);
  const auto* zeros = reinterpret_cast<const uint8_t*>((*code)->find("zeros")->address);
  EXPECT_TRUE(std::all_of(zeros, zeros + 10000, [](uint8_t byte) { return byte == 0; }));
}

TEST_F(Loader, EveryRelocationTypeHasItsFormula) {
  struct Case {
    uint32_t type;
    uint64_t (*value)(uint64_t symbol_and_addend, uint64_t place);
    unsigned bytes;
  };
  const Case cases[] = {
      {1, [](uint64_t s, uint64_t) { return s & 0xFFFF'FFFF; }, 4},                // ABS32_LO
      {2, [](uint64_t s, uint64_t) { return s >> 32; }, 4},                        // ABS32_HI
      {3, [](uint64_t s, uint64_t) { return s; }, 8},                              // ABS64
      {4, [](uint64_t s, uint64_t p) { return (s - p) & 0xFFFF'FFFF; }, 4},        // REL32
      {5, [](uint64_t s, uint64_t p) { return s - p; }, 8},                        // REL64
      {6, [](uint64_t s, uint64_t) { return s & 0xFFFF'FFFF; }, 4},                // ABS32
      {10, [](uint64_t s, uint64_t p) { return (s - p) & 0xFFFF'FFFF; }, 4},       // REL32_LO
      {11, [](uint64_t s, uint64_t p) { return (s - p) >> 32 & 0xFFFF'FFFF; }, 4}  // REL32_HI
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.type);
    auto file = build();
    ASSERT_TRUE(change_relocation(file, 3, 12, c.type));
    const auto code = LoadedCode::load(memory, gpu, file, externals, "memory://x");
    ASSERT_TRUE(code) << code.error().message;
    const uint64_t place = (*code)->find("table")->address + 32;
    const uint64_t expected = c.value(outside + 12, place);
    EXPECT_EQ(c.bytes == 8 ? quad_at(place) : quad_at(place) & 0xFFFF'FFFF, expected);
    if (c.bytes == 4) EXPECT_EQ(quad_at(place) >> 32, 0u);
  }
}

TEST_F(Loader, AnUndefinedSymbolIsNamed) {
  const auto file = build();
  const auto code = LoadedCode::load(memory, gpu, file, {}, "memory://x");
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().kind, ErrorKind::not_found);
  EXPECT_THAT(code.error().message, HasSubstr("'outside'"));
  EXPECT_EQ(memory.allocated_bytes(), 0u) << "nothing is left behind";
}

TEST_F(Loader, CodeForAnotherGpuIsRefused) {
  const auto file = build();
  const auto code = LoadedCode::load(memory, target::find_gpu("gfx900")->target, file, externals, "memory://x");
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().kind, ErrorKind::incompatible);
  EXPECT_THAT(code.error().message, HasSubstr("gfx90a"));
}

TEST_F(Loader, AnUnknownRelocationIsNamed) {
  auto file = build();
  ASSERT_TRUE(change_relocation(file, 3, 12, 77));
  const auto code = LoadedCode::load(memory, gpu, file, externals, "memory://x");
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(code.error().message, HasSubstr("type 77"));
}

TEST_F(Loader, FunctionsAreFoundByAddress) {
  const auto file = build();
  const auto code = LoadedCode::load(memory, gpu, file, externals, "memory://x");
  ASSERT_TRUE(code) << code.error().message;
  const object::Symbol* k = (*code)->code_object().find_symbol("k");
  ASSERT_NE(k, nullptr);
  const uint64_t start = (*code)->base() + k->value;
  EXPECT_EQ((*code)->function_at(start), "k");
  EXPECT_EQ((*code)->function_at(start + 4), "helper");
  EXPECT_EQ((*code)->function_at(start + 11), "helper");
  EXPECT_EQ((*code)->function_at(start + 12), "");
  EXPECT_EQ((*code)->function_at(0), "");
}

TEST_F(Loader, PlacesOfUnloadedCodeCanBeResolved) {
  const auto file = build();
  auto code = LoadedCode::load(memory, gpu, file, externals, "memory://x");
  ASSERT_TRUE(code) << code.error().message;
  const uint64_t base = (*code)->base();
  const object::Symbol helper = (*code)->code_object().functions.front();
  const std::string name(helper.name);
  debug_info::CodeAddress address{
      .pc = base + helper.value, .symbolizer = (*code)->symbolizer(), .processor = gpu.processor, .wave_size = 64};
  address.copy_bytes((*code)->code_from(address.pc));
  const std::string instruction = address.instruction();
  EXPECT_NE(instruction, "");
  code->reset();
  EXPECT_EQ(memory.allocated_bytes(), 0u);
  const debug_info::CodePlace place = address.resolve();
  EXPECT_EQ(place.function, name);
  EXPECT_EQ(place.instruction, instruction);
}

TEST_F(Loader, UnloadingGivesTheMemoryBackAndSaysSoFirst) {
  bool reported = false;
  {
    const auto file = build();
    auto code = LoadedCode::load(memory, gpu, file, externals, "memory://x");
    ASSERT_TRUE(code);
    (*code)->before_unload = [&](const LoadedCode& gone) {
      reported = true;
      EXPECT_TRUE(memory.find(gone.base()));
    };
  }
  EXPECT_TRUE(reported);
  EXPECT_EQ(memory.allocated_bytes(), 0u);
}

}  // namespace
}  // namespace Atoll::machine

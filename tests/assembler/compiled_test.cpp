// What compilers write: kernels in OpenCL C, HIP and C++, compiled by clang-22 to assembly text for a processor of each
// generation. Atoll's object must be llvm-mc-22's byte for byte, and its sections, symbols and relocations those of the
// object that clang-22 -c writes. (Assembled text has further symbols: the ones that the text sets for its own use.)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "assembler/llvm_assembler.h"
#include "object/relocatable.h"
#include "support/command.h"

namespace Atoll::test {
namespace {

struct Source {
  const char* path;
  const char* language;
  const char* target = "--target=amdgcn-amd-amdhsa -mcpu={}";
};
constexpr Source sources[] = {
    {"isa/real_code/arithmetic.cl", "-x cl -cl-std=CL2.0 -Xclang -finclude-default-header"},
    {"isa/real_code/memory.cl", "-x cl -cl-std=CL2.0 -Xclang -finclude-default-header"},
    {"isa/real_code/special.cl", "-x cl -cl-std=CL2.0 -Xclang -finclude-default-header"},
    {"assembler/kernels/reductions.hip", "-x hip --cuda-device-only -nogpuinc", "--offload-arch={}"},
    {"assembler/kernels/objects.cpp", "-x c++ -fno-exceptions -fno-rtti"},
};

std::string spelled(const object::Relocatable& object, const object::RelocatableSymbol& symbol) {
  const std::string section =
      symbol.section == 0 ? fmt::format("{:#x}", symbol.special_section) : object.sections[symbol.section - 1].name;
  return fmt::format("{} {}+{} size {} type {} binding {} visibility {}", symbol.name, section, symbol.value,
                     symbol.size, symbol.type, symbol.binding, symbol.visibility);
}

std::set<std::string> symbols_of(const object::Relocatable& object) {
  std::set<std::string> all;
  for (const auto& symbol : object.symbols) all.insert(spelled(object, symbol));
  return all;
}

std::set<std::string> relocations_of(const object::Relocatable& object) {
  std::set<std::string> all;
  for (const auto& section : object.sections) {
    for (const auto& relocation : section.relocations) {
      all.insert(fmt::format("{}+{}: type {} of {} + {}", section.name, relocation.offset, relocation.type,
                             spelled(object, object.symbols[relocation.symbol]), relocation.addend));
    }
  }
  return all;
}

/// Sections that hold what is loaded or described: .comment and the like name the compiler.
std::map<std::string, const object::RelocatableSection*> sections_of(const object::Relocatable& object) {
  std::map<std::string, const object::RelocatableSection*> all;
  for (const auto& section : object.sections) {
    if ((section.flags & 2) != 0) all[section.name] = &section;  // SHF_ALLOC
  }
  return all;
}

/// `by_llvm` is what llvm-mc makes of the text: where that differs from clang's own object, the text does not say all
/// that clang encodes (on gfx90a, bits of buffer_wbl2 that mean nothing).
void expect_as_compiled(const std::vector<uint8_t>& assembled, const std::vector<uint8_t>& by_llvm,
                        const std::vector<uint8_t>& compiled) {
  const auto ours = object::read_relocatable(assembled), llvm = object::read_relocatable(by_llvm),
             theirs = object::read_relocatable(compiled);
  ASSERT_TRUE(ours && llvm && theirs);
  EXPECT_EQ(ours->flags, theirs->flags);
  EXPECT_EQ(ours->abi_version, theirs->abi_version);
  const auto our_sections = sections_of(*ours), their_sections = sections_of(*theirs);
  ASSERT_EQ(our_sections.size(), their_sections.size());
  for (const auto& [name, section] : their_sections) {
    ASSERT_TRUE(our_sections.contains(name)) << name;
    const object::RelocatableSection& our_section = *our_sections.at(name);
    if (sections_of(*llvm).at(name)->bytes == section->bytes) {
      EXPECT_TRUE(our_section.bytes == section->bytes) << name;
    }
    EXPECT_EQ(our_section.size, section->size) << name;
    EXPECT_EQ(our_section.flags, section->flags) << name;
    EXPECT_EQ(our_section.alignment, section->alignment) << name;
  }
  const auto our_symbols = symbols_of(*ours);
  for (const std::string& symbol : symbols_of(*theirs)) EXPECT_TRUE(our_symbols.contains(symbol)) << symbol;
  EXPECT_EQ(relocations_of(*ours), relocations_of(*theirs));
}

class Compiled : public testing::TestWithParam<const char*> {};

TEST_P(Compiled, AssemblyIsAssembledAsByLlvmAndIsWhatClangWrites) {
  const std::string processor = GetParam();
  const TemporaryDirectory directory;
  unsigned assembled = 0;
  for (const Source& source : sources) {
    for (const char* level : {"-O0", "-O3"}) {
      SCOPED_TRACE(fmt::format("{} {}", source.path, level));
      // By way of LLVM's IR, for HIP's driver would link.
      const std::string to_ir =
          fmt::format("cd {} && clang-22 {} {} {} -nogpulib -w {}/{} -S -emit-llvm -o ir.ll 2>&1",
                      directory.path().string(), source.language, fmt::format(fmt::runtime(source.target), processor),
                      level, ATOLL_TEST_SOURCE_DIR, source.path);
      const std::string back_end =
          fmt::format("cd {} && clang-22 --target=amdgcn-amd-amdhsa -mcpu={} {} -nogpulib -w ir.ll",
                      directory.path().string(), processor, level);
      for (const std::string& command : {to_ir, back_end + " -S -o text.s 2>&1", back_end + " -c -o compiled.o 2>&1"}) {
        const auto run = run_command(command);
        ASSERT_EQ(run.exit_code, 0) << command << '\n' << run.output;
      }
      const auto text = read_bytes(directory / "text.s");
      const std::string assembly(text.begin(), text.end());
      const LlvmAssembled theirs = llvm_assemble(assembly, processor);
      const LlvmAssembled ours = atoll_assemble(assembly, processor);
      if (theirs.object.empty()) {
        // clang 22 writes scaled matrix instructions whose registers its assembler finds wrong.
        EXPECT_NE(theirs.messages.find("wrong register tuple size"), std::string::npos) << theirs.messages;
        EXPECT_TRUE(ours.object.empty());
        continue;
      }
      ASSERT_FALSE(ours.object.empty()) << ours.messages;
      EXPECT_TRUE(ours.object == theirs.object);
      expect_as_compiled(ours.object, theirs.object, read_bytes(directory / "compiled.o"));
      ++assembled;
    }
  }
  EXPECT_GE(assembled, std::size(sources) * 2 - 1);
}

INSTANTIATE_TEST_SUITE_P(All, Compiled,
                         testing::Values("gfx803", "gfx900", "gfx90a", "gfx950", "gfx1010", "gfx1030", "gfx1100",
                                         "gfx1200", "gfx1250"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace Atoll::test

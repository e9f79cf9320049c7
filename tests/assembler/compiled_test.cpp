// What compilers write: kernels in OpenCL C, HIP and C++, compiled by clang-22 to assembly text for a processor of each
// generation. Atoll's object must be llvm-mc-22's byte for byte, and its sections, symbols and relocations those of the
// object that clang-22 -c writes; linked by Atoll, it must be what ld.lld-22 makes of that one, up to the layout.
// (Assembled text has further symbols: the ones that the text sets for its own use.)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "assembler/disassembly/disassembly.h"
#include "assembler/llvm_assembler.h"
#include "object/elf_file.h"
#include "object/link.h"
#include "object/relocatable.h"
#include "support/command.h"

namespace Atoll::test {
namespace {

struct Source {
  const char* path;
  const char* language;
  target::Generation since;  ///< from which on it can be compiled: generic addresses, DPP
  const char* target = "--target=amdgcn-amd-amdhsa -mcpu={}";
};
using enum target::Generation;
constexpr Source sources[] = {
    {"assembler/kernels/plain.cl", "-x cl -cl-std=CL1.2", gfx6},
    {"isa/real_code/arithmetic.cl", "-x cl -cl-std=CL2.0 -Xclang -finclude-default-header", gfx7},
    {"isa/real_code/memory.cl", "-x cl -cl-std=CL2.0 -Xclang -finclude-default-header", gfx7},
    {"isa/real_code/special.cl", "-x cl -cl-std=CL2.0 -Xclang -finclude-default-header", gfx8},
    {"assembler/kernels/reductions.hip", "-x hip --cuda-device-only -nogpuinc", gfx8, "--offload-arch={}"},
    {"assembler/kernels/objects.cpp", "-x c++ -fno-exceptions -fno-rtti", gfx7},
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

/// The instructions that the bytes are.
std::string text_of(const std::vector<uint8_t>& bytes, const std::string& processor) {
  const target::Processor& of = *target::find_processor(processor);
  std::string text;
  append_text(text, assembler::disassemble(bytes, of, (of.wave_sizes & 1) != 0 ? 32 : 64, 0), false);
  return text;
}

void expect_as_compiled(const std::vector<uint8_t>& assembled, const std::vector<uint8_t>& compiled,
                        const std::string& processor) {
  const auto ours = object::read_relocatable(assembled), theirs = object::read_relocatable(compiled);
  ASSERT_TRUE(ours && theirs);
  EXPECT_EQ(ours->flags, theirs->flags);
  EXPECT_EQ(ours->abi_version, theirs->abi_version);
  const auto our_sections = sections_of(*ours), their_sections = sections_of(*theirs);
  ASSERT_EQ(our_sections.size(), their_sections.size());
  for (const auto& [name, section] : their_sections) {
    ASSERT_TRUE(our_sections.contains(name)) << name;
    const object::RelocatableSection& our_section = *our_sections.at(name);
    if (our_section.bytes != section->bytes) {
      // The text does not say all that clang encodes: on gfx90a, bits of buffer_wbl2 that mean nothing. What it says is
      // the same.
      EXPECT_EQ(processor, "gfx90a") << name;
      const std::string text = text_of(section->bytes, processor);
      EXPECT_TRUE(text.contains("buffer_wbl2")) << name;
      EXPECT_TRUE(text_of(our_section.bytes, processor) == text) << name;
      fmt::print("{} of {}: clang's bytes are not those of its own text, the instructions are compared\n", name,
                 processor);
    }
    EXPECT_EQ(our_section.size, section->size) << name;
    EXPECT_EQ(our_section.flags, section->flags) << name;
    EXPECT_EQ(our_section.alignment, section->alignment) << name;
  }
  const auto our_symbols = symbols_of(*ours);
  for (const std::string& symbol : symbols_of(*theirs)) EXPECT_TRUE(our_symbols.contains(symbol)) << symbol;
  EXPECT_EQ(relocations_of(*ours), relocations_of(*theirs));
}

/// Compares what the layout does not affect: sections with their sizes, and symbols.
std::set<std::string> contents_of(const std::vector<uint8_t>& bytes) {
  std::set<std::string> all;
  const auto file = object::read_elf_file(bytes);
  EXPECT_TRUE(file);
  if (!file) return all;
  for (const object::ElfSection& section : file->sections) {
    // Names may share their ends.
    const bool linkers_own =
        section.name == ".dynamic" || section.name == ".relro_padding" || section.name == ".dynstr";
    if ((section.header.sh_flags & SHF_ALLOC) != 0 && !linkers_own)
      all.insert(fmt::format("{}: {} bytes", section.name, section.header.sh_size));
    if (section.header.sh_type != SHT_DYNSYM) continue;
    for (const object::ElfSymbol& symbol : object::read_symbols(*file, section).value())
      all.insert(fmt::format("{}: {} bytes, {} {} {}", symbol.name, symbol.raw.st_size, symbol.raw.st_info,
                             symbol.raw.st_other, symbol.raw.st_shndx != SHN_UNDEF));
  }
  return all;
}

/// Linked by Atoll, the object is what ld.lld makes of clang's; both refuse one that calls what is not there.
void expect_linked_alike(const std::vector<uint8_t>& assembled, const TemporaryDirectory& directory) {
  auto object = object::read_relocatable(assembled);
  ASSERT_TRUE(object);
  const object::LinkInput input{"text.o", std::move(*object)};
  const auto ours = object::link({&input, 1});
  const auto run =
      run_command(fmt::format("cd {} && ld.lld-22 -shared compiled.o -o lld.so 2>&1", directory.path().string()));
  ASSERT_EQ(ours.has_value(), run.exit_code == 0) << run.output;
  if (!ours) {
    EXPECT_TRUE(run.output.contains("undefined")) << run.output;
    EXPECT_TRUE(ours.error().message.contains("undefined symbol: ")) << ours.error().message;
    return;
  }
  EXPECT_EQ(contents_of(*ours), contents_of(read_bytes(directory / "lld.so")));
}

class Compiled : public testing::TestWithParam<std::string> {};

/// The levels of optimization that a source is compiled with: one, in turn, or both in `make sweep`.
std::vector<const char*> levels_for(size_t source, std::string_view processor) {
  if (std::getenv("ATOLL_SWEEP") != nullptr) return {"-O0", "-O3"};
  return {(source + processor.back()) % 2 == 0 ? "-O0" : "-O3"};
}

TEST_P(Compiled, AssemblyIsAssembledAsByLlvmAndIsWhatClangWrites) {
  const std::string processor = GetParam();
  const TemporaryDirectory directory;
  unsigned assembled = 0;
  unsigned wanted = 0;
  for (const Source& source : sources) {
    if (target::find_processor(processor)->generation < source.since) continue;
    const std::vector<const char*> levels = levels_for(static_cast<size_t>(&source - std::begin(sources)), processor);
    wanted += static_cast<unsigned>(levels.size());
    for (const char* level : levels) {
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
      expect_as_compiled(ours.object, read_bytes(directory / "compiled.o"), processor);
      expect_linked_alike(ours.object, directory);
      ++assembled;
    }
  }
  EXPECT_GE(assembled, std::max(wanted - 1, 1u));
}

INSTANTIATE_TEST_SUITE_P(All, Compiled,
                         testing::Values("gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx90a", "gfx942", "gfx950",
                                         "gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200", "gfx1250"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace Atoll::test

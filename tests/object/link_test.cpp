// Linking: objects that clang compiled, linked by Atoll and by ld.lld-22. Layouts differ, so what is compared is what
// they mean: symbols, and where each relocation of the inputs leads in either output.
#include <elf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>

#include "object/code_object.h"
#include "object/compiled.h"
#include "object/elf_file.h"
#include "object/link.h"
#include "object/relocation_type.h"
#include "support/parameter_name.h"

namespace Atoll::test {
namespace {

using object::CodeObject;
using object::LinkInput;
using object::Relocatable;

Relocatable compile(const std::string& path, const std::string& source, const std::string& processor,
                    const std::string& options = "") {
  write_file(path + ".cl", source);
  const auto run = run_command(fmt::format(
      "clang-22 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu={} -nogpulib -O1 -w -c -Xclang -emit-obj "
      "{} {}.cl -o {} 2>&1",
      processor, options, path, path));
  EXPECT_EQ(run.exit_code, 0) << run.output;
  const auto bytes = read_bytes(path);
  auto object = object::read_relocatable(bytes);
  EXPECT_TRUE(object) << object.error().message;
  return std::move(*object);
}

// Two files: a kernel that calls into the other, tables and variables of every kind of visibility, an address in data,
// a weak function with two definitions, an undefined weak variable.
constexpr const char* first_source = R"(
int elsewhere(int);
extern __constant int shared_table[4];
__attribute__((weak)) int choose(int x) { return x + 1; }
static __constant int own[3] = {7, 8, 9};
__global int counter = 5;
__global int *where = &counter;
__global int zeros[40];
extern __attribute__((weak)) __global int missing;
kernel void run(global int *out) {
  int i = __builtin_amdgcn_workitem_id_x();
  out[i] = elsewhere(i) + choose(i) + own[i % 3] + shared_table[i & 3] + *where + zeros[i & 31];
  out[1] = &missing != 0;
}
)";
constexpr const char* second_source = R"(
__constant int shared_table[4] = {1, 2, 3, 4};
int choose(int x) { return x * 2; }
__attribute__((visibility("hidden"))) int helper(int x) { return x ^ shared_table[x & 3]; }
int elsewhere(int x) { return helper(x) + helper(x + 1); }
kernel void other(global int *out) { out[0] = elsewhere(3); }
)";

/// Bytes of the loaded image, from address 0 on.
std::vector<uint8_t> image(const CodeObject& code) {
  std::vector<uint8_t> bytes(code.memory_size);
  for (const object::Segment& segment : code.segments) {
    std::memcpy(bytes.data() + segment.address, segment.bytes.data(), segment.bytes.size());
  }
  return bytes;
}

/// Sections of a linked file by name: address and size.
std::map<std::string, std::pair<uint64_t, uint64_t>> sections_of(std::span<const uint8_t> file) {
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  std::vector<Elf64_Shdr> headers(header.e_shnum);
  std::memcpy(headers.data(), file.data() + header.e_shoff, headers.size() * sizeof(Elf64_Shdr));
  std::map<std::string, std::pair<uint64_t, uint64_t>> sections;
  const char* names = reinterpret_cast<const char*>(file.data()) + headers[header.e_shstrndx].sh_offset;
  for (const Elf64_Shdr& section : headers) sections[names + section.sh_name] = {section.sh_addr, section.sh_size};
  return sections;
}

/// What each defined symbol of .symtab has: address, and what does not depend on the layout.
std::map<std::string, Elf64_Sym> symbols_of(std::span<const uint8_t> file) {
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  std::vector<Elf64_Shdr> headers(header.e_shnum);
  std::memcpy(headers.data(), file.data() + header.e_shoff, headers.size() * sizeof(Elf64_Shdr));
  std::map<std::string, Elf64_Sym> symbols;
  for (const Elf64_Shdr& section : headers) {
    if (section.sh_type != SHT_SYMTAB) continue;
    const char* names = reinterpret_cast<const char*>(file.data()) + headers[section.sh_link].sh_offset;
    for (uint64_t i = 1; i < section.sh_size / sizeof(Elf64_Sym); ++i) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, file.data() + section.sh_offset + i * sizeof symbol, sizeof symbol);
      symbols[names + symbol.st_name] = symbol;
    }
  }
  return symbols;
}

class Link : public testing::TestWithParam<std::string> {};

TEST_P(Link, MeansWhatLldMakes) {
  const TemporaryDirectory directory;
  const std::string processor = GetParam();
  std::vector<LinkInput> inputs;
  inputs.push_back({"first.o", compile(directory / "first.o", first_source, processor)});
  inputs.push_back({"second.o", compile(directory / "second.o", second_source, processor)});
  const auto ours = object::link(inputs);
  ASSERT_TRUE(ours) << ours.error().message;
  const auto lld = run_command(
      fmt::format("ld.lld-22 -shared {0}/first.o {0}/second.o -o {0}/lld.so 2>&1", directory.path().string()));
  ASSERT_EQ(lld.exit_code, 0) << lld.output;
  const auto theirs = read_bytes(directory / "lld.so");

  const auto our_code = object::read_code_object(*ours), their_code = object::read_code_object(theirs);
  ASSERT_TRUE(our_code) << our_code.error().message;
  ASSERT_TRUE(their_code) << their_code.error().message;
  EXPECT_EQ(our_code->e_flags, their_code->e_flags);
  EXPECT_EQ(our_code->version, their_code->version);

  // Symbols: the same ones, of the same kind.
  const auto our_symbols = symbols_of(*ours), their_symbols = symbols_of(theirs);
  for (const auto& [name, symbol] : their_symbols) {
    const auto found = our_symbols.find(name);
    ASSERT_NE(found, our_symbols.end()) << name;
    EXPECT_EQ(found->second.st_info, symbol.st_info) << name;
    EXPECT_EQ(found->second.st_other, symbol.st_other) << name;
    EXPECT_EQ(found->second.st_size, symbol.st_size) << name;
    EXPECT_EQ(found->second.st_shndx == SHN_UNDEF, symbol.st_shndx == SHN_UNDEF) << name;
  }
  EXPECT_EQ(our_symbols.size(), their_symbols.size());
  std::map<std::string, std::pair<int, int>> dynamic;
  for (const object::Symbol& symbol : our_code->symbols) dynamic[std::string(symbol.name)].first = symbol.binding + 1;
  for (const object::Symbol& symbol : their_code->symbols)
    dynamic[std::string(symbol.name)].second = symbol.binding + 1;
  for (const auto& [name, bindings] : dynamic) EXPECT_EQ(bindings.first, bindings.second) << name;

  // Sections are as large, and what is in them is the same but for what relocations wrote.
  const auto our_sections = sections_of(*ours), their_sections = sections_of(theirs);
  const auto our_image = image(*our_code), their_image = image(*their_code);
  for (const char* name : {".text", ".rodata", ".data", ".bss"}) {
    ASSERT_TRUE(our_sections.contains(name)) << name;
    EXPECT_EQ(our_sections.at(name).second, their_sections.at(name).second) << name;
  }

  // Relocations lead to the same symbols. A distance, added to where it is written, is an address; the symbol that
  // lies there is who was meant.
  const auto read32 = [](const std::vector<uint8_t>& bytes, uint64_t at) {
    uint32_t value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  };
  size_t compared = 0;
  uint64_t placed = 0;
  for (const LinkInput& input : inputs) {
    for (const object::RelocatableSection& section : input.object.sections) {
      if (section.name != ".text") continue;
      placed = (placed + section.alignment - 1) / section.alignment * section.alignment;
      for (const object::RelocatableRelocation& relocation : section.relocations) {
        const bool low = relocation.type == object::R_AMDGPU_REL32_LO;
        const bool got = relocation.type == object::R_AMDGPU_GOTPCREL32_LO;
        if (!low && !got) continue;
        const std::string& name = input.object.symbols[relocation.symbol].name;
        const auto target = [&](const std::vector<uint8_t>& bytes, uint64_t text) {
          const uint64_t p = text + placed + relocation.offset;
          return static_cast<uint64_t>(static_cast<int64_t>(p) + static_cast<int32_t>(read32(bytes, p)) -
                                       relocation.addend);
        };
        const uint64_t our_target = target(our_image, our_sections.at(".text").first);
        const uint64_t their_target = target(their_image, their_sections.at(".text").first);
        if (low && our_symbols.contains(name)) {
          EXPECT_EQ(our_target, our_symbols.at(name).st_value) << name;
          EXPECT_EQ(their_target, their_symbols.at(name).st_value) << name;
        }
        if (got) {
          // The slot is in .got, and the loader fills it in with the symbol: by name, or its place.
          const auto slot_of = [&](const CodeObject& code, uint64_t slot) -> std::string {
            for (const object::Relocation& dynamic_relocation : code.relocations) {
              if (dynamic_relocation.offset != slot) continue;
              if (dynamic_relocation.symbol != 0) return std::string(code.symbols[dynamic_relocation.symbol].name);
              const auto& symbols = &code == &*our_code ? our_symbols : their_symbols;
              for (const auto& [symbol_name, symbol] : symbols) {
                if (symbol.st_value == static_cast<uint64_t>(dynamic_relocation.addend)) return symbol_name;
              }
            }
            return "nothing";
          };
          // A hidden weak symbol that is nowhere is at 0 for good.
          const std::string meant = name == "missing" ? "nothing" : name;
          EXPECT_EQ(slot_of(*our_code, our_target), meant);
          EXPECT_EQ(slot_of(*their_code, their_target), meant);
          if (name == "missing") EXPECT_EQ(read32(our_image, our_target) | read32(our_image, our_target + 4), 0u);
        }
        ++compared;
      }
      placed += section.size;
    }
  }
  EXPECT_GE(compared, 5u);

  // Both leave the loader the same kinds of work.
  std::map<uint32_t, std::pair<int, int>> kinds;
  for (const object::Relocation& relocation : our_code->relocations) ++kinds[relocation.type].first;
  for (const object::Relocation& relocation : their_code->relocations) ++kinds[relocation.type].second;
  for (const auto& [type, counts] : kinds) EXPECT_EQ(counts.first, counts.second) << object::relocation_name(type);
}

INSTANTIATE_TEST_SUITE_P(Processors, Link, testing::Values("gfx700", "gfx900", "gfx90a", "gfx1030", "gfx1200"),
                         test::NamedByParameter());

/// Both inputs have a comdat group of the same name; debug information and other sections tell where it is.
constexpr const char* group_source = R"(
.section .text.shared,"axG",@progbits,shared,comdat
.weak shared
.protected shared
.type shared,@function
shared: s_nop 1
.Linside: s_nop 2
.size shared,.-shared
.section .rodata.shared,"aG",@progbits,shared,comdat
.weak numbers
numbers: .long 7
.text
.globl NAME
.protected NAME
.type NAME,@function
NAME: s_getpc_b64 s[0:1]
s_add_u32 s0,s0,shared@rel32@lo+4
s_addc_u32 s1,s1,shared@rel32@hi+12
s_endpgm
.size NAME,.-NAME
.data
.quad numbers
.section .debug_made
.quad .Linside
.section .debug_ranges
.quad .Linside, .Linside+4
.section .debug_names
.quad .Linside
.section .debug_addr
.quad shared, NAME
.section .mine
.quad .Linside
)";

Relocatable assemble(const std::string& path, std::string text, const std::string& name) {
  for (size_t at; (at = text.find("NAME")) != std::string::npos;) text.replace(at, 4, name);
  write_file(path + ".s", text);
  const auto run = run_command(
      fmt::format("llvm-mc-22 -triple amdgcn-amd-amdhsa -mcpu=gfx900 -filetype=obj {0}.s -o {0} 2>&1", path));
  EXPECT_EQ(run.exit_code, 0) << run.output;
  auto object = object::read_relocatable(read_bytes(path));
  EXPECT_TRUE(object) << object.error().message;
  return std::move(*object);
}

TEST(LinkGroups, AreKeptOnceAsByLld) {
  const TemporaryDirectory directory;
  std::vector<LinkInput> inputs;
  for (const char* name : {"first", "second"}) inputs.push_back({name, assemble(directory / name, group_source, name)});
  const auto ours = object::link(inputs);
  ASSERT_TRUE(ours) << ours.error().message;
  const auto lld =
      run_command(fmt::format("cd {} && ld.lld-22 -shared first second -o lld.so 2>&1", directory.path().string()));
  ASSERT_EQ(lld.exit_code, 0) << lld.output;
  const auto theirs = read_bytes(directory / "lld.so");
  const auto our_symbols = symbols_of(*ours), their_symbols = symbols_of(theirs);
  EXPECT_EQ(our_symbols.size(), their_symbols.size());
  for (const auto& [name, symbol] : their_symbols) {
    ASSERT_TRUE(our_symbols.contains(name)) << name;
    EXPECT_EQ(our_symbols.at(name).st_info, symbol.st_info) << name;
    EXPECT_EQ(our_symbols.at(name).st_size, symbol.st_size) << name;
  }
  const auto our_file = object::read_elf_file(*ours), their_file = object::read_elf_file(theirs);
  ASSERT_TRUE(our_file && their_file);
  for (const char* name :
       {".text", ".rodata", ".data", ".debug_made", ".debug_ranges", ".debug_names", ".debug_addr", ".mine"}) {
    SCOPED_TRACE(name);
    const object::ElfSection *our_section = our_file->find_section(std::string_view(name)),
                             *their_section = their_file->find_section(std::string_view(name));
    ASSERT_TRUE(our_section != nullptr && their_section != nullptr);
    ASSERT_EQ(our_section->bytes.size(), their_section->bytes.size());
    if (!std::string_view(name).starts_with(".debug") && std::string_view(name) != ".mine") continue;
    // Addresses from the beginning of .text, as far as they are some.
    const auto words = [&](const object::ElfSection& section, const object::ElfFile& file) {
      const uint64_t text = file.find_section(std::string_view(".text"))->header.sh_addr;
      std::vector<uint64_t> found(section.bytes.size() / 8);
      std::memcpy(found.data(), section.bytes.data(), found.size() * 8);
      for (uint64_t& word : found)
        if (word >= text && word < UINT64_MAX) word -= text;
      return found;
    };
    EXPECT_EQ(words(*our_section, *our_file), words(*their_section, *their_file));
  }
}

TEST(LinkGroups, AreNotReachedIntoWhenDiscarded) {
  const TemporaryDirectory directory;
  std::vector<LinkInput> inputs;
  for (const char* name : {"first", "second"})
    inputs.push_back({name, assemble(directory / name, std::string(group_source) + ".data\n.quad .Linside\n", name)});
  const auto linked = object::link(inputs);
  ASSERT_FALSE(linked);
  EXPECT_EQ(linked.error().message,
            "second:(.data+0x8): the relocation refers to section '.text.shared', of which another input's is kept");
  const auto lld =
      run_command(fmt::format("cd {} && ld.lld-22 -shared first second -o lld.so 2>&1", directory.path().string()));
  EXPECT_NE(lld.exit_code, 0);
}

TEST(LinkErrors, RoomThatWouldFillTheFileIsRefused) {
  const object::Relocatable object{.sections = {{.name = ".data.room",
                                                 .type = SHT_NOBITS,
                                                 .flags = SHF_ALLOC | SHF_WRITE,
                                                 .bytes = {},
                                                 .size = uint64_t{1} << 40,
                                                 .relocations = {}},
                                                {.name = ".data",
                                                 .type = SHT_PROGBITS,
                                                 .flags = SHF_ALLOC | SHF_WRITE,
                                                 .bytes = {1},
                                                 .size = 1,
                                                 .relocations = {}}},
                                   .groups = {},
                                   .symbols = {{}}};
  const LinkInput input{"large.o", object};
  const auto linked = object::link({&input, 1});
  ASSERT_FALSE(linked);
  EXPECT_EQ(linked.error().message, "large.o: section .data would be larger than 256 MiB");
}

/// An object with these sections, each aligned, of one byte, and a common symbol.
object::Relocatable object_with(std::vector<uint64_t> alignments, uint64_t common_size, uint32_t bss_type) {
  object::Relocatable object{.sections = {}, .groups = {}, .symbols = {{}}};
  for (size_t i = 0; i < alignments.size(); i++)
    object.sections.push_back({.name = fmt::format(".rodata{}", i),
                               .type = SHT_PROGBITS,
                               .flags = SHF_ALLOC,
                               .alignment = alignments[i],
                               .bytes = {1},
                               .size = 1,
                               .relocations = {}});
  object.sections.push_back({.name = ".bss",
                             .type = bss_type,
                             .flags = SHF_ALLOC | SHF_WRITE,
                             .bytes = std::vector<uint8_t>(bss_type == SHT_NOBITS ? 0 : 1),
                             .size = 1,
                             .relocations = {}});
  object.symbols.push_back({.name = "common",
                            .value = 8,
                            .size = common_size,
                            .type = STT_OBJECT,
                            .binding = STB_GLOBAL,
                            .special_section = SHN_COMMON});
  return object;
}

// What makes a file that is much larger than its inputs is found before it takes memory.
TEST(LinkErrors, FilesThatAreMuchLargerThanTheirInputsAreRefused) {
  const auto message = [](const object::Relocatable& object) {
    const LinkInput input{"a.o", object};
    const auto linked = object::link({&input, 1});
    return linked ? "linked" : linked.error().message;
  };
  EXPECT_EQ(message(object_with({}, 8, SHT_NOBITS)), "linked");
  EXPECT_EQ(message(object_with({}, uint64_t{1} << 32, SHT_NOBITS)), "linked");  // no bytes in the file
  EXPECT_EQ(message(object_with({}, uint64_t{1} << 32, SHT_PROGBITS)),
            "a.o: common symbol common makes .bss larger than 256 MiB");
  EXPECT_EQ(message(object_with({}, UINT64_MAX, SHT_NOBITS)),
            "a.o: common symbol common makes .bss larger than 1048576 MiB");
  EXPECT_EQ(message(object_with({1 << 20, 1 << 20}, 8, SHT_NOBITS)), "linked");
  const std::string too_large = "alignments make the code object larger than its inputs by more than 256 MiB";
  EXPECT_EQ(message(object_with({uint64_t{1} << 31}, 8, SHT_NOBITS)), too_large);
  EXPECT_EQ(message(object_with({1 << 27, 1 << 27, 1 << 27}, 8, SHT_NOBITS)), too_large);
}

// Readers copy sections: a thousand that are the same bytes would be a thousand copies.
TEST(LinkErrors, SectionsThatOverlapAreRefused) {
  const TemporaryDirectory directory;
  auto bytes = compile(directory / "a.o", "int table[4096] = {1}; int more[4096] = {2};", "gfx900");
  auto file = object::write_relocatable(bytes);
  ASSERT_TRUE(object::read_relocatable(file));
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  for (unsigned i = 1; i < header.e_shnum; i++) {
    Elf64_Shdr section;
    uint8_t* const at = file.data() + header.e_shoff + i * sizeof section;
    std::memcpy(&section, at, sizeof section);
    if (section.sh_type != SHT_PROGBITS) continue;
    section.sh_offset = 0;
    section.sh_size = file.size();
    std::memcpy(at, &section, sizeof section);
  }
  const auto read = object::read_relocatable(file);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("overlaps others"), std::string::npos) << read.error().message;
}

TEST(LinkErrors, NameVersionsAndProcessors) {
  const TemporaryDirectory directory;
  const auto message = [&](const object::Relocatable& other) {
    const LinkInput inputs[] = {{"a.o", compile(directory / "a.o", "int f(void) { return 1; }", "gfx90a:xnack+")},
                                {"b.o", other}};
    const auto linked = object::link(inputs);
    return linked ? "linked" : linked.error().message;
  };
  EXPECT_EQ(message(compile(directory / "b.o", "int g(void) { return 1; }", "gfx908:xnack+")),
            "b.o is for gfx908:xnack+, a.o is for gfx90a:xnack+");
  EXPECT_EQ(message(compile(directory / "b.o", "int g(void) { return 1; }", "gfx90a:xnack-")),
            "b.o is for gfx90a:xnack-, a.o is for gfx90a:xnack+: xnack differs");
  auto older = compile(directory / "b.o", "int g(void) { return 1; }", "gfx90a:xnack+");
  const int version = older.abi_version + 2;
  older.abi_version--;
  EXPECT_EQ(message(older),
            fmt::format("b.o is code object version {}, a.o is code object version {}", version - 1, version));
}

TEST(LinkErrors, AreAllSaid) {
  const TemporaryDirectory directory;
  std::vector<LinkInput> inputs;
  inputs.push_back(
      {"a.o", compile(directory / "a.o", "int f(int x) { return x; }\nint g(int x) { return f(x); }", "gfx900")});
  inputs.push_back(
      {"b.o", compile(directory / "b.o",
                      "int f(int x) { return x + 1; }\n__attribute__((visibility(\"hidden\"))) int h(int);\n"
                      "int k(int x) { return h(x) + 1; }",
                      "gfx900")});
  const auto linked = object::link(inputs);
  ASSERT_FALSE(linked);
  EXPECT_NE(linked.error().message.find("duplicate symbol: f"), std::string::npos) << linked.error().message;
  EXPECT_NE(linked.error().message.find("undefined symbol: h"), std::string::npos) << linked.error().message;

  std::vector<LinkInput> mixed;
  mixed.push_back({"a.o", compile(directory / "a.o", "int f(int x) { return x; }", "gfx900")});
  mixed.push_back({"b.o", compile(directory / "b.o", "int g(int x) { return x; }", "gfx906")});
  const auto other = object::link(mixed);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("b.o is for gfx906, a.o is for gfx900"), std::string::npos)
      << other.error().message;
}

TEST(Relocatable, IsWrittenAsItWasRead) {
  const TemporaryDirectory directory;
  for (const char* processor : {"gfx700", "gfx90a", "gfx1200"}) {
    const Relocatable object = compile(directory / "a.o", first_source, processor);
    EXPECT_EQ(object::write_relocatable(object), read_bytes(directory / "a.o")) << processor;
  }
}

TEST(Relocatable, DamagedFilesDoNoHarm) {
  const TemporaryDirectory directory;
  compile(directory / "a.o", first_source, "gfx90a");
  const auto good = read_bytes(directory / "a.o");
  for (size_t at = 0; at < good.size(); at += 7) {
    for (const uint8_t value : {uint8_t{0x00}, uint8_t{0xFF}, uint8_t{0x80}}) {
      auto bytes = good;
      bytes[at] = value;
      auto object = object::read_relocatable(bytes);
      if (!object) continue;
      const LinkInput input{"damaged.o", std::move(*object)};
      const auto linked = object::link({&input, 1});
      if (!linked) EXPECT_FALSE(linked.error().message.empty());
    }
  }
  for (size_t size = 0; size < good.size(); size += 13) {
    const auto object = object::read_relocatable(std::span(good).first(size));
    if (!object) EXPECT_FALSE(object.error().message.empty());
  }
}

}  // namespace
}  // namespace Atoll::test

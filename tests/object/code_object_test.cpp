// Code objects as clang writes them, in every version: what Atoll reads in them against what LLVM's own tools read.
#include "object/code_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "object/compiled.h"
#include "support/command.h"
#include "support/parameter_name.h"

namespace Atoll::object {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Each dynamic symbol as "name value size", sorted, by llvm-readelf.
std::vector<std::string> symbols_by_llvm(const std::string& path) {
  const auto run = test::run_command(fmt::format("llvm-readelf-22 --dyn-syms -W {}", path));
  EXPECT_EQ(run.exit_code, 0) << run.output;
  std::vector<std::string> symbols;
  std::istringstream lines(run.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string number, value, size, type, binding, visibility, section, name;
    if (!(fields >> number >> value >> size >> type >> binding >> visibility >> section >> name)) continue;
    if (number.back() != ':' || !isdigit(number[0])) continue;
    symbols.push_back(fmt::format("{} {:x} {}", name, std::stoull(value, nullptr, 16), std::stoull(size)));
  }
  std::ranges::sort(symbols);
  return symbols;
}

std::vector<std::string> symbols_by_atoll(const CodeObject& object) {
  std::vector<std::string> symbols;
  for (const Symbol& symbol : object.symbols)
    if (!symbol.name.empty()) symbols.push_back(fmt::format("{} {:x} {}", symbol.name, symbol.value, symbol.size));
  std::ranges::sort(symbols);
  return symbols;
}

/// Each PT_LOAD as "address file-size memory-size flags".
std::vector<std::string> segments_by_llvm(const std::string& path) {
  const auto run = test::run_command(fmt::format("llvm-readelf-22 -l -W {}", path));
  std::vector<std::string> segments;
  std::istringstream lines(run.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string type, offset, address, physical, file, memory;
    if (!(fields >> type >> offset >> address >> physical >> file >> memory) || type != "LOAD") continue;
    const auto number = [](const std::string& text) { return std::stoull(text, nullptr, 16); };
    const std::string flags = line.substr(line.find(memory, line.find(file) + file.size()) + memory.size() + 1, 3);
    segments.push_back(fmt::format("{:x} {:x} {:x} {}{}", number(address), number(file), number(memory),
                                   flags[1] == 'W' ? "w" : "-", flags[2] == 'E' ? "x" : "-"));
  }
  return segments;
}

std::vector<std::string> segments_by_atoll(const CodeObject& object) {
  std::vector<std::string> segments;
  for (const Segment& segment : object.segments)
    segments.push_back(fmt::format("{:x} {:x} {:x} {}{}", segment.address, segment.bytes.size(), segment.memory_size,
                                   segment.writable ? "w" : "-", segment.executable ? "x" : "-"));
  return segments;
}

size_t relocations_by_llvm(const std::string& path) {
  const auto run = test::run_command(fmt::format("llvm-readelf-22 -r -W {} | grep -c R_AMDGPU", path));
  return std::stoul("0" + run.output);
}

struct Build {
  const char* compiler;
  int version;
  const char* processor;
};

void PrintTo(const Build& build, std::ostream* out) {
  *out << build.compiler << " V" << build.version << " " << build.processor;
}

class CodeObjects : public testing::TestWithParam<Build> {};

TEST_P(CodeObjects, ReadAsLlvmReadsThem) {
  const auto [compiler, version, processor] = GetParam();
  const test::TemporaryDirectory directory;
  const std::string path = directory / "kernels.co";
  test::compile_code_object(compiler, version, processor, path);
  const auto bytes = test::read_bytes(path);
  const auto object = read_code_object(bytes);
  ASSERT_TRUE(object) << object.error().message;
  EXPECT_EQ(object->version, static_cast<unsigned>(version));
  if (version > 3) EXPECT_EQ(object->target.to_string(), processor);
  EXPECT_EQ(symbols_by_atoll(*object), symbols_by_llvm(path));
  EXPECT_EQ(segments_by_atoll(*object), segments_by_llvm(path));
  EXPECT_EQ(object->relocations.size(), relocations_by_llvm(path));
  EXPECT_GE(object->relocations.size(), 1u);
  EXPECT_EQ(elf_image_size(bytes).value_or(0), bytes.size());

  // What the source says (tests/object/compiled.h).
  const KernelMetadata* scale = object->find_kernel("scale");
  ASSERT_NE(scale, nullptr);
  EXPECT_EQ(scale, object->find_kernel("scale.kd"));
  EXPECT_EQ(scale->symbol, "scale.kd");
  EXPECT_EQ(scale->wavefront_size, 64u);
  ASSERT_GE(scale->arguments.size(), 3u);
  EXPECT_EQ(scale->arguments[0].kind, ArgumentKind::global_buffer);
  EXPECT_EQ(scale->arguments[0].address_space, "global");
  EXPECT_EQ(scale->arguments[0].size, 8u);
  EXPECT_EQ(scale->arguments[1].kind, ArgumentKind::by_value);
  EXPECT_EQ(scale->arguments[1].offset, 8u);
  EXPECT_EQ(scale->arguments[1].size, 4u);
  EXPECT_EQ(scale->arguments[2].offset, 12u);
  EXPECT_EQ(scale->arguments[0].name, "data");
  EXPECT_EQ(scale->arguments[0].type_name, "float*");

  const KernelMetadata* tile = object->find_kernel("tile");
  ASSERT_NE(tile, nullptr);
  EXPECT_EQ(tile->group_segment_fixed_size, 1024u);
  EXPECT_EQ(tile->required_workgroup_size, (std::array<uint32_t, 3>{16, 16, 1}));
  EXPECT_EQ(tile->arguments[1].kind, ArgumentKind::dynamic_shared_pointer);

  const Symbol* table = object->find_symbol("table");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->size, 12u);
  EXPECT_EQ(table->type, 1);  // STT_OBJECT
  const Symbol* descriptor = object->find_symbol("scale.kd");
  ASSERT_NE(descriptor, nullptr);
  EXPECT_EQ(descriptor->size, 64u);
  EXPECT_EQ(object->find_symbol("nothing"), nullptr);
  EXPECT_TRUE(std::ranges::any_of(object->functions, [](const Symbol& f) { return f.name == "tile"; }));
}

INSTANTIATE_TEST_SUITE_P(EveryCompiler, CodeObjects,
                         testing::Values(Build{"clang-15", 3, "gfx900"}, Build{"clang-15", 3, "gfx90a"},
                                         Build{"clang-15", 4, "gfx906:xnack-"}, Build{"clang-19", 4, "gfx908"},
                                         Build{"clang-19", 5, "gfx90a:sramecc+:xnack-"},
                                         Build{"clang-22", 4, "gfx900:xnack+"}, Build{"clang-22", 5, "gfx942"},
                                         Build{"clang-22", 6, "gfx90c"}, Build{"clang-22", 6, "gfx9-generic"},
                                         Build{"clang-22", 6, "gfx9-4-generic:xnack-"}, Build{"clang-22", 6, "gfx950"}),
                         test::NamedByParameter());

TEST(CodeObject, HiddenArgumentsOfVersion5) {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "kernels.co";
  test::compile_code_object("clang-22", 5, "gfx90a", path);
  const auto bytes = test::read_bytes(path);
  const auto object = read_code_object(bytes);
  ASSERT_TRUE(object) << object.error().message;
  EXPECT_EQ(object->metadata.version_major, 1u);
  EXPECT_EQ(object->metadata.version_minor, 2u);
  EXPECT_EQ(object->metadata.target, "amdgcn-amd-amdhsa--gfx90a");
  const KernelMetadata* scale = object->find_kernel("scale");
  ASSERT_NE(scale, nullptr);
  std::vector<ArgumentKind> hidden;
  for (const KernelArgument& argument : scale->arguments)
    if (argument.kind_name.starts_with("hidden")) hidden.push_back(argument.kind);
  using enum ArgumentKind;
  EXPECT_THAT(hidden, testing::Contains(hidden_block_count_x));
  EXPECT_THAT(hidden, testing::Contains(hidden_group_size_x));
  EXPECT_THAT(hidden, testing::Not(testing::Contains(unknown)));
}

TEST(CodeObject, MetadataOfAllNotesCount) {
  const test::TemporaryDirectory directory;
  const auto run = test::run_command(fmt::format(
      "cd {} && for name in one two; do echo '__kernel void '$name'(__global int *p) {{ *p = 1; }}' > $name.cl && "
      "clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -cl-std=CL2.0 -O2 -c $name.cl -o $name.o || exit 1; "
      "done; ld.lld-22 -shared one.o two.o -o both.co 2>&1",
      directory.path().string()));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const auto bytes = test::read_bytes(directory / "both.co");
  const auto object = read_code_object(bytes);
  ASSERT_TRUE(object) << object.error().message;
  EXPECT_NE(object->find_kernel("one"), nullptr);
  EXPECT_NE(object->find_kernel("two"), nullptr);
  EXPECT_EQ(object->metadata.kernels.size(), 2u);
  EXPECT_EQ(object->metadata.target, "amdgcn-amd-amdhsa--gfx90a");
}

TEST(CodeObject, SaysWhatAFileIsInstead) {
  const auto message = [](const std::vector<uint8_t>& bytes) {
    const auto object = read_code_object(bytes);
    return object ? std::string("(read)") : object.error().message;
  };
  const test::TemporaryDirectory directory;
  EXPECT_THAT(message({}), HasSubstr("not an ELF file"));
  EXPECT_THAT(message({'h', 'e', 'l', 'l', 'o'}), HasSubstr("not an ELF file"));
  EXPECT_THAT(message(test::read_bytes("/proc/self/exe")), HasSubstr("for machine number 62, not for an AMD GPU"));

  const std::string linked = directory / "kernels.co", unlinked = directory / "kernels.o";
  test::compile_code_object("clang-22", 5, "gfx900", linked);
  test::compile_code_object("clang-22", 5, "gfx900", unlinked, "-c");
  EXPECT_THAT(message(test::read_bytes(unlinked)), HasSubstr("not linked"));

  auto bytes = test::read_bytes(linked);
  bytes[8] = 0;  // EI_ABIVERSION
  EXPECT_THAT(message(bytes), HasSubstr("code object V2 without the note that contains its target"));
  bytes[8] = 9;
  EXPECT_THAT(message(bytes), HasSubstr("ELF ABI version 9"));
  bytes[8] = 3;
  bytes[7] = 65;  // EI_OSABI
  EXPECT_THAT(message(bytes), HasSubstr("amdpal"));
  bytes[7] = 64;
  bytes[48] = 0xEE;  // e_flags
  EXPECT_THAT(message(bytes), HasSubstr("0xee"));
}

}  // namespace
}  // namespace Atoll::object

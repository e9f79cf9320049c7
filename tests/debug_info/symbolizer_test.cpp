// Places of instructions against llvm-symbolizer and llvm-objdump.
#include "debug_info/symbolizer.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "compiled.h"
#include "debug_info/code_address.h"
#include "object/code_object.h"

namespace Atoll::debug_info {
namespace {

/// Text of each instruction by its ELF address, from llvm-objdump, with single spaces.
std::map<uint64_t, std::string> disassembled(const Compiled& compiled) {
  const auto run = test::run_command(compiled.enter() + "llvm-objdump-22 -d lines.co");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  std::map<uint64_t, std::string> instructions;
  std::istringstream lines(run.output);
  for (std::string line; std::getline(lines, line);) {  // "\ts_load_dword s0, s[4:5], 0x8   // 000000001900: C0020002"
    const size_t comment = line.find("// ");
    if (!line.starts_with('\t') || comment == std::string::npos) continue;
    std::istringstream words(line.substr(0, comment));
    std::string text;
    for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
    instructions[std::stoull(line.substr(comment + 3), nullptr, 16)] = text;
  }
  return instructions;
}

constexpr uint64_t load_address = 0x7f00'0000'0000;

TEST(Symbolizer, PlacesAgreeWithLlvm) {
  const Compiled compiled("-O1", 5);
  ASSERT_GT(compiled.end, compiled.start);
  const auto object = object::read_code_object(compiled.file);
  ASSERT_TRUE(object) << object.error().message;
  const auto symbolizer = std::make_shared<Symbolizer>(compiled.file, object->functions, load_address);
  const auto expected = disassembled(compiled);
  ASSERT_GT(expected.size(), 20u);
  std::istringstream lines(compiled.symbolized("--no-inlines", "linkage"));
  std::string function, line, last;
  unsigned named = 0;
  for (uint64_t at = compiled.start; at < compiled.end; at += 4) {
    SCOPED_TRACE(fmt::format("{:#x}", at));
    ASSERT_TRUE(std::getline(lines, function) && std::getline(lines, line));
    std::string empty;
    std::getline(lines, empty);
    const auto instruction = expected.find(at);
    if (instruction == expected.end()) continue;  // the second word of one
    CodeAddress address{.pc = load_address + at,
                        .symbolizer = symbolizer,
                        .processor = target::find_processor("gfx90a"),
                        .wave_size = 64};
    const object::Segment* segment = nullptr;
    for (const object::Segment& each : object->segments) {
      if (at - each.address < each.bytes.size()) segment = &each;
    }
    ASSERT_NE(segment, nullptr);
    address.copy_bytes(segment->bytes.subspan(at - segment->address));
    const CodePlace place = address.resolve();
    EXPECT_EQ(place.instruction, instruction->second);
    EXPECT_EQ(address.instruction(), place.instruction);
    if (function != "??") {
      EXPECT_EQ(place.function, function);
      ++named;
    }
    if (line.starts_with("??")) continue;
    if (line.find(":0:") != std::string::npos) line = last;
    last = line;
    if (line.ends_with(":0")) line = line.substr(0, line.rfind(':'));
    EXPECT_EQ(place.source, line);
  }
  EXPECT_GT(named, 20u);
}

TEST(Symbolizer, UnknownAddressesHaveNoPlace) {
  const Compiled compiled("-O1", 5);
  const auto object = object::read_code_object(compiled.file);
  ASSERT_TRUE(object) << object.error().message;
  const Symbolizer symbolizer(compiled.file, object->functions, load_address);
  for (const uint64_t pc : {uint64_t{0}, load_address - 4, load_address + compiled.end + 0x100000, ~uint64_t{3}}) {
    EXPECT_EQ(symbolizer.symbol_at(pc), "") << pc;
    EXPECT_EQ(symbolizer.function_at(pc), "") << pc;
    EXPECT_EQ(symbolizer.source_at(pc), "") << pc;
  }
  const CodePlace place = CodeAddress{.pc = load_address}.resolve();
  EXPECT_EQ(place.instruction + place.function + place.source, "");
}

TEST(Symbolizer, FunctionSymbolsAgreeWithReadelf) {
  const Compiled compiled("-O1", 5);
  const auto run = test::run_command(compiled.enter() + "llvm-readelf-22 --symbols -W lines.co");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  std::map<uint64_t, std::pair<uint64_t, std::string>> expected;
  std::istringstream lines(run.output);
  for (std::string line; std::getline(lines, line);) {  // "   5: 0000000000001900  256 FUNC  GLOBAL PROTECTED  7 k"
    std::istringstream words(line);
    std::string number, value, size, type, binding, visibility, index, name;
    words >> number >> value >> size >> type >> binding >> visibility >> index >> name;
    if (type == "FUNC") expected[std::stoull(value, nullptr, 16)] = {std::stoull(size), name};
  }
  ASSERT_GE(expected.size(), 2u) << run.output;
  std::map<uint64_t, std::pair<uint64_t, std::string>> found;
  for (const object::Symbol& each : function_symbols(compiled.file))
    found.insert({each.value, {each.size, std::string(each.name)}});
  EXPECT_EQ(found, expected);
  for (size_t bytes = 0; bytes < compiled.file.size(); bytes += 97) {
    function_symbols(std::span(compiled.file).first(bytes));
  }
}

}  // namespace
}  // namespace Atoll::debug_info

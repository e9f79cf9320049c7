#include "assembler/llvm_assembler.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "assembler/assembler.h"
#include "object/relocatable.h"
#include "support/command.h"
#include "support/llvm_processors.h"

namespace Atoll::test {

LlvmAssembled llvm_assemble(const std::string& text, const std::string& processor, const std::string& program) {
  const auto directory = std::filesystem::temp_directory_path() / fmt::format("atoll-assembler-{}", getpid());
  std::filesystem::create_directory(directory);
  write_file((directory / "test.s").string(), text);
  const auto run = run_command(fmt::format(
      "cd {} && timeout 60 {} -triple amdgcn-amd-amdhsa -mcpu={} -mattr={} -filetype=obj test.s -o test.o 2>&1",
      directory.string(), program, processor, halves_feature(processor)));
  LlvmAssembled result;
  result.messages = run.output;
  EXPECT_TRUE(run.exit_code == 0 || run.exit_code == 1) << program << ": exit code " << run.exit_code;
  if (run.exit_code == 0) {
    std::ifstream file(directory / "test.o", std::ios::binary);
    result.object.assign(std::istreambuf_iterator<char>(file), {});
    EXPECT_FALSE(result.object.empty());
  }
  std::filesystem::remove_all(directory);
  return result;
}

LlvmAssembled atoll_assemble(const std::string& text, const std::string& processor) {
  assembler::Options options;
  options.target = target::parse_target_id(processor).value();
  options.wave32 = (options.target.processor->wave_sizes & 1) != 0;
  auto assembled = assembler::assemble("test.s", text, options);
  LlvmAssembled result;
  result.messages = assembled.messages;
  if (assembled.object) result.object = object::write_relocatable(*assembled.object);
  return result;
}

void expect_same_object(const std::string& text, const std::string& processor, const std::string& program) {
  const LlvmAssembled theirs = llvm_assemble(text, processor, program);
  const LlvmAssembled ours = atoll_assemble(text, processor);
  ASSERT_FALSE(theirs.object.empty()) << processor << ": llvm-mc refuses\n" << text << theirs.messages;
  ASSERT_FALSE(ours.object.empty()) << processor << ": Atoll refuses\n" << text << ours.messages;
  if (theirs.object == ours.object) return;
  size_t at = 0;
  while (at < std::min(theirs.object.size(), ours.object.size()) && theirs.object[at] == ours.object[at]) ++at;
  ADD_FAILURE() << processor << ": the objects differ from byte " << at << " on (" << theirs.object.size() << " and "
                << ours.object.size() << " bytes) for\n"
                << text;
}

std::vector<std::string> error_places(const std::string& messages) {
  std::vector<std::string> places;
  const std::regex error("test\\.s:(\\d+:\\d+): error: ");
  for (std::sregex_iterator at(messages.begin(), messages.end(), error), end; at != end; ++at)
    places.push_back((*at)[1]);
  return places;
}

}  // namespace Atoll::test

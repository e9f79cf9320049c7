#include "isa/listing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "assembler/assembler.h"
#include "isa/decode.h"
#include "isa/print.h"
#include "support/command.h"
#include "support/llvm_processors.h"

namespace Atoll::isa::test {
namespace {

/// "\ts_load_dwordx2 s[0:1], s[4:5], 0x0   // 000000000004: C0060002 00000000 <label>"; false if it is no instruction.
bool parse(std::string_view line, ListedInstruction& instruction) {
  instruction.text.clear();
  instruction.bytes.clear();
  const size_t comment = line.find("// ");
  const size_t colon = line.find(": ", comment);
  if (line.empty() || line[0] != '\t' || comment == std::string_view::npos || colon == std::string_view::npos) {
    return false;
  }
  for (const char c : line.substr(0, comment)) {
    const bool blank = c == ' ' || c == '\t';
    if (blank && (instruction.text.empty() || instruction.text.back() == ' ')) continue;
    instruction.text += blank ? ' ' : c;
  }
  while (!instruction.text.empty() && instruction.text.back() == ' ') instruction.text.pop_back();
  // "v1 /*v257*/": which register it is in the bank that an earlier instruction chose, which is no part of this one's
  // text.
  constexpr std::string_view begins = " /*v", ends = "*/";
  for (size_t at = 0; (at = instruction.text.find(begins, at)) != std::string::npos;) {
    instruction.text.erase(at, instruction.text.find(ends, at) + ends.size() - at);
  }
  for (size_t at = colon + 2; at + 8 <= line.size() && line[at] != '<'; at += 9) {
    uint32_t word = 0;
    std::from_chars(line.data() + at, line.data() + at + 8, word, 16);
    for (unsigned shift = 0; shift < 32; shift += 8) instruction.bytes.push_back(static_cast<uint8_t>(word >> shift));
  }
  return true;
}

}  // namespace

void ListingComparison::compare(const ListedInstruction& listed, const target::Processor& processor) {
  ++instructions;
  const auto decoded = decode(listed.bytes, processor);
  const std::string text = decoded ? print(*decoded, processor) : "(refused)";
  const unsigned size = decoded ? decoded->size : 0;
  if ((text != listed.text || size != listed.bytes.size()) && ++other_texts <= 10) {
    ADD_FAILURE() << listed.text << ", " << spelled(listed.bytes) << "\n  atoll: " << text << ", " << size << " bytes";
  }
  // A word of zeros is padding between functions. What it is disassembled as, no assembler takes.
  const bool padding = std::ranges::all_of(listed.bytes, [](uint8_t byte) { return byte == 0; });
  (text_ += padding ? ".long 0" : listed.text) += '\n';
  compiled_.insert(compiled_.end(), listed.bytes.begin(), listed.bytes.end());
  sizes_.push_back(static_cast<uint8_t>(listed.bytes.size()));
}

void ListingComparison::reassemble(const target::Processor& processor) {
  assembler::Options options;
  options.target.processor = &processor;
  options.wave32 = (processor.wave_sizes & 1) != 0;
  const auto assembled = assembler::assemble("listing", text_, options);
  EXPECT_TRUE(assembled.object) << assembled.messages.substr(0, 2000);
  const Bytes bytes = assembled.object ? assembled.object->sections.front().bytes : Bytes();
  EXPECT_EQ(bytes.size(), compiled_.size());
  const bool comparable = bytes.size() == compiled_.size();
  if (!comparable) other_bytes += sizes_.size();
  size_t at = 0, line = 0;
  for (size_t i = 0; i < sizes_.size() && comparable; at += sizes_[i++]) {
    const size_t end = text_.find('\n', line);
    const auto atoll = std::span(bytes).subspan(at, sizes_[i]);
    if (!std::ranges::equal(atoll, std::span(compiled_).subspan(at, sizes_[i]))) {
      auto& [other, count] = otherwise_[text_.substr(line, end - line)];
      other.assign(atoll.begin(), atoll.end());
      ++count;
    }
    line = end + 1;
  }
  text_.clear();
  compiled_.clear();
  sizes_.clear();
}

/// Atoll's text of the whole code, assembled, must give the bytes that the compiler wrote.
void ListingComparison::read_assembled(const std::string& file, const target::Processor& processor) {
  const Atoll::test::TemporaryDirectory directory;
  const std::string dump = directory / "text";
  Atoll::test::run_command(fmt::format("llvm-objcopy-22 --dump-section=.text={} {}", dump, file));
  const Bytes code = Atoll::test::read_bytes(dump);
  EXPECT_FALSE(code.empty());
  std::vector<std::string> texts;
  std::vector<Bytes> all;
  for (size_t at = 0; at < code.size(); at += all.back().size()) {
    const auto decoded = decode(std::span(code).subspan(at), processor);
    texts.push_back(decoded ? print(*decoded, processor) : "refused");
    const auto begin = code.begin() + static_cast<ptrdiff_t>(at);
    all.emplace_back(begin, begin + (decoded ? decoded->size : 4));
  }
  const std::vector<Assembled> answers = assemble_and_print(processor.name, texts);
  for (size_t i = 0; i < texts.size(); ++i) {
    compare({answers[i].bytes == all[i] ? answers[i].text : answers[i].error + spelled(answers[i].bytes), all[i]},
            processor);
  }
}

void ListingComparison::read(const std::string& file, const target::Processor& processor, uint64_t most) {
  if (!has_disassembler(processor)) {
    read_assembled(file, processor);
    return reassemble(processor);
  }
  FILE* listing = popen(
      fmt::format("llvm-objdump-22 -d --mattr={} {}", Atoll::test::halves_feature(processor.name), file).c_str(), "r");
  ASSERT_NE(listing, nullptr);
  char* line = nullptr;
  size_t room = 0;
  ListedInstruction listed;
  for (ssize_t size = 0; instructions < most && (size = getline(&line, &room, listing)) > 0;) {
    if (parse(std::string_view(line, static_cast<size_t>(size) - 1), listed)) compare(listed, processor);
  }
  free(line);
  pclose(listing);
  reassemble(processor);
}

void ListingComparison::ask_assembler(const target::Processor& processor) {
  std::vector<std::string> texts;
  texts.reserve(otherwise_.size());
  for (const auto& [text, encoded] : otherwise_) texts.push_back(text);
  const std::vector<Bytes> answers = assemble(processor.name, texts);
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto& [bytes, count] = otherwise_[texts[i]];
    (bytes == answers[i] ? not_as_compiled : other_bytes) += count;
    if (bytes == answers[i]) continue;
    ADD_FAILURE() << texts[i] << "\n  oracle: " << spelled(answers[i]) << "\n  atoll:  " << spelled(bytes);
  }
}

}  // namespace Atoll::isa::test

#include "isa/listing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "isa/decode.h"
#include "isa/encode.h"
#include "isa/print.h"
#include "support/command.h"

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
  if (!decoded) return;
  const auto encoded = encode(*decoded, processor);
  if (encoded && std::ranges::equal(encoded->view(), listed.bytes)) return;
  auto& [bytes, count] = not_as_compiled_[text];
  if (encoded) bytes.assign(encoded->view().begin(), encoded->view().end());
  ++count;
}

/// What Atoll prints of the whole code, assembled: the bytes must be those that the compiler wrote.
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
  if (!has_disassembler(processor)) return read_assembled(file, processor);
  FILE* listing = popen(fmt::format("llvm-objdump-22 -d --disassemble-zeroes {}", file).c_str(), "r");
  ASSERT_NE(listing, nullptr);
  char* line = nullptr;
  size_t room = 0;
  ListedInstruction listed;
  for (ssize_t size = 0; instructions < most && (size = getline(&line, &room, listing)) > 0;) {
    if (parse(std::string_view(line, static_cast<size_t>(size) - 1), listed)) compare(listed, processor);
  }
  free(line);
  pclose(listing);
}

void ListingComparison::ask_assembler(const target::Processor& processor) {
  std::vector<std::string> texts;
  for (const auto& [text, encoded] : not_as_compiled_) texts.push_back(text);
  const std::vector<Bytes> answers = assemble(processor.name, texts);
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto& [bytes, count] = not_as_compiled_[texts[i]];
    const bool same = bytes == answers[i] && !bytes.empty();
    (same ? reassembled : other_bytes) += count;
    if (same) continue;
    ADD_FAILURE() << texts[i] << "\n  oracle: " << spelled(answers[i]) << "\n  atoll:  " << spelled(bytes);
  }
}

}  // namespace Atoll::isa::test

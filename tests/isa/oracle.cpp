#include "isa/oracle.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace Atoll::isa::test {
namespace {

// An instruction that the sequences never contain stands before each of them, so that output and input can be matched
// even where bytes are refused or make several instructions.
constexpr std::string_view marker_bytes = "0xcd 0xab 0x92 0xbf";
constexpr std::string_view marker_text = "s_trap 0xabcd";
// Three s_nop stand behind each: llvm-mc reads all bytes as one stream, and a sequence may end in the beginning of an
// instruction, which must not take in the next marker.
constexpr std::string_view padding = "0x00 0x00 0x80 0xbf 0x00 0x00 0x80 0xbf 0x00 0x00 0x80 0xbf";

/// The input lines whose sequence llvm-mc's warnings say is refused: "<stdin or file>:LINE:COLUMN: warning: invalid
/// ...", with the column of the sequence's first byte.
std::vector<bool> refused_lines(const std::filesystem::path& messages, size_t lines) {
  constexpr size_t first_column = marker_bytes.size() + 2;
  std::vector<bool> refused(lines);
  std::ifstream file(messages);
  for (std::string line; std::getline(file, line);) {
    const size_t end = line.find(": warning: invalid instruction encoding");
    if (end == std::string::npos) continue;
    const size_t column_at = line.rfind(':', end - 1), line_at = line.rfind(':', column_at - 1);
    const size_t number = std::stoul(line.substr(line_at + 1));
    if (std::stoul(line.substr(column_at + 1)) == first_column && number <= lines) refused[number - 1] = true;
  }
  return refused;
}

/// A file in the temporary directory that goes away with this object.
struct TemporaryFile {
  std::filesystem::path path;
  explicit TemporaryFile(std::string_view name)
      : path(std::filesystem::temp_directory_path() / fmt::format("atoll-isa-{}-{}", getpid(), name)) {}
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
};

}  // namespace

std::string spelled(const Bytes& bytes) {
  std::string text;
  for (const uint8_t byte : bytes)
    fmt::format_to(std::back_inserter(text), "{}0x{:02x}", text.empty() ? "" : " ", byte);
  return text;
}

std::vector<std::string> disassemble(std::string_view processor, std::span<const Bytes> sequences) {
  const TemporaryFile input("in"), output("out"), messages("err");
  {
    std::ofstream file(input.path);
    for (const Bytes& bytes : sequences) file << marker_bytes << ' ' << spelled(bytes) << ' ' << padding << '\n';
    file << marker_bytes << '\n';
  }
  const std::string command = fmt::format("llvm-mc-22 --disassemble --arch=amdgcn --mcpu={} {} -o {} 2> {}", processor,
                                          input.path.string(), output.path.string(), messages.path.string());
  if (std::system(command.c_str()) != 0) {
    std::ifstream file(messages.path);
    std::string first;
    std::getline(file, first);
    throw std::runtime_error(fmt::format("'{}' failed: {}", command, first));
  }

  const std::vector<bool> refused = refused_lines(messages.path, sequences.size());
  std::vector<std::string> texts(sequences.size());
  size_t markers = 0;
  bool first_after_marker = false;
  std::ifstream file(output.path);
  for (std::string line; std::getline(file, line);) {
    std::string text;
    for (const char c : line) {
      const bool blank = c == ' ' || c == '\t';
      if (blank && (text.empty() || text.back() == ' ')) continue;
      text += blank ? ' ' : c;
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    if (text == marker_text) {
      ++markers;
      first_after_marker = true;
      continue;
    }
    if (!first_after_marker) continue;
    first_after_marker = false;
    if (markers == 0 || markers > sequences.size()) break;
    if (!refused[markers - 1]) texts[markers - 1] = text;  // else it is made of later bytes
  }
  if (markers != sequences.size() + 1) {
    throw std::runtime_error(fmt::format("llvm-mc-22 answered {} of {} sequences", markers, sequences.size() + 1));
  }
  return texts;
}

}  // namespace Atoll::isa::test

// assembler: a disassembled section as text (disassembly.h). The columns are llvm-objdump's, so that the outputs of
// both can be compared.
#include <array>

#include "assembler/disassembly/disassembly.h"
#include "support/bytes.h"

namespace Atoll::assembler {

namespace {

constexpr size_t much = 64 << 10;

constexpr size_t comment_column = 60;  // counting the tab before the instruction as one

void append_hex(std::string& out, uint64_t value, unsigned digits, const char* alphabet) {
  std::array<char, 16> text;
  for (unsigned i = digits; i-- > 0; value >>= 4) text[i] = alphabet[value & 15];
  out.append(text.data(), digits);
}

constexpr const char* lower = "0123456789abcdef";
constexpr const char* upper = "0123456789ABCDEF";

/// Words where there are whole ones, else single bytes.
void append_bytes(std::string& out, std::span<const uint8_t> bytes) {
  for (size_t i = 0; i < bytes.size();) {
    out += ' ';
    if (const auto word = support::read<uint32_t>(bytes, i)) {
      append_hex(out, *word, 8, upper);
      i += 4;
    } else {
      append_hex(out, bytes[i++], 2, upper);
    }
  }
}

}  // namespace

void append_text(std::string& out, const DisassembledSection& section, bool bytes,
                 const std::function<void(std::string&)>& flush,
                 const std::function<void(std::string&, uint64_t)>& before_line) {
  auto heading = section.headings.begin();
  auto branch = section.branches.begin();
  auto remark = section.remarks.begin();
  size_t text = 0;
  for (uint32_t i = 0; i < section.lines.size(); ++i) {
    const Line& line = section.lines[i];
    if (out.size() >= much && flush) flush(out);
    for (; heading != section.headings.end() && heading->address <= line.address; ++heading) {
      if (heading->address != line.address) continue;
      out += '\n';
      append_hex(out, heading->address, 16, lower);
      ((out += " <") += heading->name) += ">:\n";
      if (!heading->remark.empty()) ((out += "; ") += heading->remark) += '\n';
    }
    while (remark != section.remarks.end() && remark->line < i) ++remark;
    if (line.kind == Line::Kind::omitted) {
      out += "\t\t...\n";
      continue;
    }
    if (before_line) before_line(out, line.address);
    const size_t begin = out.size();
    out += '\t';
    out.append(section.text, text, line.text_end - text);
    text = line.text_end;
    if (branch != section.branches.end() && branch->line == i) out += branch++->name;
    const bool remarked = remark != section.remarks.end() && remark->line == i;
    if (bytes || remarked) {
      if (const size_t width = out.size() - begin; width < comment_column) out.append(comment_column - width, ' ');
      out += "//";
    }
    if (bytes) {
      out += ' ';
      append_hex(out, line.address, 12, upper);
      out += ':';
      append_bytes(out, section.bytes.subspan(line.address - section.address, line.size));
    }
    for (; remark != section.remarks.end() && remark->line == i; ++remark) (out += ' ') += remark->text;
    out += '\n';
  }
}

}  // namespace Atoll::assembler

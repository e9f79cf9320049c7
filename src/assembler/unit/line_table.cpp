// assembler: line tables (line_table.h). Which opcodes say a step is LLVM's choice.
// Source: DWARF 5, 6.2 "Line Number Information"; 6.2.4 of DWARF 4.
#include "assembler/unit/line_table.h"

#include <elf.h>

#include <algorithm>
#include <bit>

#include "assembler/unit/dwarf_bytes.h"

namespace Atoll::assembler {

namespace {

// The special opcodes: from line_base on, line_range lines for each step of the address, after the standard opcodes.
constexpr int8_t line_base = -5;
constexpr uint8_t line_range = 14, opcode_base = 13;
constexpr std::array<uint8_t, opcode_base - 1> standard_operands{0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};

namespace op {
constexpr uint8_t extended = 0, copy = 1, advance_pc = 2, advance_line = 3, set_file = 4, set_column = 5,
                  negate_statement = 6, set_basic_block = 7, const_add_pc = 8, set_prologue_end = 10,
                  set_epilogue_begin = 11, set_isa = 12;
constexpr uint8_t end_sequence = 1, set_address = 2, set_discriminator = 4;  // extended
}  // namespace op

// DW_LNCT_* and DW_FORM_*: what a file's entry has, and in which form.
namespace content {
constexpr uint32_t path = 1, directory_index = 2, md5 = 5, source = 0x2001;
}
namespace form {
constexpr uint32_t udata = 0x0F, data16 = 0x1E, line_strp = 0x1F;
}

const Expression& difference(Unit& unit, const Expression& a, const Expression& b) {
  return unit.operation(Operation::subtract, {&a, &b});
}

/// Line and address advance, and a row of the table.
void advance(DwarfBytes& out, int64_t lines, uint64_t steps) {
  constexpr uint64_t max_special = (255u - opcode_base) / line_range;
  auto biased = static_cast<uint64_t>(lines - line_base);
  bool copy = false;
  if (biased >= line_range || biased + opcode_base > 255) {
    out.byte(op::advance_line);
    out.signed_leb(lines);
    lines = 0;
    biased = -line_base;
    copy = true;
  }
  if (lines == 0 && steps == 0) return out.byte(op::copy);
  biased += opcode_base;
  if (steps < 256 + max_special) {
    if (const uint64_t opcode = biased + steps * line_range; opcode <= 255) return out.byte(opcode);
    if (const uint64_t opcode = biased + (steps - max_special) * line_range; steps >= max_special && opcode <= 255) {
      out.byte(op::const_add_pc);
      return out.byte(opcode);
    }
  }
  out.byte(op::advance_pc);
  out.unsigned_leb(steps);
  out.byte(copy ? op::copy : biased);
}

}  // namespace

bool LineTable::has_file(uint32_t number) const {
  if (number == 0) return root_.has_value();
  return number <= files_.size() && files_[number - 1].has_value();
}

bool LineTable::set_file(uint32_t number, std::string directory, std::string name, std::optional<Md5> md5,
                         std::optional<std::string> source) {
  File file;
  file.md5 = md5;
  file.source = std::move(source);
  if (number == 0) {
    compilation_directory_ = std::move(directory);
    file.name = std::move(name);
    root_ = std::move(file);
    return true;
  }
  if (has_file(number)) {
    const File& there = *files_[number - 1];
    return there.name == name || name.ends_with("/" + there.name);
  }
  if (directory == compilation_directory_) directory.clear();
  if (directory.empty()) {
    if (const size_t slash = name.rfind('/'); slash != std::string::npos && slash + 1 < name.size()) {
      directory = name.substr(0, std::max<size_t>(slash, 1));
      name.erase(0, slash + 1);
    }
  }
  if (!directory.empty()) {
    const auto found = std::ranges::find(directories_, directory);
    file.directory = static_cast<unsigned>(found - directories_.begin()) + 1;
    if (found == directories_.end()) directories_.push_back(directory);
  }
  file.name = std::move(name);
  if (files_.size() < number) files_.resize(number);
  files_[number - 1] = std::move(file);
  return true;
}

void LineTable::add_row(Section& section, const Expression& at, const SourceLine& line) {
  auto found = std::ranges::find(rows_, &section, &decltype(rows_)::value_type::first);
  if (found == rows_.end()) found = rows_.insert(rows_.end(), {&section, {}});
  found->second.push_back({&at, line});
}

void LineTable::emit_header(Unit& unit, Section& section, Section* strings) const {
  DwarfBytes out(unit);
  const auto each_file = [&](auto&& visit) {
    static const File none{};
    for (const auto& file : files_) visit(file ? *file : none);
  };
  out.byte(smallest_instruction);
  out.byte(1);  // operations of an instruction
  out.byte(1);  // rows are statements at first
  out.byte(static_cast<uint8_t>(line_base));
  out.byte(line_range);
  out.byte(opcode_base);
  unit.emit(standard_operands);
  if (strings == nullptr) {  // DWARF 4
    for (const std::string& directory : directories_) out.text(directory);
    out.byte(0);
    each_file([&](const File& file) {
      out.text(file.name);
      out.unsigned_leb(file.directory);
      out.byte(0);  // time
      out.byte(0);  // size
    });
    return out.byte(0);
  }
  // DWARF 5: texts stand in a section of their own, each once.
  std::vector<std::pair<std::string, uint64_t>> offsets;
  const auto text = [&](const std::string& name) {
    auto found = std::ranges::find(offsets, name, &std::pair<std::string, uint64_t>::first);
    if (found == offsets.end()) {
      const uint64_t end = offsets.empty() ? 0 : offsets.back().second + offsets.back().first.size() + 1;
      found = offsets.insert(offsets.end(), {name, end});
    }
    out.value(unit.operation(Operation::add,
                             {&unit.reference(*strings->symbol), &unit.constant(static_cast<int64_t>(found->second))}),
              4);
  };
  bool all_md5 = root_->md5.has_value(), any_source = root_->source.has_value();
  each_file([&](const File& file) {
    all_md5 &= file.md5.has_value();
    any_source |= file.source.has_value();
  });
  out.byte(1);
  out.unsigned_leb(content::path);
  out.unsigned_leb(form::line_strp);
  out.unsigned_leb(directories_.size() + 1);
  text(compilation_directory_);
  for (const std::string& directory : directories_) text(directory);
  out.byte(2u + (all_md5 ? 1 : 0) + (any_source ? 1 : 0));
  out.unsigned_leb(content::path);
  out.unsigned_leb(form::line_strp);
  out.unsigned_leb(content::directory_index);
  out.unsigned_leb(form::udata);
  if (all_md5) {
    out.unsigned_leb(content::md5);
    out.unsigned_leb(form::data16);
  }
  if (any_source) {
    out.unsigned_leb(content::source);
    out.unsigned_leb(form::line_strp);
  }
  out.unsigned_leb(files_.size() + 1);
  const auto emit_file = [&](const File& file) {
    text(file.name);
    out.unsigned_leb(file.directory);
    if (all_md5) unit.emit(*file.md5);
    if (any_source) text(file.source.value_or(""));
  };
  emit_file(*root_);
  each_file(emit_file);
  unit.switch_to(*strings);
  for (const auto& [name, offset] : offsets) out.text(name);
  unit.switch_to(section);
}

void LineTable::emit_rows(Unit& unit, Section& of, const std::vector<Row>& rows) const {
  DwarfBytes out(unit);
  SourceLine now{.line = 1};
  const Expression* before = nullptr;
  const auto steps_to = [&](const Expression& at) {
    return static_cast<uint64_t>(unit.absolute(difference(unit, at, *before)).value_or(0)) / smallest_instruction;
  };
  for (const auto& [at, line] : rows) {
    if (line.file != now.file) {
      out.byte(op::set_file);
      out.unsigned_leb(line.file);
    }
    if (line.column != now.column) {
      out.byte(op::set_column);
      out.unsigned_leb(line.column);
    }
    if (line.discriminator != 0) {
      const unsigned size = (static_cast<unsigned>(std::bit_width(line.discriminator)) + 6) / 7;
      out.byte(op::extended);
      out.unsigned_leb(size + 1);
      out.byte(op::set_discriminator);
      out.unsigned_leb(line.discriminator);
    }
    if (line.isa != now.isa) {
      out.byte(op::set_isa);
      out.unsigned_leb(line.isa);
    }
    if (line.is_statement != now.is_statement) out.byte(op::negate_statement);
    if (line.basic_block) out.byte(op::set_basic_block);
    if (line.prologue_end) out.byte(op::set_prologue_end);
    if (line.epilogue_begin) out.byte(op::set_epilogue_begin);
    if (before == nullptr) {
      out.byte(op::extended);
      out.unsigned_leb(address_size + 1);
      out.byte(op::set_address);
      out.value(*at, address_size);
    }
    advance(out, int64_t{line.line} - now.line, before == nullptr ? 0 : steps_to(*at));
    now = line;
    before = at;
  }
  Section& table = unit.current();
  unit.switch_to(of);
  const Expression& end = unit.here();
  unit.switch_to(table);
  const uint64_t steps = steps_to(end);
  if (steps == (255u - opcode_base) / line_range) {
    out.byte(op::const_add_pc);
  } else if (steps != 0) {
    out.byte(op::advance_pc);
    out.unsigned_leb(steps);
  }
  out.byte(op::extended);
  out.unsigned_leb(1);
  out.byte(op::end_sequence);
}

void LineTable::emit(Unit& unit) const {
  Section& section = unit.section({.name = ".debug_line", .group = {}}, SHT_PROGBITS, 0);
  Section* strings = nullptr;
  if (root_) {
    strings = &unit.section({.name = ".debug_line_str", .group = {}}, SHT_PROGBITS, SHF_MERGE | SHF_STRINGS, 1);
  }
  unit.switch_to(section);
  // Lengths of what follows them.
  Symbol& unit_end = unit.anonymous_label();
  Symbol& header_end = unit.anonymous_label();
  const auto length_to = [&](Symbol& end) {
    const Expression& after = unit.operation(Operation::add, {&unit.here(), &unit.constant(4)});
    unit.emit_value(difference(unit, unit.reference(end), after), 4, {});
  };
  length_to(unit_end);
  unit.emit_integer(strings != nullptr ? 5 : 4, 2);
  if (strings != nullptr) {
    unit.emit_integer(address_size, 1);
    unit.emit_integer(0, 1);  // no segments
  }
  length_to(header_end);
  emit_header(unit, section, strings);
  unit.define(header_end, {});
  for (const auto& [of, rows] : rows_) emit_rows(unit, *of, rows);
  unit.define(unit_end, {});
}

}  // namespace Atoll::assembler

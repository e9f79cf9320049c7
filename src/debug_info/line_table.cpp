// debug_info: the line number program's state machine, and the file and directory tables of its header.
#include "debug_info/line_table.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "debug_info/dwarf_reader.h"

namespace Atoll::debug_info {

namespace {

using dwarf::Bytes;
using dwarf::part;
using dwarf::Reader;
using dwarf::section;
using dwarf::text_at;

/// DWARF constants that line tables use (DWARF 5, section 7.22).
enum ContentType : uint64_t { content_path = 1, content_directory_index = 2 };
enum StandardOpcode : uint8_t {
  extended = 0,
  copy = 1,
  advance_pc = 2,
  advance_line = 3,
  set_file = 4,
  set_column = 5,
  negate_statement = 6,
  set_basic_block = 7,
  const_add_pc = 8,
  fixed_advance_pc = 9,
};
enum ExtendedOpcode : uint8_t { end_sequence = 1, set_address = 2 };

struct FileEntry {
  std::string_view name;
  uint64_t directory = 0;
};

/// One unit of .debug_line: its header, up to the line number program.
struct LineTable {
  uint16_t version = 0;
  uint8_t address_size = 8, minimum_instruction_length = 1, line_range = 1, opcode_base = 1;
  int8_t line_base = 0;
  std::vector<uint8_t> operand_counts;  ///< of standard opcode i + 1
  std::vector<std::string_view> directories;
  std::vector<FileEntry> files;

  std::string path(uint64_t file) const {
    if (version < 5) --file;  // files were counted from 1 up to version 4; directory 0 was the compilation's
    if (file >= files.size()) return "?";
    const FileEntry& entry = files[file];
    const uint64_t directory = version < 5 ? entry.directory - 1 : entry.directory;
    if (entry.name.starts_with('/') || directory >= directories.size() || directories[directory].empty()) {
      return std::string(entry.name);
    }
    return fmt::format("{}/{}", directories[directory], entry.name);
  }
};

struct StringSections {
  Bytes line_str, str;
};

/// One field of a version 5 entry: a string or a number, whichever the form holds; nullopt for an unknown form.
struct Field {
  std::string_view text{};
  uint64_t number = 0;
};
std::optional<Field> read_field(Reader& reader, uint64_t form, bool dwarf64, const StringSections& strings) {
  using enum dwarf::Form;
  switch (form) {
    case form_string:
      return Field{.text = reader.text()};
    case form_line_strp:
      return Field{.text = text_at(strings.line_str, reader.sized(dwarf64))};
    case form_strp:
      return Field{.text = text_at(strings.str, reader.sized(dwarf64))};
    case form_data1:
    case form_data2:
    case form_data4:
    case form_data8:
    case form_udata:
    case form_data16:
    case form_block:
    case form_block1:
    case form_block2:
    case form_block4: {
      Field field;
      dwarf::read_value(reader, form, dwarf64, field.number);
      return field;
    }
    default:
      return std::nullopt;
  }
}

/// A directory or file list of version 5: a description of the fields, then the entries.
bool read_entries(Reader& reader, bool dwarf64, const StringSections& strings, std::vector<FileEntry>& entries) {
  std::vector<std::pair<uint64_t, uint64_t>> format(reader.read<uint8_t>());
  for (auto& [content, form] : format) content = reader.unsigned_leb(), form = reader.unsigned_leb();
  const uint64_t count = reader.unsigned_leb();
  if (format.empty() && count != 0) return false;
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    FileEntry entry;
    for (const auto& [content, form] : format) {
      const auto field = read_field(reader, form, dwarf64, strings);
      if (!field) return false;
      if (content == content_path) entry.name = field->text;
      if (content == content_directory_index) entry.directory = field->number;
    }
    entries.push_back(entry);
  }
  return reader.ok();
}

bool read_lists(Reader& reader, bool dwarf64, const StringSections& strings, LineTable& table) {
  if (table.version >= 5) {
    std::vector<FileEntry> directories;
    if (!read_entries(reader, dwarf64, strings, directories)) return false;
    for (const FileEntry& directory : directories) table.directories.push_back(directory.name);
    return read_entries(reader, dwarf64, strings, table.files);
  }
  for (std::string_view name = reader.text(); !name.empty(); name = reader.text()) table.directories.push_back(name);
  for (std::string_view name = reader.text(); !name.empty(); name = reader.text()) {
    table.files.push_back({.name = name, .directory = reader.unsigned_leb()});
    reader.unsigned_leb();  // time of modification
    reader.unsigned_leb();  // length
  }
  return reader.ok();
}

/// The state machine's registers (DWARF 5, section 6.2.2) that a source line needs.
struct Registers {
  uint64_t address = 0, file = 1, line = 1, column = 0;
};

/// Runs the line number program. `visit(row, begin, end)` gets each range of addresses with the row of its line, and
/// ends the run by returning true. Compilers give line 0 to instructions that belong to no line or to several (a branch
/// that they made, the address of a loop): these have the last row before them that has a line. A function's first row
/// has one, its own, and code without lines ends a sequence, so that it is of the same function.
template <typename Visit>
void run_line_program(Reader& program, const LineTable& table, const Visit& visit) {
  Registers now;
  std::optional<Registers> previous, with_line;
  bool ended = false;
  const auto emit = [&] {
    if (previous && previous->address < now.address)
      ended = visit(previous->line == 0 && with_line ? *with_line : *previous, previous->address, now.address);
    if (now.line != 0) with_line = now;
    previous = now;
  };
  const auto advance = [&](uint64_t operations) { now.address += operations * table.minimum_instruction_length; };
  while (!program.at_end() && !ended) {
    const auto opcode = program.read<uint8_t>();
    if (opcode >= table.opcode_base) {
      const unsigned adjusted = opcode - table.opcode_base;
      advance(adjusted / table.line_range);
      now.line += static_cast<uint64_t>(int64_t{table.line_base} + adjusted % table.line_range);
      emit();
      continue;
    }
    switch (opcode) {
      case extended: {
        const uint64_t length = program.unsigned_leb();
        if (length == 0) break;
        const auto operation = program.read<uint8_t>();
        if (operation == end_sequence) {
          emit();
          previous.reset();
          with_line.reset();
          now = {};
          program.skip(length - 1);
        } else if (operation == set_address && length == 9) {
          now.address = program.read<uint64_t>();
        } else {
          program.skip(length - 1);
        }
        break;
      }
      case copy:
        emit();
        break;
      case advance_pc:
        advance(program.unsigned_leb());
        break;
      case advance_line:
        now.line += static_cast<uint64_t>(program.signed_leb());
        break;
      case set_file:
        now.file = program.unsigned_leb();
        break;
      case set_column:
        now.column = program.unsigned_leb();
        break;
      case negate_statement:
      case set_basic_block:
        break;
      case const_add_pc:
        advance((255u - table.opcode_base) / table.line_range);
        break;
      case fixed_advance_pc:
        now.address += program.read<uint16_t>();
        break;
      default:  // a later version's: its operands are counted in the header
        for (unsigned i = 0; i < table.operand_counts[opcode - 1u]; ++i) program.unsigned_leb();
    }
  }
}

/// Returns the row whose range of addresses holds `address`, if there is one.
std::optional<Registers> find_row(Reader& program, const LineTable& table, uint64_t address) {
  std::optional<Registers> found;
  run_line_program(program, table, [&](const Registers& row, uint64_t begin, uint64_t end) {
    if (begin <= address && address < end) found = row;
    return found.has_value();
  });
  return found;
}

/// What one unit of .debug_line says, with its program.
struct LineUnit {
  LineTable table;
  Bytes program;
};

/// The one at the start of `bytes`; `size` gets how far it reaches.
std::optional<LineUnit> read_unit(Bytes bytes, const StringSections& strings, uint64_t& size) {
  const dwarf::Unit unit = dwarf::first_unit(bytes);
  size = unit.size;

  Reader reader(unit.content);
  LineUnit read;
  LineTable& table = read.table;
  table.version = reader.read<uint16_t>();
  if (table.version < 2 || table.version > 5) return std::nullopt;
  if (table.version >= 5) {
    table.address_size = reader.read<uint8_t>();
    reader.read<uint8_t>();  // segment selector size
  }
  const uint64_t header_length = reader.sized(unit.dwarf64);
  const uint64_t program_start = reader.offset() + header_length;
  table.minimum_instruction_length = reader.read<uint8_t>();
  if (table.version >= 4) reader.read<uint8_t>();  // operations per instruction: 1 without VLIW
  reader.read<uint8_t>();                          // default of is_stmt
  table.line_base = reader.read<int8_t>();
  table.line_range = reader.read<uint8_t>();
  table.opcode_base = reader.read<uint8_t>();
  if (table.line_range == 0 || table.opcode_base == 0) return std::nullopt;
  for (unsigned i = 1; i < table.opcode_base; ++i) table.operand_counts.push_back(reader.read<uint8_t>());
  if (!read_lists(reader, unit.dwarf64, strings, table)) return std::nullopt;

  read.program = part(unit.content, program_start, unit.content.size());
  return read;
}

std::string place(const LineTable& table, uint64_t file, uint64_t line, uint64_t column) {
  if (column == 0) return fmt::format("{}:{}", table.path(file), line);
  return fmt::format("{}:{}:{}", table.path(file), line, column);
}

}  // namespace

namespace {

/// Calls visit(table, program) for each unit of .debug_line until it returns true.
template <typename Visit>
void for_each_unit(Bytes file, const Visit& visit) {
  Bytes lines = section(file, ".debug_line");
  const StringSections strings{.line_str = section(file, ".debug_line_str"), .str = section(file, ".debug_str")};
  while (!lines.empty()) {
    uint64_t size = 0;
    if (const auto unit = read_unit(lines, strings, size)) {
      Reader program(unit->program);
      if (visit(unit->table, program)) return;
    }
    lines = lines.subspan(std::min<uint64_t>(size, lines.size()));
  }
}

}  // namespace

std::string source_line_at(Bytes file, uint64_t address) {
  std::string found;
  for_each_unit(file, [&](const LineTable& table, Reader& program) {
    const auto row = find_row(program, table, address);
    if (row && row->line != 0) found = place(table, row->file, row->line, row->column);
    return !found.empty();
  });
  return found;
}

std::vector<SourceRange> source_ranges(Bytes file) {
  std::vector<SourceRange> ranges;
  for_each_unit(file, [&](const LineTable& table, Reader& program) {
    run_line_program(program, table, [&](const Registers& row, uint64_t begin, uint64_t end) {
      if (row.line != 0) ranges.push_back({begin, end, table.path(row.file), row.line});
      return false;
    });
    return false;
  });
  std::ranges::sort(ranges, {}, &SourceRange::begin);
  return ranges;
}

std::string source_place(Bytes file, uint64_t line_table, uint64_t number, uint64_t line, uint64_t column) {
  const Bytes lines = section(file, ".debug_line");
  const StringSections strings{.line_str = section(file, ".debug_line_str"), .str = section(file, ".debug_str")};
  uint64_t size = 0;
  const auto unit = read_unit(part(lines, line_table, lines.size()), strings, size);
  return unit ? place(unit->table, number, line, column) : std::string();
}

}  // namespace Atoll::debug_info

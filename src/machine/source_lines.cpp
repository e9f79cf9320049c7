// machine: the DWARF line table of a code object's file. See source_lines.h.
#include "machine/source_lines.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace Atoll::machine {

namespace {

using Bytes = std::span<const uint8_t>;

/// The part of `bytes` that is asked for, or as much of it as there is.
Bytes part(Bytes bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size()) return {};
  return bytes.subspan(offset, std::min<uint64_t>(size, bytes.size() - offset));
}

template <typename T>
bool read_at(Bytes bytes, uint64_t offset, T& value) {
  const Bytes source = part(bytes, offset, sizeof(T));
  if (source.size() != sizeof(T)) return false;
  std::memcpy(&value, source.data(), sizeof(T));
  return true;
}

std::string_view text_at(Bytes bytes, uint64_t offset) {
  const Bytes rest = part(bytes, offset, bytes.size());
  if (rest.empty()) return {};
  const auto* start = reinterpret_cast<const char*>(rest.data());
  return {start, strnlen(start, rest.size())};
}

/// The contents of a section; empty when there is no such.
Bytes section(Bytes file, std::string_view wanted) {
  Elf64_Ehdr header;
  if (!read_at(file, 0, header) || header.e_shentsize != sizeof(Elf64_Shdr)) return {};
  Elf64_Shdr names;
  if (!read_at(file, header.e_shoff + uint64_t{header.e_shstrndx} * sizeof names, names)) return {};
  const Bytes name_table = part(file, names.sh_offset, names.sh_size);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr entry;
    if (!read_at(file, header.e_shoff + uint64_t{i} * sizeof entry, entry)) return {};
    if (entry.sh_type == SHT_NOBITS || text_at(name_table, entry.sh_name) != wanted) continue;
    return part(file, entry.sh_offset, entry.sh_size);
  }
  return {};
}

/// A cursor over little-endian DWARF data. Reading past the end gives zeros and clears ok().
class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  bool at_end() const { return !ok_ || offset_ >= bytes_.size(); }
  uint64_t offset() const { return offset_; }
  void skip(uint64_t bytes) { offset_ = bytes > bytes_.size() - offset_ ? fail() : offset_ + bytes; }

  template <typename T>
  T read() {
    T value{};
    if (!read_at(bytes_, offset_, value)) {
      offset_ = fail();
      return T{};
    }
    offset_ += sizeof(T);
    return value;
  }
  uint64_t unsigned_leb() {
    uint64_t value = 0;
    for (unsigned shift = 0; ok_; shift += 7) {
      const auto byte = read<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7Fu} << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }
  int64_t signed_leb() {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0x80;
    while (ok_ && (byte & 0x80) != 0) {
      byte = read<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7Fu} << shift;
      shift += 7;
    }
    if (shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
    return static_cast<int64_t>(value);
  }
  std::string_view text() {
    const std::string_view found = text_at(bytes_, offset_);
    skip(found.size() + 1);
    return found;
  }
  uint64_t sized(bool dwarf64) { return dwarf64 ? read<uint64_t>() : read<uint32_t>(); }

 private:
  uint64_t fail() {
    ok_ = false;
    return bytes_.size();
  }
  Bytes bytes_;
  uint64_t offset_ = 0;
  bool ok_ = true;
};

/// DWARF constants that line tables use (DWARF 5, sections 7.5.6 and 7.22).
enum ContentType : uint64_t { content_path = 1, content_directory_index = 2 };
enum Form : uint64_t {
  form_block2 = 0x03,
  form_block4 = 0x04,
  form_data2 = 0x05,
  form_data4 = 0x06,
  form_data8 = 0x07,
  form_string = 0x08,
  form_block = 0x09,
  form_block1 = 0x0a,
  form_data1 = 0x0b,
  form_strp = 0x0e,
  form_udata = 0x0f,
  form_data16 = 0x1e,
  form_line_strp = 0x1f,
};
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
  switch (form) {
    case form_string:
      return Field{.text = reader.text()};
    case form_line_strp:
      return Field{.text = text_at(strings.line_str, reader.sized(dwarf64))};
    case form_strp:
      return Field{.text = text_at(strings.str, reader.sized(dwarf64))};
    case form_data1:
      return Field{.number = reader.read<uint8_t>()};
    case form_data2:
      return Field{.number = reader.read<uint16_t>()};
    case form_data4:
      return Field{.number = reader.read<uint32_t>()};
    case form_data8:
      return Field{.number = reader.read<uint64_t>()};
    case form_udata:
      return Field{.number = reader.unsigned_leb()};
    case form_data16:
      reader.skip(16);
      return Field{};
    case form_block:
      reader.skip(reader.unsigned_leb());
      return Field{};
    case form_block1:
      reader.skip(reader.read<uint8_t>());
      return Field{};
    case form_block2:
      reader.skip(reader.read<uint16_t>());
      return Field{};
    case form_block4:
      reader.skip(reader.read<uint32_t>());
      return Field{};
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

/// Runs the line number program; the row whose range of addresses holds `address`, if there is one.
std::optional<Registers> find_row(Reader& program, const LineTable& table, uint64_t address) {
  Registers now;
  std::optional<Registers> previous, found;
  const auto emit = [&] {
    if (previous && previous->address <= address && address < now.address) found = previous;
    previous = now;
  };
  const auto advance = [&](uint64_t operations) { now.address += operations * table.minimum_instruction_length; };
  while (!program.at_end() && !found) {
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
  return found;
}

/// One unit at the start of `bytes`: its row for `address`, as text; `size` gets how far the unit reaches.
std::string line_in_unit(Bytes bytes, uint64_t address, const StringSections& strings, uint64_t& size) {
  Reader prefix(bytes);
  uint64_t length = prefix.read<uint32_t>();
  const bool dwarf64 = length == 0xFFFF'FFFF;
  if (dwarf64) length = prefix.read<uint64_t>();
  const Bytes unit = part(bytes, prefix.offset(), length);
  size = prefix.offset() + unit.size();
  if (!prefix.ok() || unit.size() != length) size = bytes.size();

  Reader reader(unit);
  LineTable table;
  table.version = reader.read<uint16_t>();
  if (table.version < 2 || table.version > 5) return {};
  if (table.version >= 5) {
    table.address_size = reader.read<uint8_t>();
    reader.read<uint8_t>();  // segment selector size
  }
  const uint64_t header_length = reader.sized(dwarf64);
  const uint64_t program_start = reader.offset() + header_length;
  table.minimum_instruction_length = reader.read<uint8_t>();
  if (table.version >= 4) reader.read<uint8_t>();  // operations per instruction: 1 without VLIW
  reader.read<uint8_t>();                          // default of is_stmt
  table.line_base = reader.read<int8_t>();
  table.line_range = reader.read<uint8_t>();
  table.opcode_base = reader.read<uint8_t>();
  if (table.line_range == 0 || table.opcode_base == 0) return {};
  for (unsigned i = 1; i < table.opcode_base; ++i) table.operand_counts.push_back(reader.read<uint8_t>());
  if (!read_lists(reader, dwarf64, strings, table)) return {};

  Reader program(part(unit, program_start, unit.size()));
  const auto row = find_row(program, table, address);
  if (!row || row->line == 0) return {};
  if (row->column == 0) return fmt::format("{}:{}", table.path(row->file), row->line);
  return fmt::format("{}:{}:{}", table.path(row->file), row->line, row->column);
}

}  // namespace

std::string source_line_at(Bytes file, uint64_t address) {
  Bytes lines = section(file, ".debug_line");
  const StringSections strings{.line_str = section(file, ".debug_line_str"), .str = section(file, ".debug_str")};
  while (!lines.empty()) {
    uint64_t size = 0;
    std::string found = line_in_unit(lines, address, strings, size);
    if (!found.empty()) return found;
    lines = lines.subspan(std::min<uint64_t>(size, lines.size()));
  }
  return {};
}

}  // namespace Atoll::machine

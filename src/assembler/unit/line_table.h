// assembler: the line table that .file and .loc say (DWARF, "Line Number Information").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assembler/unit/assembly_unit.h"

namespace Atoll::assembler {

/// What a .loc says of the code after it.
struct SourceLine {
  uint32_t file = 1, line = 0, column = 0, isa = 0, discriminator = 0;
  bool is_statement = true, basic_block = false, prologue_end = false, epilogue_begin = false;
};

using Md5 = std::array<uint8_t, 16>;

class LineTable {
 public:
  struct File {
    std::string name;
    unsigned directory = 0;  ///< 0: the compilation's; else counted from 1
    std::optional<Md5> md5;
    std::optional<std::string> source;
  };

  /// Number 0 is the compilation's own file, which DWARF 5 has.
  bool set_file(uint32_t number, std::string directory, std::string name, std::optional<Md5> md5,
                std::optional<std::string> source);
  bool has_file(uint32_t number) const;
  bool is_empty() const { return files_.empty() && !root_; }
  /// Code after here belongs to that line; `at` is where the code begins.
  void add_row(Section& section, const Expression& at, const SourceLine& line);
  /// Writes .debug_line, and .debug_line_str of DWARF 5.
  void emit(Unit& unit) const;

 private:
  struct Row {
    const Expression* at;
    SourceLine line;
  };

  void emit_header(Unit& unit, Section& section, Section* strings) const;
  void emit_rows(Unit& unit, Section& of, const std::vector<Row>& rows) const;

  std::string compilation_directory_;
  std::optional<File> root_;
  std::vector<std::string> directories_;
  std::vector<std::optional<File>> files_;  ///< from number 1 on
  std::vector<std::pair<Section*, std::vector<Row>>> rows_;
};

}  // namespace Atoll::assembler

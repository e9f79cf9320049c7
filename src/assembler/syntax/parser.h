// assembler: statements.
//
// parser.cpp reads statements, expressions.cpp expressions, macros.cpp macros, repetitions and conditions; the
// directives stand by subject in data_directives.cpp, symbol_directives.cpp and hsa_directives.cpp (those of AMDGPU).
// A mistake is reported and the parser goes on with the next statement, so that all of them are found.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "assembler/assembler.h"
#include "assembler/syntax/lexer.h"
#include "assembler/unit/assembly_unit.h"
#include "assembler/unit/frames.h"
#include "assembler/unit/line_table.h"

namespace Atoll::assembler {

class InstructionParser;

/// Whether a token stands between two operands of an expression.
bool is_binary_operator(TokenKind token);

class Parser {
 public:
  Parser(Source& source, Unit& unit, const Options& options);
  ~Parser();

  /// Reads a text to its end, and what it includes.
  void run(const Buffer& buffer);

  const target::TargetId& target() const { return target_; }
  uint32_t code_object_version() const { return code_object_version_; }

 private:
  friend class InstructionParser;
  using Directive = bool (Parser::*)(std::string_view name, Place place);
  static const std::unordered_map<std::string_view, Directive>& directives();

  // --- Statements (parser.cpp)
  void statement();
  void instruction(std::string_view mnemonic, Place place);
  static bool counts_from_place(const Expression& value);
  void count_registers();
  void predefine_symbols();
  bool assignment(std::string_view name, Place place, bool redefinable);
  /// Reports and returns false, which every directive passes on: the rest of the statement is then skipped.
  bool error(Place place, std::string text) {
    source_.error(place, std::move(text));
    return false;
  }
  bool error(std::string text) { return error(lexer().place(), std::move(text)); }
  bool expect_end();
  bool expect(TokenKind kind, const char* what);
  bool expect_comma() { return expect(TokenKind::comma, "expected comma"); }
  /// A name, quoted or not.
  std::optional<std::string> name();
  std::optional<std::string> quoted();
  std::optional<int64_t> absolute();
  Lexer& lexer() { return levels_.back().lexer; }
  const Token& token() { return lexer().token(); }

  // --- Expressions (expressions.cpp)
  const Expression* expression();
  const Expression* primary();
  const Expression* nested_primary();
  const Expression* binary(unsigned least_precedence, const Expression* left);
  const Expression* named(std::string_view name, Place place);
  std::optional<uint64_t> real_bits(unsigned size);

  // --- Texts within texts (macros.cpp)
  struct Level {
    Lexer lexer;
  };
  struct MacroParameter {
    std::string name, fallback;
    bool required = false, rest = false;
  };
  struct Macro {
    std::vector<MacroParameter> parameters;
    std::string body;
  };
  void enter(Buffer buffer);
  void leave_expansions();
  bool invoke(const std::string& macro_name, const Macro& macro, Place place);
  std::optional<std::string> macro_argument(bool rest);
  bool has_room(uint64_t bytes, Place place);
  bool expand(std::string_view body, const std::vector<MacroParameter>& parameters,
              const std::vector<std::string>& arguments, std::string& out, Place place);
  std::optional<std::string> body_until(Place place, bool is_macro);
  bool skipping() const { return !conditions_.empty() && conditions_.back().skips; }

  struct Condition {
    bool skips = false, met = false, outer_skips = false, seen_else = false;
    Place place;
  };
  bool open_condition(bool met, Place place);
  bool condition_directive(std::string_view name, Place place);
  static bool is_condition(std::string_view name);

  bool directive_macro(std::string_view, Place);
  bool directive_endm(std::string_view, Place);
  bool directive_exitm(std::string_view, Place);
  bool directive_purgem(std::string_view, Place);
  bool directive_rept(std::string_view, Place);
  bool directive_irp(std::string_view, Place);
  bool directive_irpc(std::string_view, Place);
  bool directive_endr(std::string_view, Place);
  bool directive_include(std::string_view, Place);
  bool directive_incbin(std::string_view, Place);
  bool directive_error(std::string_view, Place);
  bool directive_warning(std::string_view, Place);
  bool directive_print(std::string_view, Place);
  bool directive_end(std::string_view, Place);
  bool directive_altmacro(std::string_view, Place);
  bool directive_macros_on(std::string_view, Place);

  // --- Data (data_directives.cpp)
  bool directive_integers(std::string_view, Place);
  bool directive_reals(std::string_view, Place);
  bool directive_strings(std::string_view, Place);
  bool directive_base64(std::string_view, Place);
  bool directive_leb128(std::string_view, Place);
  bool directive_octa(std::string_view, Place);
  bool directive_align(std::string_view, Place);
  bool directive_fill(std::string_view, Place);
  bool directive_space(std::string_view, Place);
  bool directive_org(std::string_view, Place);
  bool directive_repeated(std::string_view, Place);
  bool directive_reloc(std::string_view, Place);

  // --- Symbols and sections (symbol_directives.cpp)
  bool directive_set(std::string_view, Place);
  bool directive_section(std::string_view, Place);
  bool directive_named_section(std::string_view, Place);
  bool directive_subsection(std::string_view, Place);
  bool directive_section_stack(std::string_view, Place);
  bool directive_attribute(std::string_view, Place);
  bool directive_type(std::string_view, Place);
  bool directive_size(std::string_view, Place);
  bool directive_common(std::string_view, Place);
  bool directive_ident(std::string_view, Place);
  bool directive_address_significance(std::string_view, Place);
  bool directive_weak_reference(std::string_view, Place);
  bool directive_version(std::string_view, Place);
  struct SectionAttributes;
  bool parse_section(bool push);
  std::optional<std::string> section_name();
  bool section_attributes(SectionAttributes& given, const Section& before, bool has_subsection);
  bool section_type(SectionAttributes& given);
  bool section_type_arguments(SectionAttributes& given);
  bool parse_section_flags(std::string_view text, uint64_t& flags, bool& in_last_group, Place place);
  bool named_section_flags(uint64_t& flags);
  std::optional<uint32_t> subsection();

  // --- Lines (debug_directives.cpp)
  bool directive_file(std::string_view, Place);
  bool directive_line(std::string_view, Place);
  bool directive_loc(std::string_view, Place);
  void line_row();
  void emit_debug_sections();

  // --- Frames (frame_directives.cpp)
  bool directive_cfi_sections(std::string_view, Place);
  bool directive_cfi_startproc(std::string_view, Place);
  bool directive_cfi_endproc(std::string_view, Place);
  bool directive_cfi_step(std::string_view, Place);
  bool directive_cfi_escape(std::string_view, Place);
  bool directive_cfi_label(std::string_view, Place);
  bool directive_cfi_symbol(std::string_view, Place);
  bool directive_cfi_signal_frame(std::string_view, Place);
  bool directive_cfi_return_column(std::string_view, Place);
  Frame* open_frame(Place place);
  std::optional<uint64_t> frame_register();
  bool add_frame_step(FrameStep step, Place place);

  // --- AMDGPU (hsa_directives.cpp)
  bool directive_amdgcn_target(std::string_view, Place);
  bool directive_code_object_version(std::string_view, Place);
  bool directive_metadata(std::string_view, Place);
  bool directive_pal_metadata(std::string_view, Place);
  bool directive_lds(std::string_view, Place);
  // Of kernel descriptors (descriptor_directives.cpp):
  class DescriptorBlock;
  bool directive_amdhsa_kernel(std::string_view, Place);
  // Of code object V2 (kernel_code_directives.cpp):
  bool directive_hsa_code_object_version(std::string_view, Place);
  bool directive_isa_name(std::string_view, Place);
  bool directive_hsa_metadata(std::string_view, Place);
  bool directive_hsa_code_object_isa(std::string_view, Place);
  bool directive_amdgpu_hsa_kernel(std::string_view, Place);
  bool directive_amd_kernel_code_t(std::string_view, Place);
  void emit_note(std::string_view owner, uint32_t type, std::span<const uint8_t> content, bool allocated);
  std::optional<std::string> text_until(std::string_view end, Place place);

  Source& source_;
  Unit& unit_;
  std::unique_ptr<InstructionParser> instructions_;
  Symbol *next_free_vgpr_ = nullptr, *next_free_sgpr_ = nullptr;
  const Options& options_;
  target::TargetId target_;
  uint32_t code_object_version_ = 6;
  std::vector<Level> levels_;
  unsigned nesting_ = 0;  ///< of the expression that is being read
  std::map<std::string, Macro, std::less<>> macros_;
  uint64_t expansions_ = 0;
  size_t expanded_bytes_ = 0, nested_bytes_ = 0;  // of all expansions, and of those within others
  std::vector<Condition> conditions_;
  bool ended_ = false;
  bool alternate_macros_ = false, macros_on_ = true;
  LineTable lines_;
  SourceLine line_;            ///< of the last .loc
  bool line_pending_ = false;  ///< no code has followed it yet
  std::vector<Frame> frames_;
  std::vector<std::pair<size_t, Section*>> open_frames_;  ///< without an end yet: index, and where; the last is current
  bool unwind_frames_wanted_ = true, debug_frames_wanted_ = false;
};

}  // namespace Atoll::assembler

// assembler: statements (parser.h).
#include "assembler/syntax/parser.h"

#include <fmt/format.h>

#include "assembler/instruction/instruction_parser.h"

namespace Atoll::assembler {

Parser::Parser(Source& source, Unit& unit, const Options& options)
    : source_(source),
      unit_(unit),
      options_(options),
      target_(options.target),
      code_object_version_(options.code_object_version) {
  predefine_symbols();
  for (const auto& [name, value] : options.symbols) {
    Symbol& symbol = unit_.symbol(name);
    symbol.redefinable = true;
    unit_.assign(symbol, unit_.constant(value));
  }
}

void Parser::run(const Buffer& buffer) {
  levels_.push_back({Lexer(buffer)});
  while (!ended_) {
    if (lexer().is(TokenKind::end_of_file)) {
      if (levels_.size() == 1) break;
      levels_.pop_back();
      continue;
    }
    statement();
    if (source_.is_full() && source_.failed()) break;  // nobody reads more, and a wrong macro can give any number
    if (unit_.is_exhausted()) break;
  }
  levels_.resize(1, levels_.front());
  if (!conditions_.empty()) error("unmatched .ifs or .elses");
  emit_debug_sections();
}

bool Parser::expect_end() {
  if (lexer().at_end()) return true;
  return error(lexer().is(TokenKind::error) ? lexer().problem() : "unexpected token");
}

bool Parser::expect(TokenKind kind, const char* what) {
  if (lexer().accept(kind)) return true;
  return error(lexer().is(TokenKind::error) ? lexer().problem() : what);
}

std::optional<std::string> Parser::name() {
  if (lexer().is(TokenKind::string)) return quoted();
  if (!lexer().is(TokenKind::identifier)) {
    error("expected identifier");
    return std::nullopt;
  }
  std::string text(token().text);
  lexer().advance();
  return text;
}

std::optional<std::string> Parser::quoted() {
  if (!lexer().is(TokenKind::string)) {
    error("expected string");
    return std::nullopt;
  }
  auto text = unescape(token().text);
  if (!text) {
    error("invalid escape sequence (unrecognized character)");
    return std::nullopt;
  }
  lexer().advance();
  return text;
}

std::optional<int64_t> Parser::absolute() {
  const Place place = lexer().place();
  const Expression* value = expression();
  if (value == nullptr) return std::nullopt;
  const auto number = unit_.absolute(*value);
  if (!number) error(place, "expected absolute expression");
  return number;
}

/// Reads one statement, labels before it included, up to and with its end. What goes wrong has been reported, and the
/// rest of it is skipped.
void Parser::statement() {
  const size_t depth = levels_.size();
  const auto skip = [&] {
    // A directive that entered or left a text has its own statement after it.
    if (levels_.size() != depth) return;
    while (!lexer().at_end()) lexer().advance();
    lexer().accept(TokenKind::end_of_statement);
  };
  if (lexer().accept(TokenKind::end_of_statement)) return;
  const Place place = lexer().place();
  const Token first = token();

  if (first.kind == TokenKind::integer && !skipping()) {
    lexer().advance();
    if (lexer().accept(TokenKind::colon)) {
      unit_.define_local_label(first.value, place);
      return;
    }
    error(place, "unexpected token at start of statement");
    return skip();
  }
  if (first.kind != TokenKind::identifier && first.kind != TokenKind::string) {
    if (!skipping()) {
      error(place, first.kind == TokenKind::error ? lexer().problem() : "unexpected token at start of statement");
    }
    return skip();
  }
  if (skipping() && (first.kind == TokenKind::string || !is_condition(first.text))) return skip();

  std::string id;
  if (first.kind == TokenKind::string) {
    const auto text = quoted();
    if (!text) return skip();
    id = *text;
  } else {
    id = first.text;
    lexer().advance();
  }
  if (lexer().is(TokenKind::colon) && !is_condition(id)) {
    lexer().advance();
    if (id == ".") {
      error(place, "invalid use of pseudo-symbol '.' as a label");
    } else {
      unit_.define(unit_.symbol(id), place);
    }
    return;
  }
  if (lexer().is(TokenKind::equal) || lexer().is(TokenKind::equal_equal)) {
    const bool redefinable = lexer().is(TokenKind::equal);
    lexer().advance();
    if (assignment(id, place, redefinable)) expect_end();
    return skip();
  }
  if (is_condition(id)) {
    condition_directive(id, place);
    return skip();
  }
  if (const auto macro = macros_.find(id); macros_on_ && macro != macros_.end()) {
    invoke(macro->first, macro->second, place);
    return skip();
  }
  if (id[0] == '.' && id.size() > 1) {
    const auto& known = directives();
    if (const auto found = known.find(id); found != known.end()) {
      (this->*found->second)(id, place);
    } else {
      error(place, "unknown directive");
    }
    return skip();
  }
  instruction(id, place);
  skip();
}

bool Parser::assignment(std::string_view name, Place place, bool redefinable) {
  const Place value_place = lexer().place();
  const Expression* value = expression();
  if (value == nullptr) return false;
  if (name == ".") {
    unit_.emit_tail({.kind = Tail::Kind::org, .expression = value, .place = place});
    return true;
  }
  Symbol& symbol = unit_.symbol(name);
  // If it already has a value, the new one may depend on it.
  const bool of_itself = !symbol.is_variable() && value->kind != Expression::Kind::constant &&
                         unit_.names(*value, [&](const Symbol& each) { return &each == &symbol; });
  if (of_itself) return error(value_place, fmt::format("Recursive use of '{}'", name));
  if (symbol.is_label() || symbol.common_size || (symbol.is_variable() && !(symbol.redefinable && redefinable))) {
    return error(place, fmt::format("redefinition of '{}'", name));
  }
  symbol.redefinable = redefinable;
  unit_.assign(symbol, *value);
  return true;
}

const std::unordered_map<std::string_view, Parser::Directive>& Parser::directives() {
  static const std::unordered_map<std::string_view, Directive> known = [] {
    std::unordered_map<std::string_view, Directive> map;
    const auto add = [&](Directive directive, std::initializer_list<const char*> names) {
      for (const char* name : names) map.emplace(name, directive);
    };
    add(&Parser::directive_integers, {".byte", ".short", ".value", ".2byte", ".long", ".int", ".4byte", ".quad",
                                      ".8byte", ".dc", ".dc.b", ".dc.w", ".dc.l", ".dc.a"});
    add(&Parser::directive_reals, {".float", ".single", ".double", ".dc.s", ".dc.d"});
    add(&Parser::directive_octa, {".octa"});
    add(&Parser::directive_strings, {".ascii", ".asciz", ".string"});
    add(&Parser::directive_base64, {".base64"});
    add(&Parser::directive_leb128, {".uleb128", ".sleb128"});
    add(&Parser::directive_align, {".align", ".balign", ".balignw", ".balignl", ".p2align", ".p2alignw", ".p2alignl"});
    add(&Parser::directive_fill, {".fill"});
    add(&Parser::directive_space, {".space", ".skip", ".zero"});
    add(&Parser::directive_org, {".org"});
    add(&Parser::directive_repeated, {".dcb", ".dcb.b", ".dcb.w", ".dcb.l", ".dcb.s", ".dcb.d", ".ds", ".ds.b", ".ds.w",
                                      ".ds.l", ".ds.d", ".ds.s", ".ds.p", ".ds.x"});
    add(&Parser::directive_reloc, {".reloc"});

    add(&Parser::directive_set, {".set", ".equ", ".equiv"});
    add(&Parser::directive_section, {".section"});
    add(&Parser::directive_subsection, {".subsection"});
    add(&Parser::directive_named_section,
        {".text", ".data", ".bss", ".rodata", ".tdata", ".tbss", ".data.rel", ".data.rel.ro", ".eh_frame"});
    add(&Parser::directive_section_stack, {".pushsection", ".popsection", ".previous"});
    add(&Parser::directive_attribute, {".globl", ".global", ".local", ".weak", ".hidden", ".protected", ".internal",
                                       ".extern", ".no_dead_strip", ".memtag"});
    add(&Parser::directive_type, {".type"});
    add(&Parser::directive_size, {".size"});
    add(&Parser::directive_common, {".comm", ".common", ".lcomm"});
    add(&Parser::directive_ident, {".ident"});
    add(&Parser::directive_address_significance, {".addrsig", ".addrsig_sym"});
    add(&Parser::directive_weak_reference, {".weakref"});
    add(&Parser::directive_version, {".version"});

    add(&Parser::directive_file, {".file"});
    add(&Parser::directive_line, {".line"});
    add(&Parser::directive_loc, {".loc"});
    add(&Parser::directive_cfi_sections, {".cfi_sections"});
    add(&Parser::directive_cfi_startproc, {".cfi_startproc"});
    add(&Parser::directive_cfi_endproc, {".cfi_endproc"});
    add(&Parser::directive_cfi_step,
        {".cfi_def_cfa", ".cfi_def_cfa_register", ".cfi_def_cfa_offset", ".cfi_adjust_cfa_offset",
         ".cfi_llvm_def_aspace_cfa", ".cfi_offset", ".cfi_rel_offset", ".cfi_val_offset", ".cfi_same_value",
         ".cfi_undefined", ".cfi_restore", ".cfi_register", ".cfi_remember_state", ".cfi_restore_state",
         ".cfi_window_save"});
    add(&Parser::directive_cfi_escape, {".cfi_escape"});
    add(&Parser::directive_cfi_label, {".cfi_label"});
    add(&Parser::directive_cfi_symbol, {".cfi_personality", ".cfi_lsda"});
    add(&Parser::directive_cfi_signal_frame, {".cfi_signal_frame"});
    add(&Parser::directive_cfi_return_column, {".cfi_return_column"});

    add(&Parser::directive_macro, {".macro"});
    add(&Parser::directive_endm, {".endm", ".endmacro"});
    add(&Parser::directive_exitm, {".exitm"});
    add(&Parser::directive_purgem, {".purgem"});
    add(&Parser::directive_rept, {".rept", ".rep"});
    add(&Parser::directive_irp, {".irp"});
    add(&Parser::directive_irpc, {".irpc"});
    add(&Parser::directive_endr, {".endr"});
    add(&Parser::directive_include, {".include"});
    add(&Parser::directive_incbin, {".incbin"});
    add(&Parser::directive_error, {".error", ".err"});
    add(&Parser::directive_warning, {".warning"});
    add(&Parser::directive_print, {".print"});
    add(&Parser::directive_end, {".end"});
    add(&Parser::directive_altmacro, {".altmacro", ".noaltmacro"});
    add(&Parser::directive_macros_on, {".macros_on", ".macros_off"});

    add(&Parser::directive_amdgcn_target, {".amdgcn_target"});
    add(&Parser::directive_code_object_version, {".amdhsa_code_object_version"});
    add(&Parser::directive_amdhsa_kernel, {".amdhsa_kernel"});
    add(&Parser::directive_metadata, {".amdgpu_metadata"});
    add(&Parser::directive_pal_metadata, {".amdgpu_pal_metadata", ".amd_amdgpu_pal_metadata"});
    add(&Parser::directive_lds, {".amdgpu_lds"});
    add(&Parser::directive_hsa_code_object_version, {".hsa_code_object_version"});
    add(&Parser::directive_isa_name, {".amd_amdgpu_isa"});
    add(&Parser::directive_hsa_metadata, {".amd_amdgpu_hsa_metadata"});
    add(&Parser::directive_hsa_code_object_isa, {".hsa_code_object_isa"});
    add(&Parser::directive_amdgpu_hsa_kernel, {".amdgpu_hsa_kernel"});
    add(&Parser::directive_amd_kernel_code_t, {".amd_kernel_code_t"});
    return map;
  }();
  return known;
}

}  // namespace Atoll::assembler

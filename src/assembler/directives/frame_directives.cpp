// assembler: the .cfi_* directives (parser.h), which describe how to unwind frames (frames.h).
#include <algorithm>

#include <fmt/format.h>

#include "assembler/syntax/parser.h"

namespace Atoll::assembler {

namespace {

using Kind = FrameStep::Kind;

/// The operands of a directive that is a step: registers, then an offset or an address space.
struct StepDirective {
  std::string_view name;
  Kind kind;
  uint8_t registers = 0;
  bool offset = false, space = false;
};
constexpr StepDirective steps[] = {
    {".cfi_def_cfa", Kind::define_cfa, 1, true},
    {".cfi_def_cfa_register", Kind::define_cfa_register, 1},
    {".cfi_def_cfa_offset", Kind::define_cfa_offset, 0, true},
    {".cfi_adjust_cfa_offset", Kind::adjust_cfa_offset, 0, true},
    {".cfi_llvm_def_aspace_cfa", Kind::define_cfa_in_space, 1, true, true},
    {".cfi_offset", Kind::offset, 1, true},
    {".cfi_rel_offset", Kind::relative_offset, 1, true},
    {".cfi_val_offset", Kind::value_offset, 1, true},
    {".cfi_same_value", Kind::same_value, 1},
    {".cfi_undefined", Kind::undefined, 1},
    {".cfi_restore", Kind::restore, 1},
    {".cfi_register", Kind::in_register, 2},
    {".cfi_remember_state", Kind::remember},
    {".cfi_restore_state", Kind::restore_remembered},
    {".cfi_window_save", Kind::window_save},
};

}  // namespace

/// .cfi_sections section[, section]
bool Parser::directive_cfi_sections(std::string_view, Place) {
  unwind_frames_wanted_ = debug_frames_wanted_ = false;
  if (lexer().at_end()) return true;
  do {
    const auto section = name();
    if (!section) return false;
    unwind_frames_wanted_ |= *section == ".eh_frame";
    debug_frames_wanted_ |= *section == ".debug_frame";
  } while (lexer().accept(TokenKind::comma));
  return expect_end();
}

/// .cfi_startproc [simple]
bool Parser::directive_cfi_startproc(std::string_view, Place place) {
  bool is_simple = false;
  if (!lexer().at_end()) {
    const Place word_place = lexer().place();
    const auto word = name();
    if (!word) return false;
    if (*word != "simple") return error(word_place, "unexpected token");
    is_simple = true;
  }
  if (!expect_end()) return false;
  if (!open_frames_.empty() && open_frames_.back().second == &unit_.current_whole())
    return error(place, "starting new .cfi frame before finishing the previous one");
  open_frames_.emplace_back(frames_.size(), &unit_.current_whole());
  frames_.push_back({.begin = &unit_.here(), .is_simple = is_simple});
  return true;
}

Frame* Parser::open_frame(Place place) {
  if (!open_frames_.empty()) return &frames_[open_frames_.back().first];
  error(place, "this directive must appear between .cfi_startproc and .cfi_endproc directives");
  return nullptr;
}

bool Parser::directive_cfi_endproc(std::string_view, Place place) {
  if (!expect_end()) return false;
  Frame* frame = open_frame(place);
  if (frame == nullptr) return false;
  frame->end = &unit_.here();
  open_frames_.pop_back();
  return true;
}

/// A register by its name or its number.
std::optional<uint64_t> Parser::frame_register() {
  const Place place = lexer().place();
  if (lexer().is(TokenKind::identifier)) {
    if (const auto number = dwarf_register(token().text, options_.wave32)) {
      lexer().advance();
      return number;
    }
    error(place, "a register of debug information is expected");
    return std::nullopt;
  }
  const auto number = absolute();
  if (number && *number >= 0) return static_cast<uint64_t>(*number);
  if (number) error(place, "a register's number is not negative");
  return std::nullopt;
}

bool Parser::directive_cfi_step(std::string_view name, Place place) {
  const StepDirective& directive = *std::ranges::find(steps, name, &StepDirective::name);
  FrameStep step{.kind = directive.kind};
  bool first = true;
  for (unsigned i = 0; i < directive.registers; ++i, first = false) {
    if (!first && !expect_comma()) return false;
    const auto reg = frame_register();
    if (!reg) return false;
    (i == 0 ? step.reg : step.second) = *reg;
  }
  if (directive.offset) {
    if (!first && !expect_comma()) return false;
    const auto offset = absolute();
    if (!offset) return false;
    step.offset = *offset;
  }
  if (directive.space) {
    if (!expect_comma()) return false;
    const auto space = absolute();
    if (!space) return false;
    step.second = static_cast<uint64_t>(*space);
  }
  if (!expect_end()) return false;
  return add_frame_step(std::move(step), place);
}

bool Parser::add_frame_step(FrameStep step, Place place) {
  Frame* frame = open_frame(place);
  if (frame == nullptr) return false;
  step.at = &unit_.here();
  frame->steps.push_back(std::move(step));
  return true;
}

/// .cfi_escape byte, ...
bool Parser::directive_cfi_escape(std::string_view, Place place) {
  FrameStep step{.kind = Kind::escape};
  do {
    const auto byte = absolute();
    if (!byte) return false;
    step.bytes.push_back(static_cast<uint8_t>(*byte));
  } while (lexer().accept(TokenKind::comma));
  return expect_end() && add_frame_step(std::move(step), place);
}

/// .cfi_label name
bool Parser::directive_cfi_label(std::string_view, Place place) {
  const auto label = name();
  if (!label || !expect_end()) return false;
  return add_frame_step({.kind = Kind::label, .symbol = &unit_.symbol(*label)}, place);
}

/// .cfi_personality encoding, symbol; .cfi_lsda encoding, symbol
bool Parser::directive_cfi_symbol(std::string_view directive, Place place) {
  const Place encoding_place = lexer().place();
  const auto encoding = absolute();
  if (!encoding) return false;
  if (*encoding == 0xFF) return expect_end();  // none
  if (!is_frame_encoding(*encoding)) return error(encoding_place, "unsupported encoding.");
  if (!expect_comma()) return false;
  const auto symbol_name = name();
  if (!symbol_name || !expect_end()) return false;
  Frame* frame = open_frame(place);
  if (frame == nullptr) return false;
  EncodedSymbol& to = directive == ".cfi_personality" ? frame->personality : frame->language_data;
  to = {.encoding = static_cast<uint8_t>(*encoding), .symbol = &unit_.symbol(*symbol_name)};
  return true;
}

bool Parser::directive_cfi_signal_frame(std::string_view, Place place) {
  if (!expect_end()) return false;
  Frame* frame = open_frame(place);
  if (frame != nullptr) frame->is_signal_frame = true;
  return frame != nullptr;
}

/// .cfi_return_column register
bool Parser::directive_cfi_return_column(std::string_view, Place place) {
  const auto reg = frame_register();
  if (!reg || !expect_end()) return false;
  Frame* frame = open_frame(place);
  if (frame != nullptr) frame->return_register = *reg;
  return frame != nullptr;
}

}  // namespace Atoll::assembler

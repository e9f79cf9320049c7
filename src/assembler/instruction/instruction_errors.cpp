// assembler: what is said of an instruction's text that is none (instruction_parser.h).
//
// Of the forms that a name can stand for, the one that got furthest with the operands is taken to be the one that was
// meant.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "assembler/instruction/instruction_parser.h"
#include "assembler/syntax/parser.h"
#include "support/spelling.h"

namespace Atoll::assembler {

using isa::Opcode;

namespace {

/// Which processors have an instruction, in words: "gfx908", "gfx1100 to gfx1153", "gfx1200 and later".
std::string list_processors(const std::vector<const target::Processor*>& all, const std::vector<bool>& has) {
  constexpr size_t max_ranges = 4;
  std::vector<std::string> ranges;
  for (size_t first = 0; first < all.size(); ++first) {
    if (!has[first]) continue;
    size_t last = first;
    while (last + 1 < all.size() && has[last + 1]) ++last;
    const std::string_view name = all[first]->name;
    if (last + 1 == all.size() && last != first) {
      ranges.push_back(fmt::format("{} and later", name));
    } else if (last == first) {
      ranges.emplace_back(name);
    } else {
      ranges.push_back(fmt::format("{} {} {}", name, last == first + 1 ? "and" : "to", all[last]->name));
    }
    first = last;
  }
  const bool more = ranges.size() > max_ranges;
  if (more) ranges.resize(max_ranges);
  std::string text;
  for (const std::string& range : ranges) (text += text.empty() ? "" : ", ") += range;
  return more ? text + " and others" : text;
}

}  // namespace

bool InstructionParser::error(Place place, std::string text) { return parser_.error(place, std::move(text)); }
bool InstructionParser::error(std::string text) { return parser_.error(std::move(text)); }

/// Reports an unknown name: which processors have it, its name on this one, or a similar name.
bool InstructionParser::unknown(std::string_view mnemonic, Place place) {
  std::vector<const target::Processor*> all;
  std::vector<bool> has;
  std::string_view here;
  for (const target::Processor& processor : target::processors()) {
    if (processor.generic || isa::opcode_map_of(processor).empty) continue;
    const Mnemonics& names = mnemonics_of(processor, 0);
    const Mnemonics::Found found = names.find(mnemonic);
    all.push_back(&processor);
    has.push_back(!found.forms.empty() || names.find_dual(mnemonic) != Opcode::invalid);
    if (found.forms.empty()) continue;
    // Of several instructions that have had the name, the one of the generation before this one's.
    const Opcode opcode = found.forms.front().opcode;
    const bool there = std::ranges::any_of(mnemonics_.find(map_.name(opcode)).forms,
                                           [&](const Form& form) { return form.opcode == opcode; });
    if (there && (here.empty() || processor.generation < map_.generation)) here = map_.name(opcode);
  }
  const std::string_view gpu = unit_.processor().name;
  if (!here.empty()) return error(place, fmt::format("'{}' is called {} on {}", mnemonic, here, gpu));
  if (std::ranges::find(has, true) != has.end()) {
    const bool one = std::ranges::count(has, true) == 1;
    return error(place, fmt::format("{} does not have {}; {} {}", gpu, mnemonic, list_processors(all, has),
                                    one ? "does" : "do"));
  }
  const std::string like = mnemonics_.name_like(mnemonic);
  if (like.empty()) return error(place, fmt::format("there is no instruction '{}'", mnemonic));
  return error(place, fmt::format("there is no instruction '{}': {} is one", mnemonic, like));
}

bool InstructionParser::unknown_modifier(std::string_view name, Place place) {
  const std::string_view like = modifier_like(name);
  if (like.empty()) return error(place, fmt::format("there is no modifier '{}'", name));
  return error(place, fmt::format("there is no modifier '{}': {} is one", name, like));
}

/// Says why the form that got furthest is not what the text means.
bool InstructionParser::diagnose() {
  if (failure_.additional != nullptr && failure_.additional->is_unknown_name()) {
    return unknown_modifier(failure_.additional->expression->symbol->name, failure_.place);
  }
  if (failure_.operand == 0) return error(failure_.place, std::string(failure_.why));
  struct File {
    std::string_view one;
    char letter;
  };
  constexpr File files[] = {{"a VGPR", 'v'}, {"an SGPR", 's'}, {"an AGPR", 'a'}};
  const auto* file = std::ranges::find(files, failure_.why, &File::one);
  if (failure_.words > 1 && file != std::end(files)) {
    const std::string_view name = file->one.substr(file->one.find(' ') + 1);
    return error(failure_.place, fmt::format("operand {} must be {} {}s, as {}[0:{}]", failure_.operand, failure_.words,
                                             name, file->letter, failure_.words - 1));
  }
  std::string why = fmt::format("operand {} must be {}", failure_.operand, failure_.why);
  if (failure_.words > 1) why += fmt::format(" of {} registers", failure_.words);
  return error(failure_.place, why);
}

/// Of forms that get as far as each other, VOP3 is the one that takes most.
bool InstructionParser::gets_further() const {
  if (!failure_.any || failure_.progress < progress_) return true;
  return failure_.progress == progress_ && form_->kind == FormKind::vop3;
}

bool InstructionParser::refuse(Place place, std::string_view why) {
  if (gets_further()) failure_ = {.progress = progress_, .place = place, .why = why, .any = true};
  return false;
}

bool InstructionParser::refuse_operand(const OperandText& text, std::string_view must_be, unsigned words) {
  if (!gets_further()) return false;
  const auto number = static_cast<unsigned>(&text - operands_.data()) + 1;
  failure_ = {
      .progress = progress_, .place = text.place, .why = must_be, .operand = number, .words = words, .any = true};
  return false;
}

bool InstructionParser::refuse_literal(const OperandText& text) {
  return refuse(text.place,
                "there is no place for a literal: only -16 to 64, 0.5, 1.0, 2.0, 4.0 and their negatives need none; "
                "move it to a register");
}

bool InstructionParser::refuse_missing(unsigned operand) {
  constexpr std::array<std::string_view, 6> why{"too few operands for instruction: operand 1 is missing",
                                                "too few operands for instruction: operand 2 is missing",
                                                "too few operands for instruction: operand 3 is missing",
                                                "too few operands for instruction: operand 4 is missing",
                                                "too few operands for instruction: operand 5 is missing",
                                                "too few operands for instruction: operand 6 is missing"};
  return refuse(mnemonic_place_, operand < why.size() ? why[operand] : "too few operands for instruction");
}

bool InstructionParser::refuse_additional(const OperandText& text) {
  if (!gets_further()) return false;
  refuse(text.place, "too many operands for instruction");
  failure_.additional = &text;
  return false;
}

}  // namespace Atoll::assembler

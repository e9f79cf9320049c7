// assembler: reading the modifiers of memory instructions that have a language of their own (instruction_parser.h):
// buffer formats, temporal hints, lane swizzles.
#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "assembler/instruction/instruction_parser.h"
#include "assembler/syntax/parser.h"
#include "isa/buffer_formats.h"
#include "isa/modifier_names.h"

namespace Atoll::assembler {

namespace names = isa::names;

/// format:22, format:[BUF_FMT_32_FLOAT], format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT]
bool InstructionParser::buffer_format() {
  const bool unified = map_.layout.unified_formats;
  const Place place = lexer().place();
  if (!lexer().accept(TokenKind::left_bracket)) {
    const auto number = number_between(0, 127);
    if (!number) return false;
    said_.data_format = static_cast<uint8_t>(unified ? *number : *number & 15);
    said_.number_format = static_cast<uint8_t>(unified ? 0 : *number >> 4);
    return true;
  }
  do {
    const Place at = lexer().place();
    const std::string_view name = word();
    if (unified) {
      unsigned format = 0;
      while (format < 128 && isa::unified_format_name(format, map_.generation) != without("BUF_FMT_", name)) ++format;
      if (format == 128 || name.empty())
        return error(at, fmt::format("not on {}: format {}", unit_.processor().name, name));
      said_.data_format = static_cast<uint8_t>(format);
    } else if (const auto data = find_word(names::data_formats, without("BUF_DATA_FORMAT_", name))) {
      said_.data_format = static_cast<uint8_t>(*data);
    } else if (const auto number =
                   find_word(names::number_formats_of(map_.layout.snorm_ogl), without("BUF_NUM_FORMAT_", name))) {
      said_.number_format = static_cast<uint8_t>(*number);
    } else {
      return error(at, fmt::format("not on {}: format {}", unit_.processor().name, name));
    }
  } while (lexer().accept(TokenKind::comma));
  if (!lexer().accept(TokenKind::right_bracket)) return error(place, "expected ']' after the format");
  return true;
}

/// th:TH_LOAD_NT: which of the caches should keep the data, and for how long. The names differ by the kind of access.
bool InstructionParser::temporal_hint() {
  struct Hint {
    std::string_view name;
    uint8_t value;
    bool bypass = false;
  };
  struct Kind {
    HintKind kind;
    std::string_view prefix;
    std::span<const Hint> hints;
  };
  static constexpr std::array loads{Hint{"RT", 0},           Hint{"NT", 1},    Hint{"HT", 2},    Hint{"LU", 3},
                                    Hint{"BYPASS", 3, true}, Hint{"NT_RT", 4}, Hint{"RT_NT", 5}, Hint{"NT_HT", 6}};
  static constexpr std::array stores{Hint{"RT", 0},    Hint{"NT", 1},           Hint{"HT", 2},
                                     Hint{"WB", 3},    Hint{"BYPASS", 3, true}, Hint{"NT_RT", 4},
                                     Hint{"RT_NT", 5}, Hint{"NT_HT", 6},        Hint{"NT_WB", 7}};
  static constexpr std::array atomics{Hint{"RT", 0},        Hint{"RETURN", 1},     Hint{"RT_RETURN", 1}, Hint{"NT", 2},
                                      Hint{"NT_RETURN", 3}, Hint{"CASCADE_RT", 4}, Hint{"CASCADE_NT", 6}};
  constexpr std::array kinds{Kind{HintKind::load, "TH_LOAD_", loads}, Kind{HintKind::store, "TH_STORE_", stores},
                             Kind{HintKind::atomic, "TH_ATOMIC_", atomics}};
  const Place place = lexer().place();
  if (!lexer().is(TokenKind::identifier)) return error("expected a temporal hint by its name, as TH_LOAD_NT");
  const std::string_view name = word();
  if (name == "TH_DEFAULT") return true;
  for (const Kind& each : kinds) {
    if (!name.starts_with(each.prefix)) continue;
    const auto found = std::ranges::find(each.hints, name.substr(each.prefix.size()), &Hint::name);
    if (found == each.hints.end()) break;
    said_.temporal_hint = found->value;
    hint_kind_ = each.kind;
    bypass_said_ = found->bypass;
    return true;
  }
  return error(place, "invalid th value");
}

/// The modes of ds_swizzle_b32 (ISA guide, "DS_SWIZZLE_B32").
bool InstructionParser::swizzle() {
  lexer().advance();
  if (!lexer().accept(TokenKind::left_paren)) return error("expected '(' after swizzle");
  const Place place = lexer().place();
  const std::string_view mode = word();
  const auto argument = [&](int64_t least, int64_t most) -> std::optional<unsigned> {
    if (!lexer().accept(TokenKind::comma)) {
      error("expected ','");
      return std::nullopt;
    }
    const auto value = number_between(least, most);
    return value ? std::optional(static_cast<unsigned>(*value)) : std::nullopt;
  };
  const auto masks = [](unsigned keep, unsigned set, unsigned flip) { return keep | set << 5 | flip << 10; };
  unsigned value = 0;
  if (mode == "QUAD_PERM") {
    value = 0x8000;
    for (unsigned i = 0; i < 4; ++i) {
      const auto lane = argument(0, 3);
      if (!lane) return false;
      value |= *lane << (2 * i);
    }
  } else if (mode == "BITMASK_PERM") {
    if (!lexer().accept(TokenKind::comma) || !lexer().is(TokenKind::string))
      return error("expected a 5-character mask");
    const std::string_view mask = token().text.substr(1, token().text.size() - 2);
    if (mask.size() != 5) return error("expected a 5-character mask");
    unsigned keep = 0, set = 0, flip = 0;
    for (unsigned i = 0; i < 5; ++i) {
      const unsigned bit = 16u >> i;
      switch (mask[i]) {
        case '0':
          break;
        case '1':
          set |= bit;
          break;
        case 'p':
          keep |= bit;
          break;
        case 'i':
          keep |= bit;
          flip |= bit;
          break;
        default:
          return error("a mask consists of 0, 1, p and i");
      }
    }
    lexer().advance();
    value = masks(keep, set, flip);
  } else if (mode == "BROADCAST") {
    const auto group = argument(2, 32);
    if (!group) return false;
    if (!std::has_single_bit(*group)) return error("group size must be a power of two");
    const auto lane = argument(0, *group - 1);
    if (!lane) return false;
    value = masks(32 - *group, *lane, 0);
  } else if (mode == "SWAP" || mode == "REVERSE") {
    const bool swap = mode == "SWAP";
    const auto group = argument(swap ? 1 : 2, swap ? 16 : 32);
    if (!group) return false;
    if (!std::has_single_bit(*group)) return error("group size must be a power of two");
    value = masks(31, 0, swap ? *group : *group - 1);
  } else if (mode == "FFT" && map_.layout.swizzle_modes) {
    const auto size = argument(0, 31);
    if (!size) return false;
    value = 0xE000 | *size;
  } else if (mode == "ROTATE" && map_.layout.swizzle_modes) {
    const auto direction = argument(0, 1);
    if (!direction) return false;
    const auto lanes = argument(0, 31);
    if (!lanes) return false;
    value = 0xC000 | *direction << 10 | *lanes << 5;
  } else {
    return error(place, fmt::format("not on {}: swizzle mode {}", unit_.processor().name, mode));
  }
  said_.offset = static_cast<int32_t>(value);
  if (!lexer().accept(TokenKind::right_paren)) return error("expected ')' after swizzle(...");
  return true;
}

}  // namespace Atoll::assembler

// assembler: primitives of debug sections: small integers, strings, and values that are resolved later.
#pragma once

#include <cstdint>
#include <string>

#include "assembler/unit/assembly_unit.h"

namespace Atoll::assembler {

constexpr unsigned address_size = 8;
constexpr uint8_t smallest_instruction = 4;  ///< bytes; addresses advance by so many

/// Writes to the unit's current section.
class DwarfBytes {
 public:
  explicit DwarfBytes(Unit& unit) : unit_(unit) {}

  void byte(uint64_t value) { unit_.emit_integer(value & 0xFF, 1); }
  void unsigned_leb(uint64_t value) {
    do {
      byte((value & 0x7F) | (value > 0x7F ? 0x80 : 0));
      value >>= 7;
    } while (value != 0);
  }
  void signed_leb(int64_t value) {
    for (bool more = true; more;) {
      const auto low = static_cast<uint64_t>(value & 0x7F);
      value >>= 7;
      more = !((value == 0 && (low & 0x40) == 0) || (value == -1 && (low & 0x40) != 0));
      byte(low | (more ? 0x80 : 0));
    }
  }
  void text(const std::string& text) { unit_.emit({reinterpret_cast<const uint8_t*>(text.c_str()), text.size() + 1}); }
  void value(const Expression& expression, unsigned size) { unit_.emit_value(expression, size, {}); }
  /// `a` - `b`
  void difference(const Expression& a, const Expression& b, unsigned size) {
    value(unit_.operation(Operation::subtract, {&a, &b}), size);
  }

 private:
  Unit& unit_;
};

}  // namespace Atoll::assembler

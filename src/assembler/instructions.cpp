// assembler: instructions within a text (parser.h).
#include <fmt/format.h>

#include "assembler/parser.h"

namespace Atoll::assembler {

void Parser::instruction(std::string_view mnemonic, Place place) {
  error(place, fmt::format("'{}': instructions cannot be assembled yet", mnemonic));
}

}  // namespace Atoll::assembler

// debug_info: finds the function and the source line of a program counter.
//
// Checkers, fault and hang reports, core files and host stacks report places. All of them use this class, so the same
// PC has the same place in each. A lookup reads DWARF and takes milliseconds. Findings therefore store a CodeAddress
// (code_address.h), and resolve it when they are reported.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "object/code_object.h"

namespace Atoll::debug_info {

/// Finds functions and source lines in an ELF file that is loaded at an address.
class Symbolizer {
 public:
  /// `functions` are sorted by value. File and functions outlive the symbolizer.
  Symbolizer(std::span<const uint8_t> file, std::span<const object::Symbol> functions, uint64_t load_address)
      : file_(file), functions_(functions), load_address_(load_address) {}

  /// Returns the symbol of the function that contains the address, or an empty string.
  std::string_view symbol_at(uint64_t address) const;
  /// Returns the demangled name of the function that contains the address, or an empty string.
  std::string function_at(uint64_t address) const;
  /// Returns the user's line that an address comes from (user_line_at), or an empty string.
  std::string source_at(uint64_t address) const;

 private:
  std::span<const uint8_t> file_;
  std::span<const object::Symbol> functions_;
  uint64_t load_address_;
};

/// Returns the functions of the symbol table of a 64-bit ELF file, sorted by address, one for each address.
std::vector<object::Symbol> function_symbols(std::span<const uint8_t> file);

}  // namespace Atoll::debug_info

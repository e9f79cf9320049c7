// debug_info: searches the symbol table, the line table and inlined calls.
#include "debug_info/symbolizer.h"

#include <elf.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "debug_info/inlined_calls.h"
#include "support/bytes.h"
#include "support/demangle.h"

namespace Atoll::debug_info {

std::string_view Symbolizer::symbol_at(uint64_t address) const {
  const uint64_t value = address - load_address_;
  const auto above = std::ranges::upper_bound(functions_, value, {}, &object::Symbol::value);
  if (above == functions_.begin()) return {};
  const object::Symbol& below = *std::prev(above);
  return value - below.value < below.size ? below.name : std::string_view();
}

std::string Symbolizer::function_at(uint64_t address) const {
  return support::demangled(std::string(symbol_at(address)));
}

std::string Symbolizer::source_at(uint64_t address) const { return user_line_at(file_, address - load_address_); }

std::vector<object::Symbol> function_symbols(std::span<const uint8_t> file) {
  std::map<uint64_t, object::Symbol> by_address;
  const auto header = support::read<Elf64_Ehdr>(file, 0);
  if (!header) return {};
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const auto section = support::read<Elf64_Shdr>(file, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section || section->sh_type != SHT_SYMTAB) continue;
    const auto names = support::read<Elf64_Shdr>(file, header->e_shoff + section->sh_link * sizeof(Elf64_Shdr));
    if (!names) continue;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= section->sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = support::read<Elf64_Sym>(file, section->sh_offset + at);
      if (!symbol) break;
      if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_value == 0) continue;
      if (const auto name = support::read_text(file, names->sh_offset + symbol->st_name)) {
        const object::Symbol function{.name = *name,
                                      .value = symbol->st_value,
                                      .size = symbol->st_size,
                                      .type = STT_FUNC,
                                      .binding = static_cast<uint8_t>(ELF64_ST_BIND(symbol->st_info)),
                                      .visibility = symbol->st_other,
                                      .defined = true};
        by_address.try_emplace(function.value, function);
      }
    }
  }
  std::vector<object::Symbol> functions;
  functions.reserve(by_address.size());
  for (const auto& [address, symbol] : by_address) functions.push_back(symbol);
  return functions;
}

}  // namespace Atoll::debug_info

// object: the linker: relocatable objects to a loadable code object.
//
// What comes out has the parts that the loaders of AMD's runtimes look at: segments with read-only data, code and
// writable data, dynamic symbols with both kinds of hash table, dynamic relocations, and notes; section headers and
// the full symbol table for those who read it. Undefined symbols are left to the loader where a relocation allows it.
// Source: System V ABI; user guide, "ELF Code Object" and "Relocation Records".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "object/relocatable.h"
#include "support/error.h"

namespace Atoll::object {

struct LinkInput {
  std::string name;  ///< as messages show it
  Relocatable object;
};

/// The code object, or everything that is wrong, a line each.
support::Result<std::vector<uint8_t>> link(std::span<const LinkInput> inputs);

}  // namespace Atoll::object

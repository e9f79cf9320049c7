// codegen: global variables with memory of their own, as data of the code object.
//
// Variables in address space 3 are LDS and have no data. All others are emitted with their initial values; pointers
// among these are relocations.
#pragma once

#include <llvm/IR/Module.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/error.h"

namespace Atoll::codegen {

struct DataObject {
  struct Pointer {
    uint64_t offset = 0;  ///< in the object, where 8 bytes are the address of `symbol` plus `addend`
    std::string symbol;
    int64_t addend = 0;
  };
  std::string name;
  uint64_t align = 1;
  bool is_constant = false, is_exported = false;
  std::vector<uint8_t> bytes;
  std::vector<Pointer> pointers;
};

/// Returns the variables outside LDS that are named, and those that their initial values name.
support::Result<std::vector<DataObject>> global_data(const llvm::Module& module, const std::vector<std::string>& names);

/// Returns whether the variable's initial value can be emitted.
bool has_data(const llvm::GlobalVariable& variable);

/// Returns the objects as assembly text.
std::string assembly_of(const std::vector<DataObject>& objects);

}  // namespace Atoll::codegen

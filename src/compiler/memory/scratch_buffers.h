// compiler: locates the stack in code that accesses scratch through buffers.
//
// On GFX9 up to gfx90a, and on GFX10, compilers access scratch by buffer instructions. A resource in SGPRs holds its
// base and the interleaving of lanes, an SGPR the offset of the stack. Whether the resource is the wave's scratch is
// checked at run time, once per pair in a block; if not, the interpreter continues.
#pragma once

#include <map>

#include "compiler/analysis/liveness.h"
#include "compiler/analysis/memory_operands.h"
#include "compiler/lowering/scalar_registers.h"
#include "engine/compiled/control_flow.h"

namespace Atoll::compiler {

/// Returns, by first register, the resources whose registers are written by instructions other than moves and adds.
/// Only scratch resources are set up by moves and adds, so these are ordinary buffers.
std::bitset<isa::scalar::count> ordinary_resources(const engine::ControlFlow& flow);

class ScratchBuffers {
 public:
  explicit ScratchBuffers(Frame& frame) : frame_(frame) {}

  /// Returns whether find() has been called for these operands and they are unchanged.
  bool knows(const MemoryOperands& operands) const { return known_.contains(key(operands)); }
  /// Returns the private address (i32) of offset 0 in the buffer, a multiple of 4 inside scratch. If the buffer is
  /// another one, leaves to the interpreter at `pc`. Nothing from `pc` on may have been executed.
  llvm::Value* find(const MemoryOperands& operands, ScalarRegisters& registers, uint64_t pc);

  void note_writes(const ScalarSet& written);
  void forget() { known_.clear(); }

 private:
  struct Key {
    unsigned resource;
    bool is_constant;
    uint64_t offset;  ///< the constant, or the register
    auto operator<=>(const Key&) const = default;
  };
  static Key key(const MemoryOperands& operands);
  llvm::Function* checker();

  Frame& frame_;
  std::map<Key, llvm::Value*> known_;
};

}  // namespace Atoll::compiler

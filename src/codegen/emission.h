// codegen: machine code: waits and hazards, instructions encoded or printed, kernel descriptors and metadata as
// assembly text, which the assembler's room makes an object of.
//
// After each memory access the code waits for all counters. Hazards are followed block by block with the room hazards:
// what an instruction is too early for is put before it. At the end of a block pending hazards are waited out.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "codegen/machine_ir.h"
#include "support/error.h"

namespace Atoll::codegen {

/// A kernel, and its instructions as lines of assembly text.
struct FinalKernel {
  MachineFunction function;
  std::string text;
};

/// Inserts waits and prints the instructions of an allocated function.
support::Result<FinalKernel> finish(MachineFunction function);

/// Returns the assembly text of a module's kernels, for target `target_id` ("gfx90a:xnack-") and a code object version.
std::string assembly_of(std::span<const FinalKernel> kernels, std::string_view target_id, unsigned version);

}  // namespace Atoll::codegen

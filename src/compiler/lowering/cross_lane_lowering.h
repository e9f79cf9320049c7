// compiler: lowers instructions on the whole wave: transfers between lanes and scalar registers, lane counts, clocks
// and hardware registers. They are between regions, where all registers are in the Wave and its rows.
#pragma once

#include "compiler/lowering/frame.h"
#include "compiler/lowering/salu_lowering.h"
#include "isa/instruction.h"

namespace Atoll::compiler {

class CrossLaneLowering {
 public:
  CrossLaneLowering(Frame& frame, SaluLowering& scalars) : frame_(frame), scalars_(scalars) {}

  static bool takes(const isa::Instruction& instruction);
  void emit(const isa::Instruction& instruction);

 private:
  void read_lane(const isa::Instruction& instruction);
  void write_lane(const isa::Instruction& instruction);
  void count_lanes(const isa::Instruction& instruction);
  llvm::Value* call_engine(size_t function, llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments);

  Frame& frame_;
  SaluLowering& scalars_;
};

}  // namespace Atoll::compiler

// compiler: the operations of instructions as functions of SSA values.
//
// Functions of semantics take arguments in memory, as the interpreter has them. For each kind of instruction (opcode
// and modifiers) such a function is called in a wrapper whose parameters and results are values. The wrapper is
// optimised once: memory and decisions disappear, and a few LLVM instructions remain, which are inlined for each guest
// instruction.
#pragma once

#include <array>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "compiler/lowering/semantics_bitcode.h"
#include "isa/instruction.h"
#include "semantics/lanes/lanes.h"
#include "semantics/memory/atomic.h"
#include "semantics/registry.h"

namespace Atoll::compiler {

class Operation {
 public:
  /// `function` returns a structure of the results.
  explicit Operation(llvm::Function* function);
  /// Emits the operation at the insertion point and returns its results.
  std::vector<llvm::Value*> emit(llvm::IRBuilder<>& ir, llvm::ArrayRef<llvm::Value*> arguments) const;

 private:
  std::vector<llvm::Value*> copy(llvm::IRBuilder<>& ir, llvm::ArrayRef<llvm::Value*> arguments) const;

  llvm::Function* function_;
  bool is_straight_;                   ///< a single block, which is inlined; others are called
  std::vector<llvm::Value*> results_;  ///< values in the function, if it is straight
};

/// A vector instruction on one chunk, without its registers. Equal ones share an Operation, so the computation may
/// depend only on these members.
struct VectorOperation {
  /// Properties of a source other than its location.
  struct Source {
    isa::DataType type{};
    isa::SdwaSelect sdwa = isa::SdwaSelect::dword;
    bool neg = false, abs = false, sext = false, neg_hi = false, op_sel = false, op_sel_hi = false;

    Source() = default;
    explicit Source(const isa::Operand& operand)
        : type(operand.type),
          sdwa(operand.sdwa),
          neg(operand.neg),
          abs(operand.abs),
          sext(operand.sext),
          neg_hi(operand.neg_hi),
          op_sel(operand.op_sel),
          op_sel_hi(operand.op_sel_hi) {}
    /// Returns an equivalent operand for the functions of semantics that apply modifiers.
    isa::Operand operand() const {
      isa::Operand operand;
      operand.type = type;
      operand.sdwa = sdwa;
      operand.neg = neg;
      operand.abs = abs;
      operand.sext = sext;
      operand.neg_hi = neg_hi;
      operand.op_sel = op_sel;
      operand.op_sel_hi = op_sel_hi;
      return operand;
    }
    friend bool operator==(const Source&, const Source&) = default;
  };

  isa::Opcode opcode{};
  target::Generation generation = target::Generation::gfx9;
  std::array<Source, 4> source{};
  isa::DataType result_type{};
  semantics::FloatMode mode;  ///< mode of the wave
  uint8_t omod = 0, truth_table = 0;
  uint8_t signed_sources = 0;  ///< for integer dot products with neg: mask of signed sources
  bool clamp = false;
  bool to_high_half = false;  ///< op_sel's last bit
  bool to_part = false;       ///< SDWA, ...
  isa::SdwaSelect part{};     ///< ... which
  isa::SdwaUnused unused{};   ///< ... and what becomes of the rest

  /// Returns whether the old result is an input.
  bool reads_result() const;
  friend bool operator==(const VectorOperation&, const VectorOperation&) = default;
};

/// The operation of an atomic.
struct AtomicKind {
  semantics::AtomicOperation operation{};
  unsigned bytes = 4;                ///< or 8
  semantics::Denormals denormals{};  ///< of floating point
  auto operator<=>(const AtomicKind&) const = default;
};

class Operations {
 public:
  explicit Operations(SemanticsBitcode& semantics);
  ~Operations();

  /// Arguments: the rows of each source, the old result if reads_result(), a 64-bit mask (lowest bits: the chunk's
  /// lanes) if the instruction has one, the index of the first lane (32 bits), and the relevant lanes as a mask (other
  /// results are arbitrary). Results: the result's rows, and a 16-bit mask if the instruction produces one.
  const Operation& vector(const VectorOperation& what);

  /// Arguments: two sources, the result's old value and EXEC (64 bits), SCC (8 bits). Results: the result, EXEC, SCC.
  const Operation& scalar(isa::Opcode opcode);

  /// Arguments: the value in memory, two operands, all as wide as the atomic. Result: the new value in memory.
  const Operation& atomic(const AtomicKind& kind);

 private:
  struct Body;
  struct Passes;
  Operation make_vector(const VectorOperation& what);
  Operation make_scalar(isa::Opcode opcode);
  Operation make_atomic(const AtomicKind& kind);
  llvm::Function* begin(llvm::ArrayRef<llvm::Type*> parameters, llvm::ArrayRef<llvm::Type*> results);

  SemanticsBitcode& semantics_;
  std::map<isa::Opcode, std::list<std::pair<VectorOperation, Operation>>> vector_;
  std::map<isa::Opcode, Operation> scalar_;
  std::map<AtomicKind, Operation> atomic_;
  std::unique_ptr<Passes> passes_;
};

}  // namespace Atoll::compiler

// compiler: what instructions do, as functions of values.
//
// Functions of semantics take their arguments in memory, as the interpreter has them. For each kind of instruction
// (its opcode and modifiers) that code has, such a function is called once, in a function of its own whose parameters
// and results are values, and that is optimised by itself: the memory and all decisions vanish, a handful of LLVM's
// instructions stays. The code has a copy of those for each instruction.
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
  /// Where the builder stands. The results.
  std::vector<llvm::Value*> emit(llvm::IRBuilder<>& ir, llvm::ArrayRef<llvm::Value*> arguments) const;

 private:
  std::vector<llvm::Value*> copy(llvm::IRBuilder<>& ir, llvm::ArrayRef<llvm::Value*> arguments) const;

  llvm::Function* function_;
  bool is_straight_;                   ///< one block that is copied; others are called
  std::vector<llvm::Value*> results_;  ///< in the function, if it is
};

/// A vector instruction on one chunk of lanes, without the registers that it works on. Those that are equal are one
/// Operation, so what is computed may depend on these members only.
struct VectorOperation {
  /// What an operand says of a source besides where it is.
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
    /// An operand that says the same, for the functions of semantics that apply modifiers.
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
  semantics::FloatMode mode;  ///< that the wave is in
  uint8_t omod = 0, truth_table = 0;
  uint8_t signed_sources = 0;  ///< of integer dot products that say it with neg: a bit for each source
  bool clamp = false;
  bool to_high_half = false;  ///< op_sel's last bit
  bool to_part = false;       ///< SDWA, ...
  isa::SdwaSelect part{};     ///< ... which
  isa::SdwaUnused unused{};   ///< ... and what becomes of the rest

  /// Whether what the result's registers held before matters.
  bool reads_result() const;
  friend bool operator==(const VectorOperation&, const VectorOperation&) = default;
};

/// What an atomic computes.
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

  /// Arguments: the rows of each source, those of the result as they are if reads_result(), a mask (64 bits, the
  /// chunk's lanes the lowest) if the instruction has one, the number of the first lane (32 bits), and the lanes that
  /// matter (as a mask; the others' results may be anything).
  /// Results: the result's rows, and 16 bits of a mask if the instruction makes one.
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

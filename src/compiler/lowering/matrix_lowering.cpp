// compiler: matrix instructions (matrix_lowering.h).
#include "compiler/lowering/matrix_lowering.h"

#include <algorithm>

#include "engine/interpreter/prepare.h"
#include "engine/interpreter/wmma_gfx12_5.h"
#include "isa/table.h"
#include "semantics/matrix/mfma.h"
#include "semantics/matrix/wmma.h"

namespace Atoll::compiler {

namespace {

constexpr unsigned source_a = 0, source_b = 1, source_c = 2, first_scale = 3;

bool same_rows(const isa::Operand& a, const isa::Operand& b) {
  return a.kind == b.kind && a.reg == b.reg && a.words == b.words;
}

bool overlap(const isa::Operand& a, const isa::Operand& b) {
  return a.kind == b.kind && a.reg < b.reg + b.words && b.reg < a.reg + a.words;
}

/// Whether a register of D is multiplied by an instruction, or says where its sparse elements belong or how they are
/// scaled.
bool multiplies(const isa::Instruction& instruction, const isa::Operand& d) {
  for (unsigned i = first_scale; i < instruction.sources(); ++i) {
    if (overlap(instruction.src(i), d)) return true;
  }
  return overlap(instruction.src(source_a), d) || overlap(instruction.src(source_b), d) ||
         (isa::row_of(instruction).has(isa::flag::sparse) && overlap(instruction.src(source_c), d));
}

/// Whether `next` does what `first` does with other factors, and adds them to what `first` yields.
bool continues(const isa::Instruction& first, const isa::Instruction& next) {
  namespace flag = isa::flag;
  if (multiplies(next, first.dst())) return false;
  return first.opcode == next.opcode && !isa::row_of(first).has(flag::sparse | flag::scaled) &&
         same_rows(first.dst(), next.dst()) && same_rows(next.src(source_c), next.dst()) && first.cbsz == next.cbsz &&
         first.abid == next.abid && first.blgp == next.blgp;
}

bool is_wave_matrix(const isa::Instruction& instruction) {
  return semantics::wave_matrix_shape(instruction.opcode) != nullptr;
}

/// Whether the engine executes both by the same function, one after the other.
bool are_alike(const isa::Instruction& a, const isa::Instruction& b) {
  return (is_wave_matrix(a) && is_wave_matrix(b)) || (engine::is_deep_matrix(a) && engine::is_deep_matrix(b));
}

/// Rows that a number of instructions read and write.
struct Rows {
  VectorSet read, written;

  void operator+=(const LaneEffects& effects) {
    read |= effects.vector_reads;
    written |= effects.vector_writes;
  }
  bool meet(const LaneEffects& effects) const {
    return ((effects.vector_reads | effects.vector_writes) & written).any() || (effects.vector_writes & read).any();
  }
};

}  // namespace

bool MatrixLowering::takes(const isa::Instruction& instruction) {
  const bool is_deep = engine::is_deep_matrix(instruction);
  const bool is_matrix =
      is_deep || semantics::matrix_shape(instruction.opcode) != nullptr || is_wave_matrix(instruction);
  if (!is_matrix || !engine::registers_exist(instruction)) return false;
  for (unsigned i = 0; i < instruction.sources(); ++i) {
    const isa::Operand& source = instruction.src(i);
    if (is_deep && i >= first_scale && source.kind == isa::OperandKind::scalar) continue;
    if (!engine::is_row(source) && !engine::constant_value(source)) return false;
  }
  return engine::is_row(instruction.src(source_a)) && engine::is_row(instruction.src(source_b)) &&
         engine::is_row(instruction.dst());
}

bool MatrixLowering::reads_scalars(const isa::Instruction& instruction) {
  for (unsigned i = 0; i < instruction.sources(); ++i) {
    if (instruction.src(i).kind == isa::OperandKind::scalar) return true;
  }
  return false;
}

std::vector<MatrixLowering::Chain> MatrixLowering::chains(std::span<const RegionItem> items) {
  std::vector<const RegionItem*> left;
  for (const RegionItem& item : items) {
    if (item.is_matrix) left.push_back(&item);
  }
  std::vector<Chain> result;
  while (!left.empty()) {
    const isa::Instruction& first = *left.front()->instruction;
    Chain& chain = result.emplace_back();
    std::vector<const RegionItem*> later;
    Rows between;  // of those in `later`, which the next one of the chain would overtake
    for (const RegionItem* item : left) {
      const LaneEffects effects = lane_effects_of(*item->instruction);
      if (chain.empty() || (continues(first, *item->instruction) && !between.meet(effects))) {
        chain.push_back(item);
      } else {
        later.push_back(item);
        between += effects;
      }
    }
    left = std::move(later);
  }
  return result;
}

std::vector<MatrixLowering::Chain> MatrixLowering::calls(std::span<const RegionItem> items) {
  std::vector<Chain> result;
  for (Chain& chain : chains(items)) {
    const auto can_follow = [&](const Chain& call) {
      return are_alike(*chain.front()->instruction, *call.front()->instruction) &&
             std::ranges::none_of(call, [&](const RegionItem* before) {
               return std::ranges::any_of(chain, [&](const RegionItem* item) {
                 return multiplies(*item->instruction, before->instruction->dst());
               });
             });
    };
    if (!result.empty() && can_follow(result.back())) {
      result.back().insert(result.back().end(), chain.begin(), chain.end());
    } else {
      result.push_back(std::move(chain));
    }
  }
  return result;
}

void MatrixLowering::emit(std::span<const RegionItem> items) {
  using engine::JitContext;
  llvm::IRBuilder<>& ir = frame_.ir;
  if (std::ranges::none_of(items, &RegionItem::is_matrix)) return;
  llvm::Value* table = ir.CreateLoad(frame_.pointer(), frame_.at(frame_.jit_context, offsetof(JitContext, helper_ops)));
  llvm::Value* function =
      ir.CreateLoad(frame_.pointer(), frame_.at(frame_.jit_context, offsetof(JitContext, multiply)));
  auto* type = llvm::FunctionType::get(ir.getVoidTy(),
                                       {frame_.pointer(), frame_.pointer(), frame_.i64(), frame_.pointer()}, false);
  for (const Chain& chain : calls(items)) {
    llvm::Value* first = frame_.at(table, (first_helper_ + helper_pcs_.size()) * sizeof(engine::MicroOp*));
    for (const RegionItem* item : chain) helper_pcs_.push_back(item->pc);
    ir.CreateCall(type, function, {frame_.wave, first, ir.getInt64(chain.size()), frame_.run});
  }
}

}  // namespace Atoll::compiler

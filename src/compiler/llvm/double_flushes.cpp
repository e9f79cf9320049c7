#include "compiler/llvm/double_flushes.h"

#include <optional>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

namespace Atoll::compiler {

namespace {

using namespace llvm::PatternMatch;

constexpr uint64_t exponent = 0x7F80'0000, fraction = 0x007F'FFFF, sign = 0x8000'0000;

/// Of a select that flushes: where the exponent of `value` is 0, its fraction becomes 0, too.
struct Flush {
  llvm::Value* value = nullptr;
  llvm::Value* flushed = nullptr;  ///< the value without its fraction
};

std::optional<Flush> as_flush(llvm::Value* candidate) {
  Flush flush;
  llvm::Value* tested = nullptr;
  llvm::CmpPredicate predicate;
  if (!match(candidate, m_Select(m_ICmp(predicate, m_And(m_Value(tested), m_SpecificInt(exponent)), m_Zero()),
                                 m_Value(flush.flushed), m_Value(flush.value)))) {
    return std::nullopt;
  }
  if (predicate != llvm::ICmpInst::ICMP_EQ || tested != flush.value) return std::nullopt;
  return flush;
}

/// Whether that is the value without its fraction, or what its own flush has in its place.
bool is_without_fraction(llvm::Value* candidate, llvm::Value* value) {
  const llvm::APInt* kept = nullptr;
  if (match(candidate, m_And(m_Specific(value), m_APInt(kept)))) {
    return (kept->getZExtValue() & fraction) == 0 && (kept->getZExtValue() & sign) != 0;
  }
  const auto inner = as_flush(value);
  return inner && inner->flushed == candidate;
}

bool is_flushed_constant(const llvm::Constant& constant) {
  const auto is_flushed = [](const llvm::Constant* element) {
    const auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(element);
    if (number == nullptr || number->getBitWidth() != 32) return false;
    const uint64_t bits = number->getZExtValue();
    return (bits & exponent) != 0 || (bits & fraction) == 0;
  };
  if (constant.isNullValue()) return true;
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(constant.getType());
  if (type == nullptr) return is_flushed(&constant);
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    if (!is_flushed(constant.getAggregateElement(i))) return false;
  }
  return true;
}

/// Returns whether a value cannot be denormal. Cycles are assumed to be flushed while they are examined.
bool is_flushed(llvm::Value* value, llvm::SmallPtrSetImpl<llvm::Value*>& seen) {
  constexpr size_t most = 256;
  if (!seen.insert(value).second) return true;
  if (seen.size() > most) return false;
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value)) return is_flushed_constant(*constant);
  if (const auto flush = as_flush(value); flush && is_without_fraction(flush->flushed, flush->value)) return true;
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(value)) {
    return is_flushed(select->getTrueValue(), seen) && is_flushed(select->getFalseValue(), seen);
  }
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(value)) {
    return llvm::all_of(phi->incoming_values(), [&](const llvm::Use& from) { return is_flushed(from.get(), seen); });
  }
  llvm::Value* inner = nullptr;
  // Negated, or absolute.
  if (match(value, m_Xor(m_Value(inner), m_SpecificInt(sign)))) return is_flushed(inner, seen);
  if (match(value, m_And(m_Value(inner), m_SpecificInt(sign - 1)))) return is_flushed(inner, seen);
  return false;
}

}  // namespace

llvm::PreservedAnalyses DropDoubleFlushes::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  bool changed = false;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    const auto flush = as_flush(&instruction);
    if (!flush || !is_without_fraction(flush->flushed, flush->value)) continue;
    llvm::SmallPtrSet<llvm::Value*, 32> seen;
    if (!is_flushed(flush->value, seen)) continue;
    instruction.replaceAllUsesWith(flush->value);
    changed = true;
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace Atoll::compiler

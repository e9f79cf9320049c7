// codegen: splits wide integers. Each value becomes a list of i64, the lowest bits first; bits above the type's width
// in the last piece are undefined until an operation needs them.
#include "codegen/wide_integers.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/IntegerDivision.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <vector>

namespace Atoll::codegen {

namespace {

using Builder = llvm::IRBuilder<>;
using Pieces = std::vector<llvm::Value*>;

bool is_wide(const llvm::Type* type) {
  return type->isIntegerTy() && type->getIntegerBitWidth() > 64 && type->getIntegerBitWidth() <= 1024;
}

bool concerns_wide(const llvm::Instruction& at) {
  if (is_wide(at.getType())) return true;
  for (const llvm::Use& use : at.operands())
    if (is_wide(use->getType())) return true;
  return false;
}

class Splitter {
 public:
  explicit Splitter(llvm::Function& function)
      : function_(function), word_(llvm::Type::getInt64Ty(function.getContext())) {}

  void run() {
    expand_divisions();
    llvm::ReversePostOrderTraversal<llvm::Function*> order(&function_);
    std::vector<llvm::Instruction*> all;
    for (llvm::BasicBlock* block : order)
      for (llvm::Instruction& at : *block)
        if (concerns_wide(at)) all.push_back(&at);
    if (all.empty()) return;
    for (llvm::Instruction* at : all)
      if (!is_known(*at)) return;
    for (llvm::Instruction* at : all) {
      Builder builder(at);
      split(*at, builder);
    }
    for (auto& [phi, pieces] : phis_) {
      for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
        llvm::BasicBlock* from = phi->getIncomingBlock(i);
        Builder builder(from->getTerminator());
        const Pieces incoming = pieces_of(phi->getIncomingValue(i), builder);
        for (size_t piece = 0; piece < pieces.size(); ++piece)
          llvm::cast<llvm::PHINode>(pieces[piece])->addIncoming(incoming[piece], from);
      }
    }
    for (llvm::Instruction* at : all) at->replaceAllUsesWith(llvm::PoisonValue::get(at->getType()));
    for (llvm::Instruction* at : all) at->eraseFromParent();
  }

 private:
  void expand_divisions() {
    std::vector<llvm::BinaryOperator*> divisions;
    for (llvm::BasicBlock& block : function_)
      for (llvm::Instruction& at : block)
        if (auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&at); binary != nullptr && is_wide(at.getType()))
          if (binary->isIntDivRem()) divisions.push_back(binary);
    for (llvm::BinaryOperator* each : divisions) {
      const bool is_remainder =
          each->getOpcode() == llvm::Instruction::URem || each->getOpcode() == llvm::Instruction::SRem;
      if (is_remainder)
        llvm::expandRemainder(each);
      else
        llvm::expandDivision(each);
    }
  }

  static bool is_known(const llvm::Instruction& at) {
    switch (at.getOpcode()) {
      case llvm::Instruction::Add:
      case llvm::Instruction::Sub:
      case llvm::Instruction::Mul:
      case llvm::Instruction::And:
      case llvm::Instruction::Or:
      case llvm::Instruction::Xor:
      case llvm::Instruction::Shl:
      case llvm::Instruction::LShr:
      case llvm::Instruction::AShr:
      case llvm::Instruction::ICmp:
      case llvm::Instruction::Select:
      case llvm::Instruction::PHI:
      case llvm::Instruction::ZExt:
      case llvm::Instruction::SExt:
      case llvm::Instruction::Trunc:
      case llvm::Instruction::Freeze:
        return true;
      case llvm::Instruction::Load:
      case llvm::Instruction::Store: {
        const auto* store = llvm::dyn_cast<llvm::StoreInst>(&at);
        const llvm::Type* type = store != nullptr ? store->getValueOperand()->getType() : at.getType();
        return type->getIntegerBitWidth() % 64 == 0;
      }
      case llvm::Instruction::Call: {
        const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&at);
        return call != nullptr &&
               (call->getIntrinsicID() == llvm::Intrinsic::ctlz || call->getIntrinsicID() == llvm::Intrinsic::cttz);
      }
      default:
        return false;
    }
  }

  static unsigned count_of(const llvm::Type* type) { return (type->getIntegerBitWidth() + 63) / 64; }

  Pieces pieces_of(llvm::Value* value, Builder& b) {
    const unsigned count = count_of(value->getType());
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value)) {
      const llvm::APInt bits = constant->getValue().zextOrTrunc(64 * count);
      Pieces pieces;
      for (unsigned i = 0; i < count; ++i) pieces.push_back(b.getInt64(bits.extractBitsAsZExtValue(64, 64 * i)));
      return pieces;
    }
    if (llvm::isa<llvm::UndefValue>(value)) return Pieces(count, llvm::UndefValue::get(word_));
    return known_.at(value);
  }

  /// The pieces with the bits above the width set as sign or zero.
  Pieces extended(llvm::Value* value, bool is_signed, Builder& b) {
    Pieces pieces = pieces_of(value, b);
    const unsigned rest = value->getType()->getIntegerBitWidth() % 64;
    if (rest == 0) return pieces;
    llvm::Value* top = b.CreateShl(pieces.back(), 64 - rest);
    pieces.back() = is_signed ? b.CreateAShr(top, 64 - rest) : b.CreateLShr(top, 64 - rest);
    return pieces;
  }

  llvm::Value* flag(llvm::Value* condition, Builder& b) { return b.CreateZExt(condition, word_); }

  Pieces sum(const Pieces& x, const Pieces& y, bool subtracts, Builder& b) {
    Pieces result;
    llvm::Value* carry = nullptr;
    for (size_t i = 0; i < x.size(); ++i) {
      llvm::Value* first = subtracts ? b.CreateSub(x[i], y[i]) : b.CreateAdd(x[i], y[i]);
      llvm::Value* out = subtracts ? b.CreateICmpULT(x[i], y[i]) : b.CreateICmpULT(first, x[i]);
      if (carry != nullptr) {
        llvm::Value* in = flag(carry, b);
        llvm::Value* second = subtracts ? b.CreateSub(first, in) : b.CreateAdd(first, in);
        llvm::Value* again = subtracts ? b.CreateICmpULT(first, in) : b.CreateICmpULT(second, first);
        out = b.CreateOr(out, again);
        first = second;
      }
      result.push_back(first);
      carry = out;
    }
    return result;
  }

  /// The 128-bit product of two pieces.
  std::pair<llvm::Value*, llvm::Value*> product(llvm::Value* x, llvm::Value* y, Builder& b) {
    const auto low = [&](llvm::Value* v) { return b.CreateAnd(v, b.getInt64(UINT32_MAX)); };
    const auto high = [&](llvm::Value* v) { return b.CreateLShr(v, 32); };
    llvm::Value* bottom = b.CreateMul(low(x), low(y));
    llvm::Value* first = b.CreateAdd(b.CreateMul(high(x), low(y)), high(bottom));
    llvm::Value* second = b.CreateAdd(b.CreateMul(low(x), high(y)), low(first));
    llvm::Value* top = b.CreateAdd(b.CreateMul(high(x), high(y)), b.CreateAdd(high(first), high(second)));
    return {b.CreateMul(x, y), top};
  }

  Pieces multiplied(const Pieces& x, const Pieces& y, Builder& b) {
    const size_t count = x.size();
    Pieces result(count, b.getInt64(0));
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; i + j < count; ++j) {
        const auto [low, high] = product(x[i], y[j], b);
        Pieces addend(count, b.getInt64(0));
        addend[i + j] = low;
        if (i + j + 1 < count) addend[i + j + 1] = high;
        result = sum(result, addend, false, b);
      }
    }
    return result;
  }

  Pieces shifted(const Pieces& x, llvm::Value* amount, unsigned opcode, Builder& b) {
    const size_t count = x.size();
    const bool is_left = opcode == llvm::Instruction::Shl;
    llvm::Value* fill = opcode == llvm::Instruction::AShr ? b.CreateAShr(x.back(), 63) : b.getInt64(0);
    // Whole pieces first, chosen among all distances, then bits.
    llvm::Value *pieces = b.CreateLShr(amount, 6), *bits = b.CreateAnd(amount, b.getInt64(63));
    Pieces moved(count);
    for (size_t i = 0; i < count; ++i) {
      moved[i] = fill;
      for (size_t distance = 0; distance < count; ++distance) {
        if (is_left ? distance > i : i + distance >= count) continue;
        llvm::Value* is_it = b.CreateICmpEQ(pieces, b.getInt64(distance));
        moved[i] = b.CreateSelect(is_it, x[is_left ? i - distance : i + distance], moved[i]);
      }
    }
    Pieces result(count);
    // A shift by 64 - 0 bits would be undefined: by one bit, and by the rest.
    llvm::Value* back = b.CreateSub(b.getInt64(63), bits);
    for (size_t i = 0; i < count; ++i) {
      if (is_left) {
        llvm::Value* below = i == 0 ? b.getInt64(0) : moved[i - 1];
        result[i] = b.CreateOr(b.CreateShl(moved[i], bits), b.CreateLShr(b.CreateLShr(below, 1), back));
      } else {
        llvm::Value* above = i + 1 == count ? fill : moved[i + 1];
        result[i] = b.CreateOr(b.CreateLShr(moved[i], bits), b.CreateShl(b.CreateShl(above, 1), back));
      }
    }
    return result;
  }

  llvm::Value* compared(llvm::ICmpInst& at, Builder& b) {
    const Pieces x = extended(at.getOperand(0), at.isSigned(), b), y = extended(at.getOperand(1), at.isSigned(), b);
    if (at.isEquality()) {
      llvm::Value* differs = b.getInt64(0);
      for (size_t i = 0; i < x.size(); ++i) differs = b.CreateOr(differs, b.CreateXor(x[i], y[i]));
      return b.CreateICmp(at.getPredicate(), differs, b.getInt64(0));
    }
    llvm::Value* result = b.CreateICmp(at.getUnsignedPredicate(), x[0], y[0]);
    for (size_t i = 1; i < x.size(); ++i) {
      const bool is_top = i + 1 == x.size();
      const auto strict = llvm::ICmpInst::getStrictPredicate(is_top ? at.getPredicate() : at.getUnsignedPredicate());
      result = b.CreateSelect(b.CreateICmpEQ(x[i], y[i]), result, b.CreateICmp(strict, x[i], y[i]));
    }
    return result;
  }

  void split(llvm::Instruction& at, Builder& b) {
    switch (at.getOpcode()) {
      case llvm::Instruction::Add:
      case llvm::Instruction::Sub:
        known_[&at] = sum(pieces_of(at.getOperand(0), b), pieces_of(at.getOperand(1), b),
                          at.getOpcode() == llvm::Instruction::Sub, b);
        return;
      case llvm::Instruction::Mul:
        known_[&at] = multiplied(pieces_of(at.getOperand(0), b), pieces_of(at.getOperand(1), b), b);
        return;
      case llvm::Instruction::And:
      case llvm::Instruction::Or:
      case llvm::Instruction::Xor: {
        const Pieces x = pieces_of(at.getOperand(0), b), y = pieces_of(at.getOperand(1), b);
        Pieces result;
        for (size_t i = 0; i < x.size(); ++i)
          result.push_back(b.CreateBinOp(static_cast<llvm::Instruction::BinaryOps>(at.getOpcode()), x[i], y[i]));
        known_[&at] = std::move(result);
        return;
      }
      case llvm::Instruction::Shl:
      case llvm::Instruction::LShr:
      case llvm::Instruction::AShr:
        known_[&at] = shifted(extended(at.getOperand(0), at.getOpcode() == llvm::Instruction::AShr, b),
                              pieces_of(at.getOperand(1), b)[0], at.getOpcode(), b);
        return;
      case llvm::Instruction::ICmp:
        at.replaceAllUsesWith(compared(llvm::cast<llvm::ICmpInst>(at), b));
        return;
      case llvm::Instruction::Select: {
        const Pieces x = pieces_of(at.getOperand(1), b), y = pieces_of(at.getOperand(2), b);
        Pieces result;
        for (size_t i = 0; i < x.size(); ++i) result.push_back(b.CreateSelect(at.getOperand(0), x[i], y[i]));
        known_[&at] = std::move(result);
        return;
      }
      case llvm::Instruction::PHI: {
        auto& phi = llvm::cast<llvm::PHINode>(at);
        Pieces result;
        for (unsigned i = 0; i < count_of(at.getType()); ++i)
          result.push_back(b.CreatePHI(word_, phi.getNumIncomingValues()));
        phis_.emplace_back(&phi, result);
        known_[&at] = std::move(result);
        return;
      }
      case llvm::Instruction::ZExt:
      case llvm::Instruction::SExt: {
        const bool is_signed = at.getOpcode() == llvm::Instruction::SExt;
        llvm::Value* from = at.getOperand(0);
        Pieces result;
        if (is_wide(from->getType()))
          result = extended(from, is_signed, b);
        else
          result = {is_signed ? b.CreateSExt(from, word_) : b.CreateZExt(from, word_)};
        llvm::Value* fill = is_signed ? b.CreateAShr(result.back(), 63) : b.getInt64(0);
        result.resize(count_of(at.getType()), fill);
        known_[&at] = std::move(result);
        return;
      }
      case llvm::Instruction::Trunc: {
        Pieces pieces = pieces_of(at.getOperand(0), b);
        if (is_wide(at.getType())) {
          pieces.resize(count_of(at.getType()));
          known_[&at] = std::move(pieces);
        } else {
          at.replaceAllUsesWith(b.CreateTrunc(pieces[0], at.getType()));
        }
        return;
      }
      case llvm::Instruction::Freeze: {
        Pieces pieces = pieces_of(at.getOperand(0), b);
        for (llvm::Value*& each : pieces) each = b.CreateFreeze(each);
        known_[&at] = std::move(pieces);
        return;
      }
      case llvm::Instruction::Load: {
        auto& load = llvm::cast<llvm::LoadInst>(at);
        Pieces pieces;
        for (unsigned i = 0; i < count_of(at.getType()); ++i) {
          llvm::Value* address = b.CreatePtrAdd(load.getPointerOperand(), b.getInt32(8 * i));
          pieces.push_back(
              b.CreateAlignedLoad(word_, address, llvm::commonAlignment(load.getAlign(), 8 * i), load.isVolatile()));
        }
        known_[&at] = std::move(pieces);
        return;
      }
      case llvm::Instruction::Store: {
        auto& store = llvm::cast<llvm::StoreInst>(at);
        const Pieces pieces = pieces_of(store.getValueOperand(), b);
        for (unsigned i = 0; i < pieces.size(); ++i) {
          llvm::Value* address = b.CreatePtrAdd(store.getPointerOperand(), b.getInt32(8 * i));
          b.CreateAlignedStore(pieces[i], address, llvm::commonAlignment(store.getAlign(), 8 * i), store.isVolatile());
        }
        return;
      }
      case llvm::Instruction::Call: {
        auto& call = llvm::cast<llvm::IntrinsicInst>(at);
        const bool leading = call.getIntrinsicID() == llvm::Intrinsic::ctlz;
        Pieces pieces = extended(call.getArgOperand(0), false, b);
        const unsigned unused = static_cast<unsigned>(64 * pieces.size()) - at.getType()->getIntegerBitWidth();
        if (!leading && unused != 0) pieces.back() = b.CreateOr(pieces.back(), b.getInt64(~0ull << (64 - unused)));
        if (!leading) std::reverse(pieces.begin(), pieces.end());
        // From the piece that counts last to the one that counts first.
        llvm::Value* count = b.getInt64(64 * pieces.size());
        for (size_t i = 0; i < pieces.size(); ++i) {
          llvm::Value* inside = b.CreateIntrinsic(call.getIntrinsicID(), {word_}, {pieces[i], b.getFalse()});
          count = b.CreateSelect(b.CreateICmpNE(pieces[i], b.getInt64(0)),
                                 b.CreateAdd(inside, b.getInt64(64 * (pieces.size() - 1 - i))), count);
        }
        if (leading) count = b.CreateSub(count, b.getInt64(unused));
        Pieces result(count_of(at.getType()), b.getInt64(0));
        result[0] = count;
        known_[&at] = std::move(result);
        return;
      }
      default:
        return;
    }
  }

  llvm::Function& function_;
  llvm::Type* word_;
  llvm::DenseMap<llvm::Value*, Pieces> known_;
  std::vector<std::pair<llvm::PHINode*, Pieces>> phis_;
};

}  // namespace

void split_wide_integers(llvm::Function& function) { Splitter(function).run(); }

}  // namespace Atoll::codegen

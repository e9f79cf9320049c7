// codegen: expansion of IR instructions.
#include "codegen/ir_lowering.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/IntegerDivision.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>
#include <llvm/Transforms/Utils/LowerMemIntrinsics.h>

#include <vector>

#include "codegen/selector.h"

namespace Atoll::codegen {

using target::Generation;

namespace {

namespace Id = llvm::Intrinsic;
using Builder = llvm::IRBuilder<>;

class Lowering {
 public:
  Lowering(llvm::Function& function, const target::Processor& processor) : function_(function), processor_(processor) {}

  void run() {
    // An expansion may contain what is to be expanded itself.
    for (bool changed = true; changed;) {
      changed = false;
      std::vector<llvm::Instruction*> all;
      for (llvm::Instruction& each : llvm::instructions(function_)) all.push_back(&each);
      for (llvm::Instruction* each : all) {
        Builder builder(each);
        if (!lower(*each, builder)) continue;
        changed = true;
      }
    }
  }

 private:
  /// Replaces the instruction. Returns false if it stays.
  bool lower(llvm::Instruction& at, Builder& b) {
    llvm::Value* with = nullptr;
    if (auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&at)) {
      switch (binary->getOpcode()) {
        case llvm::Instruction::UDiv:
        case llvm::Instruction::SDiv:
        case llvm::Instruction::URem:
        case llvm::Instruction::SRem:
          return integer_division(*binary, b);
        case llvm::Instruction::FDiv:
          with = float_division(*binary, b);
          break;
        case llvm::Instruction::FRem:
          with = remainder(*binary, b);
          break;
        default:
          with = promoted_half(*binary, b);
      }
    } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&at)) {
      if (!load->getType()->isIntegerTy(1)) return false;
      auto* byte = b.CreateAlignedLoad(b.getInt8Ty(), load->getPointerOperand(), load->getAlign(), load->isVolatile());
      with = b.CreateTrunc(byte, b.getInt1Ty());
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&at)) {
      if (!store->getValueOperand()->getType()->isIntegerTy(1)) return false;
      b.CreateAlignedStore(b.CreateZExt(store->getValueOperand(), b.getInt8Ty()), store->getPointerOperand(),
                           store->getAlign(), store->isVolatile());
      at.eraseFromParent();
      return true;
    } else if (auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&at)) {
      return compare_exchange_loop(*atomic);
    } else if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&at)) {
      if (memory_intrinsic(*call)) return true;
      with = promoted_intrinsic(*call, b);
      if (with == nullptr) with = intrinsic(*call, b);
      if (with == &at) return true;  // replaced already
    } else if (auto* compared = llvm::dyn_cast<llvm::FCmpInst>(&at)) {
      if (!needs_floats(compared->getOperand(0)->getType())) return false;
      with = b.CreateFCmp(compared->getPredicate(), b.CreateFPExt(compared->getOperand(0), b.getFloatTy()),
                          b.CreateFPExt(compared->getOperand(1), b.getFloatTy()));
    } else if (auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(&at)) {
      with = extract_by_variable(*extract, b);
    } else if (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(&at)) {
      with = insert_by_variable(*insert, b);
    } else if (auto* cast = llvm::dyn_cast<llvm::CastInst>(&at)) {
      with = conversion(*cast, b);
    }
    if (with == nullptr) return false;
    at.replaceAllUsesWith(with);
    at.eraseFromParent();
    return true;
  }

  /// An atomic operation without an instruction of its own: tried until no other lane has come between.
  bool compare_exchange_loop(llvm::AtomicRMWInst& at) {
    const llvm::DataLayout& layout = function_.getParent()->getDataLayout();
    const uint64_t bits = layout.getTypeStoreSizeInBits(at.getType());
    if (has_atomic_instruction(at, layout) || (bits != 32 && bits != 64)) return false;
    llvm::Type* type = at.getType();
    llvm::BasicBlock* before = at.getParent();
    llvm::BasicBlock* after = before->splitBasicBlock(&at, "atomic.end");
    llvm::BasicBlock* loop = llvm::BasicBlock::Create(at.getContext(), "atomic.try", &function_, after);
    before->getTerminator()->eraseFromParent();
    Builder b(before);
    llvm::Value* first = b.CreateAlignedLoad(type, at.getPointerOperand(), at.getAlign());
    b.CreateBr(loop);
    b.SetInsertPoint(loop);
    llvm::PHINode* seen = b.CreatePHI(type, 2);
    seen->addIncoming(first, before);
    llvm::Value* wanted = llvm::buildAtomicRMWValue(at.getOperation(), b, seen, at.getValOperand());
    llvm::Type* integer = b.getIntNTy(static_cast<unsigned>(bits));
    const auto as_integer = [&](llvm::Value* value) {
      return type->isPointerTy() ? b.CreatePtrToInt(value, integer) : b.CreateBitCast(value, integer);
    };
    auto* exchange = b.CreateAtomicCmpXchg(
        at.getPointerOperand(), as_integer(seen), as_integer(wanted), at.getAlign(), at.getOrdering(),
        llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(at.getOrdering()), at.getSyncScopeID());
    llvm::Value* found = b.CreateExtractValue(exchange, 0);
    llvm::Value* old = type->isPointerTy() ? b.CreateIntToPtr(found, type) : b.CreateBitCast(found, type);
    seen->addIncoming(old, loop);
    b.CreateCondBr(b.CreateExtractValue(exchange, 1), after, loop);
    at.replaceAllUsesWith(old);
    at.eraseFromParent();
    return true;
  }

  llvm::Value* call(Builder& b, llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Type*> types,
                    llvm::ArrayRef<llvm::Value*> arguments) {
    return b.CreateIntrinsic(id, types, arguments);
  }
  llvm::Value* fma(Builder& b, llvm::Value* x, llvm::Value* y, llvm::Value* z) {
    return call(b, Id::fma, {x->getType()}, {x, y, z});
  }

  // Floating-point numbers.

  /// x / y, rounded correctly. Source: ISA documents, V_DIV_SCALE, V_DIV_FMAS, V_DIV_FIXUP.
  llvm::Value* float_division(llvm::BinaryOperator& at, Builder& b) {
    llvm::Value *x = at.getOperand(0), *y = at.getOperand(1);
    llvm::Type* type = at.getType();
    if (type->isVectorTy()) return nullptr;
    if (type->isHalfTy() || type->isBFloatTy()) {
      // The quotient of floats, rounded to 11 bits, is the quotient of halves rounded once.
      llvm::Value* quotient = b.CreateFDiv(b.CreateFPExt(x, b.getFloatTy()), b.CreateFPExt(y, b.getFloatTy()));
      return b.CreateFPTrunc(quotient, type);
    }
    const bool is_double = type->isDoubleTy();
    llvm::Value* one = llvm::ConstantFP::get(type, 1.0);
    const auto scale = [&](bool of_numerator) {
      return call(b, Id::amdgcn_div_scale, {type}, {x, y, b.getInt1(of_numerator)});
    };
    llvm::Value* denominator = b.CreateExtractValue(scale(false), 0);
    llvm::Value* scaled = scale(true);
    llvm::Value *numerator = b.CreateExtractValue(scaled, 0), *is_scaled = b.CreateExtractValue(scaled, 1);
    llvm::Value* negated = b.CreateFNeg(denominator);
    llvm::Value* inverse = call(b, Id::amdgcn_rcp, {type}, {denominator});
    for (int steps = is_double ? 2 : 1; steps > 0; --steps) {
      llvm::Value* error = fma(b, negated, inverse, one);
      inverse = is_double ? fma(b, inverse, error, inverse) : fma(b, error, inverse, inverse);
    }
    llvm::Value* quotient = b.CreateFMul(numerator, inverse);
    llvm::Value* error = fma(b, negated, quotient, numerator);
    if (!is_double) {
      quotient = fma(b, error, inverse, quotient);
      error = fma(b, negated, quotient, numerator);
    }
    llvm::Value* last = call(b, Id::amdgcn_div_fmas, {type}, {error, inverse, quotient, is_scaled});
    return call(b, Id::amdgcn_div_fixup, {type}, {last, y, x});
  }

  /// Returns whether there is no arithmetic for the type, and that of floats takes its place.
  bool needs_floats(const llvm::Type* type) const {
    return type->isBFloatTy() || (type->isHalfTy() && processor_.generation < Generation::gfx8);
  }

  /// An intrinsic of halves as one of floats.
  llvm::Value* promoted_intrinsic(llvm::IntrinsicInst& at, Builder& b) {
    llvm::Type* type = at.getType();
    if (!needs_floats(type) || at.getIntrinsicID() == Id::fabs || at.getIntrinsicID() == Id::copysign) return nullptr;
    std::vector<llvm::Value*> arguments;
    for (const llvm::Use& use : at.args())
      arguments.push_back(use->getType() == type ? b.CreateFPExt(use.get(), b.getFloatTy()) : use.get());
    std::vector<llvm::Type*> overloads{b.getFloatTy()};
    if (at.getIntrinsicID() == Id::ldexp) overloads.push_back(b.getInt32Ty());
    return b.CreateFPTrunc(call(b, at.getIntrinsicID(), overloads, arguments), type);
  }

  /// Arithmetic on halves by floats, where there are no instructions for it; and on bfloats. Sums and products of
  /// floats have more than twice a half's bits, so that rounding twice is rounding once.
  llvm::Value* promoted_half(llvm::BinaryOperator& at, Builder& b) {
    llvm::Type* type = at.getType();
    if (!needs_floats(type)) return nullptr;
    llvm::Type* wide = b.getFloatTy();
    return b.CreateFPTrunc(
        b.CreateBinOp(at.getOpcode(), b.CreateFPExt(at.getOperand(0), wide), b.CreateFPExt(at.getOperand(1), wide)),
        type);
  }

  /// trunc of a double, without the instruction: clears the bits of the fraction that are below the point.
  llvm::Value* truncated(llvm::Value* x, Builder& b) {
    llvm::Type *word = b.getInt32Ty(), *wide = b.getInt64Ty();
    llvm::Value* bits = b.CreateBitCast(x, wide);
    llvm::Value* biased = b.CreateAnd(b.CreateTrunc(b.CreateLShr(bits, 52), word), b.getInt32(0x7FF));
    llvm::Value* exponent = b.CreateSub(biased, b.getInt32(1023));
    llvm::Value* amount = b.CreateAnd(exponent, b.getInt32(63));
    llvm::Value* below = b.CreateLShr(b.getInt64((1ull << 52) - 1), b.CreateZExt(amount, wide));
    llvm::Value* cut = b.CreateAnd(bits, b.CreateNot(below));
    llvm::Value* sign = b.CreateAnd(bits, b.getInt64(1ull << 63));
    llvm::Value* result = b.CreateSelect(b.CreateICmpSLT(exponent, b.getInt32(0)), sign, cut);
    return b.CreateBitCast(b.CreateSelect(b.CreateICmpSGT(exponent, b.getInt32(51)), bits, result), x->getType());
  }

  /// Rounding of doubles on GFX6.
  llvm::Value* rounded(llvm::Intrinsic::ID id, llvm::Value* x, Builder& b) {
    llvm::Type* type = x->getType();
    const auto number = [&](double value) { return llvm::ConstantFP::get(type, value); };
    if (id == Id::trunc) return truncated(x, b);
    if (id == Id::floor || id == Id::ceil) {
      const bool is_floor = id == Id::floor;
      llvm::Value* whole = truncated(x, b);
      llvm::Value* is_off = is_floor ? b.CreateFCmpOLT(x, whole) : b.CreateFCmpOGT(x, whole);
      llvm::Value* step = b.CreateSelect(is_off, number(is_floor ? -1.0 : 1.0), number(0.0));
      return call(b, Id::copysign, {type}, {b.CreateFAdd(whole, step), x});
    }
    // 2^52 pushes the fraction out, to the nearest even number.
    llvm::Value* magic = call(b, Id::copysign, {type}, {number(0x1p52), x});
    llvm::Value* whole = call(b, Id::copysign, {type}, {b.CreateFSub(b.CreateFAdd(x, magic), magic), x});
    llvm::Value* is_large = b.CreateFCmpOGE(call(b, Id::fabs, {type}, {x}), number(0x1p52));
    return b.CreateSelect(is_large, x, whole);
  }

  /// fmod: x - trunc(x / y) * y.
  llvm::Value* remainder(llvm::BinaryOperator& at, Builder& b) {
    llvm::Value *x = at.getOperand(0), *y = at.getOperand(1);
    if (at.getType()->isVectorTy()) return nullptr;
    llvm::Value* whole = call(b, Id::trunc, {at.getType()}, {b.CreateFDiv(x, y)});
    return fma(b, b.CreateFNeg(whole), y, x);
  }

  llvm::Value* square_root(llvm::IntrinsicInst& at, Builder& b) {
    llvm::Value* x = at.getArgOperand(0);
    llvm::Type* type = x->getType();
    const auto number = [&](double value) { return llvm::ConstantFP::get(type, value); };
    if (type->isHalfTy()) {
      llvm::Value* wide = call(b, Id::amdgcn_sqrt, {b.getFloatTy()}, {b.CreateFPExt(x, b.getFloatTy())});
      return b.CreateFPTrunc(wide, type);
    }
    const auto scaled = [&](llvm::Value* value, llvm::Value* when, int exponent) {
      llvm::Value* by = b.CreateSelect(when, b.getInt32(static_cast<uint32_t>(exponent)), b.getInt32(0));
      return call(b, Id::ldexp, {type, b.getInt32Ty()}, {value, by});
    };
    // Small numbers are scaled so that no step is a denormal.
    llvm::Value* is_small = b.CreateFCmpOLT(x, number(type->isDoubleTy() ? 0x1p-767 : 0x1p-96));
    llvm::Value* from = scaled(x, is_small, type->isDoubleTy() ? 256 : 32);
    llvm::Value* root = nullptr;
    if (type->isDoubleTy()) {
      // Goldschmidt's iteration, then two corrections.
      llvm::Value* inverse = call(b, Id::amdgcn_rsq, {type}, {from});
      llvm::Value *half = b.CreateFMul(inverse, number(0.5)), *sum = b.CreateFMul(from, inverse);
      llvm::Value* error = fma(b, b.CreateFNeg(half), sum, number(0.5));
      sum = fma(b, sum, error, sum);
      half = fma(b, half, error, half);
      for (int i = 0; i < 2; ++i) {
        llvm::Value* rest = fma(b, b.CreateFNeg(sum), sum, from);
        sum = fma(b, rest, half, sum);
      }
      root = sum;
    } else {
      // The instruction is one unit in the last place off at most: its neighbours are tried.
      root = call(b, Id::amdgcn_sqrt, {type}, {from});
      llvm::Value* bits = b.CreateBitCast(root, b.getInt32Ty());
      llvm::Value* below = b.CreateBitCast(b.CreateAdd(bits, b.getInt32(~0u)), type);
      llvm::Value* above = b.CreateBitCast(b.CreateAdd(bits, b.getInt32(1)), type);
      llvm::Value* rest_below = fma(b, b.CreateFNeg(below), root, from);
      llvm::Value* rest_above = fma(b, b.CreateFNeg(above), root, from);
      root = b.CreateSelect(b.CreateFCmpOLE(rest_below, number(0)), below, root);
      root = b.CreateSelect(b.CreateFCmpOGT(rest_above, number(0)), above, root);
    }
    root = scaled(root, is_small, type->isDoubleTy() ? -128 : -16);
    // The root of a zero or of positive infinity is the number itself.
    llvm::Value* is_zero = b.CreateFCmpOEQ(from, number(0));
    llvm::Value* is_infinite = b.CreateFCmpOEQ(from, llvm::ConstantFP::getInfinity(type));
    return b.CreateSelect(b.CreateOr(is_zero, is_infinite), from, root);
  }

  // Integers.

  bool integer_division(llvm::BinaryOperator& at, Builder& b) {
    if (at.getType()->isVectorTy()) return false;
    const unsigned bits = at.getType()->getIntegerBitWidth();
    const bool is_signed = at.getOpcode() == llvm::Instruction::SDiv || at.getOpcode() == llvm::Instruction::SRem;
    const bool is_remainder = at.getOpcode() == llvm::Instruction::URem || at.getOpcode() == llvm::Instruction::SRem;
    llvm::Value *x = at.getOperand(0), *y = at.getOperand(1), *result = nullptr;
    if (bits > 64) return false;
    if (bits > 32) {
      if (is_remainder)
        llvm::expandRemainderUpTo64Bits(&at);
      else
        llvm::expandDivisionUpTo64Bits(&at);
      return true;
    }
    llvm::Type* word = b.getInt32Ty();
    if (bits < 32) {
      const auto wide = [&](llvm::Value* value) {
        return is_signed ? b.CreateSExt(value, word) : b.CreateZExt(value, word);
      };
      result = b.CreateTrunc(b.CreateBinOp(at.getOpcode(), wide(x), wide(y)), at.getType());
    } else if (is_signed) {
      llvm::Value *sign_x = b.CreateAShr(x, 31), *sign_y = b.CreateAShr(y, 31);
      const auto magnitude = [&](llvm::Value* value, llvm::Value* sign) {
        return b.CreateXor(b.CreateAdd(value, sign), sign);
      };
      llvm::Value* sign = is_remainder ? sign_x : b.CreateXor(sign_x, sign_y);
      llvm::Value* positive = unsigned_division(magnitude(x, sign_x), magnitude(y, sign_y), is_remainder, b);
      result = b.CreateSub(b.CreateXor(positive, sign), sign);
    } else {
      result = unsigned_division(x, y, is_remainder, b);
    }
    at.replaceAllUsesWith(result);
    at.eraseFromParent();
    return true;
  }

  /// By a reciprocal of 32 bits: an estimate from the float, corrected once, and a quotient that is at most two too
  /// small.
  llvm::Value* unsigned_division(llvm::Value* x, llvm::Value* y, bool is_remainder, Builder& b) {
    llvm::Type *word = b.getInt32Ty(), *wide = b.getInt64Ty();
    const auto high = [&](llvm::Value* left, llvm::Value* right) {
      return b.CreateTrunc(b.CreateLShr(b.CreateMul(b.CreateZExt(left, wide), b.CreateZExt(right, wide)), 32), word);
    };
    llvm::Value* inverse = call(b, Id::amdgcn_rcp, {b.getFloatTy()}, {b.CreateUIToFP(y, b.getFloatTy())});
    // 2^32 less 512: the next smaller float, so that the estimate is not too large.
    inverse = b.CreateFMul(inverse, llvm::ConstantFP::get(b.getFloatTy(), 4294966784.0));
    llvm::Value* estimate = b.CreateFPToUI(inverse, word);
    llvm::Value* error = b.CreateMul(b.CreateNeg(y), estimate);
    estimate = b.CreateAdd(estimate, high(estimate, error));
    llvm::Value* quotient = high(x, estimate);
    llvm::Value* rest = b.CreateSub(x, b.CreateMul(quotient, y));
    for (int i = 0; i < 2; ++i) {
      llvm::Value* is_small = b.CreateICmpUGE(rest, y);
      quotient = b.CreateSelect(is_small, b.CreateAdd(quotient, b.getInt32(1)), quotient);
      rest = b.CreateSelect(is_small, b.CreateSub(rest, y), rest);
    }
    return is_remainder ? rest : quotient;
  }

  /// Conversions that go through another type.
  llvm::Value* conversion(llvm::CastInst& at, Builder& b) {
    llvm::Type *from = at.getSrcTy(), *to = at.getDestTy();
    if (from->isVectorTy() || to->isVectorTy()) return nullptr;
    llvm::Value* x = at.getOperand(0);
    switch (at.getOpcode()) {
      case llvm::Instruction::UIToFP:
      case llvm::Instruction::SIToFP: {
        const bool is_signed = at.getOpcode() == llvm::Instruction::SIToFP;
        if (to->isHalfTy() && from->getIntegerBitWidth() <= 32)
          return b.CreateFPTrunc(is_signed ? b.CreateSIToFP(x, b.getFloatTy()) : b.CreateUIToFP(x, b.getFloatTy()), to);
        if (from->getIntegerBitWidth() <= 32 || from->getIntegerBitWidth() > 64) return nullptr;
        if (from->getIntegerBitWidth() < 64)
          return b.CreateCast(at.getOpcode(),
                              is_signed ? b.CreateSExt(x, b.getInt64Ty()) : b.CreateZExt(x, b.getInt64Ty()), to);
        return wide_to_float(x, to, is_signed, b);
      }
      case llvm::Instruction::FPToUI:
      case llvm::Instruction::FPToSI: {
        const bool is_signed = at.getOpcode() == llvm::Instruction::FPToSI;
        if (from->isHalfTy()) return b.CreateCast(at.getOpcode(), b.CreateFPExt(x, b.getFloatTy()), to);
        if (to->getIntegerBitWidth() < 32) {
          llvm::Value* word = is_signed ? b.CreateFPToSI(x, b.getInt32Ty()) : b.CreateFPToUI(x, b.getInt32Ty());
          return b.CreateTrunc(word, to);
        }
        if (to->getIntegerBitWidth() != 64) return nullptr;
        return float_to_wide(x, is_signed, b);
      }
      case llvm::Instruction::FPExt:
        if (!from->isHalfTy() || !to->isDoubleTy()) return nullptr;
        return b.CreateFPExt(b.CreateFPExt(x, b.getFloatTy()), to);
      case llvm::Instruction::FPTrunc: {
        if (!from->isDoubleTy() || !to->isHalfTy()) return nullptr;
        // By way of a float that is rounded to odd, so that the second rounding sees that the first was not exact.
        llvm::Value* nearest = b.CreateFPTrunc(x, b.getFloatTy());
        llvm::Value* back = b.CreateFPExt(nearest, b.getDoubleTy());
        const auto magnitude = [&](llvm::Value* v) { return call(b, Id::fabs, {b.getDoubleTy()}, {v}); };
        llvm::Value* bits = b.CreateBitCast(nearest, b.getInt32Ty());
        llvm::Value* is_larger = b.CreateFCmpOGT(magnitude(back), magnitude(x));
        llvm::Value* toward_zero = b.CreateSelect(is_larger, b.CreateSub(bits, b.getInt32(1)), bits);
        llvm::Value* odd = b.CreateSelect(b.CreateFCmpONE(back, x), b.CreateOr(toward_zero, b.getInt32(1)), bits);
        return b.CreateFPTrunc(b.CreateBitCast(odd, b.getFloatTy()), to);
      }
      default:
        return nullptr;
    }
  }

  /// A 64-bit integer as a double: both halves are exact, and their sum is rounded once. As a float: the upper bits,
  /// shifted to the top and made odd if any lower one is set, so that they round as all 64 would.
  llvm::Value* wide_to_float(llvm::Value* x, llvm::Type* to, bool is_signed, Builder& b) {
    llvm::Type *word = b.getInt32Ty(), *f64 = b.getDoubleTy();
    if (to->isDoubleTy()) {
      llvm::Value *high = b.CreateTrunc(b.CreateLShr(x, 32), word), *low = b.CreateTrunc(x, word);
      llvm::Value* upper = is_signed ? b.CreateSIToFP(high, f64) : b.CreateUIToFP(high, f64);
      upper = call(b, Id::ldexp, {f64, word}, {upper, b.getInt32(32)});
      return b.CreateFAdd(upper, b.CreateUIToFP(low, f64));
    }
    if (to->isHalfTy()) return b.CreateFPTrunc(wide_to_float(x, b.getFloatTy(), is_signed, b), to);
    llvm::Value *sign = nullptr, *magnitude = x;
    if (is_signed) {
      sign = b.CreateAShr(x, 63);
      magnitude = b.CreateSub(b.CreateXor(x, sign), sign);
    }
    llvm::Value* shift = call(b, Id::ctlz, {b.getInt64Ty()}, {magnitude, b.getFalse()});
    llvm::Value* amount = b.CreateTrunc(shift, word);
    amount = b.CreateSelect(b.CreateICmpULT(amount, b.getInt32(32)), amount, b.getInt32(32));
    llvm::Value* moved = b.CreateShl(magnitude, b.CreateZExt(amount, b.getInt64Ty()));
    llvm::Value *high = b.CreateTrunc(b.CreateLShr(moved, 32), word), *low = b.CreateTrunc(moved, word);
    llvm::Value* sticky = b.CreateZExt(b.CreateICmpNE(low, b.getInt32(0)), word);
    llvm::Value* number = b.CreateUIToFP(b.CreateOr(high, sticky), b.getFloatTy());
    number = call(b, Id::ldexp, {b.getFloatTy(), word}, {number, b.CreateSub(b.getInt32(32), amount)});
    if (!is_signed) return number;
    return b.CreateSelect(b.CreateICmpSLT(x, b.getInt64(0)), b.CreateFNeg(number), number);
  }

  llvm::Value* float_to_wide(llvm::Value* x, bool is_signed, Builder& b) {
    llvm::Type *word = b.getInt32Ty(), *wide = b.getInt64Ty(), *f64 = b.getDoubleTy();
    if (x->getType()->isFloatTy()) x = b.CreateFPExt(x, f64);
    llvm::Value* whole = call(b, Id::trunc, {f64}, {x});
    llvm::Value* high = call(b, Id::floor, {f64}, {b.CreateFMul(whole, llvm::ConstantFP::get(f64, 0x1p-32))});
    llvm::Value* low = fma(b, high, llvm::ConstantFP::get(f64, -0x1p32), whole);
    llvm::Value* upper = is_signed ? b.CreateFPToSI(high, word) : b.CreateFPToUI(high, word);
    llvm::Value* lower = b.CreateFPToUI(low, word);
    return b.CreateOr(b.CreateShl(b.CreateZExt(upper, wide), 32), b.CreateZExt(lower, wide));
  }

  // Intrinsics.

  bool memory_intrinsic(llvm::IntrinsicInst& at) {
    llvm::TargetTransformInfo info(function_.getParent()->getDataLayout());
    if (auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&at))
      llvm::expandMemCpyAsLoop(copy, info);
    else if (auto* move = llvm::dyn_cast<llvm::MemMoveInst>(&at))
      llvm::expandMemMoveAsLoop(move, info);
    else if (auto* set = llvm::dyn_cast<llvm::MemSetInst>(&at))
      llvm::expandMemSetAsLoop(set);
    else
      return false;
    at.eraseFromParent();
    return true;
  }

  /// Gives the results of an intrinsic that returns a value and a flag to the instructions that extract them.
  void replace_pair(llvm::IntrinsicInst& at, llvm::Value* value, llvm::Value* flag) {
    for (llvm::User* user : llvm::make_early_inc_range(at.users())) {
      auto* extract = llvm::cast<llvm::ExtractValueInst>(user);
      extract->replaceAllUsesWith(extract->getIndices()[0] == 0 ? value : flag);
      extract->eraseFromParent();
    }
    at.eraseFromParent();
  }

  llvm::Value* intrinsic(llvm::IntrinsicInst& at, Builder& b) {
    llvm::Type* type = at.getType();
    llvm::Value* x = at.arg_size() != 0 ? at.getArgOperand(0) : nullptr;
    const llvm::Intrinsic::ID id = at.getIntrinsicID();
    if (type->isVectorTy()) return nullptr;
    const unsigned bits = type->isIntegerTy() ? type->getIntegerBitWidth() : 0;
    const auto wide_pair = [&](llvm::Value* value) {
      return std::pair(b.CreateTrunc(value, b.getInt32Ty()), b.CreateTrunc(b.CreateLShr(value, 32), b.getInt32Ty()));
    };
    switch (id) {
      case Id::trunc:
      case Id::floor:
      case Id::ceil:
      case Id::rint:
      case Id::nearbyint:
      case Id::roundeven:
        if (!type->isDoubleTy() || processor_.generation >= Generation::gfx7) return nullptr;
        return rounded(id, x, b);
      case Id::sqrt:
        return square_root(at, b);
      case Id::ctlz:
      case Id::cttz: {
        const bool leading = id == Id::ctlz;
        if (bits < 32) {
          llvm::Value* word = b.CreateZExt(x, b.getInt32Ty());
          if (leading)
            return b.CreateTrunc(
                b.CreateSub(call(b, Id::ctlz, {b.getInt32Ty()}, {word, b.getFalse()}), b.getInt32(32 - bits)), type);
          word = b.CreateOr(word, b.getInt32(1u << bits));
          return b.CreateTrunc(call(b, Id::cttz, {b.getInt32Ty()}, {word, b.getTrue()}), type);
        }
        if (bits == 64) {
          const auto [low, high] = wide_pair(x);
          llvm::Value *first = leading ? high : low, *second = leading ? low : high;
          llvm::Value* in_first = call(b, id, {b.getInt32Ty()}, {first, b.getFalse()});
          llvm::Value* in_second = b.CreateAdd(call(b, id, {b.getInt32Ty()}, {second, b.getFalse()}), b.getInt32(32));
          return b.CreateZExt(b.CreateSelect(b.CreateICmpEQ(first, b.getInt32(0)), in_second, in_first), type);
        }
        if (bits != 32 || llvm::cast<llvm::ConstantInt>(at.getArgOperand(1))->isOne()) return nullptr;
        // The instruction gives -1 for zero.
        return call(b, Id::umin, {type}, {call(b, id, {type}, {x, b.getTrue()}), b.getInt32(32)});
      }
      case Id::ctpop: {
        if (bits < 32)
          return b.CreateTrunc(call(b, Id::ctpop, {b.getInt32Ty()}, {b.CreateZExt(x, b.getInt32Ty())}), type);
        if (bits != 64) return nullptr;
        const auto [low, high] = wide_pair(x);
        return b.CreateZExt(
            b.CreateAdd(call(b, Id::ctpop, {b.getInt32Ty()}, {low}), call(b, Id::ctpop, {b.getInt32Ty()}, {high})),
            type);
      }
      case Id::bitreverse: {
        if (bits < 32)
          return b.CreateTrunc(
              b.CreateLShr(call(b, id, {b.getInt32Ty()}, {b.CreateZExt(x, b.getInt32Ty())}), 32 - bits), type);
        if (bits != 64) return nullptr;
        const auto [low, high] = wide_pair(x);
        llvm::Value* upper = b.CreateZExt(call(b, id, {b.getInt32Ty()}, {low}), type);
        return b.CreateOr(b.CreateShl(upper, 32), b.CreateZExt(call(b, id, {b.getInt32Ty()}, {high}), type));
      }
      case Id::bswap: {
        if (bits == 16) return b.CreateOr(b.CreateShl(x, 8), b.CreateLShr(x, 8));
        if (bits == 64) {
          const auto [low, high] = wide_pair(x);
          llvm::Value* upper = b.CreateZExt(call(b, id, {b.getInt32Ty()}, {low}), type);
          return b.CreateOr(b.CreateShl(upper, 32), b.CreateZExt(call(b, id, {b.getInt32Ty()}, {high}), type));
        }
        llvm::Value* odd = b.CreateAnd(b.CreateLShr(x, 8), b.getInt32(0x00FF00FF));
        llvm::Value* even = b.CreateShl(b.CreateAnd(x, b.getInt32(0x00FF00FF)), 8);
        return call(b, Id::fshl, {type}, {b.CreateOr(odd, even), b.CreateOr(odd, even), b.getInt32(16)});
      }
      case Id::abs: {
        llvm::Value* sign = b.CreateAShr(x, bits - 1);
        return b.CreateSub(b.CreateXor(x, sign), sign);
      }
      case Id::umin:
      case Id::umax:
      case Id::smin:
      case Id::smax: {
        if (bits == 32) return nullptr;
        llvm::Value* y = at.getArgOperand(1);
        return b.CreateSelect(b.CreateICmp(llvm::MinMaxIntrinsic::getPredicate(id), x, y), x, y);
      }
      case Id::fshl:
      case Id::fshr: {
        if (bits == 32 && id == Id::fshr) return nullptr;
        llvm::Value *low = at.getArgOperand(1), *amount = at.getArgOperand(2);
        if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(amount); known != nullptr && bits == 32) {
          const uint64_t left = known->getZExtValue() % 32;
          if (left == 0) return x;
          return call(b, Id::fshr, {type}, {x, low, b.getInt32(32 - static_cast<uint32_t>(left))});
        }
        if (bits == 32) {
          // Left by n is right by 32 - n, but for n = 0.
          llvm::Value* masked = b.CreateAnd(amount, b.getInt32(31));
          llvm::Value* right = call(b, Id::fshr, {type}, {x, low, b.CreateNeg(masked)});
          return b.CreateSelect(b.CreateICmpEQ(masked, b.getInt32(0)), x, right);
        }
        llvm::Value* count = llvm::ConstantInt::get(type, bits);
        llvm::Value* masked = (bits & (bits - 1)) == 0 ? b.CreateAnd(amount, llvm::ConstantInt::get(type, bits - 1))
                                                       : b.CreateURem(amount, count);
        llvm::Value* back = b.CreateSub(count, masked);
        llvm::Value* is_zero = b.CreateICmpEQ(masked, llvm::ConstantInt::get(type, 0));
        if (id == Id::fshl)
          return b.CreateSelect(is_zero, x, b.CreateOr(b.CreateShl(x, masked), b.CreateLShr(low, back)));
        return b.CreateSelect(is_zero, low, b.CreateOr(b.CreateLShr(low, masked), b.CreateShl(x, back)));
      }
      case Id::uadd_with_overflow:
      case Id::usub_with_overflow:
      case Id::sadd_with_overflow:
      case Id::ssub_with_overflow:
      case Id::umul_with_overflow:
      case Id::smul_with_overflow: {
        for (const llvm::User* user : at.users())
          if (!llvm::isa<llvm::ExtractValueInst>(user)) return nullptr;
        llvm::Value *y = at.getArgOperand(1), *value = nullptr, *flag = nullptr;
        llvm::Type* number = x->getType();
        const unsigned width = number->getIntegerBitWidth();
        llvm::Value* zero = llvm::ConstantInt::get(number, 0);
        if (id == Id::uadd_with_overflow) {
          value = b.CreateAdd(x, y), flag = b.CreateICmpULT(value, x);
        } else if (id == Id::usub_with_overflow) {
          value = b.CreateSub(x, y), flag = b.CreateICmpULT(x, y);
        } else if (id == Id::sadd_with_overflow) {
          value = b.CreateAdd(x, y);
          flag = b.CreateICmpSLT(b.CreateAnd(b.CreateXor(value, x), b.CreateXor(value, y)), zero);
        } else if (id == Id::ssub_with_overflow) {
          value = b.CreateSub(x, y);
          flag = b.CreateICmpSLT(b.CreateAnd(b.CreateXor(x, y), b.CreateXor(value, x)), zero);
        } else {
          if (width > 32) {
            if (id != Id::umul_with_overflow || width != 64) return nullptr;
            const auto half = [&](llvm::Value* v, bool upper) {
              return upper ? b.CreateLShr(v, 32) : b.CreateAnd(v, b.getInt64(UINT32_MAX));
            };
            llvm::Value *x_high = half(x, true), *y_high = half(y, true), *x_low = half(x, false),
                        *y_low = half(y, false);
            llvm::Value* both = b.CreateAnd(b.CreateICmpNE(x_high, zero), b.CreateICmpNE(y_high, zero));
            llvm::Value* cross = b.CreateAdd(b.CreateMul(x_high, y_low), b.CreateMul(x_low, y_high));
            llvm::Value* upper = b.CreateAdd(cross, half(b.CreateMul(x_low, y_low), true));
            flag = b.CreateOr(both, b.CreateICmpNE(half(upper, true), zero));
            replace_pair(at, b.CreateMul(x, y), flag);
            return &at;
          }
          const bool is_signed = id == Id::smul_with_overflow;
          llvm::Type* twice = b.getInt64Ty();
          const auto extend = [&](llvm::Value* v) {
            return is_signed ? b.CreateSExt(v, twice) : b.CreateZExt(v, twice);
          };
          llvm::Value* product = b.CreateMul(extend(x), extend(y));
          value = b.CreateTrunc(product, number);
          flag = b.CreateICmpNE(extend(value), product);
        }
        replace_pair(at, value, flag);
        return &at;
      }
      case Id::uadd_sat: {
        llvm::Value* sum = b.CreateAdd(x, at.getArgOperand(1));
        return b.CreateSelect(b.CreateICmpULT(sum, x), llvm::Constant::getAllOnesValue(type), sum);
      }
      case Id::usub_sat: {
        llvm::Value* y = at.getArgOperand(1);
        return b.CreateSelect(b.CreateICmpULT(x, y), llvm::Constant::getNullValue(type), b.CreateSub(x, y));
      }
      case Id::sadd_sat:
      case Id::ssub_sat: {
        llvm::Value* y = at.getArgOperand(1);
        llvm::Value* value = id == Id::sadd_sat ? b.CreateAdd(x, y) : b.CreateSub(x, y);
        llvm::Value* zero = llvm::ConstantInt::get(type, 0);
        llvm::Value* other = id == Id::sadd_sat ? b.CreateXor(value, y) : b.CreateXor(x, y);
        llvm::Value* overflows = b.CreateICmpSLT(b.CreateAnd(b.CreateXor(value, x), other), zero);
        llvm::Value* limit =
            b.CreateXor(b.CreateAShr(x, bits - 1), llvm::ConstantInt::get(type, llvm::APInt::getSignedMaxValue(bits)));
        return b.CreateSelect(overflows, limit, value);
      }
      case Id::copysign: {
        if (type->isHalfTy()) return nullptr;
        llvm::Type* integer = b.getIntNTy(type->getScalarSizeInBits());
        const uint64_t sign = 1ull << (type->getScalarSizeInBits() - 1);
        llvm::Value* magnitude = b.CreateAnd(b.CreateBitCast(x, integer), llvm::ConstantInt::get(integer, sign - 1));
        llvm::Value* sign_of = b.CreateAnd(b.CreateBitCast(b.CreateFPCast(at.getArgOperand(1), type), integer),
                                           llvm::ConstantInt::get(integer, sign));
        return b.CreateBitCast(b.CreateOr(magnitude, sign_of), type);
      }
      case Id::round: {
        // Half away from zero.
        llvm::Value* whole = call(b, Id::trunc, {type}, {x});
        llvm::Value* rest = call(b, Id::fabs, {type}, {b.CreateFSub(x, whole)});
        llvm::Value* step = b.CreateSelect(b.CreateFCmpOGE(rest, llvm::ConstantFP::get(type, 0.5)),
                                           llvm::ConstantFP::get(type, 1.0), llvm::ConstantFP::get(type, 0.0));
        return b.CreateFAdd(whole, call(b, Id::copysign, {type}, {step, x}));
      }
      case Id::exp2:
      case Id::log2: {
        if (!type->isFloatTy()) return nullptr;
        // The instructions flush denormals: their operands are scaled.
        const bool is_exp = id == Id::exp2;
        llvm::Value* is_small = b.CreateFCmpOLT(x, llvm::ConstantFP::get(type, is_exp ? -126.0 : 0x1p-126));
        if (is_exp) {
          llvm::Value* shifted = b.CreateFAdd(
              x, b.CreateSelect(is_small, llvm::ConstantFP::get(type, 64.0), llvm::ConstantFP::get(type, 0.0)));
          llvm::Value* power = call(b, Id::amdgcn_exp2, {type}, {shifted});
          return b.CreateFMul(
              power, b.CreateSelect(is_small, llvm::ConstantFP::get(type, 0x1p-64), llvm::ConstantFP::get(type, 1.0)));
        }
        llvm::Value* scaled = b.CreateFMul(
            x, b.CreateSelect(is_small, llvm::ConstantFP::get(type, 0x1p32), llvm::ConstantFP::get(type, 1.0)));
        llvm::Value* logarithm = call(b, Id::amdgcn_log, {type}, {scaled});
        return b.CreateFSub(
            logarithm, b.CreateSelect(is_small, llvm::ConstantFP::get(type, 32.0), llvm::ConstantFP::get(type, 0.0)));
      }
      case Id::frexp: {
        for (const llvm::User* user : at.users())
          if (!llvm::isa<llvm::ExtractValueInst>(user)) return nullptr;
        llvm::Type* number = x->getType();
        if (number->isHalfTy()) return nullptr;
        llvm::Type* exponent_type = llvm::cast<llvm::StructType>(type)->getElementType(1);
        llvm::Value* mantissa = call(b, Id::amdgcn_frexp_mant, {number}, {x});
        llvm::Value* exponent = call(b, Id::amdgcn_frexp_exp, {b.getInt32Ty(), number}, {x});
        if (processor_.generation < Generation::gfx7) {
          // GFX6 gives other values for infinities and NaNs.
          llvm::Value* is_finite =
              b.CreateFCmpOLT(call(b, Id::fabs, {number}, {x}), llvm::ConstantFP::getInfinity(number));
          mantissa = b.CreateSelect(is_finite, mantissa, x);
          exponent = b.CreateSelect(is_finite, exponent, b.getInt32(0));
        }
        replace_pair(at, mantissa, b.CreateIntCast(exponent, exponent_type, true));
        return &at;
      }
      case Id::is_fpclass:
        if (x->getType()->isHalfTy())
          return call(b, Id::amdgcn_class, {b.getFloatTy()}, {b.CreateFPExt(x, b.getFloatTy()), at.getArgOperand(1)});
        return call(b, Id::amdgcn_class, {x->getType()}, {x, at.getArgOperand(1)});
      case Id::canonicalize:
        return b.CreateFMul(x, llvm::ConstantFP::get(type, 1.0));
      case Id::expect:
        return x;
      default:
        return nullptr;
    }
  }

  // Vectors.

  llvm::Value* extract_by_variable(llvm::ExtractElementInst& at, Builder& b) {
    llvm::Value* index = at.getIndexOperand();
    if (llvm::isa<llvm::ConstantInt>(index)) return nullptr;
    const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(at.getVectorOperandType());
    if (type == nullptr) return nullptr;
    llvm::Value* found = b.CreateExtractElement(at.getVectorOperand(), uint64_t{0});
    for (unsigned i = 1; i < type->getNumElements(); ++i) {
      llvm::Value* is_it = b.CreateICmpEQ(index, llvm::ConstantInt::get(index->getType(), i));
      found = b.CreateSelect(is_it, b.CreateExtractElement(at.getVectorOperand(), uint64_t{i}), found);
    }
    return found;
  }

  llvm::Value* insert_by_variable(llvm::InsertElementInst& at, Builder& b) {
    llvm::Value *index = at.getOperand(2), *whole = at.getOperand(0);
    if (llvm::isa<llvm::ConstantInt>(index)) return nullptr;
    const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(at.getType());
    if (type == nullptr) return nullptr;
    llvm::Value* made = whole;
    for (unsigned i = 0; i < type->getNumElements(); ++i) {
      llvm::Value* is_it = b.CreateICmpEQ(index, llvm::ConstantInt::get(index->getType(), i));
      llvm::Value* element = b.CreateSelect(is_it, at.getOperand(1), b.CreateExtractElement(whole, uint64_t{i}));
      made = b.CreateInsertElement(made, element, uint64_t{i});
    }
    return made;
  }

  llvm::Function& function_;
  const target::Processor& processor_;
};

}  // namespace

void lower_ir(llvm::Function& function, const target::Processor& processor) { Lowering(function, processor).run(); }

}  // namespace Atoll::codegen

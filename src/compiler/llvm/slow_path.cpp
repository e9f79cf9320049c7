// compiler: operations that do something else in few lanes (slow_path.h).
#include "compiler/llvm/slow_path.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "compiler/llvm/check_sinking.h"
#include "compiler/llvm/slow_path_marker.h"
#include "semantics/lanes/lanes.h"
#include "semantics/registry.h"

namespace Atoll::compiler {

namespace {

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

llvm::Type* lanes_of(llvm::Type* element) { return llvm::FixedVectorType::get(element, semantics::chunk_lanes); }

/// The function of values that does what one of addresses does: they are the operands and, first, the usual result.
llvm::Function* by_value(llvm::Function& by_address, llvm::Type* type, size_t operands) {
  llvm::Module& module = *by_address.getParent();
  const std::string name = by_address.getName().str() + ".by_value";
  if (llvm::Function* made = module.getFunction(name)) return made;
  const std::vector<llvm::Type*> parameters(operands + 1, type);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(type, parameters, false),
                                          llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::Cold);
  by_address.removeFnAttr(llvm::Attribute::NoInline);
  by_address.addFnAttr(llvm::Attribute::AlwaysInline);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(module.getContext(), "", function));
  std::vector<llvm::Value*> addresses;
  for (llvm::Argument& argument : function->args()) {
    auto* local = ir.CreateAlloca(type);
    local->setAlignment(llvm::Align(64));
    addresses.push_back(local);
    ir.CreateAlignedStore(&argument, local, llvm::Align(64));
  }
  ir.CreateCall(&by_address, addresses);
  ir.CreateRet(ir.CreateAlignedLoad(type, addresses.front(), llvm::Align(64)));
  return function;
}

/// One call in the bitcode. `call` is the VectorCall, or null.
void take_by_value(llvm::CallInst* asked, llvm::Type* type, llvm::StringRef prefix, llvm::Value* vector_call) {
  llvm::Module& module = *asked->getModule();
  llvm::IRBuilder<> ir(asked);
  const auto load = [&](llvm::Value* address) { return ir.CreateAlignedLoad(type, address, llvm::Align(64)); };
  llvm::Type* mask = lanes_of(ir.getInt1Ty());
  llvm::Value* active = llvm::Constant::getAllOnesValue(mask);
  if (vector_call != nullptr) {
    llvm::Value* exec =
        ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), vector_call, offsetof(semantics::VectorCall, exec));
    active = ir.CreateBitCast(ir.CreateTrunc(ir.CreateLoad(ir.getInt64Ty(), exec), ir.getInt16Ty()), mask);
  }
  auto& by_address = *cast<llvm::Function>(asked->getArgOperand(2)->stripPointerCasts());
  const size_t operands = asked->arg_size() - 3;
  std::vector<llvm::Value*> arguments{load(asked->getArgOperand(0)),
                                      ir.CreateBitCast(ir.CreateTrunc(asked->getArgOperand(1), ir.getInt16Ty()), mask),
                                      active, by_value(by_address, type, operands)};
  for (const llvm::Use& operand : llvm::drop_begin(asked->args(), 3)) arguments.push_back(load(operand));
  std::vector<llvm::Type*> parameters;
  for (const llvm::Value* argument : arguments) parameters.push_back(argument->getType());

  const std::string name = (prefix + llvm::Twine(type->getScalarSizeInBits()) + "_" + llvm::Twine(operands)).str();
  llvm::FunctionCallee result = module.getOrInsertFunction(name, llvm::FunctionType::get(type, parameters, false));
  auto* function = cast<llvm::Function>(result.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  ir.CreateAlignedStore(ir.CreateCall(result, arguments), asked->getArgOperand(0), llvm::Align(64));
  asked->eraseFromParent();
}

/// Whether the instruction depends on nothing but its operands, whatever they are.
bool is_pure(const llvm::Instruction& instruction) {
  if (instruction.isTerminator() || isa<llvm::PHINode>(instruction)) return false;
  if (instruction.mayReadOrWriteMemory() || instruction.mayHaveSideEffects()) return false;
  return !instruction.isIntDivRem();
}

/// Whether a lane of the result is a NaN wherever `operand` is one, as far as `active` lanes go.
bool hands_on_nan(const llvm::Instruction& instruction, const llvm::Value& operand, const llvm::Value* active) {
  if (const auto* select = dyn_cast<llvm::SelectInst>(&instruction)) {
    return select->getCondition() == active && select->getTrueValue() == &operand;
  }
  return is_arithmetic(instruction);
}

/// A stretch of a block: operations with rare lanes and all that is computed from their results.
class Segment {
 public:
  explicit Segment(const LateLooks& late) : late_(late) {}
  bool is_empty() const { return instructions_.empty(); }
  void add(llvm::Instruction& instruction) { instructions_.insert(&instruction); }
  /// Whether it uses a result of the stretch. A mark itself does not use its operands.
  bool feeds(const llvm::Instruction& instruction) const {
    return llvm::any_of(instruction.operands(), [&](const llvm::Use& use) { return contains(use.get()); });
  }
  /// Ends it before `next`, after which the block goes on in another one.
  void end(llvm::Instruction& next);

 private:
  enum class Look : uint8_t { needed, late, left_to_others, needless };

  bool contains(const llvm::Value* value) const {
    const auto* instruction = dyn_cast<llvm::Instruction>(value);
    return instruction != nullptr && instructions_.contains(const_cast<llvm::Instruction*>(instruction));
  }
  llvm::Instruction& leave_out_last(llvm::Instruction& next);
  void decide_looks();
  bool is_left_to_others(llvm::Value& value, const llvm::Value* active) const;
  bool makes_no_difference(llvm::Value& value) const;
  llvm::Value* any_rare(llvm::IRBuilder<>& ir, Look which) const;
  llvm::Value* must_look_at_late() const;
  llvm::SmallVector<llvm::BasicBlock*, 3> branch_to(llvm::BasicBlock* careful, llvm::Instruction& after) const;

  const LateLooks& late_;
  llvm::SmallSetVector<llvm::Instruction*, 32> instructions_;
  llvm::DenseMap<llvm::Instruction*, Look> looks_;
};

/// Returns whether a NaN of this value in a relevant lane makes another checked operation of the segment rare.
bool Segment::is_left_to_others(llvm::Value& value, const llvm::Value* active) const {
  return llvm::any_of(value.users(), [&](llvm::User* user) {
    auto* instruction = dyn_cast<llvm::Instruction>(user);
    if (instruction == nullptr || !contains(instruction)) return false;
    if (llvm::CallInst* mark = Mark::from(instruction)) {
      return looks_.at(mark) != Look::needless && Mark(mark).active() == active;
    }
    return hands_on_nan(*instruction, value, active) && is_left_to_others(*instruction, active);
  });
}

/// Whether it does not matter which NaN the value is, where it is one. What is computed from it in floating point may
/// be another NaN, too, and nothing else.
bool Segment::makes_no_difference(llvm::Value& value) const {
  return llvm::all_of(value.uses(), [&](llvm::Use& use) {
    auto* instruction = cast<llvm::Instruction>(use.getUser());
    if (isa<llvm::FCmpInst>(instruction)) return true;
    if (!contains(instruction)) return false;
    if (llvm::CallInst* mark = Mark::from(instruction)) {
      // As an operand it is only used in the slow path, which recomputes everything.
      return use.getOperandNo() > 0 || looks_.at(mark) == Look::needless;
    }
    return is_arithmetic(*instruction) && makes_no_difference(*instruction);
  });
}

/// What is used after the stretch only can be done there. Yields the first of that, or `next`.
llvm::Instruction& Segment::leave_out_last(llvm::Instruction& next) {
  std::vector<llvm::Instruction*> last;
  for (llvm::Instruction* instruction : llvm::reverse(instructions_)) {
    if (Mark::from(instruction) != nullptr) continue;
    const auto is_outside = [&](llvm::User* user) { return !contains(user) || llvm::is_contained(last, user); };
    if (llvm::all_of(instruction->users(), is_outside)) last.push_back(instruction);
  }
  for (llvm::Instruction* instruction : llvm::reverse(last)) {
    instruction->moveBefore(next.getIterator());
    instructions_.remove(instruction);
  }
  return last.empty() ? next : *last.back();
}

void Segment::decide_looks() {
  for (llvm::Instruction* instruction : llvm::reverse(instructions_)) {
    if (llvm::CallInst* mark = Mark::from(instruction)) {
      const bool at_nans = Mark(mark).is_at_nans(), at_half_nans = Mark(mark).is_at_half_nans();
      looks_[mark] = late_.contains(mark)                            ? Look::late
                     : !at_nans && !at_half_nans                     ? Look::needed
                     : is_left_to_others(*mark, Mark(mark).active()) ? Look::left_to_others
                     : at_nans && makes_no_difference(*mark)         ? Look::needless
                                                                     : Look::needed;
    }
  }
}

/// Returns whether any relevant lane is rare in operations with this kind of check. Null: there are none.
llvm::Value* Segment::any_rare(llvm::IRBuilder<>& ir, Look which) const {
  llvm::Value* any = nullptr;
  const auto add = [&](llvm::Value* active, llvm::Value* lanes) {
    llvm::Value* matter = lanes_that_matter(ir, lanes, active);
    any = any != nullptr ? ir.CreateOr(any, matter) : matter;
  };
  llvm::MapVector<std::pair<llvm::Value*, llvm::Type*>, llvm::Value*> single;  // a result whose NaNs are still missing
  llvm::MapVector<llvm::Value*, llvm::Value*> half_magnitudes_of;              // by active lanes
  for (llvm::Instruction* instruction : instructions_) {
    llvm::CallInst* call = Mark::from(instruction);
    if (call == nullptr || looks_.at(call) != which) continue;
    const Mark mark(call);
    if (mark.is_at_half_nans()) {
      // Keeps the largest magnitudes of several results: those of NaNs are above all others.
      llvm::Value*& largest = half_magnitudes_of[mark.active()];
      llvm::Value* magnitudes = half_magnitudes(ir, mark.usual());
      largest = largest == nullptr ? magnitudes : ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, largest, magnitudes);
      continue;
    }
    if (!mark.is_at_nans()) {
      add(mark.active(), mark.rare());
      continue;
    }
    // One comparison finds the NaNs of two.
    llvm::Value*& other = single[{mark.active(), mark.usual()->getType()}];
    if (other == nullptr) {
      other = mark.usual();
    } else {
      add(mark.active(), ir.CreateFCmpUNO(other, mark.usual()));
      other = nullptr;
    }
  }
  for (const auto& [key, value] : single) {
    if (value != nullptr) add(key.first, ir.CreateFCmpUNO(value, value));
  }
  for (const auto& [active, magnitudes] : half_magnitudes_of) add(active, lanes_with_half_nans(ir, magnitudes));
  return any != nullptr ? any_lane(ir, any) : nullptr;
}

/// Returns whether late-checked operations must be checked here. Null: there are none.
llvm::Value* Segment::must_look_at_late() const {
  for (llvm::Instruction* instruction : instructions_) {
    llvm::CallInst* mark = Mark::from(instruction);
    if (mark != nullptr && looks_.at(mark) == Look::late) return late_.at(mark);
  }
  return nullptr;
}

/// Inserts the checks before `after`, which then begins a new block; they branch to `careful` if any lane is rare.
/// Returns the blocks with checks; empty, without a change, if nothing needs a check.
llvm::SmallVector<llvm::BasicBlock*, 3> Segment::branch_to(llvm::BasicBlock* careful, llvm::Instruction& after) const {
  llvm::IRBuilder<> ir(&after);
  llvm::Value *any = any_rare(ir, Look::needed), *looks_at_late = must_look_at_late();
  if (any == nullptr && looks_at_late == nullptr) return {};
  llvm::MDNode* rarely = llvm::MDBuilder(after.getContext()).createBranchWeights(1, 1u << 20);
  llvm::SmallVector<llvm::BasicBlock*, 3> blocks{after.getParent()};
  llvm::BasicBlock* rest = blocks.front()->splitBasicBlock(&after);
  blocks.front()->getTerminator()->eraseFromParent();
  const auto new_block = [&] {
    blocks.push_back(llvm::BasicBlock::Create(after.getContext(), "look", rest->getParent(), rest));
    return blocks.back();
  };
  ir.SetInsertPoint(blocks.front());
  if (any != nullptr && looks_at_late != nullptr) {
    llvm::BasicBlock* otherwise = new_block();
    ir.CreateCondBr(any, careful, otherwise, rarely);
    ir.SetInsertPoint(otherwise);
  } else if (any != nullptr) {
    ir.CreateCondBr(any, careful, rest, rarely);
  }
  if (looks_at_late != nullptr) {
    llvm::BasicBlock* look = new_block();
    ir.CreateCondBr(looks_at_late, look, rest, rarely);
    ir.SetInsertPoint(look);
    ir.CreateCondBr(any_rare(ir, Look::late), careful, rest, rarely);
  }
  return blocks;
}

void Segment::end(llvm::Instruction& next) {
  llvm::Instruction& after = leave_out_last(next);
  decide_looks();
  std::vector<llvm::Instruction*> results;  // what is used after the stretch
  for (llvm::Instruction* instruction : instructions_) {
    if (llvm::any_of(instruction->users(), [&](llvm::User* user) { return !contains(user); })) {
      results.push_back(instruction);
    }
  }
  auto* careful = llvm::BasicBlock::Create(after.getContext(), "careful", after.getFunction());
  llvm::SmallVector<llvm::BasicBlock*, 3> before;
  if (!results.empty()) before = branch_to(careful, after);
  if (before.empty()) {
    careful->eraseFromParent();
  } else {
    llvm::IRBuilder<> ir(careful);
    // The block for rare lanes has what the results are computed from.
    llvm::SmallPtrSet<llvm::Value*, 32> needed(results.begin(), results.end());
    for (llvm::Instruction* instruction : llvm::reverse(instructions_)) {
      if (!needed.contains(instruction)) continue;
      if (llvm::CallInst* mark = Mark::from(instruction)) {
        needed.insert(Mark(mark).usual());
        for (const llvm::Use& operand : Mark(mark).operands()) needed.insert(operand);
      } else {
        for (const llvm::Use& operand : instruction->operands()) needed.insert(operand);
      }
    }
    llvm::DenseMap<llvm::Value*, llvm::Value*> anew;
    const auto value = [&](llvm::Value* old) {
      const auto found = anew.find(old);
      return found != anew.end() ? found->second : old;
    };
    for (llvm::Instruction* instruction : instructions_) {
      if (!needed.contains(instruction)) continue;
      if (llvm::CallInst* call = Mark::from(instruction)) {
        const Mark mark(call);
        std::vector<llvm::Value*> arguments{value(mark.usual())};
        for (const llvm::Use& operand : mark.operands()) arguments.push_back(value(operand));
        anew[instruction] = ir.CreateCall(mark.careful(), arguments);
      } else {
        llvm::Instruction* copy = instruction->clone();
        for (llvm::Use& operand : copy->operands()) operand.set(value(operand));
        anew[instruction] = ir.Insert(copy);
      }
    }
    ir.CreateBr(after.getParent());
    for (llvm::Instruction* result : results) {
      llvm::PHINode* joined = llvm::PHINode::Create(result->getType(), 2, "", after.getParent()->begin());
      result->replaceUsesWithIf(joined, [&](llvm::Use& use) {
        const auto* user = cast<llvm::Instruction>(use.getUser());
        return isa<llvm::PHINode>(user) ||
               (user->getParent() != careful && !llvm::is_contained(before, user->getParent()));
      });
      for (llvm::BasicBlock* from : llvm::predecessors(after.getParent())) {
        joined->addIncoming(from == careful ? anew.at(result) : result, from);
      }
    }
  }
  for (llvm::Instruction* instruction : llvm::reverse(instructions_)) {
    if (llvm::CallInst* mark = Mark::from(instruction)) {
      llvm::Value* usual = Mark(mark).usual();
      mark->replaceAllUsesWith(usual);
      mark->eraseFromParent();
    }
  }
}

}  // namespace

void take_rare_lanes_by_value(llvm::Module& module, llvm::function_ref<bool(const llvm::Function&)> is_vector) {
  llvm::LLVMContext& context = module.getContext();
  const std::tuple<const char*, llvm::Type*, llvm::StringRef> asks[] = {
      {"rare_lanes_single", lanes_of(llvm::Type::getFloatTy(context)), mark_prefix},
      {"rare_lanes_double", lanes_of(llvm::Type::getDoubleTy(context)), mark_prefix},
      {"rare_lanes_half_pair", lanes_of(llvm::Type::getInt32Ty(context)), half_pair_prefix}};
  for (const auto& [name, type, prefix] : asks) {
    llvm::Function* asked = module.getFunction(name);
    if (asked == nullptr) continue;
    for (llvm::User* user : llvm::make_early_inc_range(asked->users())) {
      auto* call = cast<llvm::CallInst>(user);
      llvm::Function* function = call->getFunction();
      take_by_value(call, type, prefix, is_vector(*function) ? function->getArg(0) : nullptr);
    }
  }
}

void insert_slow_paths(llvm::Function& function) {
  const LateLooks late = look_behind_loops(function);
  std::vector<llvm::BasicBlock*> blocks;
  for (llvm::BasicBlock& block : function) blocks.push_back(&block);
  for (llvm::BasicBlock* block : blocks) {
    for (llvm::Instruction* next = &block->front(); next != nullptr;) {
      Segment segment(late);
      for (; next != nullptr; next = next->getNextNode()) {
        const bool is_mark = Mark::from(next) != nullptr;
        if (!is_mark && !segment.feeds(*next) && !(next->isTerminator() && !segment.is_empty())) continue;
        if (!is_mark && !is_pure(*next)) break;
        segment.add(*next);
      }
      if (!segment.is_empty()) segment.end(*next);
      if (segment.is_empty()) break;
    }
  }
}

}  // namespace Atoll::compiler

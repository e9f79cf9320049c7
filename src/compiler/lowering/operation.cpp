// compiler: instructions as functions of values (operation.h).
#include "compiler/lowering/operation.h"

#include <algorithm>

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "semantics/float/float_mode.h"
#include "semantics/modifiers.h"

namespace Atoll::compiler {

using semantics::ScalarCall;
using semantics::VectorCall;

namespace {

const llvm::Align row_align(64);

/// A function that counts the bits of each lane.
llvm::Function* counting(llvm::Module& module, llvm::Type* row) {
  constexpr const char* name = "count_ones";
  if (llvm::Function* made = module.getFunction(name)) return made;
  auto* type = llvm::FunctionType::get(row, {row}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  function->setCallingConv(llvm::CallingConv::Intel_OCL_BI);
  for (const auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn})
    function->addFnAttr(attribute);
  function->setDoesNotAccessMemory();
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(module.getContext(), "", function));
  ir.CreateRet(ir.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, function->getArg(0)));
  return function;
}

/// Has bits counted by a call. In place, it is a dozen of the host's instructions, and where one count is added to
/// others (v_mbcnt_lo_u32_b32, v_mbcnt_hi_u32_b32), LLVM takes very long to find out which bits of the sum can be
/// set (measured with LLVM 19).
void share_counting(llvm::Function& function) {
  std::vector<llvm::IntrinsicInst*> counts;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::ctpop && call->getType()->isVectorTy())
      counts.push_back(call);
  }
  for (llvm::IntrinsicInst* count : counts) {
    llvm::Function* shared = counting(*function.getParent(), count->getType());
    auto* call = llvm::CallInst::Create(shared, {count->getArgOperand(0)}, "", count->getIterator());
    call->setCallingConv(shared->getCallingConv());
    count->replaceAllUsesWith(call);
    count->eraseFromParent();
  }
}

/// Whether the instruction is done by putting together what the function returns.
bool gathers_results(const llvm::Instruction& instruction) { return llvm::isa<llvm::InsertValueInst>(instruction); }

}  // namespace

Operation::Operation(llvm::Function* function)
    : function_(function), is_straight_(function->size() == 1 && !function->hasFnAttribute(llvm::Attribute::NoInline)) {
  if (!is_straight_) {
    if (!function->hasFnAttribute(llvm::Attribute::NoInline)) function->addFnAttr(llvm::Attribute::AlwaysInline);
    return;
  }
  llvm::Value* all = llvm::cast<llvm::ReturnInst>(function->getEntryBlock().getTerminator())->getReturnValue();
  for (unsigned i = 0; i < function->getReturnType()->getStructNumElements(); ++i) {
    results_.push_back(llvm::FindInsertedValue(all, i));
  }
}

std::vector<llvm::Value*> Operation::emit(llvm::IRBuilder<>& ir, llvm::ArrayRef<llvm::Value*> arguments) const {
  if (is_straight_) return copy(ir, arguments);
  llvm::Value* all = ir.CreateCall(function_, arguments);
  std::vector<llvm::Value*> results;
  results.reserve(all->getType()->getStructNumElements());
  for (unsigned i = 0; i < all->getType()->getStructNumElements(); ++i)
    results.push_back(ir.CreateExtractValue(all, i));
  return results;
}

std::vector<llvm::Value*> Operation::copy(llvm::IRBuilder<>& ir, llvm::ArrayRef<llvm::Value*> arguments) const {
  llvm::SmallDenseMap<llvm::Value*, llvm::Value*, 32> copies;
  for (llvm::Argument& parameter : function_->args()) copies[&parameter] = arguments[parameter.getArgNo()];
  for (llvm::Instruction& instruction : function_->getEntryBlock()) {
    if (instruction.isTerminator() || gathers_results(instruction)) continue;
    llvm::Instruction* made = instruction.clone();
    for (llvm::Use& operand : made->operands()) {
      if (const auto copy = copies.find(operand.get()); copy != copies.end()) operand.set(copy->second);
    }
    copies[&instruction] = ir.Insert(made);
  }
  std::vector<llvm::Value*> results;
  for (llvm::Value* result : results_) {
    const auto copy = copies.find(result);
    results.push_back(copy != copies.end() ? copy->second : result);  // otherwise a constant
  }
  return results;
}

bool VectorOperation::reads_result() const {
  const semantics::VectorShape& shape = semantics::vector_function(opcode, generation);
  return shape.reads_dst || shape.writes_low_half_only || to_part || to_high_half;
}

/// A function of semantics being called: its arguments and results are memory of the function around it.
struct Operations::Body {
  Body(SemanticsBitcode& bitcode, llvm::Function* in)
      : semantics(bitcode), function(in), ir(llvm::BasicBlock::Create(in->getContext(), "", in)) {}

  llvm::Value* at(llvm::Value* base, uint64_t offset) {
    return ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), base, offset);
  }
  llvm::Value* words(unsigned count) {
    llvm::AllocaInst* made = ir.CreateAlloca(llvm::ArrayType::get(ir.getInt64Ty(), count));
    made->setAlignment(row_align);
    return made;
  }
  llvm::Value* rows(unsigned count) { return words(count * sizeof(semantics::Row) / 8); }
  llvm::Type* row() { return llvm::FixedVectorType::get(ir.getInt32Ty(), semantics::chunk_lanes); }
  void set_row(llvm::Value* rows, unsigned word, llvm::Value* value) {
    ir.CreateAlignedStore(value, at(rows, word * sizeof(semantics::Row)), row_align);
  }
  llvm::Value* get_row(llvm::Value* rows, unsigned word) {
    return ir.CreateAlignedLoad(row(), at(rows, word * sizeof(semantics::Row)), row_align);
  }
  void set(llvm::Value* memory, size_t offset, llvm::Value* value) { ir.CreateStore(value, at(memory, offset)); }
  llvm::Value* get(llvm::Value* memory, size_t offset, llvm::Type* type) {
    return ir.CreateLoad(type, at(memory, offset));
  }
  llvm::Value* byte(auto value) { return ir.getInt8(static_cast<uint8_t>(value)); }

  template <typename T>
  llvm::Value* constant(const T& value) {
    const llvm::StringRef bytes(reinterpret_cast<const char*>(&value), sizeof value);
    llvm::Constant* data = llvm::ConstantDataArray::getString(ir.getContext(), bytes, /*AddNull=*/false);
    auto* global =
        new llvm::GlobalVariable(semantics.module(), data->getType(), true, llvm::GlobalValue::PrivateLinkage, data);
    global->setAlignment(llvm::Align(alignof(T)));
    return global;
  }

  llvm::Value* call(llvm::Function* callee, llvm::ArrayRef<llvm::Value*> arguments) {
    return calls.emplace_back(ir.CreateCall(callee, arguments));
  }

  void end(llvm::ArrayRef<llvm::Value*> results) {
    llvm::Value* all = llvm::PoisonValue::get(function->getReturnType());
    for (unsigned i = 0; i < results.size(); ++i) all = ir.CreateInsertValue(all, results[i], i);
    ir.CreateRet(all);
    for (size_t i = 0; i < calls.size(); ++i) {
      llvm::InlineFunctionInfo info;
      llvm::InlineFunction(*calls[i], info);
      // run_in_mode() calls the function that it was given.
      llvm::append_range(calls, llvm::make_filter_range(info.InlinedCallSites, [&](const llvm::CallBase* inner) {
                           return called_back != nullptr && inner->getCalledFunction() == called_back;
                         }));
    }
  }

  SemanticsBitcode& semantics;
  llvm::Function* function;
  llvm::IRBuilder<> ir;
  std::vector<llvm::CallBase*> calls;
  llvm::Function* called_back = nullptr;
};

struct Operations::Passes {
  Passes() {
    llvm::PassBuilder builder;
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(call_graph);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, call_graph, modules);
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/false));
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SimplifyCFGPass());
  }
  void run(llvm::Function& function) {
    passes.run(function, functions);
    functions.clear(function, function.getName());
  }

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager call_graph;
  llvm::ModuleAnalysisManager modules;
  llvm::FunctionPassManager passes;
};

Operations::Operations(SemanticsBitcode& semantics) : semantics_(semantics), passes_(std::make_unique<Passes>()) {}
Operations::~Operations() = default;

llvm::Function* Operations::begin(llvm::ArrayRef<llvm::Type*> parameters, llvm::ArrayRef<llvm::Type*> results) {
  llvm::Module& module = semantics_.module();
  auto* type = llvm::FunctionType::get(llvm::StructType::get(module.getContext(), results), parameters, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "", module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return function;
}

const Operation& Operations::vector(const VectorOperation& what) {
  auto& made = vector_[what.opcode];
  const auto found = std::ranges::find(made, what, &std::pair<VectorOperation, Operation>::first);
  return found != made.end() ? found->second : made.emplace_back(what, make_vector(what)).second;
}

Operation Operations::make_vector(const VectorOperation& what) {
  const semantics::VectorShape& shape = semantics::vector_function(what.opcode, what.generation);
  llvm::LLVMContext& context = semantics_.module().getContext();
  llvm::Type* row = llvm::FixedVectorType::get(llvm::Type::getInt32Ty(context), semantics::chunk_lanes);
  const unsigned result_words = shape.destinations != 0 ? shape.dst_words[0] : 0;
  llvm::SmallVector<llvm::Type*, 16> parameters, results;
  for (unsigned i = 0; i < shape.sources; ++i) parameters.append(shape.src_words[i], row);
  if (what.reads_result()) parameters.append(result_words, row);
  if (shape.masks_in != 0) parameters.push_back(llvm::Type::getInt64Ty(context));
  parameters.push_back(llvm::Type::getInt32Ty(context));
  parameters.push_back(llvm::Type::getInt64Ty(context));
  results.append(result_words, row);
  if (shape.mask_out) results.push_back(llvm::Type::getInt16Ty(context));

  llvm::Function* function = begin(parameters, results);
  Body body(semantics_, function);
  llvm::IRBuilder<>& ir = body.ir;
  llvm::Value* arguments = body.words(sizeof(VectorCall) / 8);
  unsigned next = 0;
  const auto take_rows = [&](llvm::Value* rows, unsigned words) {
    for (unsigned word = 0; word < words; ++word) body.set_row(rows, word, function->getArg(next++));
  };
  for (unsigned i = 0; i < shape.sources; ++i) {
    llvm::Value* rows = body.rows(shape.src_words[i]);
    take_rows(rows, shape.src_words[i]);
    if (shape.mixed_sources || semantics::has_source_modifiers(what.source[i].operand())) {
      llvm::Value* changed = body.rows(shape.src_words[i]);
      llvm::Value* operand = body.constant(what.source[i].operand());
      if (shape.mixed_sources) {
        body.call(semantics_.function("apply_mixed_source"),
                  {changed, rows, operand, body.byte(static_cast<uint8_t>(what.mode.denormals32))});
      } else {
        body.call(semantics_.function("apply_source_modifiers"), {changed, rows, operand});
      }
      rows = changed;
    }
    body.set(arguments, offsetof(VectorCall, src) + i * sizeof(void*), rows);
  }
  llvm::Value *result = nullptr, *merged = nullptr;
  if (result_words != 0) {
    result = body.rows(result_words);
    const unsigned first_old = next;
    if (what.to_high_half && shape.reads_dst && shape.sources < 3) {
      // As semantics::reads_high_half.
      llvm::Value* old = function->getArg(next++);
      body.set_row(result, 0, ir.CreateLShr(old, llvm::ConstantInt::get(old->getType(), 16)));
    } else if (what.reads_result()) {
      take_rows(result, result_words);
    }
    if (what.to_part || what.to_high_half) {
      merged = body.rows(1);
      body.set_row(merged, 0, function->getArg(first_old));
    }
    body.set(arguments, offsetof(VectorCall, dst), result);
  }
  if (shape.masks_in != 0) body.set(arguments, offsetof(VectorCall, mask_in), function->getArg(next++));
  // The function is made for one mode: its fields are constants that vanish with the branches on them.
  const auto* mode = reinterpret_cast<const uint8_t*>(&what.mode);
  for (size_t byte = 0; byte < sizeof what.mode; ++byte) {
    body.set(arguments, offsetof(VectorCall, mode) + byte, ir.getInt8(mode[byte]));
  }
  body.set(arguments, offsetof(VectorCall, clamp), body.byte(what.clamp));
  body.set(arguments, offsetof(VectorCall, truth_table), ir.getInt8(what.truth_table));
  body.set(arguments, offsetof(VectorCall, signed_sources), ir.getInt8(what.signed_sources));
  body.set(arguments, offsetof(VectorCall, first_lane), function->getArg(next++));
  body.set(arguments, offsetof(VectorCall, exec), function->getArg(next));
  llvm::Function* plain = semantics_.vector_function(what.opcode, what.generation);
  if (semantics::is_plain(what.mode) || !shape.float_use.any()) {
    body.call(plain, {arguments});
  } else {
    // While the host rounds otherwise, it must do nothing else.
    if (semantics::round_of(shape.float_use, what.mode) != semantics::Round::nearest_even) {
      function->addFnAttr(llvm::Attribute::NoInline);
    }
    body.called_back = plain;
    body.call(semantics_.function("run_in_mode"),
              {arguments, plain, body.constant(shape.float_use), body.constant(what.mode)});
  }

  const bool clamp = what.clamp && !shape.handles_clamp;
  if (result != nullptr && (what.omod != 0 || clamp)) {
    body.call(semantics_.function("apply_result_modifiers"),
              {result, body.byte(what.result_type), body.byte(what.omod), ir.getInt1(clamp), body.constant(what.mode)});
  }
  llvm::Value* all_lanes = ir.getInt64(0xFFFF);
  if (what.to_part) {
    body.call(semantics_.function("merge_sdwa"),
              {merged, result, body.byte(what.part), body.byte(what.unused), all_lanes});
  } else if (what.to_high_half) {
    body.call(semantics_.function("merge_high_half"), {merged, result, all_lanes});
  }
  llvm::SmallVector<llvm::Value*, 4> values;
  for (unsigned word = 0; word < result_words; ++word) {
    values.push_back(body.get_row(merged != nullptr ? merged : result, word));
  }
  if (shape.mask_out) {
    values.push_back(
        ir.CreateTrunc(body.get(arguments, offsetof(VectorCall, mask_out), ir.getInt64Ty()), ir.getInt16Ty()));
  }
  body.end(values);
  passes_->run(*function);
  share_counting(*function);
  return Operation(function);
}

const Operation& Operations::atomic(const AtomicKind& kind) {
  auto found = atomic_.find(kind);
  if (found == atomic_.end()) found = atomic_.emplace(kind, make_atomic(kind)).first;
  return found->second;
}

Operation Operations::make_atomic(const AtomicKind& kind) {
  llvm::Type* word = llvm::Type::getIntNTy(semantics_.module().getContext(), kind.bytes * 8);
  llvm::Function* function = begin({word, word, word}, {word});
  Body body(semantics_, function);
  const char* name = kind.bytes == 8 ? "atomic_result_64" : "atomic_result_32";
  llvm::Value* result =
      body.call(semantics_.function(name), {body.byte(kind.operation), function->getArg(0), function->getArg(1),
                                            function->getArg(2), body.byte(kind.denormals)});
  body.end({result});
  passes_->run(*function);
  return Operation(function);
}

const Operation& Operations::scalar(isa::Opcode opcode) {
  auto found = scalar_.find(opcode);
  if (found == scalar_.end()) found = scalar_.emplace(opcode, make_scalar(opcode)).first;
  return found->second;
}

Operation Operations::make_scalar(isa::Opcode opcode) {
  llvm::LLVMContext& context = semantics_.module().getContext();
  llvm::Type *wide = llvm::Type::getInt64Ty(context), *byte = llvm::Type::getInt8Ty(context);
  llvm::Function* function = begin({wide, wide, wide, wide, byte}, {wide, wide, byte});
  Body body(semantics_, function);
  llvm::Value* arguments = body.words(sizeof(ScalarCall) / 8);
  constexpr size_t members[] = {offsetof(ScalarCall, src), offsetof(ScalarCall, src) + 8, offsetof(ScalarCall, dst),
                                offsetof(ScalarCall, exec), offsetof(ScalarCall, scc)};
  for (unsigned i = 0; i < std::size(members); ++i) body.set(arguments, members[i], function->getArg(i));
  body.call(semantics_.scalar_function(opcode), {arguments});
  body.end({body.get(arguments, offsetof(ScalarCall, dst), wide), body.get(arguments, offsetof(ScalarCall, exec), wide),
            body.get(arguments, offsetof(ScalarCall, scc), byte)});
  passes_->run(*function);
  return Operation(function);
}

}  // namespace Atoll::compiler

// codegen: the passes, a line each.
#include "codegen/compile_ir.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/TargetTransformInfoImpl.h>
#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/IPO/Internalize.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Scalar/StructurizeCFG.h>
#include <llvm/Transforms/Utils/FixIrreducible.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <llvm/Transforms/Utils/UnifyFunctionExitNodes.h>
#include <llvm/Transforms/Utils/UnifyLoopExits.h>

#include <fmt/format.h>

#include <cstdio>

#include "codegen/control_flow.h"
#include "codegen/dead_code.h"
#include "codegen/emission.h"
#include "codegen/global_data.h"
#include "codegen/ir_lowering.h"
#include "codegen/register_allocation.h"
#include "codegen/selector.h"
#include "codegen/wide_integers.h"
#include "support/bytes.h"

namespace Atoll::codegen {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

/// Describes the GPU to LLVM's generic passes.
class TransformInfo final : public llvm::TargetTransformInfoImplCRTPBase<TransformInfo> {
  using Base = llvm::TargetTransformInfoImplCRTPBase<TransformInfo>;

 public:
  explicit TransformInfo(const llvm::DataLayout& layout) : Base(layout) {}

  bool hasBranchDivergence(const llvm::Function* = nullptr) const override { return true; }
  unsigned getFlatAddressSpace() const override { return 0; }
  /// A private array that a loop indexes goes to registers once the loop is unrolled, which is worth much code.
  void getUnrollingPreferences(llvm::Loop* loop, llvm::ScalarEvolution&,
                               llvm::TargetTransformInfo::UnrollingPreferences& preferences,
                               llvm::OptimizationRemarkEmitter*) const override {
    preferences.Threshold = 300;
    preferences.Partial = true;
    for (const llvm::BasicBlock* block : loop->blocks()) {
      for (const llvm::Instruction& at : *block) {
        const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&at);
        if (address == nullptr || address->getPointerAddressSpace() != private_space) continue;
        const auto* array = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(address));
        if (array == nullptr || !array->isStaticAlloca()) continue;
        const auto size = array->getAllocationSize(array->getModule()->getDataLayout());
        if (size && size->getFixedValue() <= 1024) preferences.Threshold = 4000;
      }
    }
  }
  llvm::InstructionUniformity getInstructionUniformity(const llvm::Value* value) const override {
    using enum llvm::InstructionUniformity;
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(value))
      return load->getPointerAddressSpace() == private_space || load->getPointerAddressSpace() == flat_space
                 ? NeverUniform
                 : Default;
    if (llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(value)) return NeverUniform;
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
    if (call == nullptr) return llvm::isa<llvm::CallInst>(value) ? NeverUniform : Default;
    switch (call->getIntrinsicID()) {
      case llvm::Intrinsic::amdgcn_workitem_id_x:
      case llvm::Intrinsic::amdgcn_workitem_id_y:
      case llvm::Intrinsic::amdgcn_workitem_id_z:
      case llvm::Intrinsic::amdgcn_mbcnt_lo:
      case llvm::Intrinsic::amdgcn_mbcnt_hi:
        return NeverUniform;
      case llvm::Intrinsic::amdgcn_readfirstlane:
      case llvm::Intrinsic::amdgcn_readlane:
      case llvm::Intrinsic::amdgcn_ballot:
        return AlwaysUniform;
      default:
        return Default;
    }
  }
};

/// The analyses and pass managers of a compilation.
struct Analyses {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder{nullptr, tuning()};

  /// Vectors of lanes are the GPU's own: vectors of elements cost registers and gain nothing.
  static llvm::PipelineTuningOptions tuning() {
    llvm::PipelineTuningOptions options;
    options.LoopVectorization = options.SLPVectorization = options.LoopInterleaving = false;
    return options;
  }

  Analyses() {
    functions.registerPass([] {
      return llvm::TargetIRAnalysis([](const llvm::Function& function) {
        return llvm::TargetTransformInfo(std::make_unique<TransformInfo>(function.getParent()->getDataLayout()));
      });
    });
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(graph);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, graph, modules);
  }
};

bool is_kernel(const llvm::Function& function) {
  return !function.isDeclaration() && function.getCallingConv() == llvm::CallingConv::AMDGPU_KERNEL;
}

/// Gives variables names that assembly text can have.
void name_variables(llvm::Module& module) {
  unsigned number = 0;
  for (llvm::GlobalVariable& each : module.globals())
    if (each.hasLocalLinkage() && !each.getName().starts_with("llvm."))
      each.setName(fmt::format("variable.{}", number++));
}

/// Gives the variables in LDS their places, for the whole module.
uint32_t place_lds(llvm::Module& module) {
  uint32_t end = 0;
  for (llvm::GlobalVariable& each : module.globals()) {
    if (each.getAddressSpace() != lds_space) continue;
    const llvm::DataLayout& layout = module.getDataLayout();
    const uint64_t align = std::max<uint64_t>(each.getAlign().valueOrOne().value(), 4);
    end = static_cast<uint32_t>(support::align_up(end, align));
    each.setSection(std::to_string(end));
    end += static_cast<uint32_t>(layout.getTypeAllocSize(each.getValueType()).getFixedValue());
  }
  return end;
}

/// Expands what the GPU has no instructions for (ir_lowering.h).
struct LowerIrPass : llvm::PassInfoMixin<LowerIrPass> {
  const target::Processor& processor;
  explicit LowerIrPass(const target::Processor& of) : processor(of) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    split_wide_integers(function);
    lower_ir(function, processor);
    return llvm::PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

/// Makes the kernels the only functions: all others are inlined, as calls are not implemented.
void inline_functions(llvm::Module& module, Analyses& analyses) {
  for (llvm::Function& each : module) {
    if (is_kernel(each) || each.isDeclaration()) continue;
    each.removeFnAttr(llvm::Attribute::NoInline);
    each.removeFnAttr(llvm::Attribute::OptimizeNone);
    each.addFnAttr(llvm::Attribute::AlwaysInline);
  }
  llvm::ModulePassManager passes;
  passes.addPass(llvm::InternalizePass([](const llvm::GlobalValue& value) {
    const auto* function = llvm::dyn_cast<llvm::Function>(&value);
    return function != nullptr && is_kernel(*function);
  }));
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(module, analyses.modules);
}

/// Pointers that a kernel is given without an address space are global: flat ones would be of another work-item's
/// private memory or another work-group's LDS.
void promote_arguments(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (!is_kernel(function)) continue;
    llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
    for (llvm::Argument& argument : function.args()) {
      if (!argument.getType()->isPointerTy() || argument.getType()->getPointerAddressSpace() != flat_space ||
          argument.use_empty())
        continue;
      llvm::Value* global =
          builder.CreateAddrSpaceCast(&argument, llvm::PointerType::get(module.getContext(), global_space));
      llvm::Value* flat = builder.CreateAddrSpaceCast(global, argument.getType());
      argument.replaceUsesWithIf(flat, [&](const llvm::Use& use) { return use.getUser() != global; });
    }
  }
}

/// LLVM's passes of that optimization level.
void optimize(llvm::Module& module, Analyses& analyses, unsigned level) {
  if (level == 0) return;
  const llvm::OptimizationLevel levels[] = {llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
                                            llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  analyses.builder.buildPerModuleDefaultPipeline(levels[std::min(level, 3u)]).run(module, analyses.modules);
}

/// Brings functions into the form that selection expects: scalar operations that instructions have, and structured
/// control flow.
void prepare(llvm::Module& module, Analyses& analyses, const target::Processor& processor) {
  llvm::ModulePassManager passes;
  llvm::FunctionPassManager functions;
  // Without optimization, variables are accessed by flat pointers, which keeps them from becoming values.
  functions.addPass(llvm::InferAddressSpacesPass());
  functions.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  functions.addPass(llvm::InferAddressSpacesPass());
  functions.addPass(llvm::InstCombinePass());
  functions.addPass(llvm::EarlyCSEPass());
  functions.addPass(llvm::SimplifyCFGPass());
  functions.addPass(llvm::LowerSwitchPass());
  functions.addPass(llvm::ScalarizerPass());
  functions.addPass(LowerIrPass(processor));
  functions.addPass(llvm::EarlyCSEPass());
  functions.addPass(llvm::DCEPass());
  functions.addPass(llvm::UnifyFunctionExitNodesPass());
  functions.addPass(llvm::LoopSimplifyPass());
  functions.addPass(llvm::FixIrreduciblePass());
  functions.addPass(llvm::UnifyLoopExitsPass());
  functions.addPass(llvm::LoopSimplifyPass());
  functions.addPass(llvm::StructurizeCFGPass(true));
  functions.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(functions)));
  passes.run(module, analyses.modules);
}

/// The hidden arguments of code object version 5 (user guide, "Hidden arguments").
constexpr struct {
  const char* kind;
  uint32_t offset, size;
} hidden_arguments[] = {
    {"hidden_block_count_x", 0, 4},    {"hidden_block_count_y", 4, 4},    {"hidden_block_count_z", 8, 4},
    {"hidden_group_size_x", 12, 2},    {"hidden_group_size_y", 14, 2},    {"hidden_group_size_z", 16, 2},
    {"hidden_remainder_x", 18, 2},     {"hidden_remainder_y", 20, 2},     {"hidden_remainder_z", 22, 2},
    {"hidden_global_offset_x", 40, 8}, {"hidden_global_offset_y", 48, 8}, {"hidden_global_offset_z", 56, 8},
    {"hidden_grid_dims", 64, 2},       {"hidden_private_base", 192, 4},   {"hidden_shared_base", 196, 4},
};

void find_arguments(const llvm::Function& function, MachineFunction& to) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  // Returns the OpenCL metadata that clang writes for an argument.
  const auto text_of = [&](const char* kind, unsigned number) -> std::string {
    const llvm::MDNode* list = function.getMetadata(kind);
    if (list == nullptr || number >= list->getNumOperands()) return {};
    const auto* text = llvm::dyn_cast<llvm::MDString>(list->getOperand(number));
    return text != nullptr ? text->getString().str() : std::string();
  };
  uint32_t end = 0;
  for (const llvm::Argument& each : function.args()) {
    llvm::Type* type = each.getType();
    const uint32_t align = static_cast<uint32_t>(layout.getABITypeAlign(type).value());
    KernelArgument argument;
    argument.name = each.getName().str();
    argument.offset = static_cast<uint32_t>(support::align_up(end, align));
    argument.size = static_cast<uint32_t>(layout.getTypeAllocSize(type).getFixedValue());
    argument.kind = "by_value";
    if (type->isPointerTy()) {
      const unsigned space = type->getPointerAddressSpace();
      argument.kind = space == lds_space ? "dynamic_shared_pointer" : "global_buffer";
      argument.address_space = space == lds_space ? "local" : space == constant_space ? "constant" : "global";
    }
    argument.type_name = text_of("kernel_arg_type", each.getArgNo());
    const std::string qualifiers = text_of("kernel_arg_type_qual", each.getArgNo());
    argument.is_const = qualifiers.find("const") != std::string::npos;
    argument.is_restrict = qualifiers.find("restrict") != std::string::npos;
    argument.is_volatile = qualifiers.find("volatile") != std::string::npos;
    end = argument.offset + argument.size;
    to.arguments.push_back(std::move(argument));
  }
  const auto uses = [&](llvm::Intrinsic::ID id) {
    const llvm::Function* called =
        llvm::Intrinsic::getDeclarationIfExists(const_cast<llvm::Module*>(function.getParent()), id);
    if (called == nullptr) return false;
    return std::ranges::any_of(called->users(), [&](const llvm::User* user) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      return call != nullptr && call->getFunction() == &function;
    });
  };
  using namespace llvm::Intrinsic;
  // Until GFX8 the apertures' addresses are hidden arguments.
  bool has_flat_casts = false;
  for (const llvm::BasicBlock& block : function) {
    for (const llvm::Instruction& at : block) {
      if (llvm::isa<llvm::AllocaInst>(at)) to.inputs.scratch = true;
      const auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(&at);
      if (cast != nullptr && (cast->getSrcAddressSpace() == lds_space || cast->getSrcAddressSpace() == private_space))
        has_flat_casts = true;
    }
  }
  if (uses(amdgcn_implicitarg_ptr) || uses(amdgcn_is_shared) || uses(amdgcn_is_private) ||
      (has_flat_casts && to.target.processor->generation < target::Generation::gfx9)) {
    const auto base = static_cast<uint32_t>(support::align_up(end, 8));
    for (const auto& each : hidden_arguments)
      to.arguments.push_back({.name = {},
                              .kind = each.kind,
                              .address_space = {},
                              .type_name = {},
                              .offset = base + each.offset,
                              .size = each.size});
    end = base + 256;
  }
  to.kernarg_bytes = end;
  to.inputs.kernarg_ptr = end != 0 || uses(amdgcn_kernarg_segment_ptr);
  to.inputs.dispatch_ptr = uses(amdgcn_dispatch_ptr);
  to.inputs.work_group_id[1] = uses(amdgcn_workgroup_id_y);
  to.inputs.work_group_id[2] = uses(amdgcn_workgroup_id_z);
  to.inputs.work_item_dimensions = uses(amdgcn_workitem_id_z) ? 3 : uses(amdgcn_workitem_id_y) ? 2 : 1;
  if (const llvm::MDNode* size = function.getMetadata("reqd_work_group_size")) {
    uint32_t all = 1;
    for (unsigned i = 0; i < 3; ++i) {
      to.required_work_group_size[i] =
          static_cast<uint32_t>(llvm::mdconst::extract<llvm::ConstantInt>(size->getOperand(i))->getZExtValue());
      all *= to.required_work_group_size[i];
    }
    to.max_work_group_size = all;
  }
}

unsigned wave_size_of(const llvm::Function& function, const CompileOptions& options) {
  const target::Processor& processor = *options.target.processor;
  if (options.wave_size != 0) return options.wave_size;
  const llvm::StringRef features = function.getFnAttribute("target-features").getValueAsString();
  if (features.contains("+wavefrontsize64") && processor.has_wave_size(64)) return 64;
  return processor.has_wave_size(32) ? 32 : 64;
}

/// Reads the modules and links them into one.
Result<std::unique_ptr<llvm::Module>> read_modules(std::span<const IrModule> modules, llvm::LLVMContext& context) {
  std::unique_ptr<llvm::Module> all;
  for (const IrModule& each : modules) {
    llvm::SMDiagnostic diagnostic;
    const auto buffer = llvm::MemoryBuffer::getMemBufferCopy(each.ir, each.name);
    std::unique_ptr<llvm::Module> module = llvm::parseIR(*buffer, diagnostic, context);
    if (module == nullptr) {
      const std::string place = diagnostic.getLineNo() > 0 ? fmt::format(":{}", diagnostic.getLineNo()) : "";
      return fail(ErrorKind::invalid_file, "{}{}: {}", each.name, place, diagnostic.getMessage().str());
    }
    std::string wrong;
    llvm::raw_string_ostream messages(wrong);
    if (llvm::verifyModule(*module, &messages))
      return fail(ErrorKind::invalid_file, "{}: invalid IR: {}", each.name, wrong);
    if (!module->getTargetTriple().isAMDGCN())
      return fail(ErrorKind::incompatible, "{}: the IR is for {}, not for amdgcn", each.name,
                  module->getTargetTriple().str());
    if (all == nullptr)
      all = std::move(module);
    else if (llvm::Linker::linkModules(*all, std::move(module)))
      return fail(ErrorKind::incompatible, "{}: cannot be linked with the modules before it", each.name);
  }
  return all;
}

/// Compiles one kernel: the passes, a line each.
Result<MachineFunction> compile_kernel(llvm::Function& function, Analyses& analyses, const InstructionChoice& choice,
                                       const CompileOptions& options) {
  MachineFunction to;
  to.name = function.getName().str();
  to.target = target::Target(options.target).with_wave_size(wave_size_of(function, options));
  find_arguments(function, to);
  const auto branches = find_divergent_branches(function, analyses.functions);
  if (!branches) return std::unexpected(branches.error());
  auto& uniformity = analyses.functions.getResult<llvm::UniformityInfoAnalysis>(function);
  std::string pass = "select";
  const auto done = [&](const char* next, bool is_ssa) -> Result<void> {
    if (options.print_after == pass || options.print_after == "all")
      fmt::print(stderr, "# after {}\n{}", pass, print(to));
    if (const std::string wrong = validate(to, is_ssa); !wrong.empty())
      return fail(ErrorKind::unsupported, "function {}: after {}: {}", to.name, pass, wrong);
    pass = next;
    return {};
  };
  if (auto ok = Selector(function, to, choice, uniformity, *branches).run(); !ok) return std::unexpected(ok.error());
  if (auto ok = done("eliminate-dead-code", true); !ok) return std::unexpected(ok.error());
  eliminate_dead_code(to);
  if (auto ok = done("eliminate-phis", true); !ok) return std::unexpected(ok.error());
  eliminate_phis(to);
  if (auto ok = done("allocate-registers", false); !ok) return std::unexpected(ok.error());
  if (auto ok = allocate_registers(to); !ok) return std::unexpected(ok.error());
  if (auto ok = done("expand-copies", false); !ok) return std::unexpected(ok.error());
  expand_copies(to);
  if (auto ok = done("emit", false); !ok) return std::unexpected(ok.error());
  return to;
}

}  // namespace

Result<CompiledModule> compile_ir(std::span<const IrModule> modules, const CompileOptions& options) {
  llvm::LLVMContext context;
  auto read = read_modules(modules, context);
  if (!read) return std::unexpected(read.error());
  const std::unique_ptr<llvm::Module> module = std::move(*read);

  Analyses analyses;
  inline_functions(*module, analyses);
  optimize(*module, analyses, options.level);
  promote_arguments(*module);
  prepare(*module, analyses, *options.target.processor);
  name_variables(*module);
  if (options.print_after == "prepare" || options.print_after == "all") module->print(llvm::errs(), nullptr);
  const uint32_t lds_bytes = place_lds(*module);
  const InstructionChoice choice(*options.target.processor);
  CompiledModule compiled;
  std::vector<FinalKernel> kernels;
  for (llvm::Function& function : *module) {
    if (!is_kernel(function)) continue;
    auto kernel = compile_kernel(function, analyses, choice, options);
    Result<FinalKernel> made = kernel ? finish(std::move(*kernel)) : std::unexpected(kernel.error());
    if (made) {
      made->function.lds_bytes = lds_bytes;
      kernels.push_back(std::move(*made));
    } else if (options.keep_going) {
      compiled.refused.push_back(made.error().message);
    } else {
      return std::unexpected(made.error());
    }
  }
  std::vector<std::string> symbols;
  for (const FinalKernel& each : kernels)
    symbols.insert(symbols.end(), each.function.symbols.begin(), each.function.symbols.end());
  const auto data = global_data(*module, symbols);
  if (!data) return std::unexpected(data.error());
  compiled.assembly = assembly_of(kernels, options.target.to_string(), options.version) + assembly_of(*data);
  return compiled;
}

}  // namespace Atoll::codegen

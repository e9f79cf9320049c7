// compiler: the host compiler (host_code.h).
//
// The passes are few: the calls into semantics are inlined, the memory that their arguments went through becomes
// values, and what nobody needs goes. Loops are as they should be and stay so.
#include "compiler/host_code.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

namespace Atoll::compiler {

namespace {

using support::ErrorKind;
using support::fail;

void optimise(llvm::Module& module, llvm::TargetMachine& target) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager call_graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&target);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(call_graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, call_graph, modules);

  llvm::FunctionPassManager function_passes;
  function_passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  function_passes.addPass(llvm::EarlyCSEPass(true));
  function_passes.addPass(llvm::InstCombinePass());
  function_passes.addPass(llvm::SimplifyCFGPass());
  function_passes.addPass(llvm::EarlyCSEPass(true));
  function_passes.addPass(llvm::DSEPass());
  function_passes.addPass(llvm::ADCEPass());

  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetimeIntrinsics=*/false));
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(function_passes)));
  passes.run(module, modules);
}

}  // namespace

support::Result<std::unique_ptr<HostCompiler>> HostCompiler::create() {
  static const bool initialised = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialised;
  const std::string triple = llvm::sys::getProcessTriple();
  std::string problem;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (target == nullptr) return fail(ErrorKind::system, "the host's code generator: {}", problem);
  llvm::SubtargetFeatures features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) features.AddFeature(feature.first(), feature.second);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // v_mad rounds twice, v_fma once
  auto compiler = std::make_unique<HostCompiler>();
  compiler->target_.reset(target->createTargetMachine(triple, llvm::sys::getHostCPUName(), features.getString(),
                                                      options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                      llvm::CodeGenOptLevel::Default));
  return compiler;
}

support::Result<llvm::SmallVector<char, 0>> HostCompiler::compile(llvm::Module& module) {
  module.setDataLayout(target_->createDataLayout());
  module.setTargetTriple(target_->getTargetTriple().str());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  const std::string features = target_->getTargetFeatureString().str();
  for (llvm::Function& function : module) {
    for (const char* attribute : {"target-cpu", "target-features", "tune-cpu", "min-legal-vector-width"}) {
      function.removeFnAttr(attribute);
    }
    function.addFnAttr("target-cpu", target_->getTargetCPU());
    function.addFnAttr("target-features", features);
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("min-legal-vector-width", "512");
  }
  optimise(module, *target_);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (target_->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    return fail(ErrorKind::system, "the host's code generator writes no object files");
  }
  passes.run(module);
  return object;
}

}  // namespace Atoll::compiler

// engine/compiled: the host compiler (host_code.h).
//
// The passes are few: the calls into semantics are inlined, the memory that their arguments went through becomes
// values, and what nobody needs goes. Loops are as they should be and stay so.
#include "engine/compiled/host_code.h"

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

namespace Atoll::engine {

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
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetAsmParser();
  const auto problem = [](llvm::Error error) {
    return fail(ErrorKind::system, "the host's code generator: {}", llvm::toString(std::move(error)));
  };
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!host) return problem(host.takeError());
  host->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  host->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;  // v_mad rounds twice, v_fma once
  auto target = host->createTargetMachine();
  if (!target) return problem(target.takeError());
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(*host).create();
  if (!jit) return problem(jit.takeError());
  auto compiler = std::make_unique<HostCompiler>();
  compiler->jit_ = std::move(*jit);
  compiler->target_ = std::move(*target);
  return compiler;
}

support::Result<void*> HostCompiler::compile(std::unique_ptr<llvm::LLVMContext> context,
                                             std::unique_ptr<llvm::Module> module, const std::string& name) {
  module->setDataLayout(target_->createDataLayout());
  module->setTargetTriple(target_->getTargetTriple().str());
  const std::string features = target_->getTargetFeatureString().str();
  for (llvm::Function& function : *module) {
    for (const char* attribute : {"target-cpu", "target-features", "tune-cpu", "min-legal-vector-width"}) {
      function.removeFnAttr(attribute);
    }
    function.addFnAttr("target-cpu", target_->getTargetCPU());
    function.addFnAttr("target-features", features);
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("min-legal-vector-width", "512");
  }
  optimise(*module, *target_);
  if (auto error = jit_->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context)))) {
    return fail(ErrorKind::system, "the host's code generator: {}", llvm::toString(std::move(error)));
  }
  auto address = jit_->lookup(name);
  if (!address) return fail(ErrorKind::system, "the host's linker: {}", llvm::toString(address.takeError()));
  return address->toPtr<void*>();
}

}  // namespace Atoll::engine

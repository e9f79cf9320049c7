// compiler: the host compiler (host_code.h).
//
// The passes are few: the operations that have branches (operation.h) are inlined, registers become values, and what
// is not needed goes. Loops are as they should be and stay so. For large code there are fewer still.
#include "compiler/llvm/host_code.h"

#include "compiler/llvm/double_flushes.h"
#include "compiler/llvm/unused_loads.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
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

/// LLVM's own pipeline for the target, whose last part only LLVM's classes may add.
class Pipeline : public llvm::TargetPassConfig {
 public:
  using TargetPassConfig::addCoreISelPasses;
};

/// What improves the code and is not needed for it. In large code without them kernels run as fast as with them.
const void* const improvements[] = {&llvm::EarlyTailDuplicateLegacyID,
                                    &llvm::PeepholeOptimizerLegacyID,
                                    &llvm::EarlyIfConverterLegacyID,
                                    &llvm::EarlyMachineLICMID,
                                    &llvm::MachineCSELegacyID,
                                    &llvm::MachineSinkingLegacyID,
                                    &llvm::MachineCombinerID,
                                    &llvm::MachineSchedulerID,
                                    &llvm::MachineLICMID,
                                    &llvm::PostRAMachineSinkingID,
                                    &llvm::ShrinkWrapID,
                                    &llvm::BranchFolderPassID,
                                    &llvm::TailDuplicateLegacyID,
                                    &llvm::MachineBlockPlacementID,
                                    &llvm::MachineLateInstrsCleanupID,
                                    &llvm::MachineCopyPropagationID};

/// Adds the passes of TargetMachine::addPassesToEmitFile() for an object file. `fast_compile` leaves out passes
/// that take a quarter of the time. Returns false if LLVM has no such pipeline.
bool add_code_generator(llvm::legacy::PassManager& passes, llvm::TargetMachine& target, llvm::raw_pwrite_stream& object,
                        bool fast_compile) {
  auto* machine = new llvm::MachineModuleInfoWrapperPass(&target);
  llvm::TargetPassConfig* config = target.createPassConfig(passes);
  config->setDisableVerify(true);
  passes.add(config);
  passes.add(machine);
  if (fast_compile) {
    for (const void* improvement : improvements) config->disablePass(improvement);
    // As TargetPassConfig::addISelPasses(), but without CodeGenPrepare.
    passes.add(llvm::createTargetTransformInfoWrapperPass(target.getTargetIRAnalysis()));
    passes.add(llvm::createPreISelIntrinsicLoweringPass());
    passes.add(llvm::createExpandIRInstsPass(target.getOptLevel()));
    config->addIRPasses();
    config->addPassesToHandleExceptions();
    config->addISelPrepare();
    if ((config->*&Pipeline::addCoreISelPasses)()) return false;
  } else if (config->addISelPasses()) {
    return false;
  }
  config->addMachinePasses();
  config->setInitialized();
  llvm::MCContext& context = machine->getMMI().getContext();
  if (target.addAsmPrinter(passes, object, nullptr, llvm::CodeGenFileType::ObjectFile, context)) return false;
  passes.add(llvm::createFreeMachineFunctionPass());
  return true;
}

llvm::Triple host_triple() { return llvm::Triple(llvm::sys::getProcessTriple()); }

}  // namespace

support::Result<std::unique_ptr<HostCompiler>> HostCompiler::create() {
  static const bool initialised = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    // Disables passes that do not help: chunk loops already have suitable addresses, the host executes out of order,
    // and masks are placed by mask_scalarization.h.
    const char* const options[] = {"atoll-compiler", "-disable-lsr", "-post-RA-scheduler=false",
                                   "-disable-x86-domain-reassignment"};
    llvm::cl::ParseCommandLineOptions(static_cast<int>(std::size(options)), options);
    return true;
  }();
  (void)initialised;
  std::string problem;
  auto compiler = std::make_unique<HostCompiler>();
  compiler->architecture_ = llvm::TargetRegistry::lookupTarget(host_triple(), problem);
  if (compiler->architecture_ == nullptr) return fail(ErrorKind::system, "the host's code generator: {}", problem);
  return compiler;
}

/// For any processor of that level: what is in the cache may be run on another host.
llvm::TargetMachine& HostCompiler::target(semantics::HostVectors level) {
  std::unique_ptr<llvm::TargetMachine>& made = targets_[level];
  if (made == nullptr) {
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // v_mad rounds twice, v_fma once
    made.reset(architecture_->createTargetMachine(host_triple(), semantics::psabi_name(level), "", options,
                                                  llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                  llvm::CodeGenOptLevel::Default));
  }
  return *made;
}

void HostCompiler::set_target(llvm::Module& module, semantics::HostVectors level) {
  const llvm::TargetMachine& target = this->target(level);
  module.setDataLayout(target.createDataLayout());
  module.setTargetTriple(target.getTargetTriple());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  static const std::string tuned_for = llvm::sys::getHostCPUName().str();
  for (llvm::Function& function : module) {
    for (const char* attribute : {"target-features", "min-legal-vector-width"}) function.removeFnAttr(attribute);
    function.addFnAttr("target-cpu", target.getTargetCPU());
    function.addFnAttr("tune-cpu", tuned_for);
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("min-legal-vector-width", "512");
    // LLVM has functions that leave whole registers to their caller (ChunkMemory's shared ones) clear these registers'
    // upper halves, as others do when they return.
    if (function.getCallingConv() == llvm::CallingConv::Intel_OCL_BI) {
      function.addFnAttr("target-features", "-vzeroupper");
    }
  }
}

void HostCompiler::optimise(llvm::Module& module, semantics::HostVectors level, bool fast_compile) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager call_graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&target(level));
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(call_graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, call_graph, modules);

  llvm::FunctionPassManager function_passes;
  function_passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  function_passes.addPass(KeepUnusedLoads());
  function_passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/!fast_compile));
  function_passes.addPass(llvm::InstCombinePass());
  function_passes.addPass(llvm::SimplifyCFGPass());
  function_passes.addPass(DropDoubleFlushes());
  function_passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/!fast_compile));
  if (!fast_compile) function_passes.addPass(llvm::DSEPass());
  function_passes.addPass(llvm::ADCEPass());

  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetimeIntrinsics=*/false));
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(function_passes)));
  passes.run(module, modules);
}

support::Result<llvm::SmallVector<char, 0>> HostCompiler::generate(llvm::Module& module, semantics::HostVectors level,
                                                                   bool fast_compile) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (!add_code_generator(passes, target(level), stream, fast_compile)) {
    return fail(ErrorKind::system, "the host's code generator writes no object files");
  }
  passes.run(module);
  return object;
}

}  // namespace Atoll::compiler

// compiler: all passes, in the order in which they run (passes.h).
#include "compiler/driver/passes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/analysis/hotness.h"
#include "compiler/analysis/liveness.h"
#include "compiler/analysis/loop_region.h"
#include "compiler/analysis/superblocks.h"
#include "compiler/llvm/bit_select.h"
#include "compiler/llvm/mask_expansion.h"
#include "compiler/llvm/mask_scalarization.h"
#include "compiler/llvm/slow_path.h"
#include "compiler/lowering/block_text.h"
#include "compiler/lowering/plan_text.h"
#include "compiler/lowering/plan_validation.h"
#include "compiler/lowering/region_plan.h"
#include "compiler/memory/scratch_buffers.h"

namespace Atoll::compiler {

namespace {

/// Validates the plan, and prints it if requested.
void report(const LoopPlan& plan, const engine::ControlFlow& flow, const Liveness& liveness, PlanReport& about_plans) {
  const std::vector<std::string> faults = faults_of(plan, flow, liveness);
  if (about_plans.text != nullptr) {
    // A wrong plan may be one that cannot be printed.
    if (faults.empty()) *about_plans.text += print(plan, flow, liveness);
    for (const std::string& fault : faults) *about_plans.text += "  WRONG: " + fault + '\n';
  }
  for (const std::string& fault : faults) {
    about_plans.faults.push_back(fmt::format("loop region at {:#x}: {}", plan.region.entry, fault));
  }
}

}  // namespace

support::Result<CompiledModule> run_passes(const ModuleRequest& request, HostCompiler* host,
                                           const std::function<void(std::span<const Translated>)>& emitted) {
  // 1. Decoding and the control-flow graph: the engine has done both (engine::follow), and sends the blocks' bytes,
  //    which TranslationRequest::parse() has decoded. Large code has been cut into parts (analysis/partition.h).
  Translation translation(request.target, request.level);
  CompiledModule result;
  std::vector<std::string> names;
  PlanReport about_plans{.text = request.region_dump, .faults = {}};
  uint64_t next_helper = request.first_helper;
  for (const engine::ControlFlow& flow : request.parts) {
    // 2. Analyses: which registers are needed later; what is run often; which loops' lanes do not meet, so that a chunk
    //    can run them as a whole; what is left, in superblocks, whose branches over code for no lanes are removed;
    //    which buffers are not scratch.
    const Liveness liveness(flow);
    const Hotness hotness(flow, request.fast_compile);
    //    Where blocks are looked at or told of as they begin, they stay as they are.
    const bool as_they_are = flow.instrumentation.keeps_blocks();
    const std::vector<LoopRegion> loops = as_they_are ? std::vector<LoopRegion>{} : find_loop_regions(flow, liveness);
    const std::vector<Superblock> superblocks = find_superblocks(flow, liveness, loops, [&](uint64_t pc) {
      return !as_they_are && hotness.versioning(pc) == Versioning::never;
    });
    // 3. Planning: what the host code of each loop leaves in the wave. The plans are checked before anything is made
    //    from them.
    std::vector<LoopPlan> plans;
    for (const LoopRegion& loop : loops) plans.push_back(plan_loop(loop, flow, liveness));
    for (const LoopPlan& plan : plans) report(plan, flow, liveness, about_plans);
    // 4. Emission, as LLVM's code. The regions within superblocks are planned there, one after the other (Region::add),
    //    as they depend on how scalar registers stand where the builder is; each plan is checked before it is emitted,
    //    too (Region::end).
    const CodeFacts facts{.flow = flow,
                          .liveness = liveness,
                          .hotness = hotness,
                          .loops = plans,
                          .superblocks = superblocks,
                          .ordinary_resources = ordinary_resources(flow)};
    if (request.region_dump != nullptr) *request.region_dump += print_blocks(flow, liveness);
    const std::string& name = names.emplace_back(fmt::format("code{}", names.size()));
    Translated translated = translation.add(facts, name, next_helper, about_plans);
    next_helper += translated.helper_pcs.size();
    result.parts.push_back(std::move(translated));
  }
  if (!about_plans.faults.empty()) {
    return support::fail(support::ErrorKind::unsupported, "the plan of a region is wrong: {}",
                         fmt::join(about_plans.faults, "; "));
  }
  emitted(result.parts);
  if (host == nullptr) return result;
  // 5. LLVM's passes and those of ours over its code, and the object file.
  const auto object =
      compile_module(translation.finish(), *host, request.level, request.fast_compile, request.after_step);
  if (!object) return std::unexpected(object.error());
  // 6. A run of bytes that the engine can place anywhere.
  auto code = link_object(*object, names);
  if (!code) return std::unexpected(code.error());
  result.code = *std::move(code);
  return result;
}

support::Result<llvm::SmallVector<char, 0>> compile_module(llvm::Module& module, HostCompiler& host,
                                                           semantics::HostVectors level, bool fast_compile,
                                                           const AfterStep& after_step) {
  auto done = [&, step = size_t{0}]() mutable {
    if (after_step) after_step(ir_steps[step++], module);
  };
  host.set_target(module, level);
  done();
  // LLVM's: operations are inlined, registers become values, what is not needed goes.
  host.optimise(module, level, fast_compile);
  done();
  // What operations do in rare lanes is moved out of the way.
  for (llvm::Function& function : module) insert_slow_paths(function);
  done();
  // Lane masks as the host likes them: words where they are worked on as a whole, and in vectors or mask registers
  // where they choose lanes.
  for (llvm::Function& function : module) scalarize_masks(function);
  done();
  for (llvm::Function& function : module) {
    if (level == semantics::HostVectors::avx512) {
      combine_ternary_logic(function);
    } else {
      expand_masks(function);
    }
  }
  done();
  return host.generate(module, level, fast_compile);
}

}  // namespace Atoll::compiler

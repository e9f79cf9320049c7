// compiler: compiles a request.
//
// Large code is partitioned, and several threads may compile the parts. passes.cpp lists the passes for each part.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "compiler/llvm/host_code.h"
#include "engine/compiled/translation.h"
#include "support/error.h"

namespace Atoll::compiler {

/// Threads for one request.
struct WorkerPool {
  unsigned threads = 1;  ///< including the caller's
  /// Starts another thread.
  std::function<std::thread(std::function<void()>)> start = [](const std::function<void()>& work) {
    return std::thread(work);
  };
};

/// `is_wanted` is polled by one thread at a time; if it returns false, compilation is cancelled with an error.
support::Result<engine::TranslatedCode> compile(
    const engine::TranslationRequest& request, HostCompiler& host,
    const std::function<bool()>& is_wanted = [] { return true; }, const WorkerPool& pool = {});

/// Adds the LLVM IR of the code after each step of the compiler, or after `step` alone (ir_steps in passes.h).
support::Result<void> dump_ir(const engine::TranslationRequest& request, std::string_view step, std::string& text);

/// Adds what becomes of the code: its blocks (lowering/block_text.h), its superblocks, and the plans of its regions
/// (lowering/plan_text.h). Error: a plan is wrong; the text says so, too.
support::Result<void> dump_regions(const engine::TranslationRequest& request, std::string& text);

}  // namespace Atoll::compiler

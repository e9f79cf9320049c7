// compiler: the way from a request to its answer.
//
// Large code is cut into parts, on which several threads may work. What is done to each, one pass after the other, is
// in passes.cpp.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "compiler/llvm/host_code.h"
#include "engine/compiled/translation.h"
#include "support/error.h"

namespace Atoll::compiler {

/// Who is at one request.
struct WorkerPool {
  unsigned threads = 1;  ///< with the caller's own
  /// Starts one of the others.
  std::function<std::thread(std::function<void()>)> start = [](const std::function<void()>& work) {
    return std::thread(work);
  };
};

/// `is_wanted` is asked now and then, by one thread at a time; when it says no, the result is an error.
support::Result<engine::TranslatedCode> compile(
    const engine::TranslationRequest& request, HostCompiler& host,
    const std::function<bool()>& is_wanted = [] { return true; }, const WorkerPool& pool = {});

/// Adds the LLVM IR of the code after each step of the compiler, or after `step` alone (ir_steps in passes.h).
support::Result<void> dump_ir(const engine::TranslationRequest& request, std::string_view step, std::string& text);

/// Adds what becomes of the code: its blocks (lowering/block_text.h), its superblocks, and the plans of its regions
/// (lowering/plan_text.h). Error: a plan is wrong; the text says so, too.
support::Result<void> dump_regions(const engine::TranslationRequest& request, std::string& text);

}  // namespace Atoll::compiler

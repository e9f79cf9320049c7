// compiler: the way from a request to its answer (compile.h).
//
// Code is cut into parts (partition.h), which are compiled some at a time. Where there are several threads, each has an
// LLVM of its own: nothing is shared but what is left to do.
#include "compiler/driver/compile.h"

#include <algorithm>
#include <ctime>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/analysis/liveness.h"
#include "compiler/analysis/memory_operands.h"
#include "compiler/analysis/partition.h"
#include "compiler/driver/passes.h"
#include "compiler/lowering/matrix_lowering.h"
#include "compiler/memory/scalar_memory.h"
#include "engine/compiled/compiling_worth.h"
#include "isa/table.h"
#include "support/bytes.h"

namespace Atoll::compiler {

namespace {

/// Seconds that this thread has computed.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Larger code is cut: LLVM's time for a function grows faster than the function from about here on.
constexpr uint64_t part_instructions = 500;

/// Whether the code is so large that what is not in a loop may be slower if it is the sooner compiled.
bool wants_fast_compile(const engine::TranslationRequest& request) {
  return request.flow.instructions > engine::brief_from_instructions;
}

/// Parts are compiled together, as what they share is made once: as long as LLVM's memory stays moderate, and there is
/// work for all threads.
constexpr uint64_t max_module_instructions = 4000, least_module_instructions = 600;

/// One request, on which any number of threads work: each has the next parts emitted, in turns, and compiles them while
/// the others do the same with what follows.
class Compilation {
 public:
  Compilation(const engine::TranslationRequest& request, const std::function<bool()>& is_wanted, unsigned threads)
      : request_(request),
        is_wanted_(is_wanted),
        parts_(cut(request.flow, part_instructions)),
        threads_(std::clamp<uint64_t>(
            std::min<uint64_t>(parts_.size(), request.flow.instructions / least_module_instructions), 1, threads)),
        left_(request.flow.instructions) {}

  /// Those that find something to do.
  uint64_t threads() const { return threads_; }

  /// Until nothing is left, or something has failed.
  void work(HostCompiler& host) {
    const double start = thread_seconds();
    for (;;) {
      // The helper calls are numbered through, so modules are emitted one after the other.
      std::unique_lock turn(mutex_);
      const auto parts = take_next();
      if (parts.empty()) break;
      CompiledModule& module = modules_.emplace_back();
      const ModuleRequest request{.parts = parts,
                                  .target = request_.target,
                                  .level = request_.level,
                                  .first_helper = helper_pcs_.size(),
                                  .fast_compile = wants_fast_compile(request_)};
      auto compiled = run_passes(request, &host, [&](std::span<const Translated> translated) {
        for (size_t i = 0; i < parts.size(); ++i) note_helpers(parts[i], translated[i]);
        turn.unlock();
      });
      if (turn.owns_lock()) turn.unlock();
      if (compiled) {
        module = *std::move(compiled);
      } else {
        fail(compiled.error());
      }
    }
    const std::lock_guard lock(mutex_);
    seconds_ += thread_seconds() - start;
  }

  void fail(const support::Error& error) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = error;
  }

  /// When all threads are done.
  support::Result<void> finish(engine::TranslatedCode& result) {
    if (failure_) return std::unexpected(*failure_);
    for (const CompiledModule& module : modules_) add(result, module);
    result.helper_pcs = std::move(helper_pcs_);
    result.untranslated = std::move(untranslated_);
    result.seconds = seconds_;
    return {};
  }

 private:
  /// The next parts, to be a module; none: there are no more, or something has failed. With the mutex held.
  std::span<const engine::ControlFlow> take_next() {
    if (failure_ || next_part_ == parts_.size()) return {};
    if (!is_wanted_()) {
      failure_ = support::Error{support::ErrorKind::system, "the code is not wanted any more"};
      return {};
    }
    // The pieces become smaller towards the end, so that all threads end at about the same time.
    const uint64_t share = threads_ == 1 ? left_ : left_ / (2 * threads_);
    const uint64_t most = std::clamp(share, least_module_instructions, max_module_instructions);
    const size_t first = next_part_;
    uint64_t size = 0;
    do {
      size += parts_[next_part_++].instructions;
    } while (next_part_ != parts_.size() && size + parts_[next_part_].instructions <= most);
    left_ -= std::min(size, left_);
    return std::span(parts_).subspan(first, next_part_ - first);
  }

  void note_helpers(const engine::ControlFlow& part, const Translated& translated) {
    helper_pcs_.insert(helper_pcs_.end(), translated.helper_pcs.begin(), translated.helper_pcs.end());
    for (const uint64_t pc : translated.helper_pcs) {
      const engine::Block& block = std::prev(part.blocks.upper_bound(pc))->second;
      for (const engine::Located& at : block.instructions) {
        if (at.pc != pc || MatrixLowering::takes(at.instruction)) continue;
        const bool reports_itself = (part.instrumentation.filtered_accesses || part.instrumentation.loads) &&
                                    (memory_operands(at.instruction) || ScalarMemory::takes(at.instruction));
        if (reports_itself) continue;
        ++untranslated_[std::string(isa::row(at.instruction.opcode).name)];
      }
    }
  }

  static void add(engine::TranslatedCode& result, const CompiledModule& module) {
    const auto place = static_cast<uint32_t>(support::align_up(result.code.size(), 64));
    result.code.resize(place);
    result.code.insert(result.code.end(), module.code.bytes.begin(), module.code.bytes.end());
    for (const auto& [slot, function] : module.code.imports) result.imports.push_back({place + slot, function});
    for (size_t i = 0; i < module.parts.size(); ++i) {
      uint32_t number = 0;
      for (const uint64_t pc : module.parts[i].entries) {
        result.entries.push_back({pc, place + static_cast<uint32_t>(module.code.entries[i]), number++});
      }
    }
  }

  const engine::TranslationRequest& request_;
  const std::function<bool()>& is_wanted_;
  const std::vector<engine::ControlFlow> parts_;
  const uint64_t threads_;

  std::mutex mutex_;  ///< of what follows
  size_t next_part_ = 0;
  uint64_t left_;  ///< instructions of parts that have not been started
  std::deque<CompiledModule> modules_;
  std::vector<uint64_t> helper_pcs_;
  std::map<std::string, uint64_t> untranslated_;
  std::optional<support::Error> failure_;
  double seconds_ = 0;  ///< of all threads
};

void note_start(engine::TranslatedCode& result, const engine::ControlFlow& flow, unsigned wave_size) {
  const Liveness liveness(flow);
  const Live& live = liveness.before(flow.root);
  const VectorSet rows = live.active | live.inactive;
  for (size_t key = 0; key < rows.size(); ++key) {
    if (rows[key]) result.start_rows.push_back(static_cast<uint16_t>(key));
  }
  for (unsigned reg = 0; reg < isa::scalar::count; ++reg) {
    // Every wave has its own EXEC.
    if (live.scalars[reg] && !is_exec(reg, wave_size / 32)) result.start_scalars = static_cast<uint16_t>(reg + 1);
  }
}

}  // namespace

support::Result<engine::TranslatedCode> compile(const engine::TranslationRequest& request, HostCompiler& host,
                                                const std::function<bool()>& is_wanted, const WorkerPool& pool) {
  const double start = thread_seconds();
  engine::TranslatedCode result;
  result.instructions = request.flow.instructions;
  note_start(result, request.flow, request.target.wave_size);
  Compilation compilation(request, is_wanted, std::max(1u, pool.threads));
  const double prepared = thread_seconds() - start;
  std::vector<std::thread> others;
  while (others.size() + 1 < compilation.threads()) {
    others.push_back(pool.start([&] {
      const auto own = HostCompiler::create();
      if (own) compilation.work(**own);
      if (!own) compilation.fail(own.error());
    }));
  }
  compilation.work(host);
  for (std::thread& other : others) other.join();
  if (auto done = compilation.finish(result); !done) return std::unexpected(done.error());
  result.seconds += prepared;
  return result;
}

support::Result<void> dump_ir(const engine::TranslationRequest& request, std::string_view step, std::string& text) {
  const auto host = HostCompiler::create();
  if (!host) return std::unexpected(host.error());
  const std::vector<engine::ControlFlow> parts = cut(request.flow, part_instructions);
  llvm::raw_string_ostream stream(text);
  const ModuleRequest module{.parts = parts,
                             .target = request.target,
                             .level = request.level,
                             .fast_compile = wants_fast_compile(request),
                             .after_step = [&](std::string_view name, const llvm::Module& code) {
                               if (!step.empty() && step != name) return;
                               stream << "; after " << name << '\n';
                               if (name != ir_steps[0]) return code.print(stream, nullptr);
                               // Not the functions of semantics, which are the same for all code.
                               for (const llvm::Function& function : code) {
                                 if (!function.isDeclaration() && function.getName().starts_with("code"))
                                   function.print(stream);
                               }
                             }};
  const auto done = run_passes(module, host->get(), [](std::span<const Translated>) {});
  if (!done) return std::unexpected(done.error());
  return {};
}

support::Result<void> dump_regions(const engine::TranslationRequest& request, std::string& text) {
  const std::vector<engine::ControlFlow> parts = cut(request.flow, part_instructions);
  const ModuleRequest module{.parts = parts,
                             .target = request.target,
                             .level = request.level,
                             .fast_compile = wants_fast_compile(request),
                             .region_dump = &text};
  const auto done = run_passes(module, nullptr, [](std::span<const Translated>) {});
  if (!done) return std::unexpected(done.error());
  return {};
}

}  // namespace Atoll::compiler

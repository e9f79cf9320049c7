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
#include <string>
#include <vector>

#include <fmt/format.h>

#include "compiler/analysis/liveness.h"
#include "compiler/analysis/partition.h"
#include "compiler/llvm/linking.h"
#include "compiler/lowering/matrix_lowering.h"
#include "compiler/lowering/translate.h"
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

/// Parts are compiled together, as what they share is made once: as long as LLVM's memory stays moderate, and there is
/// work for all threads.
constexpr uint64_t most_module_instructions = 4000, least_module_instructions = 600;

/// Parts that are functions of one module.
struct CompilationUnit {
  std::unique_ptr<Translation> translation;  ///< until it is compiled
  std::vector<std::string> names;            ///< of the functions
  std::vector<Translated> translated;
  LinkedCode code;
};

/// One request, on which any number of threads work: each translates what is next and compiles it while the others do
/// the same with what follows.
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
    while (CompilationUnit* unit = translate_next()) {
      auto code = compile(*unit, host);
      unit->translation.reset();
      if (code) {
        unit->code = *std::move(code);
      } else {
        fail(code.error());
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
    for (const CompilationUnit& unit : units_) add(result, unit);
    result.helper_pcs = std::move(helper_pcs_);
    result.untranslated = std::move(untranslated_);
    result.seconds = seconds_;
    return {};
  }

 private:
  bool be_brief() const { return request_.flow.instructions > engine::brief_from_instructions; }

  /// The next parts as a module, or null. The helper calls are numbered through, so this is one after the other.
  CompilationUnit* translate_next() {
    const std::lock_guard lock(mutex_);
    if (failure_ || next_part_ == parts_.size()) return nullptr;
    if (!is_wanted_()) {
      failure_ = support::Error{support::ErrorKind::system, "the code is not wanted any more"};
      return nullptr;
    }
    // The pieces become smaller towards the end, so that all threads end at about the same time.
    const uint64_t share = threads_ == 1 ? left_ : left_ / (2 * threads_);
    const uint64_t most = std::clamp(share, least_module_instructions, most_module_instructions);
    CompilationUnit& unit = units_.emplace_back();
    unit.translation = std::make_unique<Translation>(request_.target, request_.level);
    uint64_t size = 0;
    do {
      const engine::ControlFlow& part = parts_[next_part_++];
      size += part.instructions;
      const std::string& name = unit.names.emplace_back("code" + std::to_string(unit.names.size()));
      note_helpers(part,
                   unit.translated.emplace_back(unit.translation->add(part, name, helper_pcs_.size(), be_brief())));
    } while (next_part_ != parts_.size() && size + parts_[next_part_].instructions <= most);
    left_ -= std::min(size, left_);
    return &unit;
  }

  void note_helpers(const engine::ControlFlow& part, const Translated& translated) {
    helper_pcs_.insert(helper_pcs_.end(), translated.helper_pcs.begin(), translated.helper_pcs.end());
    for (const uint64_t pc : translated.helper_pcs) {
      const engine::Block& block = std::prev(part.blocks.upper_bound(pc))->second;
      for (const engine::Located& at : block.instructions) {
        if (at.pc != pc || MatrixLowering::takes(at.instruction)) continue;
        ++untranslated_[std::string(isa::row(at.instruction.opcode).name)];
      }
    }
  }

  support::Result<LinkedCode> compile(CompilationUnit& unit, HostCompiler& host) const {
    const auto object = host.compile(unit.translation->finish(), request_.level, be_brief());
    if (!object) return std::unexpected(object.error());
    return link_object(*object, unit.names);
  }

  static void add(engine::TranslatedCode& result, const CompilationUnit& unit) {
    const auto place = static_cast<uint32_t>(support::align_up(result.code.size(), 64));
    result.code.resize(place);
    result.code.insert(result.code.end(), unit.code.bytes.begin(), unit.code.bytes.end());
    for (const auto& [slot, function] : unit.code.imports) result.imports.push_back({place + slot, function});
    for (size_t i = 0; i < unit.translated.size(); ++i) {
      uint32_t number = 0;
      for (const uint64_t pc : unit.translated[i].entries) {
        result.entries.push_back({pc, place + static_cast<uint32_t>(unit.code.entries[i]), number++});
      }
    }
  }

  const engine::TranslationRequest& request_;
  const std::function<bool()>& is_wanted_;
  const std::vector<engine::ControlFlow> parts_;
  const uint64_t threads_;

  std::mutex mutex_;  ///< of what follows
  size_t next_part_ = 0;
  uint64_t left_;  ///< instructions of parts that nobody has begun
  std::deque<CompilationUnit> units_;
  std::vector<uint64_t> helper_pcs_;
  std::map<std::string, uint64_t> untranslated_;
  std::optional<support::Error> failure_;
  double seconds_ = 0;  ///< of all threads
};

void note_start(engine::TranslatedCode& result, const engine::ControlFlow& flow) {
  const Liveness liveness(flow);
  const Live& live = liveness.before(flow.root);
  const VectorSet rows = live.active | live.inactive;
  for (size_t key = 0; key < rows.size(); ++key) {
    if (rows[key]) result.start_rows.push_back(static_cast<uint16_t>(key));
  }
  for (unsigned reg = 0; reg < isa::scalar::count; ++reg) {
    const bool is_exec = (reg & ~1u) == isa::scalar::exec_lo;  // every wave has its own
    if (live.scalars[reg] && !is_exec) result.start_scalars = static_cast<uint16_t>(reg + 1);
  }
}

}  // namespace

support::Result<engine::TranslatedCode> compile(const engine::TranslationRequest& request, HostCompiler& host,
                                                const std::function<bool()>& is_wanted, const WorkerPool& pool) {
  const double start = thread_seconds();
  engine::TranslatedCode result;
  result.instructions = request.flow.instructions;
  note_start(result, request.flow);
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

std::string dump_regions(const engine::TranslationRequest& request) {
  std::string text;
  Translation translation(request.target, request.level);
  translation.dump_regions_to(&text);
  const bool be_brief = request.flow.instructions > engine::brief_from_instructions;
  uint64_t helpers = 0;
  for (const engine::ControlFlow& part : cut(request.flow, part_instructions)) {
    helpers += translation.add(part, fmt::format("code{:x}", part.root), helpers, be_brief).helper_pcs.size();
  }
  return text;
}

}  // namespace Atoll::compiler

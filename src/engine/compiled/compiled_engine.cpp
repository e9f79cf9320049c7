// engine/compiled: the compiled engine (compiled_engine.h).
#include "engine/compiled/compiled_engine.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "engine/compiled/compiled_run.h"
#include "engine/compiled/translations.h"
#include "engine/interpreter/code_cache.h"
#include "engine/interpreter/global_wave_sync.h"
#include "engine/interpreter/interpreter.h"
#include "engine/interpreter/register_index.h"
#include "machine/report/fault_guard.h"
#include "machine/wave/dispatch.h"
#include "machine/wave_control.h"
#include "support/environment.h"

namespace Atoll::engine {

namespace {

/// Instructions interpreted from an entry before the tier-up policy is evaluated, because finding the control flow
/// takes half a millisecond. (Compiling pays off after at least ten times as many: compilations.h.)
constexpr uint64_t worth_asking = 100'000;
/// Of them, those that a thread runs before it counts them there.
constexpr uint64_t min_reported = 10'000;

/// Instructions that a wave is run on for when it has faulted in a region: more than one round of a region has.
constexpr uint64_t retrace_budget = 1'000'000;

/// Whether waves wait for translated code instead of starting in the interpreter: $ATOLL_COMPILE=wait.
bool waits_for_code() {
  const char* wish = support::environment_variable(support::Setting::compile);
  return wish != nullptr && std::string_view(wish) == "wait";
}

class CompiledEngine final : public machine::Engine, private machine::BreakpointListener {
 public:
  /// `observer` may be null.
  CompiledEngine(const target::Target& target, machine::Observer* observer)
      : CompiledEngine(target, observer, machine::Watched::by(observer),
                       observer != nullptr ? observer->wave_control() : nullptr) {
    if (control_ != nullptr) control_->add_engine(*this);
  }
  ~CompiledEngine() override {
    if (control_ != nullptr) control_->remove_engine(*this);
  }
  CompiledEngine(const CompiledEngine&) = delete;
  CompiledEngine& operator=(const CompiledEngine&) = delete;

  machine::WaveState run(Wave& wave, uint64_t budget) override { return run(wave, budget, nullptr); }

  machine::WaveState run_batch(Wave& wave, uint64_t budget, machine::WaveBatch& series) override {
    // Waves that start and end inside translated code would not be reported to the observer.
    return run(wave, budget, observer_ == nullptr ? &series : nullptr);
  }

  const machine::LiveInRegisters* needed_at_start(uint64_t pc, unsigned wave_size,
                                                  const semantics::FloatMode& mode) override {
    const EntryCode* code = code_of(wave_size).translations.entry(pc).code({.floats = mode});
    return code != nullptr ? code->start : nullptr;
  }

  void retrace_fault(Wave& wave, machine::HostFault& fault) override {
    CompiledRun& compiled = compiled_run_of_thread();
    Run& run = compiled.run;
    report_filtered_accesses(wave, compiled, /*fails=*/true);
    if (records_loads_) report_loads_before_fault(wave, compiled);
    wave.instructions += run.instructions;
    if (!begin_retrace(wave, run)) return;
    const uint64_t pc = wave.pc;
    machine::HostFault again;
    const bool has_failed_again = !machine::guarded(again, [&] { retrace(wave); });
    wave.instructions += run.instructions;
    if (has_failed_again) {
      fault = again;
    } else if (wave.state != machine::WaveState::faulted) {
      wave.pc = pc;  // what was missing is there now: all that is known is the region
    }
  }

  void yield_to_compiler(unsigned threads, const std::function<bool()>& may_sleep) override {
    if (!Compilations::of_process().yield_to_compiler(threads, may_sleep)) return;
    for (Code* code : {&wave64_, &wave32_}) code->translations.take_arrived();
  }

  void code_changed(uint64_t begin, uint64_t end) override {
    for (Code* code : {&wave64_, &wave32_}) {
      code->cache.sweep(begin, end);
      code->translations.forget(begin, end);
    }
    banked_.sweep(begin, end);
    interpreter_->code_changed(begin, end);
  }

  machine::EngineReport report() const override {
    machine::EngineReport report = wave64_.translations.report();
    machine::EngineReport more = wave32_.translations.report();
    std::ranges::move(more.translations, std::back_inserter(report.translations));
    for (const auto& [name, count] : more.untranslated) report.untranslated[name] += count;
    for (const auto& [reason, count] : more.failures) report.failures[reason] += count;
    report.unfinished += more.unfinished;
    return report;
  }

 private:
  CompiledEngine(const target::Target& target, machine::Observer* observer, const machine::Watched& watched,
                 machine::WaveControl* control)
      : wave64_(target.with_wave_size(64), watched, control),
        wave32_(target.with_wave_size(32), watched, control),
        banked_(target, watched, control),
        has_banks_(has_vgpr_banks(*target.processor)),
        observer_(observer),
        control_(control),
        reports_filtered_accesses_(Instrumentation::of(watched).filtered_accesses),
        records_loads_(Instrumentation::of(watched).loads),
        tracks_undefined_values_(watched.instrumentation.undefined_values),
        follows_paths_(watched.instrumentation.paths),
        interpreter_(observer != nullptr ? make_observed_interpreter(target, *observer) : make_interpreter(target)) {}

  void breakpoint_changed(uint64_t pc) override {
    for (Code* code : {&wave64_, &wave32_}) {
      code->cache.breakpoint_changed(pc);
      code->translations.breakpoint_changed(pc);
    }
    banked_.breakpoint_changed(pc);
  }

  /// For waves of one size: what an instruction does depends on it.
  struct Code {
    CodeCache cache;
    Translations translations;
    Code(const target::Target& target, const machine::Watched& watched, machine::WaveControl* control)
        : cache(target, false, 0, watched, control), translations(cache) {}
  };
  Code& code_of(unsigned wave_size) { return wave_size == 32 ? wave32_ : wave64_; }

  machine::WaveState run(Wave& wave, uint64_t budget, machine::WaveBatch* series) {
    const bool steps = control_ != nullptr && control_->steps(wave);
    if (steps || wave.watches_exceptions ||
        (follows_paths_ && code_of(wave.wave_size).translations.must_interpret(wave))) [[unlikely]] {
      const uint64_t before = wave.instructions;
      const machine::WaveState state = interpreter_->run(wave, budget);
      wave.interpreted += wave.instructions - before;
      return state;
    }
    Code& of_size = code_of(wave.wave_size);
    Translations& translations = of_size.translations;
    CompiledRun& compiled = compiled_run_of_thread();
    Run& run = compiled.run;
    begin_run(run, wave, budget, of_size.cache, sync_, observer_);
    if (reports_filtered_accesses_ || tracks_undefined_values_) request_access_filter(wave, compiled);
    if (translations.expects_some()) translations.take_arrived_sometimes();
    do {
      run.resume = false;
      if (runs_apart(wave)) {
        run_apart(wave, run);
        continue;
      }
      run.code = &of_size.cache;
      Entry& entry = translations.entry(wave.pc);
      const EntryCode* code = entry.code(translations.mode_here(wave));
      if (code == nullptr && (waits_ || !entry.visited.load(std::memory_order_relaxed)))
        code = first_visit(translations, wave, entry);
      if (code != nullptr) {
        // Only the function that all of them begin in knows how.
        run.series = code->start != nullptr ? std::exchange(series, nullptr) : nullptr;
        if (records_loads_) begin_loads(compiled, code->context->helper_ops);
        const ExitReason reason = enter(code->function, &wave, &run, code->number, code->context);
        report_filtered_accesses(wave, compiled, reason == ExitReason::faults);
        if (records_loads_ && reason == ExitReason::faults) report_loads_before_fault(wave, compiled);
        // Left at a block's end, it has told of what it has executed.
        if (reason == ExitReason::goes_on || reason == ExitReason::stops) wave.reported.until = 0;
        if (reason == ExitReason::faults) {
          fault_in_region(wave, run);
          break;
        }
        if (reason == ExitReason::interpreted) {
          series = nullptr;
          Entry& here = translations.entry(wave.pc);
          tracks_undefined_values_ ? interpret_to_branch(translations, wave, run, here)
                                   : interpret(translations, wave, run, here);
          continue;
        }
        run.resume = reason == ExitReason::goes_on && run.instructions < run.limit;
        if (reason == ExitReason::goes_on && !run.resume) wave.state = machine::WaveState::ready;
      } else {
        series = nullptr;
        interpret(translations, wave, run, entry);
      }
    } while (run.resume);
    wave.instructions += run.instructions;
    return wave.state;
  }

  /// Translated code has stopped; `fails`: what it has come to is done again.
  void report_filtered_accesses(const Wave& wave, CompiledRun& run, bool fails) const {
    if (!reports_filtered_accesses_ || run.filtered_accesses.empty()) return;
    if (fails) forget_filtered_accesses(wave, run);
    report_filtered_accesses_of(wave, run);
  }

  /// Only a chunk in the middle of a region is ahead of Wave::pc, which is the region's beginning. The chunks before it
  /// are done with the region. False: no chunk is ahead.
  static bool begin_retrace(Wave& wave, Run& run) {
    const uint8_t chunk = std::exchange(run.chunk, no_chunk);
    if (chunk == no_chunk) return false;
    wave.set_exec(wave.exec() & ~uint64_t{0} << chunk * semantics::chunk_lanes);
    return true;
  }
  void retrace(Wave& wave) {
    const bool is_banked = has_banks_ && vgpr_banks(wave) != 0;
    CodeCache& cache = is_banked ? banked_.of(wave) : code_of(wave.wave_size).cache;
    Run& run = compiled_run_of_thread().run;
    begin_run(run, wave, retrace_budget, cache, sync_, observer_);
    const MicroOp* op = cache.find(wave.pc);
    handler_of(op)(wave, op, run);
  }
  /// Translated code came upon what the interpreter calls a fault; or what may be one (GuestBounds): then no lane has
  /// gone on yet, and the interpreter runs the wave on.
  void fault_in_region(Wave& wave, Run& run) {
    const uint64_t pc = wave.pc, exec = wave.exec();
    begin_retrace(wave, run);
    const bool is_whole = wave.exec() == exec;
    wave.instructions += run.instructions;
    retrace(wave);  // counts anew
    if (wave.state != machine::WaveState::faulted && !is_whole) {
      fault(wave, pc, machine::Fault::Kind::memory, "an access that failed at first", 0);
    }
  }

  const EntryCode* first_visit(Translations& translations, const Wave& wave, Entry& entry) const {
    entry.visited.store(true, std::memory_order_relaxed);
    if (waits_) {
      translations.ask_and_wait(wave, entry);
    } else {
      translations.find(wave, entry);
    }
    return entry.code(translations.mode_here(wave));
  }

  void interpret(Translations& translations, Wave& wave, Run& run, Entry& entry) {
    const uint64_t before = run.instructions;
    const MicroOp* op = entry.op;
    if (has_banks_ && vgpr_banks(wave) != 0) {
      run.code = &banked_.of(wave);
      op = run.code->find(wave.pc);
    }
    handler_of(op)(wave, op, run);
    const uint64_t done = run.instructions - before;
    wave.interpreted += done;
    // The other threads count at the same entry: short waves would wait for its cache line as long as some instructions
    // take.
    auto& unreported = run.hotness[entry.pc / 4 % run.hotness.size()];
    const uint64_t reported = unreported + done;
    if (reported < min_reported) {
      unreported = static_cast<uint32_t>(reported);
      return;
    }
    unreported = 0;
    const uint64_t hotness = entry.hotness.fetch_add(reported, std::memory_order_relaxed) + reported;
    if (hotness >= worth_asking && wave.state != machine::WaveState::faulted) translations.ask(wave, entry);
  }

  /// To where the next branch goes, if the wave does not stop before: there is code for what comes then.
  void interpret_to_branch(Translations& translations, Wave& wave, Run& run, Entry& entry) {
    const uint64_t limit = std::exchange(run.limit, run.instructions);
    interpret(translations, wave, run, entry);
    run.limit = limit;
    if (wave.state == machine::WaveState::ready && run.instructions < limit && !run.stopped) run.resume = true;
  }

  Code wave64_, wave32_;
  CodeCaches banked_;  ///< for the interpreter, of waves whose instructions name VGPRs of other banks than the first
  const bool has_banks_;
  machine::Observer* const observer_;
  machine::WaveControl* const control_;  ///< the observer's, or null
  const bool reports_filtered_accesses_, records_loads_, tracks_undefined_values_, follows_paths_;
  GlobalWaveSync sync_;
  /// For waves that watch floating-point exceptions.
  const std::unique_ptr<machine::Engine> interpreter_;
  const bool waits_ = waits_for_code();
};

}  // namespace

// On the heap, as run_of_thread()'s.
CompiledRun& compiled_run_of_thread() {
  static thread_local CompiledRun* run = nullptr;
  struct Owner {
    ~Owner() { delete std::exchange(run, nullptr); }
  };
  if (run == nullptr) {
    static thread_local Owner owner;
    run = new CompiledRun;
  }
  return *run;
}

std::unique_ptr<machine::Engine> make_compiled_engine(const target::Target& target) {
  return std::make_unique<CompiledEngine>(target, nullptr);
}

std::unique_ptr<machine::Engine> make_observed_compiled_engine(const target::Target& target,
                                                               machine::Observer& observer) {
  return std::make_unique<CompiledEngine>(target, &observer);
}

}  // namespace Atoll::engine

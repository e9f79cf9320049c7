// engine: the interpreter (interpreter.h).
#include "engine/interpreter/interpreter.h"

#include <utility>

#include "engine/interpreter/code_cache.h"
#include "engine/interpreter/global_wave_sync.h"
#include "engine/interpreter/register_index.h"
#include "machine/wave_control.h"

namespace Atoll::engine {

namespace {

class Interpreter final : public machine::Engine, private machine::BreakpointListener {
 public:
  /// `observer` may be null.
  Interpreter(const target::Target& target, machine::Observer* observer, bool steps = false)
      : caches_(target, machine::Watched::by(observer), observer != nullptr ? observer->wave_control() : nullptr),
        observer_(observer),
        control_(observer != nullptr ? observer->wave_control() : nullptr),
        steps_(steps) {
    if (control_ != nullptr) control_->add_engine(*this);
  }
  ~Interpreter() override {
    if (control_ != nullptr) control_->remove_engine(*this);
  }
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  machine::WaveState run(Wave& wave, uint64_t budget) override {
    Run& run = run_of_thread();
    const bool single_step = control_ != nullptr && control_->steps(wave);
    const bool steps = steps_ || single_step;
    begin_run(run, wave, single_step ? 1 : budget, caches_.of(wave), sync_, observer_);
    do {
      run.resume = false;
      run.code = &caches_.of(wave);  // which s_set_vgpr_msb changes
      if (steps || runs_apart(wave)) {
        run_apart(wave, run, steps);
      } else {
        const MicroOp* op = run.code->find(wave.pc);
        handler_of(op)(wave, op, run);
      }
    } while (run.resume);
    wave.instructions += run.instructions;
    return wave.state;
  }

  void retrace_fault(Wave& wave, machine::HostFault&) override {
    wave.instructions += run_of_thread().instructions;  // in order as they were
  }

  void code_changed(uint64_t begin, uint64_t end) override { caches_.sweep(begin, end); }

 private:
  void breakpoint_changed(uint64_t pc) override { caches_.breakpoint_changed(pc); }

  CodeCaches caches_;
  GlobalWaveSync sync_;
  machine::Observer* const observer_;
  machine::WaveControl* const control_;  ///< the observer's, or null
  const bool steps_;
};

}  // namespace

// On the heap: a thread-local variable of this size would keep the library from being loaded by dlopen.
// The pointer has no destructor: a program may launch kernels while it ends, when those have run.
Run& run_of_thread() {
  static thread_local Run* run = nullptr;
  struct Owner {
    ~Owner() { delete std::exchange(run, nullptr); }
  };
  if (run == nullptr) {
    static thread_local Owner owner;
    run = new Run;
  }
  return *run;
}

void begin_run(Run& run, Wave& wave, uint64_t budget, CodeCache& code, GlobalWaveSync& sync,
               machine::Observer* observer) {
  run.base[static_cast<unsigned>(RowBase::vgpr)] = reinterpret_cast<uintptr_t>(wave.vgpr);
  run.base[static_cast<unsigned>(RowBase::agpr)] = reinterpret_cast<uintptr_t>(wave.agpr);
  run.base[static_cast<unsigned>(RowBase::temporary)] = reinterpret_cast<uintptr_t>(run.temporary);
  run.call.mode = wave.float_mode;
  run.call.clamp = false;
  run.instructions = 0;
  run.limit = budget;
  run.chunk = no_chunk;
  run.series = nullptr;
  run.code = &code;
  run.sync = &sync;
  run.stopped = false;
  run.observer = observer;
  run.client = observer != nullptr ? observer->instrumentation() : nullptr;
  run.control = observer != nullptr ? observer->wave_control() : nullptr;
}

std::unique_ptr<machine::Engine> make_interpreter(const target::Target& target) {
  return std::make_unique<Interpreter>(target, nullptr);
}

std::unique_ptr<machine::Engine> make_observed_interpreter(const target::Target& target, machine::Observer& observer) {
  return std::make_unique<Interpreter>(target, &observer);
}

std::unique_ptr<machine::Engine> make_stepping_interpreter(const target::Target& target, machine::Observer* observer) {
  return std::make_unique<Interpreter>(target, observer, /*steps=*/true);
}

}  // namespace Atoll::engine

// engine: the interpreter (interpreter.h).
#include "engine/interpreter/interpreter.h"

#include <utility>

#include "engine/interpreter/code_cache.h"
#include "engine/interpreter/global_wave_sync.h"
#include "engine/interpreter/register_index.h"

namespace Atoll::engine {

namespace {

class Interpreter final : public machine::Engine {
 public:
  /// `observer` may be null.
  Interpreter(const target::Target& target, machine::Observer* observer, bool steps = false)
      : caches_(target, observer != nullptr ? observer->watched() : machine::EventMask{}),
        observer_(observer),
        steps_(steps) {}

  machine::WaveState run(Wave& wave, uint64_t budget) override {
    Run& run = begin_run(wave, budget, caches_.of(wave), sync_);
    run.observer = observer_;
    do {
      run.resume = false;
      run.code = &caches_.of(wave);  // which s_set_vgpr_msb changes
      if (steps_ || runs_apart(wave)) {
        run_apart(wave, run, steps_);
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
  CodeCaches caches_;
  GlobalWaveSync sync_;
  machine::Observer* const observer_;
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

Run& begin_run(Wave& wave, uint64_t budget, CodeCache& code, GlobalWaveSync& sync) {
  Run& run = run_of_thread();
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
  return run;
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

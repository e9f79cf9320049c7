// engine/compiled: the compiled engine (compiled_engine.h).
#include "engine/compiled/compiled_engine.h"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <vector>

#include "engine/code_cache.h"
#include "engine/compiled/control_flow.h"
#include "engine/compiled/host_code.h"
#include "engine/compiled/translate.h"
#include "engine/global_wave_sync.h"
#include "engine/interpreter.h"
#include "engine/register_index.h"
#include "machine/dispatch.h"
#include "machine/gpu.h"
#include "machine/loader.h"
#include "semantics/float_mode.h"

namespace Atoll::engine {

namespace {

/// Instructions that the interpreter runs from one place before it is worth translating: some milliseconds.
constexpr uint64_t worth_translating = 20'000;

/// Translated code by the PC at which waves come in. Immutable once published; replaced as a whole.
struct Entries {
  struct Entry {
    HostFunction function = nullptr;
    uint64_t number = 0;
    semantics::FloatMode mode;
  };
  std::unordered_map<uint64_t, Entry> by_pc;
};

class CompiledEngine;

/// The engines whose compiler threads run. A program may end without giving its GPU back, and LLVM takes its global
/// objects down then: by that time the threads must have ended.
struct Running {
  std::mutex mutex;
  std::set<CompiledEngine*> engines;
};
Running& running() {
  static auto* const engines = new Running;  // outlives every exit handler
  return *engines;
}
void stop_all();

class CompiledEngine final : public machine::Engine {
 public:
  explicit CompiledEngine(const target::Processor& processor)
      : code_(processor), compiler_thread_([this] { compile_requests(); }) {
    pthread_setname_np(compiler_thread_.native_handle(), "atoll-compile");
    const std::lock_guard lock(running().mutex);
    [[maybe_unused]] static const int at_exit = std::atexit(stop_all);
    running().engines.insert(this);
  }

  ~CompiledEngine() override {
    {
      const std::lock_guard lock(running().mutex);
      running().engines.erase(this);
    }
    stop_compiling();
  }

  /// Ends the compiler thread, after what it is at; what is not translated stays with the interpreter.
  void stop_compiling() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wanted_.notify_all();
    if (compiler_thread_.joinable()) compiler_thread_.join();
  }

  machine::WaveState run(Wave& wave, uint64_t budget) override {
    Run& run = begin_run(wave, budget, code_, sync_);
    do {
      run.resume = false;
      if (runs_apart(wave)) {
        run_apart(wave, run);
        continue;
      }
      if (const Entries* entries = entries_.load(std::memory_order_acquire); entries != nullptr) {
        const auto found = entries->by_pc.find(wave.pc);
        if (found != entries->by_pc.end() && found->second.mode == wave.float_mode) {
          if (found->second.function(wave, run, found->second.number)) run.resume = true;
          continue;
        }
      }
      const uint64_t pc = wave.pc, before = run.instructions;
      const MicroOp* op = code_.find(pc);
      handler_of(op)(wave, op, run);
      if (wave.state != machine::WaveState::faulted) consider(wave, pc, run.instructions - before);
    } while (run.resume);
    wave.instructions += run.instructions;
    return wave.state;
  }

  void code_changed(uint64_t begin, uint64_t end) override {
    code_.sweep(begin, end);
    const std::lock_guard lock(mutex_);
    ++generation_;
    auto entries = std::make_unique<Entries>();
    if (const Entries* now = entries_.load()) *entries = *now;
    std::erase_if(entries->by_pc, [&](const auto& entry) { return entry.first >= begin && entry.first < end; });
    std::erase_if(heat_, [&](const auto& entry) { return entry.first >= begin && entry.first < end; });
    publish(std::move(entries));
  }

 private:
  struct Request {
    uint64_t pc;
    std::shared_ptr<const machine::LoadedCode> code;  ///< kept while it is being read
    semantics::FloatMode mode;
    uint64_t generation;
  };

  /// Counts what the interpreter did from `pc` on, and asks for a translation when that is worth it.
  void consider(const Wave& wave, uint64_t pc, uint64_t instructions) {
    if (!semantics::is_plain(wave.float_mode)) return;
    const machine::Dispatch* dispatch = wave.work_group != nullptr ? wave.work_group->dispatch : nullptr;
    if (dispatch == nullptr || dispatch->gpu == nullptr) return;
    const std::lock_guard lock(mutex_);
    uint64_t& heat = heat_[pc];
    if (heat == asked) return;
    heat += instructions;
    if (heat < worth_translating) return;
    heat = asked;
    const auto code = dispatch->gpu->code_at(pc);
    if (code == nullptr) return;
    requests_.push_back({pc, code, wave.float_mode, generation_});
    wanted_.notify_one();
  }

  void compile_requests() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wanted_.wait(lock, [&] { return stopping_ || !requests_.empty(); });
      if (stopping_) return;
      const Request request = std::move(requests_.front());
      requests_.pop_front();
      lock.unlock();
      compile(request);
      lock.lock();
    }
  }

  void compile(const Request& request) {
    if (compiler_ == nullptr) {
      auto made = HostCompiler::create();
      if (!made) return;
      compiler_ = std::move(*made);
    }
    const auto flow =
        follow(request.pc, request.code->base(), request.code->base() + request.code->size(), code_.processor());
    if (!flow || flow->blocks.empty()) return;
    auto steps = std::make_unique<SingleSteps>(code_);
    const std::string name = "kernel_" + std::to_string(++compiled_);
    Translation translation = translate(*flow, request.mode, *steps, name);
    const auto address = compiler_->compile(std::move(translation.context), std::move(translation.module), name);
    if (!address) return;

    const std::lock_guard lock(mutex_);
    steps_.push_back(std::move(steps));
    if (request.generation != generation_) return;  // the code may be gone; if it is not, it will be asked for again
    auto entries = std::make_unique<Entries>();
    if (const Entries* now = entries_.load()) *entries = *now;
    uint64_t number = 0;
    for (const uint64_t pc : flow->entries) {
      entries->by_pc.try_emplace(pc, reinterpret_cast<HostFunction>(*address), number++, request.mode);
    }
    publish(std::move(entries));
  }

  void publish(std::unique_ptr<Entries> entries) {
    entries_.store(entries.get(), std::memory_order_release);
    published_.push_back(std::move(entries));  // waves may still be reading the one before
  }

  static constexpr uint64_t asked = UINT64_MAX;

  CodeCache code_;
  GlobalWaveSync sync_;
  std::atomic<const Entries*> entries_{nullptr};
  std::mutex mutex_;
  std::condition_variable wanted_;
  std::deque<Request> requests_;
  std::unordered_map<uint64_t, uint64_t> heat_;
  std::vector<std::unique_ptr<Entries>> published_;
  std::vector<std::unique_ptr<SingleSteps>> steps_;
  uint64_t generation_ = 0, compiled_ = 0;
  bool stopping_ = false;
  std::unique_ptr<HostCompiler> compiler_;
  std::thread compiler_thread_;
};

void stop_all() {
  const std::lock_guard lock(running().mutex);
  for (CompiledEngine* engine : running().engines) engine->stop_compiling();
}

}  // namespace

std::unique_ptr<machine::Engine> make_compiled_engine(const target::Processor& processor) {
  return std::make_unique<CompiledEngine>(processor);
}

}  // namespace Atoll::engine

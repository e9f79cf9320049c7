// engine/compiled: the compiled engine (compiled_engine.h).
#include "engine/compiled/compiled_engine.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/code_cache.h"
#include "engine/compiled/compilations.h"
#include "engine/compiled/control_flow.h"
#include "engine/compiled/place_table.h"
#include "engine/compiled/single_step.h"
#include "engine/global_wave_sync.h"
#include "engine/interpreter.h"
#include "engine/register_index.h"
#include "isa/decode.h"
#include "machine/dispatch.h"
#include "machine/gpu.h"
#include "machine/loader.h"
#include "semantics/float_mode.h"

namespace Atoll::engine {

namespace {

/// Instructions that the interpreter runs from one place before it is worth translating: some milliseconds.
constexpr uint64_t worth_translating = 20'000;

/// Whether waves wait for translated code instead of starting in the interpreter: $ATOLL_COMPILE=wait.
bool waits_for_code() {
  const char* wish = std::getenv("ATOLL_COMPILE");
  return wish != nullptr && std::string_view(wish) == "wait";
}

/// Translated code at the place where its GPU code is loaded.
struct PlacedImage {
  explicit PlacedImage(CodeCache& cache) : prepared(cache) {}
  Image image{};
  std::shared_ptr<const HostCode> code;
  SingleSteps prepared;
  std::vector<const MicroOp*> steps;
};

class CompiledEngine final : public machine::Engine {
 public:
  explicit CompiledEngine(const target::Processor& processor) : code_(processor) {}

  machine::WaveState run(Wave& wave, uint64_t budget) override {
    Run& run = begin_run(wave, budget, code_, sync_);
    if (expected_.load(std::memory_order_relaxed) != 0) take_translations();
    do {
      run.resume = false;
      if (runs_apart(wave)) {
        run_apart(wave, run);
        continue;
      }
      Place& place = places_.at(wave.pc);
      const Way* way = place.way(wave.float_mode);
      if (way == nullptr && waits_) way = wait_for(wave, place);
      if (way != nullptr) {
        if (way->function(&wave, &run, way->number, way->image) == 0) continue;
        if (run.instructions < run.limit) {
          run.resume = true;
        } else {
          wave.state = machine::WaveState::ready;
        }
        continue;
      }
      const uint64_t before = run.instructions;
      const MicroOp* op = code_.find(wave.pc);
      handler_of(op)(wave, op, run);
      const uint64_t done = run.instructions - before;
      const uint64_t heat = place.heat.fetch_add(done, std::memory_order_relaxed) + done;
      if (heat >= worth_translating && wave.state != machine::WaveState::faulted) consider(wave, place, heat);
    } while (run.resume);
    wave.instructions += run.instructions;
    return wave.state;
  }

  void code_changed(uint64_t begin, uint64_t end) override {
    code_.sweep(begin, end);
    const std::lock_guard lock(mutex_);
    places_.forget(begin, end);
    std::erase_if(asked_, [&](const auto& asked) { return asked.second.root >= begin && asked.second.root < end; });
    count_expected();
  }

 private:
  /// A request for the code that can be reached from `root`.
  struct Asked {
    uint64_t root = 0, base = 0;
    semantics::FloatMode mode;
    std::map<uint64_t, uint64_t> blocks;       ///< begin and end
    std::shared_ptr<Compilation> compilation;  ///< null: the code is unfit
    bool taken = false;

    bool covers(uint64_t pc) const {
      const auto behind = blocks.upper_bound(pc);
      return behind != blocks.begin() && pc < std::prev(behind)->second;
    }
  };
  using RootAndMode = std::tuple<uint64_t, std::array<uint8_t, sizeof(semantics::FloatMode)>>;
  static RootAndMode key(uint64_t root, const semantics::FloatMode& mode) {
    return {root, std::bit_cast<std::array<uint8_t, sizeof mode>>(mode)};
  }

  /// Asks for translated code where it is worth it: for the wave's kernel, or for the code around its PC when the
  /// kernel's is there and does not reach it (a function called by its address).
  void consider(const Wave& wave, Place& place, uint64_t heat) {
    place.heat.store(0, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    ask_for(wave, place.pc, heat);
  }

  /// With `mutex_` held. What covers the PC, asked for now or before.
  Asked* ask_for(const Wave& wave, uint64_t pc, uint64_t heat) {
    if (!semantics::is_plain(wave.float_mode)) return nullptr;
    const machine::Dispatch* dispatch = wave.work_group != nullptr ? wave.work_group->dispatch : nullptr;
    const uint64_t entry = dispatch != nullptr && dispatch->kernel != nullptr ? dispatch->kernel->entry : pc;
    for (const uint64_t root : {entry, pc}) {
      const auto [found, is_new] = asked_.try_emplace(key(root, wave.float_mode));
      Asked& asked = found->second;
      if (is_new) {
        ask(asked, root, wave, heat);
        count_expected();
      } else if (asked.compilation != nullptr) {
        asked.compilation->heat.fetch_add(heat, std::memory_order_relaxed);
      }
      if (asked.covers(pc)) return &asked;
    }
    return nullptr;
  }

  void ask(Asked& asked, uint64_t root, const Wave& wave, uint64_t heat) {
    asked.root = root;
    asked.mode = wave.float_mode;
    // A wave that belongs to no GPU (in a test) is trusted.
    uint64_t begin = 0, end = ~uint64_t{0};
    const machine::Dispatch* dispatch = wave.work_group != nullptr ? wave.work_group->dispatch : nullptr;
    std::shared_ptr<const machine::LoadedCode> loaded;  // kept while it is read
    if (dispatch != nullptr && dispatch->gpu != nullptr) {
      loaded = dispatch->gpu->code_at(root);
      if (loaded == nullptr) return;
      begin = loaded->base();
      end = begin + loaded->size();
    }
    const auto flow = follow(root, begin, end, code_.processor());
    if (!flow || flow->blocks.empty()) return;
    asked.base = flow->blocks.begin()->first;
    for (const auto& [pc, block] : flow->blocks) asked.blocks[pc] = block.end;
    asked.compilation = Compilations::of_process().ask(
        TranslationRequest::serialise(code_.processor(), wave.float_mode, *flow, asked.base), heat);
  }

  const Way* wait_for(const Wave& wave, Place& place) {
    const std::lock_guard lock(mutex_);
    Asked* asked = ask_for(wave, place.pc, 0);
    if (asked == nullptr || asked->compilation == nullptr) return nullptr;
    Compilations::of_process().wait(*asked->compilation);
    take(*asked);
    count_expected();
    return place.way(wave.float_mode);
  }

  void take_translations() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    Compilations::of_process().look();
    for (auto& [root, asked] : asked_) take(asked);
    count_expected();
  }

  /// Publishes the code that was asked for, if it has come.
  void take(Asked& asked) {
    if (asked.taken || asked.compilation == nullptr) return;
    if (!asked.compilation->done.load(std::memory_order_acquire)) return;
    asked.taken = true;
    if (asked.compilation->code == nullptr) return;
    auto placed = std::make_unique<PlacedImage>(code_);
    placed->code = asked.compilation->code;
    const TranslatedCode& translated = placed->code->translated();
    for (const uint64_t offset : translated.steps) {
      const uint64_t pc = asked.base + offset;
      constexpr size_t longest_instruction = 20;
      const uint64_t end = std::prev(asked.blocks.upper_bound(pc))->second;
      const auto instruction = isa::decode(
          std::span(reinterpret_cast<const uint8_t*>(pc), std::min(longest_instruction, end - pc)), code_.processor());
      if (!instruction) return;  // the code has changed under our hands
      placed->steps.push_back(placed->prepared.prepare(pc, *instruction));
    }
    placed->image = {.code_base = asked.base, .steps = placed->steps.data()};
    for (const EntryPoint& entry : translated.entries) {
      places_.add_way(asked.base + entry.pc, {.function = placed->code->function(entry),
                                              .number = entry.number,
                                              .image = &placed->image,
                                              .mode = asked.mode});
    }
    images_.push_back(std::move(placed));
  }

  void count_expected() {
    expected_ = static_cast<uint32_t>(std::ranges::count_if(
        asked_, [](const auto& asked) { return !asked.second.taken && asked.second.compilation != nullptr; }));
  }

  CodeCache code_;
  GlobalWaveSync sync_;
  PlaceTable places_;
  const bool waits_ = waits_for_code();
  std::atomic<uint32_t> expected_{0};  ///< translations that have been asked for and not come
  std::mutex mutex_;                   ///< of what follows
  std::map<RootAndMode, Asked> asked_;
  std::vector<std::unique_ptr<PlacedImage>> images_;
};

}  // namespace

std::unique_ptr<machine::Engine> make_compiled_engine(const target::Processor& processor) {
  return std::make_unique<CompiledEngine>(processor);
}

}  // namespace Atoll::engine

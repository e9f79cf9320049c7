// engine/compiled: the translations of one GPU's code (translations.h).
#include "engine/compiled/translations.h"

#include <algorithm>
#include <bit>
#include <ctime>
#include <span>

#include "engine/compiled/control_flow.h"
#include "engine/interpreter/hardware_register.h"
#include "engine/interpreter/matrix.h"
#include "engine/target_code.h"
#include "machine/clock.h"
#include "machine/gpu.h"
#include "machine/loader.h"
#include "machine/wave/dispatch.h"
#include "machine/wave_control.h"

namespace Atoll::engine {

namespace {

/// Minimum hotness recorded for later runs (some milliseconds); below that recording costs more than it gains.
constexpr uint64_t least_kept = 400'000;

const machine::Dispatch* dispatch_of(const Wave& wave) {
  return wave.work_group != nullptr ? wave.work_group->dispatch : nullptr;
}

uint8_t must_stop(const Wave* wave) {
  const machine::Dispatch* dispatch = dispatch_of(*wave);
  return dispatch != nullptr && machine::must_stop(*dispatch, machine::now_ns()) ? 1 : 0;
}

const machine::Kernel* kernel_of(const Wave& wave) {
  const machine::Dispatch* dispatch = dispatch_of(wave);
  return dispatch != nullptr ? dispatch->kernel.get() : nullptr;
}

/// Loaded code around an address, kept as long as it is looked at.
struct CodeAround {
  std::shared_ptr<const machine::LoadedCode> loaded;
  uint64_t begin = 0, end = 0;

  CodeAround(const Wave& wave, uint64_t pc) {
    const machine::Dispatch* dispatch = dispatch_of(wave);
    if (dispatch == nullptr || dispatch->gpu == nullptr) {  // in a test: the wave is trusted
      end = ~uint64_t{0};
      return;
    }
    loaded = dispatch->gpu->code_at(pc);
    if (loaded == nullptr) return;
    begin = loaded->base();
    end = begin + loaded->size();
  }
  uint64_t group(uint64_t pc, const CodeCache& cache, const CodeMode& mode) const {
    const uint64_t bytes = loaded == nullptr ? 4 : end - pc;
    return TranslationRequest::group_of(std::span(reinterpret_cast<const uint8_t*>(pc), bytes), cache.target(), mode,
                                        Instrumentation::of(cache.watched()));
  }
};

}  // namespace

const Translations::PendingTranslation::Stretch* Translations::PendingTranslation::at(uint64_t pc) const {
  const auto after = stretches.upper_bound(pc);
  if (after == stretches.begin()) return nullptr;
  const Stretch& found = std::prev(after)->second;
  return pc < found.end ? &found : nullptr;
}

void Translations::find(const Wave& wave, Entry& entry) {
  const CodeAround code(wave, entry.pc);
  if (code.begin == code.end) return;
  const CodeMode mode = mode_here(wave);
  if (!Compilations::of_process().may_find(code.group(entry.pc, cache_, mode))) return;
  const std::lock_guard lock(mutex_);
  PendingTranslation& asked = pending_for(entry.pc, mode, wave);
  if (asked.compilation != nullptr || asked.request.empty()) return;
  asked.compilation = Compilations::of_process().find(asked.request);
  if (asked.compilation == nullptr) return;
  asked.request = {};
  take(asked);
}

void Translations::ask(const Wave& wave, Entry& entry) {
  // The lock may be held for long. The hotness stays, so the next wave tries again.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  const uint64_t hotness = entry.hotness.exchange(0, std::memory_order_relaxed);
  if (PendingTranslation* asked = covering(wave, entry.pc)) add_hotness(*asked, wave, hotness);
}

void Translations::ask_and_wait(const Wave& wave, Entry& entry) {
  const std::lock_guard lock(mutex_);
  PendingTranslation* asked = covering(wave, entry.pc);
  if (asked == nullptr) return;
  hand_over(*asked);
  if (asked->compilation == nullptr) return;
  Compilations::of_process().wait(*asked->compilation);
  take(*asked);
  count_expected();
}

bool Translations::must_interpret(const Wave& wave) {
  using Executability = Entry::Executability;
  const machine::Kernel* kernel = kernel_of(wave);
  if (kernel == nullptr) return false;
  Entry& begin = entry(kernel->entry);
  const Executability known = begin.executability.load(std::memory_order_relaxed);
  if (known != Executability::unknown) return known == Executability::must_be_interpreted;
  const Instrumentation instrumentation = Instrumentation::of(cache_.watched());
  const CodeAround code(wave, kernel->entry);
  const bool must_interpret =
      !follow(kernel->entry, mode_here(wave), code.begin, code.end, cache_.target(), {}, instrumentation);
  begin.executability.store(must_interpret ? Executability::must_be_interpreted : Executability::executable,
                            std::memory_order_relaxed);
  return must_interpret;
}

void Translations::take_arrived_sometimes() {
  // The coarse clock goes on every few milliseconds, and costs less than any other.
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  const int64_t now = time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
  if (last_look_.load(std::memory_order_relaxed) == now) return;
  last_look_.store(now, std::memory_order_relaxed);
  take_arrived();
}

void Translations::take_arrived() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  Compilations::of_process().look();
  for (auto& [root, asked] : asked_) take(asked);
  count_expected();
}

void Translations::forget(uint64_t begin, uint64_t end) {
  const std::lock_guard lock(mutex_);
  entries_.forget(begin, end);
  std::erase_if(asked_, [&](const auto& asked) { return asked.second.root >= begin && asked.second.root < end; });
  std::erase_if(placed_,
                [&](const auto& code) { return code->context.code_base >= begin && code->context.code_base < end; });
  count_expected();
}

void Translations::breakpoint_changed(uint64_t pc) {
  const std::lock_guard lock(mutex_);
  std::vector<PendingTranslation> gone;
  for (auto each = asked_.begin(); each != asked_.end();) {
    if (each->second.at(pc) == nullptr) {
      ++each;
      continue;
    }
    for (const auto& [begin, stretch] : each->second.stretches) entries_.forget(begin, stretch.end);
    gone.push_back(std::move(each->second));
    each = asked_.erase(each);
  }
  // Code may be in several translations: those without a breakpoint are put to use again.
  for (auto& [root, asked] : asked_) {
    const bool was_forgotten = std::ranges::any_of(gone, [&](const PendingTranslation& other) {
      return std::ranges::any_of(other.stretches, [&](const auto& each) { return asked.at(each.first) != nullptr; });
    });
    if (was_forgotten) asked.taken = false;
  }
  count_expected();
}

machine::EngineReport Translations::report() const {
  const std::lock_guard lock(mutex_);
  machine::EngineReport report = report_;
  // An answer that has come since the last kernel ended is finished, though no wave has run it.
  Compilations::of_process().look();
  for (const auto& [root, asked] : asked_) {
    if (asked.compilation != nullptr && !asked.taken && !asked.compilation->done.load()) ++report.unfinished;
  }
  return report;
}

Translations::PendingTranslation* Translations::covering(const Wave& wave, uint64_t pc) {
  const CodeMode mode = mode_here(wave);
  const auto is_known = [&](const PendingTranslation& asked) {
    const PendingTranslation::Stretch* stretch = asked.at(pc);
    return stretch != nullptr && stretch->mode == mode;
  };
  if (const machine::Kernel* kernel = kernel_of(wave)) {
    const CodeMode at_entry{.floats = machine::float_mode_of(dispatch_of(wave)->launch.mode, wave.float_mode)};
    PendingTranslation& asked = pending_for(kernel->entry, at_entry, wave);
    if (is_known(asked)) return &asked;
  }
  PendingTranslation& asked = pending_for(pc, mode, wave);
  return is_known(asked) ? &asked : nullptr;
}

Translations::PendingTranslation& Translations::pending_for(uint64_t root, const CodeMode& mode, const Wave& wave) {
  const auto [found, is_new] = asked_.try_emplace({root, std::bit_cast<std::array<uint8_t, sizeof mode>>(mode)});
  PendingTranslation& asked = found->second;
  if (is_new) {
    asked.root = root;
    asked.mode = mode;
    if (const machine::Kernel* kernel = kernel_of(wave)) asked.kernel = kernel->name;
    follow_code(asked, wave);
  }
  return asked;
}

void Translations::follow_code(PendingTranslation& asked, const Wave& wave) {
  const CodeAround code(wave, asked.root);
  if (code.begin == code.end) return;
  auto flow = follow(asked.root, asked.mode, code.begin, code.end, cache_.target(),
                     RegisterCounts(wave, cache_.target()), Instrumentation::of(cache_.watched()));
  if (!flow) {
    ++report_.failures[flow.error().message];
    return;
  }
  if (flow->blocks.empty()) return;
  // Code that looks for undefined values is cut into check intervals, which the limit is not a part of.
  if (const auto aids = TranslationAids::from_environment(); aids && !flow->instrumentation.undefined_values)
    flow->aids = aids->loaded_at(code.begin);
  if (flow->instrumentation.undefined_values) {  // the interpreter comes back wherever a branch leads
    for (const auto& [pc, block] : flow->blocks) flow->entries.insert(pc);
  }
  asked.base = flow->blocks.begin()->first;
  asked.cost = CompilingCost::of(*flow);
  asked.registers = flow->registers;
  for (const auto& [pc, block] : flow->blocks) {
    PendingTranslation::Stretch* stretch = nullptr;
    for (const Located& at : block.instructions) {
      if (stretch == nullptr || stretch->mode != at.mode)
        stretch = &(asked.stretches[at.pc] = {.end = at.pc, .mode = at.mode});
      stretch->end = at.next();
    }
  }
  if (has_breakpoint(asked)) return;
  asked.request =
      TranslationRequest::serialise(cache_.target(), *flow, asked.base, code.group(asked.root, cache_, asked.mode));
  asked.request_hash = hash(asked.request);
}

bool Translations::has_breakpoint(const PendingTranslation& asked) const {
  return cache_.control() != nullptr && std::ranges::any_of(asked.stretches, [&](const auto& each) {
           return cache_.control()->has_breakpoint_in(each.first, each.second.end);
         });
}

void Translations::add_hotness(PendingTranslation& asked, const Wave& wave, uint64_t hotness) {
  asked.hotness += hotness;
  Interpreted interpreted{.so_far = asked.hotness};
  if (!asked.request.empty()) {
    if (!asked.past_hotness) asked.past_hotness = Compilations::of_process().past_runs().spent(asked.request_hash);
    interpreted.in_past_runs = *asked.past_hotness;
    if (asked.hotness - asked.kept_hotness >= std::max(least_kept, asked.kept_hotness)) keep_hotness(asked);
  }
  if (const machine::Kernel* kernel = kernel_of(wave); kernel != nullptr && kernel->entry == asked.root) {
    const machine::Dispatch& dispatch = *dispatch_of(wave);
    const std::pair number{dispatch.submission.queue_address, dispatch.submission.dispatch_id};
    if (asked.last_dispatch && asked.last_dispatch != number) asked.earlier_hotness = asked.hotness - hotness;
    asked.last_dispatch = number;
    interpreted.earlier = asked.earlier_hotness;
    interpreted.ahead = instructions_ahead(dispatch);
  }
  const CompilingIsWorth worth = compiling_is_worth(interpreted, asked.cost);
  if (worth != CompilingIsWorth::nothing_yet) hand_over(asked);
  if (asked.compilation == nullptr) return;
  asked.compilation->hotness.store(asked.hotness, std::memory_order_relaxed);
  if (worth == CompilingIsWorth::program_time) Compilations::of_process().set_priority(*asked.compilation);
}

/// Records hotness for later runs. The end of this run is unknown, so it is recorded whenever it has doubled.
void Translations::keep_hotness(PendingTranslation& asked) {
  Compilations::of_process().past_runs().add(asked.request_hash, asked.hotness - asked.kept_hotness);
  asked.kept_hotness = asked.hotness;
}

void Translations::hand_over(PendingTranslation& asked) {
  if (asked.compilation != nullptr || asked.request.empty()) return;
  keep_hotness(asked);
  asked.compilation = Compilations::of_process().ask(std::move(asked.request), asked.hotness, asked.cost);
  asked.request = {};
  count_expected();
}

/// Installs the requested code if it has arrived.
void Translations::take(PendingTranslation& asked) {
  if (asked.taken || asked.compilation == nullptr) return;
  if (!asked.compilation->done.load(std::memory_order_acquire)) return;
  asked.taken = true;
  if (asked.compilation->code == nullptr) {
    ++report_.failures[asked.compilation->failure];
    return;
  }
  auto placed = place(asked);
  if (placed == nullptr) return;
  placed->symbols = CodeSymbols::publish(*placed->code, asked.kernel, asked.root - asked.base);
  const TranslatedCode& translated = placed->code->translated();
  for (const EntryPoint& entry : translated.entries) {
    const PendingTranslation::Stretch* stretch = asked.at(asked.base + entry.pc);
    if (stretch == nullptr) continue;
    const bool begins_there = asked.base + entry.pc == asked.root;
    entries_.add_code(asked.base + entry.pc, {.function = placed->code->function(entry),
                                              .number = entry.number,
                                              .context = &placed->context,
                                              .mode = stretch->mode,
                                              .start = begins_there ? &placed->start : nullptr});
  }
  report_.translations.push_back({.kernel = asked.kernel,
                                  .instructions = translated.instructions,
                                  .fallbacks = translated.fallbacks(),
                                  .seconds = asked.compilation->from_cache ? 0 : translated.seconds,
                                  .from_cache = asked.compilation->from_cache});
  for (const auto& [name, count] : translated.untranslated) report_.untranslated[name] += count;
  placed_.push_back(std::move(placed));
}

std::unique_ptr<Translations::PlacedCode> Translations::place(const PendingTranslation& asked) {
  auto placed = std::make_unique<PlacedCode>(cache_);
  placed->code = asked.compilation->code;
  for (const uint64_t offset : placed->code->translated().helper_pcs) {
    const uint64_t pc = asked.base + offset;
    const PendingTranslation::Stretch* stretch = asked.at(pc);
    if (stretch == nullptr) return nullptr;
    const auto instruction = decode(std::span(reinterpret_cast<const uint8_t*>(pc), stretch->end - pc), cache_.target(),
                                    asked.registers, stretch->mode.banks);
    if (!instruction) return nullptr;
    placed->helper_ops.push_back(placed->fallbacks.prepare(pc, *instruction));
  }
  placed->start = {.rows = placed->code->translated().start_rows, .scalars = placed->code->translated().start_scalars};
  placed->context = {.code_base = asked.base,
                     .helper_ops = placed->helper_ops.data(),
                     .must_stop = must_stop,
                     .access = access_chunk,
                     .hardware_register = hardware_register,
                     .now = [] { return machine::now_ns(); },
                     .multiply = multiply_ops,
                     .filtered_access = filtered_access,
                     .registers_are_defined = registers_are_defined,
                     .accesses_are_over = accesses_are_over,
                     .report_loads = report_loads,
                     .report_scalar_load = report_scalar_load,
                     .block_begins = block_begins};
  return placed;
}

void Translations::count_expected() {
  expected_ = static_cast<uint32_t>(std::ranges::count_if(
      asked_, [](const auto& asked) { return !asked.second.taken && asked.second.compilation != nullptr; }));
}

}  // namespace Atoll::engine

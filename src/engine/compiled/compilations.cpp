// engine/compiled: what the compiler is asked for (compilations.h).
#include "engine/compiled/compilations.h"

#include <algorithm>
#include <ranges>
#include <thread>

namespace Atoll::engine {

namespace {

/// A compiler that dies this often is not started again.
constexpr unsigned most_deaths = 3;

/// Instructions that the interpreter runs (for a wave) while one instruction is compiled: 0.15 ms, 15 ns each.
constexpr uint64_t interpreted_per_compiled = 10'000;
/// Instructions that could be compiled while the compiler starts, and before the first one of a request.
constexpr uint64_t always_compiled = 100;

/// Requests in a hurry that are compiled at once, and as many others.
unsigned most_at_once() {
  // Asked once: the C library reads a file for it, and every wave that begins while kernels wait comes by here.
  static const unsigned most = std::clamp(std::thread::hardware_concurrency() / 2, 1U, CompilerChannel::slot_count / 2);
  return most;
}

}  // namespace

/// What compiling costs is known beforehand, and so is what is left of a dispatch, once some of its work-groups have
/// ended. Code for that may be hardly faster than the interpreter, and while it is made the program has two thirds of
/// the processors: with half as fast again, five times the cost would be even. The first work-groups may be unlike the
/// others, so little more is enough only when there have been many.
///
/// What else is to come may be guessed only: code that has run for some time will run for as long again; but not from
/// a single dispatch, which may be the only one. A program that ends just then has lost what compiling cost, so that
/// must be little beside what it took anyway. Time that
/// nobody else wants costs less, but not nothing: processors share caches, memory and sometimes more, and the compiler
/// has to start. What was run in past runs will be run in later ones, which gain more surely than this one; so less is
/// enough, but it is no reason to take any of this one's time.
CompilingIsWorth compiling_is_worth(const Interpreted& interpreted, uint64_t instructions) {
  constexpr uint64_t costs_ahead = 12, least_ahead = 6, past_costs = 4, idle_costs = 8, program_costs = 16;
  const uint64_t cost = interpreted_per_compiled * (instructions + always_compiled);
  const auto& [in_past_runs, so_far, ahead, is_run_once] = interpreted;
  const bool is_much = so_far >= idle_costs * cost;
  if (ahead >= (is_much ? least_ahead : costs_ahead) * cost || so_far >= program_costs * cost) {
    return CompilingIsWorth::program_time;
  }
  const bool may_run_again = is_much && !is_run_once;
  return may_run_again || in_past_runs >= past_costs * cost ? CompilingIsWorth::idle_time
                                                            : CompilingIsWorth::nothing_yet;
}

Compilations& Compilations::of_process() {
  static auto* const compilations = new Compilations;  // outlives every exit handler
  return *compilations;
}

Compilations::Compilations() {
  if (auto cache = TranslationCache::from_environment()) cache_ = std::move(*cache);
}

/// With the mutex held: what is known of the request, or what the cache on disk has.
std::shared_ptr<Compilation> Compilations::find_cached(const std::vector<uint8_t>& request) {
  if (const auto known = all_.find(request); known != all_.end()) return known->second;
  const auto answer = cache_ ? cache_->find(request) : std::nullopt;
  if (!answer) return nullptr;
  auto compilation = std::make_shared<Compilation>();
  compilation->from_cache = true;
  finish(*compilation, true, *answer);
  if (compilation->code == nullptr) return nullptr;
  return all_[request] = std::move(compilation);
}

std::shared_ptr<Compilation> Compilations::find(const std::vector<uint8_t>& request) {
  const std::lock_guard lock(mutex_);
  auto found = find_cached(request);
  return found != nullptr && found->done.load() ? found : nullptr;
}

std::shared_ptr<Compilation> Compilations::ask(std::vector<uint8_t> request, uint64_t heat) {
  const std::lock_guard lock(mutex_);
  auto compilation = find_cached(request);
  if (compilation == nullptr) {
    compilation = std::make_shared<Compilation>();
    compilation->request = request;
    waiting_.push_back(compilation);
    all_[std::move(request)] = compilation;
  }
  compilation->heat.fetch_add(heat, std::memory_order_relaxed);
  hand_on();
  return compilation;
}

void Compilations::look() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  take_answers();
  hand_on();
}

void Compilations::hurry(Compilation& compilation) {
  const std::lock_guard lock(mutex_);
  if (compilation.hurry || compilation.done.load()) return;
  compilation.hurry = true;
  for (const auto& [slot, at_compiler] : at_compiler_) {
    if (at_compiler.get() == &compilation) compiler_->hurry(slot);
  }
  hand_on();
}

void Compilations::wait(Compilation& compilation) {
  hurry(compilation);
  while (!compilation.done.load(std::memory_order_acquire)) {
    std::unique_lock lock(mutex_);
    take_answers();
    check_health();
    hand_on();
    if (compiler_ == nullptr) continue;
    const uint32_t seen = compiler_->answers();
    lock.unlock();
    if (!compilation.done.load()) compiler_->wait_for_answer(seen);
  }
}

pid_t Compilations::compiler() {
  const std::lock_guard lock(mutex_);
  return compiler_ != nullptr ? compiler_->process() : 0;
}

void Compilations::take_answers() {
  if (compiler_ == nullptr || compiler_->answers() == answers_seen_) return;
  if (!compiler_->is_ours()) return check_health();
  finish_answered();
}

void Compilations::finish_answered() {
  answers_seen_ = compiler_->answers();
  for (const CompilerProcess::Answer& answer : compiler_->take_answers()) {
    const auto found = at_compiler_.find(answer.slot);
    if (found == at_compiler_.end()) continue;
    finish(*found->second, answer.is_code, answer.bytes);
    at_compiler_.erase(found);
  }
}

void Compilations::hand_on() {
  if (waiting_.empty()) return;
  if (compiler_ != nullptr) check_health();
  if (compiler_ == nullptr && unavailable_.empty()) {
    auto started = CompilerProcess::start(cache_ ? cache_->directory().string() : "");
    if (started) {
      compiler_ = std::move(*started);
      answers_seen_ = 0;
    } else {
      unavailable_ = started.error().message;
    }
  }
  if (compiler_ == nullptr) return fail_waiting(unavailable_);
  post_hottest(true, most_at_once());
  post_hottest(false, most_at_once());
}

void Compilations::post_hottest(bool hurry, size_t most) {
  const auto is_one = [hurry](const auto& compilation) { return compilation->hurry == hurry; };
  const auto colder = [](const auto& a, const auto& b) { return a->heat.load() < b->heat.load(); };
  for (;;) {
    const auto at_compiler = std::ranges::count_if(at_compiler_, [&](const auto& at) { return is_one(at.second); });
    if (static_cast<size_t>(at_compiler) >= most) return;
    auto candidates = waiting_ | std::views::filter(is_one);
    const auto hottest = std::ranges::max_element(candidates, colder);
    if (hottest == candidates.end()) return;
    const auto chosen = *hottest;
    if (const auto slot = compiler_->post(chosen->request, hurry)) {
      at_compiler_[*slot] = chosen;
    } else if (chosen->request.size() <= CompilerChannel::slot_bytes) {
      return;
    } else {
      constexpr std::string_view why = "the code is too large for the compiler";
      finish(*chosen, false, {reinterpret_cast<const uint8_t*>(why.data()), why.size()});
    }
    std::erase(waiting_, chosen);
  }
}

/// Lets go of a compiler that is no more, or that was started by the process that this one is a fork of.
void Compilations::check_health() {
  if (compiler_ == nullptr) return;
  const auto health = compiler_->is_ours() ? compiler_->health() : CompilerProcess::Health::left;
  if (health == CompilerProcess::Health::well) return;
  if (health == CompilerProcess::Health::refuses) unavailable_ = "atoll-compiler is of another build of Atoll";
  if (health == CompilerProcess::Health::died && ++deaths_ >= most_deaths) {
    unavailable_ = "atoll-compiler crashes again and again";
  }
  if (compiler_->is_ours()) finish_answered();
  for (const auto& [slot, compilation] : at_compiler_) {
    if (health == CompilerProcess::Health::died && compiler_->was_begun(slot)) {
      constexpr std::string_view why = "atoll-compiler crashed";
      finish(*compilation, false, {reinterpret_cast<const uint8_t*>(why.data()), why.size()});
    } else {
      waiting_.push_back(compilation);
    }
  }
  at_compiler_.clear();
  compiler_.reset();
}

void Compilations::fail_waiting(const std::string& why) {
  for (const auto& compilation : waiting_) {
    finish(*compilation, false, {reinterpret_cast<const uint8_t*>(why.data()), why.size()});
  }
  waiting_.clear();
}

void Compilations::finish(Compilation& compilation, bool is_code, std::span<const uint8_t> answer) {
  if (is_code) {
    auto translated = TranslatedCode::parse(answer);
    auto placed = translated ? HostCode::place(std::move(*translated)) : std::unexpected(translated.error());
    if (placed) {
      compilation.code = std::move(*placed);
    } else {
      compilation.failure = placed.error().message;
    }
  } else {
    compilation.failure = {answer.begin(), answer.end()};
  }
  compilation.request = {};
  compilation.done.store(true, std::memory_order_release);
}

}  // namespace Atoll::engine

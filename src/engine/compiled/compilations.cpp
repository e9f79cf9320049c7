// engine/compiled: queues requests, posts them to the compiler process, and distributes its answers.
#include "engine/compiled/compilations.h"

#include <algorithm>
#include <ranges>
#include <thread>

#include "machine/clock.h"
#include "support/fork.h"

namespace Atoll::engine {

namespace {

/// A compiler that dies this often is not started again.
constexpr unsigned max_deaths = 3;

/// Cached: the C library reads a file for it, and every starting wave calls this while requests are pending.
unsigned host_threads() {
  static const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  return threads;
}

/// Requests in a hurry that are compiled at once, and as many others.
unsigned max_at_once() { return std::clamp(host_threads() / 2, 1U, CompilerChannel::slot_count / 2); }

/// Threads yield for at most twice the expected compile time plus a constant. Beyond that the compiler does not
/// benefit, or does not terminate.
uint64_t longest_room(const CompilingCost& cost) { return 20'000'000 + 2 * cost.ns(); }

}  // namespace

Compilations& Compilations::of_process() {
  static auto* const compilations = new Compilations;  // outlives every exit handler
  return *compilations;
}

Compilations::Compilations() {
  support::keep_free_in_forks(mutex_, support::LockDepth::outermost);
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

std::shared_ptr<Compilation> Compilations::ask(std::vector<uint8_t> request, uint64_t hotness,
                                               const CompilingCost& cost) {
  const std::lock_guard lock(mutex_);
  auto compilation = find_cached(request);
  if (compilation == nullptr) {
    compilation = std::make_shared<Compilation>();
    compilation->request = request;
    compilation->cost = cost;
    waiting_.push_back(compilation);
    all_[std::move(request)] = compilation;
  }
  compilation->hotness.fetch_add(hotness, std::memory_order_relaxed);
  hand_on();
  return compilation;
}

void Compilations::look() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  take_answers();
  hand_on();
}

void Compilations::set_priority(Compilation& compilation) {
  const std::lock_guard lock(mutex_);
  if (compilation.urgent || compilation.done.load()) return;
  compilation.urgent = true;
  for (const auto& [slot, at_compiler] : at_compiler_) {
    if (at_compiler.get() != &compilation) continue;
    compiler_->set_priority(slot);
    compilation.room_until = machine::now_ns() + longest_room(compilation.cost);
    ++hurried_;
  }
  hand_on();
}

void Compilations::wait(Compilation& compilation) {
  set_priority(compilation);
  while (!compilation.done.load(std::memory_order_acquire)) {
    std::unique_lock lock(mutex_);
    take_answers();
    check_health();
    hand_on();
    const auto compiler = compiler_;
    if (compiler == nullptr) continue;
    const uint32_t seen = compiler->answers();
    lock.unlock();
    if (!compilation.done.load()) compiler->wait_for_answer(seen, 20);
  }
}

bool Compilations::yield_to_compiler(unsigned threads, const std::function<bool()>& may_sleep) {
  if (urgent() == 0) return false;
  const unsigned number = ++making_room_;
  bool has_slept = false;
  while (may_sleep()) {
    std::unique_lock lock(mutex_);
    take_answers();
    hand_on();
    if (number > threads_to_yield(threads)) break;
    const auto compiler = compiler_;
    const uint32_t seen = answers_seen_;
    lock.unlock();
    compiler->wait_for_answer(seen, 1);
    has_slept = true;
  }
  --making_room_;
  return has_slept;
}

/// Returns the number of threads to yield: processors that the host lacks for urgent compilations. One of `threads`
/// continues. The caller holds the mutex.
unsigned Compilations::threads_to_yield(unsigned threads) const {
  const uint64_t now = machine::now_ns();
  const auto wants_room = [now](const auto& at) { return at.second->urgent && now < at.second->room_until; };
  const auto hurried = static_cast<unsigned>(std::ranges::count_if(at_compiler_, wants_room));
  const unsigned wanted = threads + hurried;
  return wanted <= host_threads() ? 0 : std::min({hurried, wanted - host_threads(), threads - 1});
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
    if (found->second->urgent) --hurried_;
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
  post_hottest(true, max_at_once());
  post_hottest(false, max_at_once());
}

void Compilations::post_hottest(bool urgent, size_t most) {
  const auto is_one = [urgent](const auto& compilation) { return compilation->urgent == urgent; };
  const auto gain = [](const Compilation& compilation) {
    return static_cast<double>(compilation.hotness.load()) / static_cast<double>(compilation.cost.interpreted + 1);
  };
  const auto colder = [&](const auto& a, const auto& b) { return gain(*a) < gain(*b); };
  for (;;) {
    const auto at_compiler = std::ranges::count_if(at_compiler_, [&](const auto& at) { return is_one(at.second); });
    if (static_cast<size_t>(at_compiler) >= most) return;
    auto candidates = waiting_ | std::views::filter(is_one);
    const auto hottest = std::ranges::max_element(candidates, colder);
    if (hottest == candidates.end()) return;
    const auto chosen = *hottest;
    if (const auto slot = compiler_->post(chosen->request, urgent)) {
      at_compiler_[*slot] = chosen;
      if (urgent) {
        chosen->room_until = machine::now_ns() + longest_room(chosen->cost);
        ++hurried_;
      }
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
  if (health == CompilerProcess::Health::died && ++deaths_ >= max_deaths) {
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
  hurried_ = 0;
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

// observe: deduplicates, suppresses and reports findings.
#include "observe/report/findings.h"

#include <algorithm>

namespace Atoll::observe {

namespace {

/// Returns whether two instructions have the same mistake, as after loop unrolling.
bool is_same_mistake(const Finding& one, const Finding& other) {
  return !one.source.file.empty() && one.source.file == other.source.file && one.source.line == other.source.line &&
         one.checker == other.checker && one.kind == other.kind && one.kernel == other.kernel &&
         one.message == other.message;
}

}  // namespace

bool Findings::known(std::string_view checker, std::string_view kind, uint64_t place, uint64_t count) {
  const std::lock_guard lock(mutex_);
  const auto found = index_.find(Key(checker, kind, place));
  if (found == index_.end()) return false;
  if (found->second != suppressed_index) findings_[found->second].count += count;
  return true;
}

void Findings::add(uint64_t place, Finding finding) {
  resolve(finding);
  const bool is_suppressed = suppressions_.match(finding);
  const std::string text = is_suppressed ? std::string() : to_text(finding);
  std::unique_lock lock(mutex_);
  const auto [position, is_new] = index_.try_emplace(Key(finding.checker, finding.kind, place), findings_.size());
  if (!is_new) {  // another thread has added it
    if (position->second != suppressed_index) findings_[position->second].count += finding.count;
    return;
  }
  if (is_suppressed) {
    position->second = suppressed_index;
    ++suppressed_;
    return;
  }
  const auto same =
      std::ranges::find_if(findings_, [&](const Finding& each) { return is_same_mistake(each, finding); });
  if (same != findings_.end()) {
    position->second = static_cast<size_t>(same - findings_.begin());
    same->count += finding.count;
    return;
  }
  findings_.push_back(finding);
  if (tell_) tell_(text);
  lock.unlock();
  if (added) added(finding);
}

std::vector<Finding> Findings::all() const {
  const std::lock_guard lock(mutex_);
  return findings_;
}

size_t Findings::errors() const {
  const std::lock_guard lock(mutex_);
  return static_cast<size_t>(std::ranges::count(findings_, false, &Finding::is_note));
}

uint64_t Findings::suppressed() const {
  const std::lock_guard lock(mutex_);
  return suppressed_;
}

}  // namespace Atoll::observe

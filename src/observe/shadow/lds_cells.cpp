// observe: shadow cells of LDS (lds_cells.h).
#include "observe/shadow/lds_cells.h"

#include <algorithm>

#include "semantics/host_vectors.h"

namespace Atoll::observe {

namespace portable {
extern const LdsRowFunctions level_functions;
}
namespace avx2 {
extern const LdsRowFunctions level_functions;
}
namespace avx512 {
extern const LdsRowFunctions level_functions;
}

const LdsRowFunctions& lds_row_functions() {
  switch (semantics::host_vectors()) {
    case semantics::HostVectors::avx512:
      return avx512::level_functions;
    case semantics::HostVectors::avx2:
      return avx2::level_functions;
    case semantics::HostVectors::portable:
      break;
  }
  return portable::level_functions;
}

namespace {

/// Grows an array, which keeps its size between work-groups.
template <typename Element>
void at_least(std::vector<Element>& vector, size_t size) {
  if (vector.size() < size) vector.resize(size);
}

}  // namespace

void LdsCells::begin(uint32_t bytes, uint32_t first_task, uint32_t waves) {
  dwords_ = (bytes + 3) / 4;
  first_task_ = first_task;
  begin_ = waves > max_waves ? 0 : PackedMark::of({first_task, 0}, 0);
  if (begin_ == 0) {  // without the fast path, records of earlier work-groups have to be cleared
    writes_ = reads_ = earlier_reads_ = {};
  }
  for (Marks* marks : {&writes_, &reads_, &earlier_reads_}) {
    at_least(marks->packed, dwords_);
    at_least(marks->sites, dwords_);
  }
  has_atomics_ = has_earlier_reads_ = false;
  bytes_.clear();
}

void LdsCells::begin_atomics() {
  if (has_atomics_) return;
  has_atomics_ = true;
  plain_writes_ = writes_;
  const size_t words = (dwords_ + 63) / 64;
  atomic_.words.assign(words, 0);
  by_atomic_.words.assign(words, 0);
}

Cell LdsCells::get(uint32_t dword) const {
  Cell cell;
  cell.write = mark_of(writes_, dword);
  cell.plain_write = has_atomics_ ? mark_of(plain_writes_, dword) : cell.write;
  cell.reads[0] = mark_of(reads_, dword);
  cell.reads[1] = mark_of(earlier_reads_, dword);
  cell.is_atomic = has_atomics_ && atomic_.has(dword);
  cell.is_stored = cell.write.when.task != 0 && !(has_atomics_ && by_atomic_.has(dword));
  return cell;
}

void LdsCells::set(uint32_t dword, const Cell& cell) {
  const auto put = [&](Marks& marks, const Mark& mark) {
    marks.put(dword, PackedMark::of(mark.when, mark.lane), mark.site);
  };
  if (cell.is_atomic) begin_atomics();
  put(writes_, cell.write);
  put(reads_, cell.reads[0]);
  put(earlier_reads_, cell.reads[1]);
  has_earlier_reads_ |= cell.reads[1].when.task != 0;
  if (!has_atomics_) return;
  put(plain_writes_, cell.plain_write);
  atomic_.set(dword, cell.is_atomic);
  by_atomic_.set(dword, !cell.is_stored);
}

void LdsReleases::begin(uint32_t first_task, uint32_t waves) {
  is_empty_ = true;
  first_task_ = first_task;
  waves_ = waves;
  blocks_.clear();
  known_.clear();
  tidy_at_ = min_tidy_at;
}

std::span<const uint32_t> LdsReleases::times(uint64_t address) const {
  const uint64_t dword = address / 4, block = dword / block_dwords;
  if (block >= blocks_.size() || blocks_[block] == nullptr) return {};
  return {blocks_[block].get() + dword % block_dwords * waves_, waves_};
}

bool LdsReleases::has(uint64_t address) const {
  return std::ranges::any_of(times(address), [](uint32_t time) { return time != 0; });
}

void LdsReleases::release(uint64_t address, uint32_t wave, uint32_t time, bool replaces) {
  const uint64_t dword = address / 4, block = dword / block_dwords;
  if (block >= blocks_.size()) blocks_.resize(block + 1);
  if (blocks_[block] == nullptr) blocks_[block] = std::make_unique<uint32_t[]>(block_dwords * waves_);
  uint32_t* const all = blocks_[block].get() + dword % block_dwords * waves_;
  if (replaces) std::fill_n(all, waves_, 0);
  all[wave] = time;
}

void LdsReleases::knows(uint32_t wave, uint32_t time, const Knowledge& known) {
  is_empty_ = false;
  if (known_.empty()) known_.resize(waves_);
  std::vector<Known>& of_wave = known_[wave];
  if (!of_wave.empty() && of_wave.back().clock == known) return;
  if (of_wave.size() >= tidy_at_) tidy(wave);
  of_wave.push_back({.from = time, .clock = known});
}

/// Drops a wave's clocks at times that no location refers to.
void LdsReleases::tidy(uint32_t wave) {
  std::vector<uint32_t> used;
  for (const auto& block : blocks_) {
    for (uint64_t dword = 0; block != nullptr && dword < block_dwords; ++dword) {
      if (const uint32_t time = block[dword * waves_ + wave]; time != 0) used.push_back(time);
    }
  }
  std::ranges::sort(used);
  std::vector<Known>& of_wave = known_[wave];
  std::vector<Known> left;
  for (size_t i = 0; i < of_wave.size(); ++i) {
    const auto first = std::ranges::lower_bound(used, of_wave[i].from);
    const bool is_used = first != used.end() && (i + 1 == of_wave.size() || *first < of_wave[i + 1].from);
    if (is_used || i + 1 == of_wave.size()) left.push_back(std::move(of_wave[i]));
  }
  of_wave = std::move(left);
  tidy_at_ = std::max(tidy_at_, 2 * of_wave.size());
}

VectorClock LdsReleases::clock(uint64_t address) const {
  VectorClock all;
  const std::span<const uint32_t> released = times(address);
  for (uint32_t wave = 0; wave < released.size(); ++wave) {
    const uint32_t time = released[wave];
    if (time == 0) continue;
    const std::vector<Known>& of_wave = known_[wave];
    const auto after = std::ranges::find_if(of_wave, [&](const Known& known) { return known.from > time; });
    if (after != of_wave.begin()) all.learn(*std::prev(after)->clock);
    all.learn({first_task_ + wave, time});
  }
  return all;
}

}  // namespace Atoll::observe

// hsa: attributes of shared virtual memory.
#include "hsa/memory/svm.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <optional>
#include <span>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/memory/copy.h"
#include "hsa/runtime.h"
#include "machine/memory/memory_grain.h"

namespace Atoll::hsa {

void SvmRanges::split(uint64_t at) {
  auto position = pieces_.upper_bound(at);
  if (position == pieces_.begin()) return;
  --position;
  if (position->first == at || position->second.end <= at) return;
  pieces_[at] = {position->second.end, position->second.attributes};
  position->second.end = at;
}

void SvmRanges::change(uint64_t begin, uint64_t end, const std::function<void(SvmAttributes&)>& change) {
  const std::scoped_lock lock(mutex_);
  split(begin);
  split(end);
  // Gaps get pieces of their own first.
  uint64_t at = begin;
  for (auto position = pieces_.lower_bound(begin); at < end;) {
    const uint64_t next = position == pieces_.end() ? end : std::min(end, position->first);
    if (at < next) pieces_[at] = {next, {}};
    if (next == end) break;
    at = position->second.end;
    ++position;
  }
  for (auto position = pieces_.lower_bound(begin); position != pieces_.end() && position->first < end; ++position) {
    change(position->second.attributes);
  }
}

std::vector<SvmAttributes> SvmRanges::pieces(uint64_t begin, uint64_t end) const {
  const std::scoped_lock lock(mutex_);
  std::vector<SvmAttributes> found;
  auto position = pieces_.upper_bound(begin);
  if (position != pieces_.begin() && std::prev(position)->second.end > begin) --position;
  uint64_t at = begin;
  for (; position != pieces_.end() && position->first < end; ++position) {
    if (at < position->first) found.emplace_back();
    found.push_back(position->second.attributes);
    at = position->second.end;
  }
  if (at < end) found.emplace_back();
  return found;
}

std::optional<std::pair<uint64_t, uint64_t>> SvmRanges::find(uint64_t address) const {
  const std::scoped_lock lock(mutex_);
  const auto above = pieces_.upper_bound(address);
  if (above == pieces_.begin() || address >= std::prev(above)->second.end) return std::nullopt;
  // Neighbours are one range.
  auto first = std::prev(above), last = first;
  while (first != pieces_.begin() && std::prev(first)->second.end == first->first) --first;
  while (std::next(last) != pieces_.end() && last->second.end == std::next(last)->first) ++last;
  return std::pair(first->first, last->second.end);
}

bool SvmRanges::give(uint64_t begin, uint64_t end) {
  const std::scoped_lock lock(mutex_);
  const auto above = given_.lower_bound(end);
  if (above != given_.begin() && std::prev(above)->second > begin) return false;
  given_[begin] = end;
  return true;
}

std::vector<uint64_t> SvmRanges::forget(uint64_t begin, uint64_t end) {
  const std::scoped_lock lock(mutex_);
  split(begin);
  split(end);
  pieces_.erase(pieces_.lower_bound(begin), pieces_.lower_bound(end));
  std::vector<uint64_t> gone;
  for (auto position = given_.lower_bound(begin); position != given_.end() && position->second <= end;) {
    gone.push_back(position->first);
    position = given_.erase(position);
  }
  return gone;
}

namespace {

constexpr uint64_t page = 4096;

struct Range {
  uint64_t begin, end;
};
/// Nothing for a range that goes around the end of the address space.
std::optional<Range> pages_of(const void* pointer, size_t size) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  uint64_t end = 0;
  if (__builtin_add_overflow(address, size, &end) || end > UINT64_MAX - page) return std::nullopt;
  return Range{address / page * page, (end + page - 1) / page * page};
}

/// Changes one attribute, or says what is wrong with it or with its value.
hsa_status_t set_one(SvmAttributes& attributes, uint64_t attribute, uint64_t value) {
  switch (attribute) {
    case HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG:
      if (value > HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
      attributes.global_flag = value;
      return HSA_STATUS_SUCCESS;
    case HSA_AMD_SVM_ATTRIB_READ_ONLY:
      attributes.read_only = value != 0;
      return HSA_STATUS_SUCCESS;
    case HSA_AMD_SVM_ATTRIB_HIVE_LOCAL:
      attributes.hive_local = value != 0;
      return HSA_STATUS_SUCCESS;
    case HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY:
      attributes.migration_granularity = std::min<uint64_t>(value, 63);
      return HSA_STATUS_SUCCESS;
    case HSA_AMD_SVM_ATTRIB_READ_MOSTLY:
      attributes.read_mostly = value != 0;
      return HSA_STATUS_SUCCESS;
    case HSA_AMD_SVM_ATTRIB_GPU_EXEC:
      attributes.gpu_exec = value != 0;
      return HSA_STATUS_SUCCESS;
    case HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION:
      if (value != 0 && Runtime::get()->find_agent({value}) == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
      attributes.preferred_location = value;
      return HSA_STATUS_SUCCESS;
    case HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE:
    case HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE:
    case HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS:
      if (Runtime::get()->find_agent({value}) == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
      attributes.access[value] = attribute;
      return HSA_STATUS_SUCCESS;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

/// One value for all pieces, or `otherwise` where they differ.
template <typename Field>
uint64_t common_value(const std::vector<SvmAttributes>& pieces, Field field, uint64_t otherwise) {
  const uint64_t first = field(pieces.front());
  const bool same = std::ranges::all_of(pieces, [&](const SvmAttributes& piece) { return field(piece) == first; });
  return same ? first : otherwise;
}

hsa_status_t get_one(const std::vector<SvmAttributes>& pieces, hsa_amd_svm_attribute_pair_t& pair) {
  const auto get = [&](auto field, uint64_t otherwise) {
    pair.value = common_value(pieces, field, otherwise);
    return HSA_STATUS_SUCCESS;
  };
  switch (pair.attribute) {
    case HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG:
      return get([](const SvmAttributes& a) { return a.global_flag; }, HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE);
    case HSA_AMD_SVM_ATTRIB_READ_ONLY:
      return get([](const SvmAttributes& a) -> uint64_t { return a.read_only; }, 0);
    case HSA_AMD_SVM_ATTRIB_HIVE_LOCAL:
      return get([](const SvmAttributes& a) -> uint64_t { return a.hive_local; }, 0);
    case HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY:
      return get([](const SvmAttributes& a) { return a.migration_granularity; }, 0);
    case HSA_AMD_SVM_ATTRIB_READ_MOSTLY:
      return get([](const SvmAttributes& a) -> uint64_t { return a.read_mostly; }, 0);
    case HSA_AMD_SVM_ATTRIB_GPU_EXEC:
      return get([](const SvmAttributes& a) -> uint64_t { return a.gpu_exec; }, 0);
    case HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION:
      return get([](const SvmAttributes& a) { return a.preferred_location; }, 0);
    case HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION:
      return get([](const SvmAttributes& a) { return a.prefetch_location; }, 0);
    case HSA_AMD_SVM_ATTRIB_ACCESS_QUERY: {
      // The answer replaces the attribute; the value names the agent.
      if (Runtime::get()->find_agent({pair.value}) == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
      pair.attribute = common_value(
          pieces, [&](const SvmAttributes& a) { return a.access_of(pair.value); }, HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);
      return HSA_STATUS_SUCCESS;
    }
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

/// Set once memory has attributes. Until then unmapping needs no notification.
std::atomic<bool> any_set{false};

void memory_goes(void* pointer, size_t size) {
  if (!any_set.load(std::memory_order_relaxed)) return;
  Runtime* const runtime = Runtime::get();
  if (runtime == nullptr) return;
  const auto range = pages_of(pointer, size);
  if (!range || range->begin != reinterpret_cast<uint64_t>(pointer)) return;
  machine::MemoryGrain::of_process().reset(range->begin, range->end);
  for (const uint64_t gone : runtime->svm.forget(range->begin, range->end)) {
    runtime->guest_memory().remove_outside();
    if (machine::Observer* const observer = memory_observer()) observer->freed(gone, "munmap", [] {});
  }
}

/// Requests notification of unmapped memory from the driver's stand-in library. Returns false if it is not loaded.
bool watch_unmapping() {
  using Told = std::atomic<void (*)(void*, size_t)>;
  auto* const reported = static_cast<Told*>(dlsym(RTLD_DEFAULT, "atoll_memory_goes"));
  if (reported != nullptr) reported->store(memory_goes, std::memory_order_release);
  return reported != nullptr;
}

}  // namespace

}  // namespace Atoll::hsa

using namespace Atoll::hsa;

hsa_status_t hsa_amd_svm_attributes_set(void* ptr, size_t size, hsa_amd_svm_attribute_pair_t* attribute_list,
                                        size_t attribute_count) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (ptr == nullptr || size == 0 || attribute_list == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  SvmAttributes trial;
  for (size_t i = 0; i < attribute_count; ++i) {
    const hsa_status_t status = set_one(trial, attribute_list[i].attribute, attribute_list[i].value);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  const auto range = pages_of(ptr, size);
  if (!range) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  // HIP makes managed memory of memory of its own this way (hipMallocManaged).
  const std::span attributes(attribute_list, attribute_count);
  const bool is_given = std::ranges::any_of(attributes, [](const auto& pair) {
    return pair.attribute == HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE ||
           pair.attribute == HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE;
  });
  static const bool knows_ends = watch_unmapping();
  any_set = true;
  if (is_given && !Atoll::machine::AddressRange::of_process().bounds().hold(range->begin) &&
      Runtime::get()->svm.give(range->begin, range->end)) {
    Runtime::get()->guest_memory().add_outside();
    Atoll::machine::MemoryGrain::of_process().set(range->begin, range->end, true);
    // Of whole pages from their beginning on; others' attributes are of a part of what they have.
    Atoll::machine::Observer* const observer = memory_observer();
    if (observer != nullptr && knows_ends && range->begin == reinterpret_cast<uint64_t>(ptr)) {
      observer->allocated({.kind = Atoll::machine::MemoryEvent::Kind::managed,
                           .address = range->begin,
                           .size = size,
                           .reserved = range->end - range->begin,
                           .function = "hsa_amd_svm_attributes_set"});
    }
  }
  for (const auto& [attribute, value] : attributes) {
    if (attribute != HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG) continue;
    const bool is_fine = value == HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED;
    Atoll::machine::MemoryGrain::of_process().set(range->begin, range->end, is_fine);
  }
  Runtime::get()->svm.change(range->begin, range->end, [&](SvmAttributes& attributes) {
    for (size_t i = 0; i < attribute_count; ++i) {
      (void)set_one(attributes, attribute_list[i].attribute, attribute_list[i].value);  // tried above
    }
  });
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_svm_attributes_get(void* ptr, size_t size, hsa_amd_svm_attribute_pair_t* attribute_list,
                                        size_t attribute_count) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (ptr == nullptr || size == 0 || attribute_list == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const auto range = pages_of(ptr, size);
  if (!range) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const std::vector<SvmAttributes> pieces = Runtime::get()->svm.pieces(range->begin, range->end);
  for (size_t i = 0; i < attribute_count; ++i) {
    const hsa_status_t status = get_one(pieces, attribute_list[i]);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_svm_prefetch_async(void* ptr, size_t size, hsa_agent_t agent, uint32_t num_dep_signals,
                                        const hsa_signal_t* dep_signals, hsa_signal_t completion_signal) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (ptr == nullptr || size == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (Runtime::get()->find_agent(agent) == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  std::vector<Signal*> dependencies;
  if (const hsa_status_t status = collect_dependencies(num_dep_signals, dep_signals, dependencies);
      status != HSA_STATUS_SUCCESS) {
    return status;
  }
  Signal* completion = signal_of(completion_signal);
  if (completion == nullptr && completion_signal.handle != 0) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  // The location is that of the latest prefetch, finished or not. There is nothing to move.
  const auto range = pages_of(ptr, size);
  if (!range) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Runtime::get()->svm.change(range->begin, range->end,
                             [=](SvmAttributes& attributes) { attributes.prefetch_location = agent.handle; });
  return Runtime::get()->copies.submit([] { return true; }, std::move(dependencies), completion, true);
}

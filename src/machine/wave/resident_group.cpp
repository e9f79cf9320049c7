#include "machine/wave/resident_group.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "machine/gpu.h"
#include "machine/observer.h"

namespace Atoll::machine {

namespace {

constexpr uint64_t page = 4096;

/// Zeroed memory of the host's with an inaccessible page behind it; of how much of it there are mappings.
uint64_t mapped_size(uint64_t bytes) { return (bytes + page - 1) / page * page + page; }

support::Result<uint64_t> map_own(uint64_t bytes) {
  const uint64_t mapped = mapped_size(bytes);
  void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(static_cast<uint8_t*>(memory) + (mapped - page), page, PROT_NONE) != 0) {
    const int error = errno;
    if (memory != MAP_FAILED) munmap(memory, mapped);
    return support::fail(support::ErrorKind::out_of_resources,
                         "cannot allocate {} bytes of memory for the state of a work-group: {}", bytes,
                         std::strerror(error));
  }
  return reinterpret_cast<uint64_t>(memory);
}

}  // namespace

void StateMemory::free() {
  const uint64_t address = std::exchange(address_, 0);
  if (address == 0) return;
  if (guest_ != nullptr) {
    static_cast<void>(guest_->free(address));
  } else {
    munmap(reinterpret_cast<void*>(address), mapped_size(size_));
  }
}

support::Result<uint8_t*> StateMemory::reserve(uint64_t bytes) {
  if (bytes == 0) return nullptr;
  if (bytes > size_) {
    free();
    size_ = 0;
    auto grown =
        guest_ != nullptr ? guest_->allocate(bytes, 0, std::string(purpose_), 0, Memory::Pages::small) : map_own(bytes);
    if (!grown) return std::unexpected(grown.error());
    address_ = *grown;
    size_ = bytes;
  }
  return reinterpret_cast<uint8_t*>(address_);
}

support::Result<void> ResidentGroup::prepare(Dispatch& dispatch, Engine& engine) {
  const auto rows = registers_.reserve(rows_needed(dispatch.launch, dispatch.gpu->processor()) * sizeof(Row));
  if (!rows) return std::unexpected(rows.error());
  const auto local = lds_.reserve(dispatch.launch.lds_bytes);
  if (!local) return std::unexpected(local.error());
  const auto stack = scratch_.reserve(uint64_t{dispatch.launch.scratch_bytes_per_wave} * waves_needed(dispatch.launch));
  if (!stack) return std::unexpected(stack.error());
  const bool has_table = dispatch.launch.scalars.has(InitialScalar::Source::global_table);
  // Shaders read the table by its address, as they read other memory of the GPU's.
  table_.use(dispatch.gpu->memory());
  const auto table = table_.reserve(has_table ? global_table_bytes : 0);
  if (!table) return std::unexpected(table.error());
  if (has_table && reinterpret_cast<uint64_t>(*table) >> 32 != dispatch.launch.entry >> 32) {
    return support::fail(support::ErrorKind::out_of_resources,
                         "the global table of shader '{}' is not in the 4 GiB of its code", dispatch.kernel->name);
  }
  group.waves.reserve(waves_needed(dispatch.launch));  // a wave stays where it is when a smaller work-group follows
  rows_ = reinterpret_cast<Row*>(*rows);
  rows_of_a_wave_ = rows_of_a_wave(dispatch.launch);
  group.waves_begun = 0;
  initial_.prepare(dispatch, {.lds = *local, .scratch = *stack, .global_table = *table}, engine);
  return {};
}

void ResidentGroup::begin(uint64_t number) {
  index = number;
  instructions = {};
  initial_.begin_work_group(group, number);
  rows_in_use_ = 0;
  free_rows_.clear();
  if (Observer* observer = group.dispatch->observer) observer->work_group_begins(group);
}

void ResidentGroup::begin_in_series(uint64_t number, WaveBatch& series) {
  begin(number);
  describe(series);
  group.waves_begun = rows_in_use_ = 1;
}

Wave& ResidentGroup::begin_wave() {
  Row* rows = nullptr;
  if (free_rows_.empty()) {
    rows = rows_ + size_t{rows_of_a_wave_} * rows_in_use_++;
  } else {
    rows = free_rows_.back();
    free_rows_.pop_back();
  }
  Wave& wave = initial_.begin_wave(group, rows);
  if (Observer* observer = group.dispatch->observer) observer->wave_begins(wave);
  return wave;
}

Wave& ResidentGroup::settle(Wave& wave) {
  const uint32_t number = wave.index;
  group.waves_begun = number + 1;
  group.waves_running = static_cast<uint32_t>(group.waves.size()) - number;
  if (number == 0) return wave;
  Wave& place = group.waves[number];
  place = std::move(wave);
  for (uint32_t ended = 0; ended < number; ++ended) group.waves[ended].state = WaveState::ended;
  return place;
}

}  // namespace Atoll::machine

// engine/compiled: loads of translated code, recorded for an observer of all accesses (load_records.h).
#include "engine/compiled/load_records.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "engine/compiled/compiled_run.h"
#include "machine/observer.h"
#include "machine/wave/wave.h"

namespace Atoll::engine {

namespace {

/// Returns the pattern of lanes that are `stride` apart.
machine::AccessPattern even_pattern(const LoadRecord& record, uint32_t bytes) {
  const uint64_t lanes = record.lanes, with_one_before = lanes & lanes << 1;
  const auto address = [&](int lane) { return record.begin + static_cast<uint64_t>(record.stride * lane); };
  const uint64_t first = address(std::countr_zero(lanes)), last = address(63 - std::countl_zero(lanes));
  return {.begin = std::min(first, last),
          .end = std::max(first, last) + bytes,
          .follows = record.stride == int64_t{bytes} ? with_one_before : 0,
          .repeats = record.stride == 0 ? with_one_before : 0};
}

/// Works out the addresses of lanes that are `stride` apart.
void fill_addresses(LoadRecord& record) {
  constexpr unsigned together = 8;
  using Addresses = uint64_t __attribute__((ext_vector_type(together)));
  const auto stride = static_cast<uint64_t>(record.stride);
  Addresses addresses;
  for (unsigned lane = 0; lane < together; ++lane) addresses[lane] = record.begin + stride * lane;
  for (unsigned lane = 0; lane < semantics::wave_lanes; lane += together) {
    std::memcpy(record.addresses.of + lane, &addresses, sizeof addresses);
    addresses += stride * together;
  }
}

void report(const Wave& wave, CompiledRun& run, LoadRecord& record) {
  const OpMetadata& origin = *run.loads->ops[record.op & ~LoadRecord::even]->origin;
  const FilteredAccessKind kind = FilteredAccessKind::from_bits(record.kind);
  const bool is_even = (record.op & LoadRecord::even) != 0;
  if (kind.space == FilteredAccessKind::Space::flat) {
    return report_flat_load(wave, run, origin, kind, record.addresses, record.lanes);
  }
  if (is_even) fill_addresses(record);
  const machine::Space space = kind.space == FilteredAccessKind::Space::lds       ? machine::Space::lds
                               : kind.space == FilteredAccessKind::Space::scratch ? machine::Space::scratch
                                                                                  : machine::Space::global;
  run.run.observer->access(wave, {.instruction = origin.instruction,
                                  .pc = origin.pc,
                                  .space = space,
                                  .reads = true,
                                  .writes = false,
                                  .is_atomic = false,
                                  .is_scalar = false,
                                  .drops_bits = false,
                                  .bytes = kind.bytes,
                                  .lanes = record.lanes,
                                  .addresses = record.addresses.of,
                                  .element = kind.element,
                                  .pattern = is_even ? even_pattern(record, kind.bytes)
                                                     : access_pattern(record.addresses.of, record.lanes, kind.bytes)});
}

}  // namespace

void report_loads(const Wave* wave, CompiledRun* run) {
  LoadRecords& loads = *run->loads;
  for (uint32_t i = 0; i < loads.count; ++i) {
    if (loads.of[i].lanes != 0) report(*wave, *run, loads.of[i]);
  }
  loads.count = 0;
}

void report_scalar_load(const Wave* wave, CompiledRun* run, const MicroOp* op, uint64_t address, uint32_t kind_bits) {
  const OpMetadata& origin = *op->origin;
  const FilteredAccessKind kind = FilteredAccessKind::from_bits(kind_bits);
  const uint64_t rounded = kind.bytes < 4 ? address : address & ~uint64_t{3};
  run->run.observer->access(*wave, {.instruction = origin.instruction,
                                    .pc = origin.pc,
                                    .space = machine::Space::global,
                                    .reads = true,
                                    .writes = false,
                                    .is_atomic = false,
                                    .is_scalar = true,
                                    .drops_bits = rounded != address,
                                    .bytes = kind.bytes,
                                    .lanes = 1,
                                    .addresses = &rounded,
                                    .pattern = {.begin = rounded, .end = rounded + kind.bytes}});
}

void report_loads_before_fault(const Wave& wave, CompiledRun& run) {
  LoadRecords& loads = *run.loads;
  const uint64_t finished = run.run.chunk == no_chunk ? 0 : (uint64_t{1} << run.run.chunk * semantics::chunk_lanes) - 1;
  for (uint32_t i = 0; i < loads.count; ++i) loads.of[i].lanes &= finished;
  report_loads(&wave, &run);
}

void begin_loads(CompiledRun& run, const MicroOp* const* ops) {
  // Allocated on the heap, like the Run of a thread (run_of_thread()): dlopen() shares 1.5 KB of static thread-local
  // storage among all libraries. The pointer outlives its owner, since programs launch kernels while they end.
  static thread_local LoadRecords* records = nullptr;
  struct Owner {
    ~Owner() { delete std::exchange(records, nullptr); }
  };
  if (records == nullptr) {
    static thread_local Owner owner;
    records = new LoadRecords;
  }
  records->count = 0;
  records->ops = ops;
  run.loads = records;
}

}  // namespace Atoll::engine

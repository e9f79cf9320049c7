// hsa: the copy thread, and the functions that give it work.
#include "hsa/memory/copy.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/interface/status.h"
#include "hsa/logging.h"
#include "hsa/runtime.h"
#include "machine/report/fault_guard.h"

namespace Atoll::hsa {

CopyEngine::~CopyEngine() {
  if (thread_.joinable()) {
    stopping_ = true;
    changed_.notify();
    thread_.join();
  }
  std::ranges::for_each(new_jobs_, give_up);
}

bool CopyEngine::is_ready(Job& job) {
  std::erase_if(job.dependencies, [](Signal* signal) {
    if (machine::load(signal->abi) != 0) return false;
    release(*signal);
    return true;
  });
  return job.dependencies.empty();
}

void CopyEngine::carry_out(Job& job) {
  machine::Observer* const observer = job.number != 0 ? order_observer() : nullptr;
  if (observer != nullptr) observer->copy_starts(job.number, job.waited_for);
  const uint64_t start = machine::now_ns();
  bool done = false;
  try {
    done = job.work();
  } catch (const std::bad_alloc&) {  // it had something to report
  }
  if (observer != nullptr) {
    observer->copy_ends(job.number, job.completion != nullptr ? job.completion->handle().handle : 0);
  }
  if (job.completion == nullptr) return;
  job.completion->abi.start_ts = start;
  job.completion->abi.end_ts = machine::now_ns();
  if (done) {
    machine::add(job.completion->abi, -1);
  } else {
    machine::store(job.completion->abi, -1);  // any negative number says that the copy has failed
  }
  release(*job.completion);
}

void CopyEngine::give_up(Job& job) {
  job.watch.stop();
  for (Signal* signal : job.dependencies) release(*signal);
  if (job.completion != nullptr) release(*job.completion);
}

hsa_status_t CopyEngine::submit(std::function<bool()> work, std::vector<Signal*> dependencies, Signal* completion,
                                bool here) {
  Jobs job;
  Job& added = job.emplace_back(std::move(work), std::move(dependencies), completion);
  for (Signal* signal : added.dependencies) retain(*signal);
  if (completion != nullptr) retain(*completion);
  if (machine::Observer* const observer = order_observer()) {
    static std::atomic<uint64_t> copies{0};
    added.number = ++copies;
    for (const Signal* signal : added.dependencies) added.waited_for.push_back(signal->handle().handle);
    observer->copy_submitted(added.number);
  }
  if (here && is_ready(added)) {
    carry_out(added);
    return HSA_STATUS_SUCCESS;
  }
  const std::scoped_lock lock(mutex_);
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { loop(); });
    } catch (const std::system_error&) {
      give_up(added);
      return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
  }
  new_jobs_.splice(new_jobs_.end(), job);
  has_news_ = true;
  changed_.notify();
  return HSA_STATUS_SUCCESS;
}

void CopyEngine::loop() {
  constexpr uint64_t spin_ns = 10'000;
  Jobs jobs;
  const auto is_due = [&] {
    return has_news_ || stopping_ ||
           std::ranges::any_of(jobs, [](const Job& job) { return machine::load(job.dependencies.front()->abi) == 0; });
  };
  while (!stopping_) {
    const bool any_without_mailbox =
        std::ranges::any_of(jobs, [](const Job& job) { return job.dependencies.front()->abi.event_mailbox_ptr == 0; });
    changed_.wait_until(UINT64_MAX, spin_ns, is_due, machine::recheck_of_signals(any_without_mailbox));
    has_news_ = false;
    {
      const std::scoped_lock lock(mutex_);
      jobs.splice(jobs.end(), new_jobs_);
    }
    std::erase_if(jobs, [&](Job& job) {
      if (!is_ready(job)) {
        job.watch.start(job.dependencies.front()->abi, changed_);
        return false;
      }
      job.watch.stop();
      carry_out(job);
      return true;
    });
  }
  std::ranges::for_each(jobs, give_up);
}

bool move_bytes(void* to, const void* from, size_t size, std::string_view function) {
  machine::install_fault_guard();
  machine::HostFault fault;
  if (machine::guarded(fault, [=] { std::memmove(to, from, size); })) {
    report_finished_copy(to, from, size, function);
    return true;
  }
  report(function, {support::ErrorKind::memory_fault,
                    fmt::format("copying {} bytes from {} to {} failed: {} is not {}", size, fmt::ptr(from),
                                fmt::ptr(to), fault.address_known ? fmt::format("{:#x}", fault.address) : "an address",
                                fault.is_write ? "writable memory" : "memory")});
  return false;
}

void report_async_copy(const void* to, const void* from, size_t size, std::string_view function) {
  machine::Observer* const observer = memory_observer();
  if (observer == nullptr) return;
  observer->copying({.destination = reinterpret_cast<uint64_t>(to),
                     .source = reinterpret_cast<uint64_t>(from),
                     .bytes = size,
                     .function = function});
}

void report_finished_copy(const void* to, const void* from, size_t size, std::string_view function) {
  const Runtime* const runtime = Runtime::get();
  if (runtime == nullptr || runtime->checkers == nullptr) return;
  runtime->checkers->copied({.destination = reinterpret_cast<uint64_t>(to),
                             .source = reinterpret_cast<uint64_t>(from),
                             .bytes = size,
                             .function = function});
}

hsa_status_t collect_dependencies(uint32_t count, const hsa_signal_t* handles, std::vector<Signal*>& signals) {
  if ((count == 0) != (handles == nullptr)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < count; ++i) {
    Signal* signal = signal_of(handles[i]);
    if (signal == nullptr) return HSA_STATUS_ERROR_INVALID_SIGNAL;
    signals.push_back(signal);
  }
  return HSA_STATUS_SUCCESS;
}

namespace {

/// Copies up to this size are done at once when nothing needs to be waited for: quicker than waking a thread.
constexpr size_t copied_at_once = 64 << 10;

/// A box of bytes out of two pitched arrays.
struct Rectangle {
  hsa_pitched_ptr_t destination, source;
  hsa_dim3_t destination_offset, source_offset, range;  ///< x in bytes, y in rows, z in layers

  static uint8_t* at(const hsa_pitched_ptr_t& array, const hsa_dim3_t& offset, uint32_t y, uint32_t z) {
    return static_cast<uint8_t*>(array.base) + offset.x + (size_t{offset.y} + y) * array.pitch +
           (size_t{offset.z} + z) * array.slice;
  }
  /// Of one row.
  void report(uint32_t y, uint32_t z) const {
    report_async_copy(at(destination, destination_offset, y, z), at(source, source_offset, y, z), range.x,
                      "hsa_amd_memory_async_copy_rect");
  }
  bool copy() const {
    for (uint32_t z = 0; z < range.z; ++z) {
      for (uint32_t y = 0; y < range.y; ++y) {
        if (!move_bytes(at(destination, destination_offset, y, z), at(source, source_offset, y, z), range.x,
                        "hsa_amd_memory_async_copy_rect")) {
          return false;
        }
      }
    }
    return true;
  }
};

/// The GPU whose engines copy between two agents: the source's, or else the destination's; null when neither is a GPU.
const GpuAgent* copying_gpu(hsa_agent_t destination, hsa_agent_t source) {
  const GpuAgent* gpu = Runtime::get()->find_gpu(source);
  return gpu != nullptr ? gpu : Runtime::get()->find_gpu(destination);
}

/// Checks the arguments of a question about the engines that copy between two agents.
hsa_status_t check_copy_agents(hsa_agent_t destination, hsa_agent_t source, const uint32_t* answer) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Agent* to = Runtime::get()->find_agent(destination);
  const Agent* from = Runtime::get()->find_agent(source);
  if (to == nullptr || from == nullptr || to == from) return HSA_STATUS_ERROR_INVALID_AGENT;
  return answer == nullptr ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_SUCCESS;
}

}  // namespace

}  // namespace Atoll::hsa

using namespace Atoll::hsa;

hsa_status_t hsa_amd_memory_async_copy(void* dst, hsa_agent_t dst_agent, const void* src, hsa_agent_t src_agent,
                                       size_t size, uint32_t num_dep_signals, const hsa_signal_t* dep_signals,
                                       hsa_signal_t completion_signal) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (dst == nullptr || src == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (const hsa_agent_t agent : {dst_agent, src_agent}) {  // a null handle leaves it to the runtime
    if (agent.handle != 0 && Runtime::get()->find_agent(agent) == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  }
  std::vector<Signal*> dependencies;
  if (const hsa_status_t status = collect_dependencies(num_dep_signals, dep_signals, dependencies);
      status != HSA_STATUS_SUCCESS) {
    return status;
  }
  Signal* completion = signal_of(completion_signal);
  if (completion == nullptr) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  log().write(HSA_AMD_LOG_FLAG_SDMA, "copy of {} bytes from {} to {}", size, fmt::ptr(src), fmt::ptr(dst));
  // Nothing to copy leaves the signal alone, as in ROCr.
  if (size == 0) return HSA_STATUS_SUCCESS;
  report_async_copy(dst, src, size, "hsa_amd_memory_async_copy");
  return Runtime::get()->copies.submit([=] { return move_bytes(dst, src, size, "hsa_amd_memory_async_copy"); },
                                       std::move(dependencies), completion, size <= copied_at_once);
}

// One thread acts as all copy engines, so the engine is ignored.
hsa_status_t hsa_amd_memory_async_copy_on_engine(void* dst, hsa_agent_t dst_agent, const void* src,
                                                 hsa_agent_t src_agent, size_t size, uint32_t num_dep_signals,
                                                 const hsa_signal_t* dep_signals, hsa_signal_t completion_signal,
                                                 hsa_amd_sdma_engine_id_t engine_id, bool) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const GpuAgent* gpu = copying_gpu(dst_agent, src_agent);
  if (gpu == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!std::has_single_bit(uint32_t{engine_id}) || (engine_id & ~gpu->copy_engine_mask()) != 0) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return hsa_amd_memory_async_copy(dst, dst_agent, src, src_agent, size, num_dep_signals, dep_signals,
                                   completion_signal);
}

hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t dst_agent, hsa_agent_t src_agent,
                                               uint32_t* engine_ids_mask) {
  if (const hsa_status_t status = check_copy_agents(dst_agent, src_agent, engine_ids_mask);
      status != HSA_STATUS_SUCCESS) {
    return status;
  }
  const GpuAgent* gpu = copying_gpu(dst_agent, src_agent);
  *engine_ids_mask = gpu != nullptr ? gpu->copy_engine_mask() : 0;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_get_preferred_copy_engine(hsa_agent_t dst_agent, hsa_agent_t src_agent,
                                                      uint32_t* recommended_ids_mask) {
  if (const hsa_status_t status = check_copy_agents(dst_agent, src_agent, recommended_ids_mask);
      status != HSA_STATUS_SUCCESS) {
    return status;
  }
  *recommended_ids_mask = 0;  // none is nearer than another
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t* dst, const hsa_dim3_t* dst_offset,
                                            const hsa_pitched_ptr_t* src, const hsa_dim3_t* src_offset,
                                            const hsa_dim3_t* range, hsa_agent_t copy_agent,
                                            hsa_amd_copy_direction_t dir, uint32_t num_dep_signals,
                                            const hsa_signal_t* dep_signals, hsa_signal_t completion_signal) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (dst == nullptr || dst_offset == nullptr || src == nullptr || src_offset == nullptr || range == nullptr ||
      dir == hsaHostToHost) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  if (Runtime::get()->find_gpu(copy_agent) == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  std::vector<Signal*> dependencies;
  if (const hsa_status_t status = collect_dependencies(num_dep_signals, dep_signals, dependencies);
      status != HSA_STATUS_SUCCESS) {
    return status;
  }
  Signal* completion = signal_of(completion_signal);
  if (completion == nullptr) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  const Rectangle rectangle{*dst, *src, *dst_offset, *src_offset, *range};
  const size_t bytes = size_t{range->x} * range->y * range->z;
  if (bytes == 0) return HSA_STATUS_SUCCESS;
  rectangle.report(0, 0);
  if (range->y > 1 || range->z > 1) rectangle.report(range->y - 1, range->z - 1);  // if these two are right, all are
  return Runtime::get()->copies.submit([=] { return rectangle.copy(); }, std::move(dependencies), completion,
                                       bytes <= copied_at_once);
}

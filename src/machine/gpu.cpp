// machine: the virtual GPU, which brings memory, code, scheduler, queues and engine together. See gpu.h.
#include "machine/gpu.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "machine/host.h"
#include "machine/memory/locked_ranges.h"
#include "machine/observer.h"
#include "machine/queue/packet_processor.h"
#include "machine/queue/signal.h"
#include "machine/report/core_dump.h"
#include "machine/report/fault_guard.h"
#include "machine/report/statistics.h"
#include "machine/schedule/scheduler.h"
#include "machine/wave/hsa_launch.h"
#include "target/executed.h"

namespace Atoll::machine {

namespace {

using support::ErrorKind;
using support::fail;

/// Whether an argument of the kernel is a pointer into memory that is locked for the GPU and has no address there.
bool gets_locked_memory(const Dispatch& dispatch) {
  const LockedRanges& locked = LockedRanges::of_process();
  constexpr uint64_t max_bytes = 1 << 16;  // more than any compiler allows
  const uint64_t size = std::min<uint64_t>(dispatch.launch.arguments.size, max_bytes) / sizeof(uint64_t);
  if (locked.empty() || size == 0) return false;
  std::vector<uint64_t> words(size);
  return read_guest(words.data(), dispatch.launch.arguments.address, size * sizeof(uint64_t)) && locked.any_of(words);
}

class VirtualGpu final : public Gpu {
 public:
  /// `own_queue`: where there is room for one in the host's guest memory.
  VirtualGpu(const target::GpuModel& model, std::unique_ptr<Engine> engine, GpuOptions options,
             std::shared_ptr<Host> host, uint64_t own_queue)
      : model_(model),
        options_(std::move(options)),
        host_(std::move(host)),
        engine_(std::move(engine)),
        own_queue_(new(reinterpret_cast<void*>(own_queue)) aql::Queue{}) {
    if (options_.observer != nullptr) watched_ = options_.observer->watched();
    describe_gpu(*own_queue_, model_);
  }
  ~VirtualGpu() override {
    host_->scheduler.forget(*this);
    static_cast<void>(host_->memory.free(queue_address()));
  }
  VirtualGpu(const VirtualGpu&) = delete;
  VirtualGpu& operator=(const VirtualGpu&) = delete;

  const target::GpuModel& model() const override { return model_; }
  unsigned number() const override { return options_.number; }
  Memory& memory() override { return host_->memory; }
  Engine& engine() override { return *engine_; }
  support::Result<std::shared_ptr<LoadedCode>> load(std::span<const uint8_t> file, const ExternalSymbols& externals,
                                                    std::string uri, object::AcceptedAbis accepted) override;
  std::shared_ptr<LoadedCode> code_at(uint64_t address) const override;
  support::Result<std::unique_ptr<Queue>> create_queue(QueueOptions options) override;
  support::Result<KernelStatistics> run(const aql::KernelDispatchPacket& packet,
                                        std::optional<FaultReport>* fault) override;
  support::Result<KernelStatistics> run(LaunchState launch, std::string_view name,
                                        std::optional<FaultReport>* fault) override;
  uint64_t queue_address() const override { return reinterpret_cast<uint64_t>(own_queue_); }
  void interrupt() override { interrupts_.fetch_add(1); }
  std::vector<KernelStatistics> statistics() const override;
  EngineReport engine_report() const override { return engine_->report(); }

 private:
  support::Result<std::shared_ptr<Dispatch>> launch(const aql::KernelDispatchPacket& packet, uint64_t queue_address,
                                                    uint64_t dispatch_id);
  support::Result<std::shared_ptr<HsaKernel>> kernel_at(uint64_t object, const std::shared_ptr<const LoadedCode>& code);
  void begin(Dispatch& dispatch);
  support::Result<KernelStatistics> finish(const std::shared_ptr<Dispatch>& dispatch,
                                           std::optional<FaultReport>* fault);
  void forget(const LoadedCode& code);
  void dump_core(Dispatch& dispatch);
  /// Receivers of fault reports.
  void report(const FaultReport& fault) const;

  const target::GpuModel model_;
  const GpuOptions options_;
  const std::shared_ptr<Host> host_;
  std::atomic<uint64_t> interrupts_{0};
  std::unique_ptr<Engine> engine_;
  EventMask watched_;

  mutable std::shared_mutex mutex_;                                      // of what follows
  std::map<uint64_t, std::weak_ptr<LoadedCode>> codes_;                  ///< by base address
  std::unordered_map<uint64_t, std::shared_ptr<HsaKernel>> kernels_;     ///< by kernel object, once launched
  std::unordered_map<uint64_t, std::shared_ptr<Kernel>> plain_kernels_;  ///< of other ABIs, by entry, once launched
  std::map<std::string, KernelStatistics> unloaded_;                     ///< statistics of kernels that are gone
  std::vector<const aql::Queue*> queues_;

  aql::Queue* const own_queue_;  ///< what kernels see as their queue that were launched without one
  std::atomic<uint64_t> own_dispatches_{0};
};

support::Result<std::shared_ptr<LoadedCode>> VirtualGpu::load(std::span<const uint8_t> file,
                                                              const ExternalSymbols& externals, std::string uri,
                                                              object::AcceptedAbis accepted) {
  auto code = LoadedCode::load(host_->memory, model_.target, file, externals, std::move(uri), accepted);
  if (!code) return code;
  (*code)->before_unload = [this](const LoadedCode& gone) { forget(gone); };
  engine_->code_changed((*code)->base(), (*code)->base() + (*code)->size());
  {
    const std::unique_lock lock(mutex_);
    codes_[(*code)->base()] = *code;
  }
  if (watched_.code) options_.observer->code_loaded(**code);
  return code;
}

void VirtualGpu::forget(const LoadedCode& code) {
  if (watched_.code) options_.observer->code_unloading(code);
  {
    const std::unique_lock lock(mutex_);
    codes_.erase(code.base());
    const auto is_gone = [&](const auto& entry) {
      const auto& [object, kernel] = entry;
      if (!code.contains(object)) return false;
      const std::lock_guard kernel_lock(kernel->mutex);
      try {
        KernelStatistics& sum = unloaded_[kernel->name];
        sum.kernel = kernel->name;
        add_to(sum, kernel->statistics);
      } catch (const std::bad_alloc&) {  // a destructor waits for this: then without its statistics
      }
      return true;
    };
    std::erase_if(kernels_, is_gone);
    std::erase_if(plain_kernels_, is_gone);
  }
  engine_->code_changed(code.base(), code.base() + code.size());
}

std::shared_ptr<LoadedCode> VirtualGpu::code_at(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  auto above = codes_.upper_bound(address);
  if (above == codes_.begin()) return nullptr;
  std::shared_ptr<LoadedCode> code = std::prev(above)->second.lock();
  return code && code->contains(address) ? code : nullptr;
}

support::Result<std::shared_ptr<HsaKernel>> VirtualGpu::kernel_at(uint64_t object,
                                                                  const std::shared_ptr<const LoadedCode>& code) {
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = kernels_.find(object); found != kernels_.end()) return found->second;
  }
  auto kernel = make_kernel(object, code, processor());
  if (!kernel) return kernel;
  const std::unique_lock lock(mutex_);
  return kernels_.try_emplace(object, *kernel).first->second;
}

support::Result<std::shared_ptr<Dispatch>> VirtualGpu::launch(const aql::KernelDispatchPacket& packet,
                                                              uint64_t queue_address, uint64_t dispatch_id) {
  const auto code = code_at(packet.kernel_object);
  const auto found = kernel_at(packet.kernel_object, code);
  if (!found) return std::unexpected(found.error());
  const HsaKernel& kernel = **found;
  auto dispatch = std::make_shared<Dispatch>();
  HsaPointers pointers{.queue = queue_address, .dispatch_id = dispatch_id};
  if (kernel.descriptor.dispatch_ptr) {
    auto slot = host_->memory.take_slot();
    if (!slot) return std::unexpected(slot.error());
    dispatch->packet_memory = &host_->memory;
    dispatch->packet_slot = pointers.packet = *slot;
    std::memcpy(reinterpret_cast<void*>(*slot), &packet, sizeof packet);
  }
  auto state = make_hsa_launch(packet, kernel, code, pointers, model_);
  if (!state) return std::unexpected(state.error());
  dispatch->kernel = *found;
  dispatch->set_launch(std::move(*state));
  dispatch->submission = {.queue_address = queue_address,
                          .dispatch_id = dispatch_id,
                          .completion_signal = packet.completion_signal,
                          .waits_for_earlier = aql::barrier_bit(packet.header),
                          .packet = std::bit_cast<std::array<uint8_t, sizeof packet>>(packet)};
  begin(*dispatch);
  return dispatch;
}

/// Starts the clock of a dispatch whose launch is set.
void VirtualGpu::begin(Dispatch& started) {
  Dispatch* const dispatch = &started;
  dispatch->gpu = this;
  // With xnack on, a GPU pages in whatever the process has.
  if (model_.target.xnack != target::Setting::on && !gets_locked_memory(*dispatch)) {
    dispatch->launch.bounds = host_->memory.bounds(options_.number);
  }
  install_fault_guard();
  if (!options_.core_file.empty()) dispatch->progress.dump_core = [this](Dispatch& faulted) { dump_core(faulted); };
  dispatch->progress.interrupts = &interrupts_;
  dispatch->progress.interrupts_seen = interrupts_.load();
  dispatch->progress.start_ns = now_ns();
  if (options_.kernel_timeout.count() > 0) {
    dispatch->progress.deadline_ns =
        dispatch->progress.start_ns + static_cast<uint64_t>(options_.kernel_timeout.count());
  }
  const bool has_control = options_.observer != nullptr && options_.observer->wave_control() != nullptr;
  if (watched_.dispatches || watched_.work_groups || watched_.barriers || has_control) {
    dispatch->observer = options_.observer;
    dispatch->observer->dispatch_begins(*dispatch);
  }
}

/// Writes what the last wave of a faulted dispatch has left, and notes in the report where.
void VirtualGpu::dump_core(Dispatch& dispatch) {
  std::vector<std::shared_ptr<LoadedCode>> codes;
  support::Result<std::string> written;
  {
    const std::unique_lock lock(mutex_);  // queues stay, and one file is written after the other
    for (const auto& [base, code] : codes_)
      if (auto loaded = code.lock()) codes.push_back(std::move(loaded));
    std::vector<const aql::Queue*> queues = queues_;
    if (dispatch.submission.queue_address == queue_address()) queues.push_back(own_queue_);
    written = write_core_file(
        {.model = model_, .memory = host_->memory, .codes = codes, .queues = queues, .dispatch = dispatch},
        options_.core_file);
  }
  const std::lock_guard lock(dispatch.progress.mutex);
  dispatch.progress.stopped.clear();
  dispatch.progress.fault->core_file = written ? *written : "not written: " + written.error().message;
  if (dispatch.progress.error) dispatch.progress.error->message = dispatch.progress.fault->to_string();
}

void VirtualGpu::report(const FaultReport& fault) const {
  if (options_.on_fault) options_.on_fault(fault);
  if (options_.observer != nullptr) options_.observer->faulted(fault);
}

support::Result<KernelStatistics> VirtualGpu::run(const aql::KernelDispatchPacket& packet,
                                                  std::optional<FaultReport>* fault) {
  auto launched = launch(packet, queue_address(), own_dispatches_.fetch_add(1));
  if (!launched) return std::unexpected(launched.error());
  return finish(*launched, fault);
}

support::Result<KernelStatistics> VirtualGpu::run(LaunchState launch, std::string_view name,
                                                  std::optional<FaultReport>* fault) {
  auto dispatch = std::make_shared<Dispatch>();
  {
    const std::unique_lock lock(mutex_);
    std::shared_ptr<Kernel>& kernel = plain_kernels_[launch.entry];
    if (!kernel) {
      kernel = std::make_shared<Kernel>();
      kernel->name = kernel->statistics.kernel = name;
      kernel->object = kernel->entry = launch.entry;
      kernel->code = launch.code;
    }
    dispatch->kernel = kernel;
  }
  dispatch->set_launch(std::move(launch));
  dispatch->submission = {.queue_address = queue_address(), .dispatch_id = own_dispatches_.fetch_add(1)};
  begin(*dispatch);
  return finish(dispatch, fault);
}

support::Result<KernelStatistics> VirtualGpu::finish(const std::shared_ptr<Dispatch>& dispatch,
                                                     std::optional<FaultReport>* fault) {
  host_->scheduler.finish(dispatch);
  if (dispatch->progress.fault) report(*dispatch->progress.fault);
  if (dispatch->progress.fault && fault != nullptr) *fault = *dispatch->progress.fault;
  if (dispatch->progress.error) return std::unexpected(*dispatch->progress.error);
  return KernelStatistics{
      .kernel = dispatch->kernel->name,
      .calls = 1,
      .work_groups = dispatch->launch.work_group_count,
      .waves = dispatch->progress.waves,
      .wave_instructions = dispatch->progress.wave_instructions,
      .interpreted_instructions = dispatch->progress.interpreted_instructions,
      .seconds = static_cast<double>(dispatch->progress.end_ns - dispatch->progress.start_ns) * 1e-9};
}

support::Result<std::unique_ptr<Queue>> VirtualGpu::create_queue(QueueOptions options) {
  options.on_error = [this, next = std::move(options.on_error)](const QueueError& error) {
    if (error.fault) report(*error.fault);
    if (next) next(error);
  };
  options.on_destroy = [this, next = std::move(options.on_destroy)](const aql::Queue& queue) {
    if (next) next(queue);
    const std::unique_lock lock(mutex_);
    std::erase(queues_, &queue);
  };
  if (watched_.order) options.observer = options_.observer;
  auto queue = make_queue(std::move(options), model_, host_->memory, host_->scheduler,
                          [this](const aql::KernelDispatchPacket& packet, uint64_t queue_address,
                                 uint64_t dispatch_id) { return launch(packet, queue_address, dispatch_id); });
  if (!queue) return queue;
  if (watched_.order) options_.observer->queue_made(reinterpret_cast<uint64_t>((*queue)->abi()));
  const std::unique_lock lock(mutex_);
  queues_.push_back((*queue)->abi());
  return queue;
}

std::vector<KernelStatistics> VirtualGpu::statistics() const {
  std::map<std::string, KernelStatistics> by_name;
  {
    const std::shared_lock lock(mutex_);
    by_name = unloaded_;
    const auto add = [&](Kernel& kernel) {
      const std::lock_guard kernel_lock(kernel.mutex);
      if (kernel.statistics.calls == 0) return;
      KernelStatistics& sum = by_name[kernel.name];
      sum.kernel = kernel.name;
      add_to(sum, kernel.statistics);
    };
    for (const auto& [object, kernel] : kernels_) add(*kernel);
    for (const auto& [entry, kernel] : plain_kernels_) add(*kernel);
  }
  std::vector<KernelStatistics> rows;
  rows.reserve(by_name.size());
  for (auto& [name, row] : by_name) rows.push_back(std::move(row));
  std::ranges::sort(rows, [](const KernelStatistics& a, const KernelStatistics& b) {
    return std::tie(b.seconds, a.kernel) < std::tie(a.seconds, b.kernel);
  });
  return rows;
}

}  // namespace

support::Result<std::unique_ptr<Gpu>> Gpu::create(const target::GpuModel& model, const MakeEngine& make_engine,
                                                  GpuOptions options) {
  const target::Processor* processor = model.target.processor;
  if (processor == nullptr) return fail(ErrorKind::invalid_argument, "a GPU needs a processor");
  if (processor->generic) {
    return fail(ErrorKind::invalid_argument, "{} stands for several processors; a GPU is one of them", processor->name);
  }
  if (!target::is_executed(*processor)) {
    return fail(ErrorKind::unsupported, "Atoll cannot run programs on {} yet, only on {}", processor->name,
                target::executed_generations);
  }
  if (options.threads > max_threads) {
    return fail(ErrorKind::invalid_argument, "{} threads: there can be {} at most", options.threads, max_threads);
  }
  auto engine = make_engine(model.target);
  if (engine == nullptr) return fail(ErrorKind::unsupported, "there is no engine for {}", processor->name);
  install_fault_guard();
  auto host = options.host ? options.host : std::make_shared<Host>(options.threads);
  const auto own_queue = host->memory.allocate(sizeof(aql::Queue), 0, "the queue of a GPU", 0, Memory::Pages::small);
  if (!own_queue) return std::unexpected(own_queue.error());
  return std::make_unique<VirtualGpu>(model, std::move(engine), std::move(options), std::move(host), *own_queue);
}

}  // namespace Atoll::machine

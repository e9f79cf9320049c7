// hsa: hsa_init, hsa_shut_down and the object between them.
#include "hsa/runtime.h"

#include <pthread.h>
#include <unistd.h>
#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/engines.h"
#include "hsa/client.h"
#include "hsa/interface/callback.h"
#include "hsa/interface/status.h"
#include "hsa/queue/signal.h"
#include "hsa/shortages.h"
#include "hsa/tools/checking.h"
#include "hsa/tools/tools.h"
#include "machine/memory/address_range.h"
#include "machine/memory/memory_grain.h"
#include "machine/queue/signal_watch.h"
#include "machine/report/process_record.h"
#include "machine/report/statistics.h"
#include "settings/configuration.h"
#include "support/environment.h"
#include "target/topology.h"

namespace Atoll::hsa {

namespace {

struct Lifetime {
  std::recursive_mutex mutex;  ///< tools may call hsa_init and hsa_shut_down when they are loaded
  uint32_t references = 0;
  bool unloading = false;  ///< tools are told of the end
  Tools tools;
  bool ending = false;  ///< the last hsa_shut_down has been called, and the runtime is not gone yet
  std::condition_variable_any ended;
};

/// Never destroyed: calls come in from other libraries' destructors.
std::atomic<Lifetime*>& of_this_process() {
  static std::atomic<Lifetime*> instance{new Lifetime};
  return instance;
}
Lifetime& lifetime() { return *of_this_process().load(std::memory_order_acquire); }

std::atomic<Runtime*> current{nullptr};

/// Where statistics go, until they are told. Never destroyed: the end of the process may come after destructors.
std::string& statistics_output() {
  static auto* const wish = new std::string;
  return *wish;
}

/// A fork has the runtime's memory but none of its threads, so nothing that the parent had goes on in the child. There,
/// hsa_init has not been called yet: it makes a runtime of the child's own.
void reset_after_fork() {
  of_this_process().store(new Lifetime, std::memory_order_release);
  current.store(nullptr, std::memory_order_release);
  statistics_output().clear();
  forget_findings();
  if (auto* const record = machine::ProcessRecord::current()) record->forget_in_child();
  machine::ProcessRecord::set_current(nullptr);
  machine::forget_watches();
  begin_fork_epoch();
}

/// Tells once what the GPUs have run.
void report_statistics() {
  Runtime* const runtime = current.load();
  const std::string where = std::exchange(statistics_output(), {});
  if (runtime == nullptr || where.empty()) return;
  std::vector<machine::GpuStatistics> gpus;
  for (const auto& agent : runtime->gpu_agents) gpus.push_back(machine::statistics_of(*agent->machine, agent->number));
  if (where != machine::statistics_as_table) {
    if (const auto written = machine::write_statistics(gpus, where); !written)
      fmt::print(stderr, "atoll: {}\n", written.error().message);
    return;
  }
  for (machine::GpuStatistics& gpu : gpus)
    std::fputs(machine::statistics_table(std::move(gpu), gpus.size() > 1).c_str(), stderr);
}

/// Reports once what the GPUs have run and what was found.
void report_end() {
  report_statistics();
  Runtime* const runtime = current.load();
  if (runtime != nullptr && runtime->checkers) finish_checks(*runtime->checkers);
  if (auto* const record = machine::ProcessRecord::current()) record->set_reported();
}

/// quick_exit() runs no destructors, so the runtime stays.
void at_quick_exit() {
  const std::scoped_lock lock(lifetime().mutex);
  if (!lifetime().ending) report_end();
}

/// At exit the runtime stays, for destructors that still call it; only the table is due. Handlers that are due run to
/// their end before, as the destructors take away what they work on: HIP's handlers tell a waiting thread that its
/// command is complete, and go on with the command.
void at_exit() {
  Lifetime& life = lifetime();
  std::unique_lock lock(life.mutex);
  const bool in_callback = InCallback::is_this_thread();
  if (!in_callback) life.ended.wait(lock, [&] { return !life.ending; });
  if (life.ending) return;
  report_end();
  if (in_callback || life.references == 0 || life.references == INT32_MAX) return;
  ++life.references;
  lock.unlock();
  Runtime::get()->events.drain();
  Runtime::release();
}

/// Takes the runtime apart. The queues stop first, while faults and handlers that they raise still find it.
void end(Runtime* runtime) {
  report_statistics();  // of what runs until here
  runtime->queues.clear();
  report_end();
  machine::ProcessRecord::set_current(nullptr);
  runtime->events.join();
  if (runtime->checkers) runtime->checkers->forget();
  current.store(nullptr);
  delete runtime;
  Lifetime& life = lifetime();
  const std::scoped_lock lock(life.mutex);
  life.ending = false;
  life.ended.notify_all();
}

/// Reports why there is no runtime: once, although HIP asks again before every call.
hsa_status_t refuse(const support::Error& error, hsa_status_t status) {
  static auto* const said = new std::string;
  if (std::exchange(*said, error.message) != error.message) report("hsa_init", error, status);
  return status;
}

/// Prints lines, each once in the life of the process.
void warn_once(std::vector<std::string> lines) {
  static auto* const said = new std::vector<std::string>;
  for (std::string& line : lines) {
    if (std::ranges::find(*said, line) != said->end()) continue;
    fmt::print(stderr, "atoll: {}\n", line);
    said->push_back(std::move(line));
  }
}

/// Says, once, that stray pointers are not found where there is no range of addresses that they could be out of.
void warn_of_few_addresses(const std::vector<settings::GpuConfiguration>& gpus) {
  static bool said = false;
  if (said || !machine::AddressRange::of_process().bounds().are_everything()) return;
  // With xnack on, the whole process is allowed anyway.
  const auto has_xnack = [](const settings::GpuConfiguration& gpu) {
    return gpu.model.target.xnack == target::Setting::on;
  };
  if (std::ranges::all_of(gpus, has_xnack)) return;
  fmt::print(
      stderr,
      "atoll: the process may have only few addresses (ulimit -v): that kernels touch the program's own memory, or "
      "other GPUs', is not found\n");
  said = true;
}

/// All settings, which `atoll run` has validated before, unless the program changed them or was started without it.
support::Result<settings::Configuration> read_settings() {
  if (const auto faults = settings::check_names(); !faults.errors.empty())
    return support::fail(support::ErrorKind::invalid_argument, "{}", faults.errors.front());
  return settings::read_configuration(settings::Values::from_environment());
}

/// The runtime with its GPUs, if they can be what the environment wants them to be.
support::Result<std::unique_ptr<Runtime>> make_runtime(const settings::Configuration& configuration) {
  std::vector<std::unique_ptr<GpuAgent>> agents;
  // With one thread a seed of the order checker always means the same.
  const bool checks_order =
      std::ranges::find(configuration.check.checkers, "order") != configuration.check.checkers.end();
  auto host = std::make_shared<machine::Host>(checks_order ? 1 : configuration.threads,
                                              static_cast<unsigned>(configuration.gpus.size()), configuration.schedule);
  warn_of_few_addresses(configuration.gpus);
  const auto has_xnack = [](const settings::GpuConfiguration& gpu) {
    return gpu.model.target.xnack == target::Setting::on;
  };
  if (std::ranges::any_of(configuration.gpus, has_xnack)) machine::MemoryGrain::of_process().set_outside_fine();
  warn_once(shortages(configuration));
  std::unique_ptr<observe::Checkers> checkers;
  machine::Gpu::MakeEngine make_engine = configuration.make_engine;
  if (configuration.check.any()) {
    auto made = make_checkers(configuration.check);
    if (!made) return std::unexpected(made.error());
    checkers = std::move(*made);
    make_engine = configuration.schedule.is_deterministic() ? engine::stepping_engine(checkers.get())
                                                            : engine::observed_engine(*checkers, configuration.engine);
  }
  std::set<std::string> checked;  // of several GPUs of a kind, one
  for (const settings::GpuConfiguration& gpu : configuration.gpus) {
    if (checked.insert(target::name_of(gpu.model)).second) {
      if (const auto known = check_clients(gpu.model); !known) return std::unexpected(known.error());
      warn_once(libraries_without_code(gpu.model));
    }
    machine::GpuOptions options;
    options.host = host;
    options.number = static_cast<unsigned>(agents.size());
    options.kernel_timeout = configuration.timeout;
    options.core_file = configuration.core_file;
    options.observer = checkers.get();
    auto machine = machine::Gpu::create(gpu.model, make_engine, std::move(options));
    if (!machine) return std::unexpected(machine.error());
    agents.push_back(std::make_unique<GpuAgent>(gpu, std::move(*machine)));
  }
  return std::make_unique<Runtime>(std::move(host), std::move(checkers), std::move(agents));
}

/// Makes the record of this process, if `atoll run` reads one.
void begin_record(const settings::Configuration& configuration, const Runtime& runtime) {
  const char* const directory = support::environment_variable(support::Setting::record);
  if (directory == nullptr || (configuration.statistics.empty() && !configuration.check.any())) return;
  auto made = machine::ProcessRecord::create(directory);
  if (!made) return;                                       // the directory goes with the `atoll run` that has made it
  machine::ProcessRecord* const record = made->release();  // dispatches refer to it until the process ends
  record->set_statistics(configuration.statistics);
  for (const auto& agent : runtime.gpu_agents) record->add_gpu(*agent->machine, agent->number);
  machine::ProcessRecord::set_current(record);
}

std::vector<Agent*> all_agents(CpuAgent& cpu, const std::vector<std::unique_ptr<GpuAgent>>& gpus) {
  std::vector<Agent*> agents{&cpu};
  for (const auto& gpu : gpus) agents.push_back(gpu.get());
  return agents;
}

}  // namespace

Runtime* Runtime::get() { return current.load(std::memory_order_acquire); }

hsa_status_t Runtime::acquire() {
  Lifetime& life = lifetime();
  std::unique_lock lock(life.mutex);
  // A callback would wait for the runtime's end, and that for the callback's.
  if (life.ending && InCallback::is_this_thread()) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  life.ended.wait(lock, [&] { return !life.ending; });
  if (life.references == INT32_MAX) return HSA_STATUS_ERROR_REFCOUNT_OVERFLOW;
  if (life.references == 0) {
    const auto configuration = read_settings();
    if (!configuration) return refuse(configuration.error(), HSA_STATUS_ERROR);
    auto made = make_runtime(*configuration);
    if (!made) {
      const bool out_of_resources = made.error().kind == support::ErrorKind::out_of_resources;
      return refuse(made.error(), out_of_resources ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_ERROR);
    }
    statistics_output() = configuration->statistics;
    begin_record(*configuration, **made);
    current.store(made->release(), std::memory_order_release);
    static bool watches_process = false;  // in a fork, too
    if (!std::exchange(watches_process, true)) {
      std::atexit(at_exit);
      std::at_quick_exit(at_quick_exit);
      pthread_atfork(nullptr, nullptr, reset_after_fork);
    }
    if (configuration->check.exit_code) watch_exit_code(*configuration->check.exit_code);
    life.references = 1;
    try {
      life.tools.load();
    } catch (const std::exception&) {
      life.references = 0;
      life.ending = true;
      lock.unlock();
      end(current.load());
      throw;
    }
    return HSA_STATUS_SUCCESS;
  }
  ++life.references;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t Runtime::release() {
  Lifetime& life = lifetime();
  std::unique_lock lock(life.mutex);
  if (life.references == 0 || life.unloading) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (life.references == 1) {
    life.unloading = true;
    life.tools.unload();  // with the runtime there for their last calls
    life.unloading = false;
  }
  if (life.references == 1) {
    Runtime* runtime = current.load();
    // The threads that call callbacks are waited for, so not by one of them.
    if (InCallback::is_this_thread()) std::thread(end, runtime).detach();  // waits for the lock
    life.references = 0;
    life.ending = true;
    runtime->events.stop();  // before a handler that calls this returns, and the next one would begin
    lock.unlock();
    if (!InCallback::is_this_thread()) end(runtime);
    return HSA_STATUS_SUCCESS;
  }
  --life.references;
  return HSA_STATUS_SUCCESS;
}

Runtime::Runtime(std::shared_ptr<machine::Host> host, std::unique_ptr<observe::Checkers> those_who_check,
                 std::vector<std::unique_ptr<GpuAgent>> gpus)
    : host_(std::move(host)),
      checkers(std::move(those_who_check)),
      gpu_agents(std::move(gpus)),
      agents(all_agents(cpu_agent, gpu_agents)),
      memory(host_->memory),
      virtual_memory(host_->memory),
      images(host_->memory) {}

Runtime::~Runtime() {
  queues.clear();
  executables.clear();
}

std::optional<MemoryRecord> Runtime::find_memory(const void* pointer) const {
  std::optional<MemoryRecord> record = memory.find(pointer);
  return record ? record : virtual_memory.find(reinterpret_cast<uint64_t>(pointer));
}

Agent* Runtime::find_agent(hsa_agent_t handle) const {
  const auto found =
      std::ranges::find(agents, handle.handle, [](const Agent* agent) { return agent->handle().handle; });
  return found == agents.end() ? nullptr : *found;
}

GpuAgent* Runtime::find_gpu(hsa_agent_t handle) const {
  Agent* found = find_agent(handle);
  return found != nullptr && found->is_gpu() ? static_cast<GpuAgent*>(found) : nullptr;
}

Pool* Runtime::find_pool(uint64_t handle) {
  for (Agent* agent : agents) {
    for (Pool& pool : agent->pools) {
      if (pool.handle().handle == handle) return &pool;
    }
  }
  return nullptr;
}

}  // namespace Atoll::hsa

using Atoll::hsa::Runtime;

hsa_status_t hsa_init() { return Runtime::acquire(); }
hsa_status_t hsa_shut_down() { return Runtime::release(); }

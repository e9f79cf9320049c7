// machine: a virtual GPU; the interface for the hsa room, the C++ API and the tools.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/engine.h"
#include "machine/loader.h"
#include "machine/memory/memory.h"
#include "machine/queue/aql.h"
#include "machine/queue/queue.h"
#include "machine/wave/dispatch.h"
#include "support/error.h"
#include "target/product.h"
#include "target/target.h"

namespace Atoll::machine {

struct Host;

/// Upper limit of host threads.
inline constexpr unsigned max_threads = 1024;

struct GpuOptions {
  std::shared_ptr<Host> host{};  ///< shared with other GPUs (host.h); null: of its own
  unsigned number = 0;           ///< index among the GPUs of the host
  unsigned threads =
      0;  ///< of a host of its own: threads that run work-groups, the one that launches among them; 0: all
  std::chrono::nanoseconds kernel_timeout{0};          ///< of one dispatch; 0: none
  std::function<void(const FaultReport&)> on_fault{};  ///< called in addition to the launcher's error
  std::string core_file{};  ///< core file written at a fault, %p is the process ID; empty: none
  /// Observer of the machine (observer.h), or null. It outlives the GPU, and the engine supports its events.
  Observer* observer = nullptr;
};

class Gpu {
 public:
  /// `make_engine` receives the Target the GPU executes code for.
  using MakeEngine = std::function<std::unique_ptr<Engine>(const target::Target&)>;
  static support::Result<std::unique_ptr<Gpu>> create(const target::GpuModel& model, const MakeEngine& make_engine,
                                                      GpuOptions options = {});
  virtual ~Gpu() = default;

  virtual const target::GpuModel& model() const = 0;
  virtual unsigned number() const = 0;  ///< among those that share its host
  const target::Processor& processor() const { return *model().target.processor; }
  virtual Memory& memory() = 0;
  virtual Engine& engine() = 0;

  /// Loads a code object for this GPU, of an ABI that the caller launches, and resolves its symbols. Release the code
  /// before the GPU.
  virtual support::Result<std::shared_ptr<LoadedCode>> load(
      std::span<const uint8_t> file, const ExternalSymbols& externals, std::string uri,
      object::AcceptedAbis accepted = object::AcceptedAbis::amdhsa) = 0;
  /// Returns the loaded code that contains an address, or null.
  virtual std::shared_ptr<LoadedCode> code_at(uint64_t address) const = 0;

  virtual support::Result<std::unique_ptr<Queue>> create_queue(QueueOptions options) = 0;

  /// Runs a kernel to completion on the calling thread, without a queue of the caller's. `packet.kernel_object` and
  /// `kernarg_address` are guest addresses; the completion signal is ignored. Sets `fault` if the kernel faults.
  virtual support::Result<KernelStatistics> run(const aql::KernelDispatchPacket& packet,
                                                std::optional<FaultReport>* fault = nullptr) = 0;
  /// Executes a launch of any ABI (launch_state.h) of kernel `name`. Its code must be loaded on this GPU.
  virtual support::Result<KernelStatistics> run(LaunchState launch, std::string_view name,
                                                std::optional<FaultReport>* fault = nullptr) = 0;
  /// Returns the address of the amd_queue_t that kernels launched by run() observe as their queue.
  virtual uint64_t queue_address() const = 0;

  /// Interrupts running dispatches (Ctrl-C), which end with ErrorKind::aborted. May be called from a signal handler.
  virtual void interrupt() = 0;

  virtual std::vector<KernelStatistics> statistics() const = 0;  ///< most time first
  virtual EngineReport engine_report() const = 0;
};

}  // namespace Atoll::machine

// machine: one virtual GPU, and the door through which the hsa room, the C++ API and the tools use it.
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

/// More host threads than any host has processors for.
inline constexpr unsigned max_threads = 1024;

struct GpuOptions {
  std::shared_ptr<Host> host{};  ///< shared with other GPUs (host.h); null: of its own
  unsigned number = 0;           ///< among those that share the host
  unsigned threads =
      0;  ///< of a host of its own: threads that run work-groups, the one that launches among them; 0: all
  std::chrono::nanoseconds kernel_timeout{0};          ///< of one dispatch; 0: none
  std::function<void(const FaultReport&)> on_fault{};  ///< besides the error that the launcher gets
  std::string core_file{};  ///< where a fault leaves a core file, %p being the process; empty: nowhere
  /// Who watches it, if anybody does (observer.h): must outlive it, and the engine has to be one that tells the same.
  Observer* observer = nullptr;
};

class Gpu {
 public:
  /// `make_engine` gets what the GPU is to code.
  using MakeEngine = std::function<std::unique_ptr<Engine>(const target::Target&)>;
  static support::Result<std::unique_ptr<Gpu>> create(const target::GpuModel& model, const MakeEngine& make_engine,
                                                      GpuOptions options = {});
  virtual ~Gpu() = default;

  virtual const target::GpuModel& model() const = 0;
  virtual unsigned number() const = 0;  ///< among those that share its host
  const target::Processor& processor() const { return *model().target.processor; }
  virtual Memory& memory() = 0;
  virtual Engine& engine() = 0;

  /// Checks that the code object is for this GPU, places it and resolves its symbols. The code must be let go
  /// before the GPU is.
  virtual support::Result<std::shared_ptr<LoadedCode>> load(std::span<const uint8_t> file,
                                                            const ExternalSymbols& externals, std::string uri) = 0;
  /// The loaded code around an address, or null.
  virtual std::shared_ptr<LoadedCode> code_at(uint64_t address) const = 0;

  virtual support::Result<std::unique_ptr<Queue>> create_queue(QueueOptions options) = 0;

  /// Runs one kernel to its end on the caller's time, without a queue of the caller's. `packet.kernel_object` and
  /// `kernarg_address` are guest addresses; its completion signal is not touched. If the kernel faults, `fault` is set.
  virtual support::Result<KernelStatistics> run(const aql::KernelDispatchPacket& packet,
                                                std::optional<FaultReport>* fault = nullptr) = 0;
  /// The same for a launch of any ABI (launch_state.h); `name` is the kernel's. Its code must be loaded on this GPU.
  virtual support::Result<KernelStatistics> run(LaunchState launch, std::string_view name,
                                                std::optional<FaultReport>* fault = nullptr) = 0;
  /// Of the amd_queue_t that kernels launched by run() see as theirs.
  virtual uint64_t queue_address() const = 0;

  /// Stops what runs (Ctrl-C): dispatches end with ErrorKind::aborted. May be called from a signal handler.
  virtual void interrupt() = 0;

  virtual std::vector<KernelStatistics> statistics() const = 0;  ///< most time first
  virtual EngineReport engine_report() const = 0;
};

}  // namespace Atoll::machine

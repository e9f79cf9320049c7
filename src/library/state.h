// library: the objects behind the public handles, and kernel launches.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "atoll/atoll.h"
#include "library/hostcalls.h"
#include "library/kernel_arguments.h"
#include "library/output.h"
#include "library/printf_buffer.h"
#include "machine/gpu.h"
#include "machine/wave/pal_launch.h"
#include "object/catalyst_code.h"
#include "observe/checkers.h"

namespace Atoll {

namespace library {

/// Memory for kernel arguments, reused between launches because mapping takes longer than a small kernel.
class KernargMemory {
 public:
  /// Returns a segment with a copy of the arguments.
  support::Result<uint64_t> take(machine::Memory& memory, std::span<const std::byte> arguments);
  void give_back(machine::Memory& memory, uint64_t address, size_t bytes);

 private:
  static constexpr size_t kept_bytes = 4096, max_kept = 16;

  std::optional<uint64_t> take_free(size_t bytes);

  std::mutex mutex_;
  std::vector<uint64_t> free_;
};

/// A code object and its printf() formats.
struct LoadedObject {
  std::shared_ptr<machine::LoadedCode> code;
  std::vector<PrintfFormat> printf_formats;
  /// The container of OpenCL 1.x (Catalyst), whose kernels use constant buffers; null for all other code.
  std::shared_ptr<const object::catalyst::ConstantBufferCode> catalyst{};
  bool has_image_blocks = false;  ///< images are blocks of Catalyst's, which a launch can check
};

/// A kernel's metadata, symbol and code object; null if not found.
struct FoundKernel {
  const object::KernelMetadata* metadata = nullptr;
  const machine::LoadedSymbol* symbol = nullptr;
  const LoadedObject* object = nullptr;
};

// Kernels that compilers generate for constructors and destructors (user guide, ".kind" in the kernel metadata map).
inline constexpr std::string_view init_kind = "init", fini_kind = "fini";

}  // namespace library

struct Gpu::State {
  explicit State(std::function<void(std::string_view, Output)> on_output) : output(std::move(on_output)) {}

  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  library::OutputSink output;
  std::unique_ptr<observe::Checkers> checkers;  ///< null: no checks
  std::unique_ptr<machine::Gpu> gpu;
  library::KernargMemory kernarg;                 ///< freed with the GPU's memory
  std::unique_ptr<library::Hostcalls> hostcalls;  ///< last: its thread uses the memory
};

struct Code::State {
  /// Returns the kernel's parameters. They are kept, because demangling takes longer than a small launch.
  const std::vector<Parameter>& parameters(const object::KernelMetadata& kernel) const;

  // first member: destroyed last, because the code must be destroyed before its GPU
  std::shared_ptr<Gpu::State> gpu;
  std::vector<library::LoadedObject> objects;  // one per source file of the program
  bool initialized = false;                    ///< its init kernels have run; its fini kernels are pending

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

 private:
  mutable std::mutex mutex_;
  mutable std::unordered_map<const object::KernelMetadata*, std::vector<Parameter>> parameters_;
};

namespace library {

/// Gives Atoll's own tools what the public interface leaves out.
struct Internals {
  /// Creates a GPU with an observer of the caller's, which outlives it. Requires options without checkers if there is
  /// one.
  static Expected<Gpu> create(std::string_view name, const GpuOptions& options, machine::Observer* observer);
  /// Returns the name of a GPU that runs the code in a file.
  static Expected<std::string> gpu_for_file(const std::string& path);
  static const machine::Gpu& machine_of(const Gpu& gpu) { return *gpu.state_->gpu; }
};

FoundKernel find_kernel(const Code::State& code, std::string_view name);

/// An entry point of another ABI than HSA's and its code; null if not found.
struct FoundEntry {
  const object::EntryPoint* entry = nullptr;
  std::shared_ptr<machine::LoadedCode> code;
};
FoundEntry find_entry(const Code::State& code, std::string_view name);
/// Returns the names of the compute entry points of other ABIs than HSA's.
std::vector<std::string> entries_of(const Code::State& code);
KernelInfo describe(const object::EntryPoint& entry);

/// A launch with validated shape and arguments.
struct PreparedLaunch {
  FoundKernel kernel;
  Launch launch;
  std::vector<std::byte> segment;  ///< kernel argument segment
  FoundEntry entry;                ///< of another ABI, in place of `kernel`
  machine::PalUserData user_data;  ///< of a shader
};
/// Returns a launch's sizes with 1 for unused dimensions. Refuses empty and too large ones.
Expected<Launch> make_launch(std::string_view kernel, const LaunchShape& shape);
Expected<PreparedLaunch> prepare(const Gpu::State& gpu, const Code::State& code, std::string_view kernel,
                                 const LaunchShape& shape, std::span<const Argument> arguments);

/// Prepares a launch of an entry point of another ABI: of a Mesa3D kernel with arguments, or of a shader with user
/// data.
Expected<PreparedLaunch> prepare_entry(const Gpu::State& gpu, FoundEntry entry, const LaunchShape& shape,
                                       std::span<const Argument> arguments);
Expected<PreparedLaunch> prepare_shader(const Gpu::State& gpu, FoundEntry entry, const LaunchShape& shape,
                                        std::span<const UserData> user_data);
Expected<LaunchResult> run_entry(Gpu::State& gpu, const PreparedLaunch& launch);

/// Runs a kernel to completion and prints its output.
Expected<LaunchResult> run(Gpu::State& gpu, PreparedLaunch launch);

/// Runs the init or fini kernels with one work-item each, as HIP does.
Expected<void> run_all(const Code::State& code, std::string_view kind);

}  // namespace library

}  // namespace Atoll

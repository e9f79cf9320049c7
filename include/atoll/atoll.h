// Atoll's C++ library: a virtual AMD GPU in a few lines. The namespace is spelt Atoll because C has a function atoll().
//
//     auto gpu = Atoll::value_of(Atoll::Gpu::create("gfx90a"));
//     auto code = Atoll::value_of(gpu.load_file("kernels.co"));
//     auto out = Atoll::value_of(gpu.allocate<float>(1024));
//     auto done = gpu.launch(code, "scale", {.grid = {1024}, .block = {256}}, out, 2.0f, 1024);
//     if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
//     std::vector<float> result = out.read();
//
// Only value_of() throws, and the C++ library when memory runs out. Functions that can fail return Expected<T>, whose
// error() describes the failure in words and in fields (failure.h). Handles (Gpu, Code, Buffer, Stream, Event) are
// cheap to copy, share their object, and keep alive what they need. They may be used by several threads. A handle that
// is default-constructed or moved from is empty and may only be assigned to.
//
// The C interface is in atoll_c.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "atoll/arguments.h"
#include "atoll/code_tools.h"
#include "atoll/evaluate.h"
#include "atoll/failure.h"
#include "atoll/version.h"

namespace Atoll {

namespace library {
struct Internals;
}

/// ATOLL_VERSION_STRING of the library that the program runs with.
ATOLL_PUBLIC std::string_view version();

/// One parameter of a kernel, as the code object describes it.
struct Parameter {
  enum class Kind : uint8_t {
    value,         ///< a number or a structure
    pointer,       ///< pointer to GPU memory
    local_memory,  ///< LDS: takes a LocalMemory
    unsupported    ///< images, samplers, pipes, queues
  };
  std::string name;     ///< empty if the compiler omitted names
  std::string type;     ///< "float*", from the metadata or the kernel's C++ name; empty if unknown
  std::string element;  ///< "f32": type of the number, or of the numbers it points to; empty if unknown
  Kind kind = Kind::value;
  uint32_t offset = 0, size = 0;  ///< position in the kernel argument segment
};

struct KernelInfo {
  std::string name;
  std::vector<Parameter> parameters;  ///< without the hidden ones
  uint32_t lds_bytes = 0;             ///< static; dynamic LDS is added
  uint32_t scratch_bytes = 0;         ///< per lane
  uint32_t vgprs = 0, agprs = 0, sgprs = 0;
  uint32_t max_block_size = 0;               ///< work-items of a work-group
  std::array<uint32_t, 3> required_block{};  ///< zeroes if unrestricted
  std::array<uint32_t, 3> max_blocks{};      ///< maximum work-groups in each dimension; 0: unlimited
  bool whole_blocks = false;                 ///< the grid has to be a multiple of the block
  bool on_load = false, on_unload = false;   ///< runs automatically when its code is loaded, or before it is unloaded
  bool is_shader = false;                    ///< a compute shader of amdpal or mesa3d: see Gpu::launch_shader
  uint32_t argument_bytes = 0;               ///< of a kernel of mesa3d, whose parameters are unknown
};

/// User data of a compute shader. The dwords of the value are the entries from `entry` on; a buffer is an address of
/// two dwords.
struct UserData {
  uint32_t entry = 0;  ///< 0 to 127
  Argument value;
};

/// Type of a parameter from a kernel's C++ signature: see Gpu::kernel.
struct ParameterType {
  Parameter::Kind kind = Parameter::Kind::value;
  uint32_t size = 0;
  NumberType number{};  ///< type of the value, or of what the pointer refers to

  template <typename P>
  static constexpr ParameterType of() {
    if constexpr (std::is_same_v<P, LocalMemory>) return {.kind = Parameter::Kind::local_memory};
    return {.kind = std::is_pointer_v<P> ? Parameter::Kind::pointer : Parameter::Kind::value,
            .size = sizeof(P),
            .number = NumberType::of<P>()};
  }
};

/// Loaded code: one code object, or one for each source file of a program. Its fini kernels run when the last copy is
/// destroyed; their errors are printed on standard error.
class ATOLL_PUBLIC Code {
 public:
  std::vector<std::string> kernels() const;  ///< and compute shaders of OS ABIs amdpal and mesa3d
  Expected<KernelInfo> describe(std::string_view kernel) const;
  /// Fails if the kernel's parameters, as far as its metadata describes them, are not of these types.
  Expected<void> check_signature(std::string_view kernel, std::span<const ParameterType> types) const;
  /// Returns a device variable's memory; empty if there is no such variable.
  std::span<std::byte> variable(std::string_view name) const;
  struct State;

 private:
  friend class Gpu;
  friend class Stream;
  std::shared_ptr<State> state_;
};

struct LaunchShape {
  std::array<uint32_t, 3> grid{1, 1, 1};   ///< work-items, as in HSA (not blocks); 0 in Y and Z counts as 1
  std::array<uint32_t, 3> block{1, 1, 1};  ///< work-items of a work-group; 0 in Y and Z counts as 1
  uint32_t dynamic_lds_bytes = 0;
};

struct LaunchResult {
  uint64_t work_groups = 0, waves = 0, wave_instructions = 0;
  double seconds = 0;
};

/// An operation of a stream and its completion.
class ATOLL_PUBLIC Event {
 public:
  bool is_done() const;
  /// Waits for completion. Returns the statistics of a launch, or its failure.
  Expected<LaunchResult> wait() const;
  /// Returns whether it was completed within that time.
  bool wait_for(double seconds) const;
  struct State;

 private:
  friend class Stream;
  std::shared_ptr<State> state_;
};

template <typename Signature>
class Kernel;

/// A queue of operations that run in order while the program continues. Different streams run concurrently.
///
/// After a failure, later operations of the stream fail without running until synchronize() has returned the failure.
/// The last handle's destructor waits for all operations that have begun.
class ATOLL_PUBLIC Stream {
 public:
  /// Like Gpu::launch_with. Invalid arguments and shapes fail at once; buffers are kept alive until it has run.
  Expected<Event> launch_with(const Code& code, std::string_view kernel, const LaunchShape& shape,
                              std::span<const Argument> arguments) const;
  template <typename... Args>
  Expected<Event> launch(const Code& code, std::string_view kernel, const LaunchShape& shape,
                         const Args&... arguments) const {
    const std::array<Argument, sizeof...(Args)> list{Argument(arguments)...};
    return launch_with(code, kernel, shape, list);
  }
  template <typename... P>
  Expected<Event> launch(const Kernel<void(P...)>& kernel, const LaunchShape& shape,
                         std::type_identity_t<PassedAs<P>>... arguments) const;

  /// Enqueues a host function. It must not wait for the stream.
  Event call(std::function<void()> function) const {
    // Exceptions are caught here, in the program, because the library has a separate C++ runtime.
    return call_reported([run = std::move(function)]() -> std::optional<std::string> {
      try {
        run();
      } catch (const std::exception& exception) {
        return exception.what();
      } catch (...) {
        return "something that is no std::exception";
      }
      return std::nullopt;
    });
  }
  /// Enqueues a function that does not throw but returns an error text.
  Event call_reported(std::function<std::optional<std::string>()> function) const;
  /// Returns an event for the completion of all earlier operations of the stream.
  Event record() const;
  /// Makes later operations wait for an event of any stream. They fail if the event failed.
  void wait(const Event& event) const;
  /// Waits for all operations; returns the first failure since the last call.
  Expected<void> synchronize() const;
  struct State;

 private:
  friend class Gpu;
  std::shared_ptr<State> state_;
};

/// Destination of a kernel's printf(); assertions write to standard error.
enum class Output : uint8_t { standard_output, standard_error };

struct GpuOptions {
  unsigned threads = 0;        ///< host threads that run work-groups; 0: as many as the host has processors
  double timeout_seconds = 0;  ///< per launch; 0: none
  std::string engine{};        ///< "compiled" (the default) or "interpreter"
  /// Order in which waves run: "fast" (the default), "fair" (all waves of a work-group in turn), or a number, the seed
  /// of a pseudo-random order. All but "fast" are deterministic, with one thread and the interpreter.
  std::string schedule{};
  std::string core_file{};  ///< core file written at a fault, %p is the process ID; empty: none
  /// Receives the output of kernels instead of standard output and standard error. Called from any thread, one call at
  /// a time. It must neither throw nor launch kernels.
  std::function<void(std::string_view text, Output where)> on_output{};
  /// Checkers to run: comma-separated names ("memory"), or "all"; empty: the environment variable ATOLL_CHECK. Findings
  /// are collected (Gpu::findings).
  std::string check{};
  std::string check_suppressions{};  ///< path of a suppression file
  std::string check_report{};        ///< report file: .json, .xml (JUnit) or .sarif
  /// Receives the report of each finding instead of standard error, like on_output, while the GPU exists.
  std::function<void(std::string_view report)> on_finding{};
};

/// A mistake in a kernel that a checker found. Each is reported once; `count` is the number of occurrences.
struct Finding {
  std::string checker;      ///< "memory"
  std::string kind;         ///< "out-of-bounds"
  bool is_note = false;     ///< information, not a mistake
  std::string message;      ///< one line
  std::string report;       ///< full report, several lines
  std::string kernel;       ///< demangled; empty if not in a kernel
  std::string source_file;  ///< of the instruction; empty without debug information
  uint32_t line = 0, column = 0;
  uint64_t count = 0;
};

class ATOLL_PUBLIC Gpu {
 public:
  /// `name`: a product ("mi250x"), a processor ("gfx90a") or a target ID ("gfx90a:xnack-"). Several GPUs may exist;
  /// each has its own code and memory, and its kernels can access the others' memory.
  static Expected<Gpu> create(std::string_view name, const GpuOptions& options = {});
  /// Creates a GPU that can run the code in this file.
  static Expected<Gpu> create_for_file(const std::string& path, const GpuOptions& options = {});

  std::string product() const;    ///< "AMD Instinct MI250X"
  std::string target_id() const;  ///< "gfx90a:sramecc+:xnack-"

  /// Loads a code object, a bundle or a program that contains one, and runs its init kernels.
  Expected<Code> load_file(const std::string& path) const;
  Expected<Code> load(std::span<const std::byte> file) const;
  Expected<Buffer> allocate_bytes(size_t bytes) const;  ///< zeroed
  template <typename T>
  Expected<TypedBuffer<T>> allocate(size_t count) const {
    static_assert(std::is_trivially_copyable_v<T>, "memory of a GPU holds numbers and structures of such");
    if (count > SIZE_MAX / sizeof(T))
      return std::unexpected(
          Failure{.message = "so many elements do not fit into memory", .kind = FailureKind::out_of_resources});
    auto buffer = allocate_bytes(count * sizeof(T));
    if (!buffer) return std::unexpected(buffer.error());
    return TypedBuffer<T>(*buffer);
  }

  /// Runs a kernel to completion. The arguments must match the kernel's parameters in number, size and, if known, type.
  /// Hidden arguments are added.
  Expected<LaunchResult> launch_with(const Code& code, std::string_view kernel, const LaunchShape& shape,
                                     std::span<const Argument> arguments) const;
  /// Runs a compute shader of OS ABI amdpal or mesa3d to completion. Its metadata maps user data entries to SGPRs;
  /// without user data registers in it, entry N is in sN. The shape has no dynamic LDS.
  Expected<LaunchResult> launch_shader(const Code& code, std::string_view shader, const LaunchShape& shape,
                                       std::span<const UserData> user_data) const;
  template <typename... Args>
  Expected<LaunchResult> launch(const Code& code, std::string_view kernel, const LaunchShape& shape,
                                const Args&... arguments) const {
    const std::array<Argument, sizeof...(Args)> list{Argument(arguments)...};
    return launch_with(code, kernel, shape, list);
  }

  /// Returns the kernel as a C++ function, whose arguments the compiler checks:
  ///
  ///     auto scale = value_of(gpu.kernel<void(float*, float, int)>(code, "scale"));
  ///     scale({.grid = {1024}, .block = {256}}, out, 2.0f, 1024);
  ///
  /// Fails if the signature does not match the kernel's metadata.
  template <typename Signature>
  Expected<Kernel<Signature>> kernel(const Code& code, std::string_view name) const;

  Expected<Stream> create_stream() const;

  /// Returns the findings so far, in the order they were made.
  std::vector<Finding> findings() const;

  /// Stops the GPU's kernels: launches end with FailureKind::aborted. May be called from a signal handler.
  void interrupt() const;

  struct State;

 private:
  friend struct library::Internals;
  std::shared_ptr<State> state_;
};

/// A kernel with its signature: see Gpu::kernel. Pointer parameters take buffers of the pointed-to type, LocalMemory
/// parameters take LDS.
template <typename... P>
class Kernel<void(P...)> {
 public:
  Kernel(Gpu gpu, Code code, std::string name) : gpu_(std::move(gpu)), code_(std::move(code)), name_(std::move(name)) {}
  const Code& code() const { return code_; }
  const std::string& name() const { return name_; }

  /// Runs it to completion.
  Expected<LaunchResult> operator()(const LaunchShape& shape, PassedAs<P>... arguments) const {
    const std::array<Argument, sizeof...(P)> list{std::move(arguments.argument)...};
    return gpu_.launch_with(code_, name_, shape, list);
  }

 private:
  Gpu gpu_;
  Code code_;
  std::string name_;
};

namespace detail {
template <typename Signature>
struct TypesOf;
template <typename... P>
struct TypesOf<void(P...)> {
  static constexpr std::array<ParameterType, sizeof...(P)> types{ParameterType::of<P>()...};
};
}  // namespace detail

template <typename Signature>
Expected<Kernel<Signature>> Gpu::kernel(const Code& code, std::string_view name) const {
  if (auto same = code.check_signature(name, detail::TypesOf<Signature>::types); !same)
    return std::unexpected(same.error());
  return Kernel<Signature>(*this, code, std::string(name));
}

template <typename... P>
Expected<Event> Stream::launch(const Kernel<void(P...)>& kernel, const LaunchShape& shape,
                               std::type_identity_t<PassedAs<P>>... arguments) const {
  const std::array<Argument, sizeof...(P)> list{std::move(arguments.argument)...};
  return launch_with(kernel.code(), kernel.name(), shape, list);
}

}  // namespace Atoll

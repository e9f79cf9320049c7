// Atoll's C++ library: a virtual AMD GPU in a few lines. The namespace is spelt Atoll because C has a function atoll().
//
//     auto gpu = Atoll::value_of(Atoll::Gpu::create("gfx90a"));
//     auto code = Atoll::value_of(gpu.load_file("kernels.co"));
//     auto out = Atoll::value_of(gpu.allocate<float>(1024));
//     auto done = gpu.launch(code, "scale", {.grid = {1024}, .block = {256}}, out, 2.0f, 1024);
//     if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
//     std::vector<float> result = out.read();
//
// Nothing here throws but value_of() and what the C++ library throws when memory runs out: what can fail returns
// Expected<T>, whose error() says what went wrong, in words and in fields (failure.h). Handles (Gpu, Code, Buffer,
// Stream, Event) are cheap to copy, share what they stand for, and keep alive what they need. Different threads may use
// the same ones. A handle that is default-constructed, or was moved from, stands for nothing and may only be assigned
// to.
//
// The same from C: atoll_c.h.
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
    pointer,       ///< to memory of the GPU
    local_memory,  ///< LDS: takes a LocalMemory
    unsupported    ///< images, samplers, pipes, queues
  };
  std::string name;     ///< empty where the compiler left names out
  std::string type;     ///< "float*", as the metadata or the kernel's name in C++ has it; empty where neither does
  std::string element;  ///< "f32": the type of the number, or of the numbers it points to; empty where not known
  Kind kind = Kind::value;
  uint32_t offset = 0, size = 0;  ///< in the kernel argument segment
};

struct KernelInfo {
  std::string name;
  std::vector<Parameter> parameters;  ///< without the hidden ones
  uint32_t lds_bytes = 0;             ///< static; dynamic LDS comes on top
  uint32_t scratch_bytes = 0;         ///< of a lane
  uint32_t vgprs = 0, agprs = 0, sgprs = 0;
  uint32_t max_block_size = 0;               ///< work-items of a work-group
  std::array<uint32_t, 3> required_block{};  ///< zeroes when any will do
  std::array<uint32_t, 3> max_blocks{};      ///< work-groups in each dimension; 0 for any number
  bool whole_blocks = false;                 ///< the grid has to be a multiple of the block
  bool on_load = false, on_unload = false;   ///< runs by itself, when its code is loaded or before it is unloaded
};

/// What a kernel's C++ signature says of one of its parameters: see Gpu::kernel.
struct ParameterType {
  Parameter::Kind kind = Parameter::Kind::value;
  uint32_t size = 0;
  NumberType number{};  ///< of the value, or behind the pointer

  template <typename P>
  static constexpr ParameterType of() {
    if constexpr (std::is_same_v<P, LocalMemory>) return {.kind = Parameter::Kind::local_memory};
    return {.kind = std::is_pointer_v<P> ? Parameter::Kind::pointer : Parameter::Kind::value,
            .size = sizeof(P),
            .number = NumberType::of<P>()};
  }
};

/// Loaded code: one code object or, of a program made from several source files, one for each. Its fini kernels run
/// when the last copy goes; what goes wrong in one is said on standard error.
class ATOLL_PUBLIC Code {
 public:
  std::vector<std::string> kernels() const;
  Expected<KernelInfo> describe(std::string_view kernel) const;
  /// A failure when the kernel's parameters are not of these types, as far as its metadata tells.
  Expected<void> check_signature(std::string_view kernel, std::span<const ParameterType> types) const;
  /// A device variable's memory; empty when there is none of that name.
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

/// Something that a stream does, and when it has been done.
class ATOLL_PUBLIC Event {
 public:
  bool is_done() const;
  /// Waits until it is done; what a launch took, or why it failed.
  Expected<LaunchResult> wait() const;
  /// Whether it was done within that time.
  bool wait_for(double seconds) const;
  struct State;

 private:
  friend class Stream;
  std::shared_ptr<State> state_;
};

template <typename Signature>
class Kernel;

/// Work for a GPU that is done one after the other, while the program goes on. Different streams run at the same time.
///
/// After something has failed, what comes later in the stream is not done, and fails too, until synchronize() has told
/// what it was. Everything that was begun is finished before the last handle goes.
class ATOLL_PUBLIC Stream {
 public:
  /// As Gpu::launch_with. Mistakes in the arguments and the shape are found at once; buffers live until it has run.
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

  /// A function of the host's, in its turn; it must not wait for the stream.
  Event call(std::function<void()> function) const {
    // Caught here, in the program: the library has a C++ runtime of its own.
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
  /// The same for a function that does not throw, but returns what went wrong in it.
  Event call_reported(std::function<std::optional<std::string>()> function) const;
  /// Done when all that was given to the stream before is.
  Event record() const;
  /// What comes later waits until the event, of whatever stream, is done; it fails if that has failed.
  void wait(const Event& event) const;
  /// Waits until all is done; the first failure since the last time.
  Expected<void> synchronize() const;
  struct State;

 private:
  friend class Gpu;
  std::shared_ptr<State> state_;
};

/// Where a kernel's printf() goes: assertions write to the second.
enum class Output : uint8_t { standard_output, standard_error };

struct GpuOptions {
  unsigned threads = 0;        ///< host threads that run work-groups; 0: all of the host's
  double timeout_seconds = 0;  ///< of one launch; 0: none
  std::string engine{};        ///< "compiled" (the default) or "interpreter"
  /// The order in which waves run: "fast" (the default), "fair", where all of a work-group's run side by side, or a
  /// number, the seed of a pseudo-random order. All but "fast" are the same in each run, on one thread and the
  /// interpreter.
  std::string schedule{};
  std::string core_file{};  ///< where a fault leaves a core file, %p being the process; empty: nowhere
  /// Gets what kernels print, instead of the program's standard output and standard error; from any thread, one call at
  /// a time. It must neither throw nor launch kernels.
  std::function<void(std::string_view text, Output where)> on_output{};
  /// What is to be checked while kernels run: names of checkers with commas between them ("memory"), or "all"; empty:
  /// what the environment variable ATOLL_CHECK says. Findings are kept (Gpu::findings).
  std::string check{};
  std::string check_suppressions{};  ///< path of a file of findings not to be reported
  std::string check_report{};        ///< where the findings go in the end: a file .json, .xml (JUnit) or .sarif
  /// Gets the report of each finding that is made while the GPU is there, instead of the program's standard error; as
  /// on_output.
  std::function<void(std::string_view report)> on_finding{};
};

/// A mistake of a kernel's, found by a checker. Each is told once; `count` says how often it was made.
struct Finding {
  std::string checker;      ///< "memory"
  std::string kind;         ///< "out-of-bounds"
  bool is_note = false;     ///< something to know, not a mistake
  std::string message;      ///< in one line
  std::string report;       ///< all that is known, in several lines
  std::string kernel;       ///< demangled; empty when it was not in a kernel
  std::string source_file;  ///< of the instruction; empty without debug information
  uint32_t line = 0, column = 0;
  uint64_t count = 0;
};

class ATOLL_PUBLIC Gpu {
 public:
  /// `name`: a product ("mi250x"), a processor ("gfx90a") or a target ID ("gfx90a:xnack-"). There may be several GPUs
  /// at a time; each has code and memory of its own, and its kernels can use the others' memory, too.
  static Expected<Gpu> create(std::string_view name, const GpuOptions& options = {});
  /// A GPU that runs the code in this file.
  static Expected<Gpu> create_for_file(const std::string& path, const GpuOptions& options = {});

  std::string product() const;    ///< "AMD Instinct MI250X"
  std::string target_id() const;  ///< "gfx90a:sramecc+:xnack-"

  /// A code object, a bundle or a program with one. Its init kernels have run when this returns.
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

  /// Runs a kernel to its end. The arguments must match the kernel's parameters in number, size and, where both are
  /// known, type; hidden arguments are filled in.
  Expected<LaunchResult> launch_with(const Code& code, std::string_view kernel, const LaunchShape& shape,
                                     std::span<const Argument> arguments) const;
  template <typename... Args>
  Expected<LaunchResult> launch(const Code& code, std::string_view kernel, const LaunchShape& shape,
                                const Args&... arguments) const {
    const std::array<Argument, sizeof...(Args)> list{Argument(arguments)...};
    return launch_with(code, kernel, shape, list);
  }

  /// The kernel as a function of C++, whose arguments the compiler checks:
  ///
  ///     auto scale = value_of(gpu.kernel<void(float*, float, int)>(code, "scale"));
  ///     scale({.grid = {1024}, .block = {256}}, out, 2.0f, 1024);
  ///
  /// A failure when the signature is not the kernel's, as far as its metadata tells.
  template <typename Signature>
  Expected<Kernel<Signature>> kernel(const Code& code, std::string_view name) const;

  Expected<Stream> create_stream() const;

  /// What the checkers have found until now, in the order in which they found it.
  std::vector<Finding> findings() const;

  /// Stops what runs on the GPU: launches end with FailureKind::aborted. May be called from a signal handler.
  void interrupt() const;

  struct State;

 private:
  friend struct library::Internals;
  std::shared_ptr<State> state_;
};

/// A kernel with its signature: see Gpu::kernel. Parameters that are pointers take buffers of the type pointed to,
/// those of type LocalMemory LDS.
template <typename... P>
class Kernel<void(P...)> {
 public:
  Kernel(Gpu gpu, Code code, std::string name) : gpu_(std::move(gpu)), code_(std::move(code)), name_(std::move(name)) {}
  const Code& code() const { return code_; }
  const std::string& name() const { return name_; }

  /// Runs it to its end.
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

// Atoll's C++ library: a virtual AMD GPU in a few lines.  The namespace is spelt Atoll because C has a function
// atoll().
//
//     auto gpu = Atoll::Gpu::create("gfx90a").value();
//     auto code = gpu.load_file("kernels.co").value();
//     auto out = gpu.allocate<float>(1024).value();
//     gpu.launch(code, "scale", {.grid = {1024}, .block = {256}}, out, 2.0f, 1024).value();
//     std::vector<float> result = out.read();
//
// Nothing throws: what can fail returns Expected<T>, whose error() says in words what went wrong. Handles (Gpu, Code,
// Buffer) are cheap to copy, share what they stand for, and keep alive what they need. Different threads may use the
// same ones.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#define ATOLL_PUBLIC __attribute__((visibility("default")))

namespace Atoll {

/// What went wrong, in words for a person. A fault in a kernel has several lines: kernel, instruction, address, lane.
struct Failure {
  std::string message;
};
template <typename T>
using Expected = std::expected<T, Failure>;

/// Memory of a GPU, freed with its last copy. `data()` is valid on host and GPU alike.
class ATOLL_PUBLIC Buffer {
 public:
  void* data() const { return data_.get(); }
  size_t size() const { return size_; }  ///< bytes

 private:
  friend class Gpu;
  std::shared_ptr<void> data_;
  size_t size_ = 0;
};

template <typename T>
class TypedBuffer : public Buffer {
 public:
  explicit TypedBuffer(Buffer buffer) : Buffer(std::move(buffer)) {}
  size_t count() const { return size() / sizeof(T); }
  std::span<T> span() const { return {static_cast<T*>(data()), count()}; }
  std::vector<T> read() const { return {span().begin(), span().end()}; }
  void write(std::span<const T> values) const {
    std::memcpy(data(), values.data(), std::min(values.size_bytes(), size()));
  }
};

/// LDS for a kernel parameter that is a pointer to it (OpenCL's `__local` pointers).
struct LocalMemory {
  uint32_t bytes = 0;
};

/// One parameter of a kernel, as the code object describes it.
struct Parameter {
  enum class Kind : uint8_t {
    value,         ///< a number or a structure
    pointer,       ///< to memory of the GPU
    local_memory,  ///< LDS: takes a LocalMemory
    unsupported    ///< images, samplers, pipes, queues
  };
  std::string name;  ///< empty where the compiler left names out
  std::string type;  ///< "float*", empty where the compiler left types out
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

/// Loaded code: one code object or, of a program made from several source files, one for each. Its fini kernels run
/// when the last copy goes; what goes wrong in one is said on standard error.
class ATOLL_PUBLIC Code {
 public:
  std::vector<std::string> kernels() const;
  Expected<KernelInfo> describe(std::string_view kernel) const;
  /// A device variable's memory; empty when there is none of that name.
  std::span<std::byte> variable(std::string_view name) const;
  struct State;

 private:
  friend class Gpu;
  std::shared_ptr<State> state_;
};

struct LaunchShape {
  std::array<uint32_t, 3> grid{1, 1, 1};   ///< work-items, as in HSA (not blocks); 0 counts as 1
  std::array<uint32_t, 3> block{1, 1, 1};  ///< work-items of a work-group; 0 counts as 1
  uint32_t dynamic_lds_bytes = 0;
};

struct LaunchResult {
  uint64_t work_groups = 0, waves = 0, wave_instructions = 0;
  double seconds = 0;
};

/// One kernel argument as bytes.
struct Argument {
  std::vector<std::byte> bytes;
  bool is_local_memory = false;  ///< then `bytes` is the uint32_t number of bytes of LDS
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  Argument(const T& value) : bytes(sizeof(T)) {  // NOLINT(google-explicit-constructor): arguments are written bare
    std::memcpy(bytes.data(), static_cast<const void*>(&value), sizeof(T));
  }
  template <typename T>
  Argument(const TypedBuffer<T>& buffer) : Argument(buffer.data()) {}  // NOLINT(google-explicit-constructor)
  Argument(const Buffer& buffer) : Argument(buffer.data()) {}          // NOLINT(google-explicit-constructor)
  Argument(LocalMemory local) : Argument(local.bytes) {                // NOLINT(google-explicit-constructor)
    is_local_memory = true;
  }
};

struct GpuOptions {
  unsigned threads = 0;        ///< host threads that run work-groups; 0: all of the host's
  double timeout_seconds = 0;  ///< of one launch; 0: none
  std::string engine{};        ///< "compiled" (the default) or "interpreter"
  std::string core_file{};     ///< where a fault leaves a core file, %p being the process; empty: nowhere
};

class ATOLL_PUBLIC Gpu {
 public:
  /// `name`: a product ("mi250x"), a processor ("gfx90a") or a target ID ("gfx90a:xnack-").
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
    auto buffer = allocate_bytes(count * sizeof(T));
    if (!buffer) return std::unexpected(buffer.error());
    return TypedBuffer<T>(*buffer);
  }

  /// Runs a kernel to its end. The arguments must match the kernel's parameters in number and size; hidden
  /// arguments are filled in.
  Expected<LaunchResult> launch_with(const Code& code, std::string_view kernel, const LaunchShape& shape,
                                     std::span<const Argument> arguments) const;
  template <typename... Args>
  Expected<LaunchResult> launch(const Code& code, std::string_view kernel, const LaunchShape& shape,
                                const Args&... arguments) const {
    const std::array<Argument, sizeof...(Args)> list{Argument(arguments)...};
    return launch_with(code, kernel, shape, list);
  }

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace Atoll

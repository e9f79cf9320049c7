// Atoll's C++ library: a virtual AMD GPU in a few lines.  The namespace is spelt Atoll because C has a function
// atoll().
//
//     auto gpu = Atoll::Gpu::create("gfx90a").value();
//     auto code = gpu.load_file("kernels.co").value();
//     auto out = gpu.allocate<float>(1024).value();
//     gpu.launch(code, "scale", {.grid = {1024}, .block = {256}}, out, 2.0f, 1024).value();
//     std::vector<float> result = out.read();
#pragma once

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

/// What went wrong, in words for a person.
struct Failure {
  std::string message;
};
template <typename T>
using Expected = std::expected<T, Failure>;

class Gpu;

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

/// A loaded code object.
class ATOLL_PUBLIC Code {
 public:
  std::vector<std::string> kernels() const;
  /// Address and size of a device variable; data is null when there is none.
  std::span<std::byte> variable(std::string_view name) const;
  struct State;

 private:
  friend class Gpu;
  std::shared_ptr<State> state_;
};

struct LaunchShape {
  std::array<uint32_t, 3> grid{1, 1, 1};   ///< work-items, as in HSA (not blocks)
  std::array<uint32_t, 3> block{1, 1, 1};  ///< work-items of a work-group
  uint32_t dynamic_lds_bytes = 0;
};

struct LaunchResult {
  uint64_t work_groups = 0, waves = 0, wave_instructions = 0;
  double seconds = 0;
};

/// One kernel argument as bytes.
struct Argument {
  std::vector<std::byte> bytes;
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  Argument(const T& value) : bytes(sizeof(T)) {  // NOLINT(google-explicit-constructor): arguments are written bare
    std::memcpy(bytes.data(), &value, sizeof(T));
  }
  template <typename T>
  Argument(const TypedBuffer<T>& buffer) : Argument(buffer.data()) {}  // NOLINT(google-explicit-constructor)
  Argument(const Buffer& buffer) : Argument(buffer.data()) {}          // NOLINT(google-explicit-constructor)
};

class ATOLL_PUBLIC Gpu {
 public:
  /// `name`: a product ("mi250x"), a processor ("gfx90a") or a target ID ("gfx90a:xnack-").
  static Expected<Gpu> create(std::string_view name);

  Expected<Code> load_file(const std::string& path) const;  ///< code object, bundle or program with one
  Expected<Code> load(std::span<const std::byte> file) const;
  Expected<Buffer> allocate_bytes(size_t bytes) const;  ///< zeroed
  template <typename T>
  Expected<TypedBuffer<T>> allocate(size_t count) const {
    auto buffer = allocate_bytes(count * sizeof(T));
    if (!buffer) return std::unexpected(buffer.error());
    return TypedBuffer<T>(*buffer);
  }

  /// Runs a kernel to its end. The arguments must match the kernel's metadata in number and size; hidden
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

// Atoll's C++ library: GPU memory and kernel arguments. Included by atoll.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "atoll/code_tools.h"

namespace Atoll {

/// GPU memory, freed with its last copy. `data()` is valid on host and GPU.
class ATOLL_PUBLIC Buffer {
 public:
  void* data() const { return data_.get(); }
  size_t size() const { return size_; }  ///< bytes

 private:
  friend class Gpu;
  friend struct Argument;
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

/// Type of a number, or of the numbers that a pointer refers to.
struct NumberType {
  uint8_t size = 0;  ///< bytes; 0 for structures, void and other types that a launch does not check
  bool is_floating = false, is_pointer = false;

  template <typename T>
  static constexpr NumberType of() {
    using Pointee = std::remove_cv_t<std::remove_pointer_t<T>>;
    if constexpr (std::is_arithmetic_v<Pointee>)
      return {.size = sizeof(Pointee),
              .is_floating = std::is_floating_point_v<Pointee>,
              .is_pointer = std::is_pointer_v<T>};
    return {.is_pointer = std::is_pointer_v<T>};
  }
};

/// One kernel argument as bytes.
struct Argument {
  std::vector<std::byte> bytes;
  bool is_local_memory = false;         ///< if set, `bytes` is the uint32_t size of the LDS
  std::shared_ptr<const void> keeps{};  ///< buffer that it points to, kept alive until the kernel has run
  NumberType type{};                    ///< compared with the kernel's parameter if both are known

  template <typename T>
  Argument(const T& value) : type(NumberType::of<T>()) {  // NOLINT(google-explicit-constructor): written bare
    static_assert(
        std::is_trivially_copyable_v<T> && !std::is_array_v<T>,
        "a kernel argument is a number, a structure of such, a pointer, a Buffer or LocalMemory; what is in a "
        "container or an array is copied to a buffer first (Gpu::allocate)");
    if constexpr (std::is_trivially_copyable_v<T>) {
      bytes.resize(sizeof(T));
      std::memcpy(bytes.data(), static_cast<const void*>(&value), sizeof(T));
    }
  }
  template <typename T>
  Argument(const TypedBuffer<T>& buffer)  // NOLINT(google-explicit-constructor)
      : Argument(static_cast<const Buffer&>(buffer)) {
    type = NumberType::of<T*>();
  }
  Argument(const Buffer& buffer) : Argument(buffer.data()) {
    keeps = buffer.data_;
  }  // NOLINT(google-explicit-constructor)
  Argument(LocalMemory local) : Argument(local.bytes) {  // NOLINT(google-explicit-constructor)
    is_local_memory = true;
  }
};

/// Converts to an argument for a kernel parameter of type P. Accepts what a function with such a parameter accepts,
/// except conversions from floating point to integer.
template <typename P>
struct PassedAs {
  static_assert(std::is_trivially_copyable_v<P>, "a kernel's parameters are numbers, structures and pointers");
  Argument argument;
  PassedAs(const P& value)  // NOLINT(google-explicit-constructor)
    requires std::is_class_v<P> || std::is_enum_v<P>
      : argument(value) {}
  template <typename U>
    requires std::is_arithmetic_v<P> && std::is_convertible_v<U, P> &&
             (!std::is_integral_v<P> || !std::is_floating_point_v<U>)
  PassedAs(U value) : argument(static_cast<P>(value)) {}  // NOLINT(google-explicit-constructor)
};
template <typename T>
struct PassedAs<T*> {
  Argument argument;
  PassedAs(T* pointer) : argument(pointer) {}  // NOLINT(google-explicit-constructor)
  template <typename U>
    requires std::is_convertible_v<U*, T*>
  PassedAs(const TypedBuffer<U>& buffer) : argument(buffer) {}  // NOLINT(google-explicit-constructor)
  PassedAs(const Buffer& buffer)                                // NOLINT(google-explicit-constructor)
    requires std::is_void_v<T>
      : argument(buffer) {}
};
template <>
struct PassedAs<LocalMemory> {
  Argument argument;
  PassedAs(LocalMemory local) : argument(local) {}  // NOLINT(google-explicit-constructor)
};

}  // namespace Atoll

// Atoll's C++ library: what went wrong, as a value. atoll.h includes this.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace Atoll {

enum class FailureKind : uint8_t {
  invalid_argument,     ///< the caller asked for something that makes no sense
  invalid_file,         ///< a file or byte range is not what it claims to be, or is damaged
  incompatible,         ///< well formed, but not for this GPU
  not_found,            ///< a name that nothing has
  unsupported,          ///< known, but not implemented: the message names it
  out_of_resources,     ///< more registers, memory, LDS, ... than there is
  memory_fault,         ///< a kernel touched memory that is not mapped for it
  illegal_instruction,  ///< a kernel ran into bytes that are no instruction of its GPU
  aborted,              ///< a kernel trapped, ran out of time or was stopped: `fault` says which
  system,               ///< the host's operating system refused something
};

/// "memory_fault".
constexpr std::string_view name_of(FailureKind kind) {
  constexpr std::array<std::string_view, 10> names{
      "invalid_argument", "invalid_file", "incompatible",        "not_found", "unsupported",
      "out_of_resources", "memory_fault", "illegal_instruction", "aborted",   "system"};
  return names[static_cast<size_t>(kind)];
}

/// Where and how a kernel failed. Work-group, wave and work-item are those that the report in `Failure::message` names.
struct KernelFault {
  enum class Kind : uint8_t {
    memory,               ///< touched `address`, which is not mapped, or not for this access
    illegal_instruction,  ///< no instruction of this GPU, or one that Atoll lacks
    instruction_fetch,    ///< jumped to where no code is
    scratch_overflow,     ///< private address past the wave's scratch
    lds_overflow,
    abort,        ///< s_trap 2: llvm.trap, assert
    exception,    ///< of floating point, enabled in MODE
    timeout,      ///< GpuOptions::timeout_seconds
    interrupted,  ///< Gpu::interrupt
  };
  Kind kind = Kind::memory;
  std::string kernel;                 ///< demangled
  std::string function;               ///< around the instruction, when that is not the kernel itself
  std::string instruction;            ///< as text
  uint64_t program_counter = 0;       ///< its address
  std::string source_file;            ///< of the instruction; empty without debug information
  uint32_t line = 0, column = 0;      ///< in the source file; 0 when not known
  std::optional<uint64_t> address{};  ///< that was accessed, of a memory fault
  bool is_write = false;              ///< what the access was
  std::string near{};                 ///< what lies next to the address, in words
  std::array<uint32_t, 3> work_group{}, work_item{};
  uint32_t wave = 0, lane = 0;
  bool lane_known = true;  ///< otherwise lane and work-item are the wave's first active ones
};

/// "memory".
constexpr std::string_view name_of(KernelFault::Kind kind) {
  constexpr std::array<std::string_view, 9> names{
      "memory", "illegal_instruction", "instruction_fetch", "scratch_overflow", "lds_overflow",
      "abort",  "exception",           "timeout",           "interrupted"};
  return names[static_cast<size_t>(kind)];
}

/// What went wrong. `message` is for a person; of a fault in a kernel it has several lines.
struct Failure {
  std::string message{};
  FailureKind kind = FailureKind::invalid_argument;
  std::optional<KernelFault> fault{};  ///< when a kernel faulted, ran out of time or was stopped
};

template <typename T>
using Expected = std::expected<T, Failure>;

/// A failure as an exception, for programs that want one: see value_of().
class Error : public std::runtime_error {
 public:
  explicit Error(Failure failure) : std::runtime_error(failure.message), failure_(std::move(failure)) {}
  const Failure& failure() const noexcept { return failure_; }

 private:
  Failure failure_;
};

/// The value, or an Error. (std::expected's own value() throws an exception that does not say what went wrong.)
template <typename T>
T value_of(Expected<T> expected) {
  if (!expected) throw Error(std::move(expected).error());
  if constexpr (!std::is_void_v<T>) return std::move(*expected);
}

}  // namespace Atoll

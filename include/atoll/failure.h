// Atoll's C++ library: failures as values. Included by atoll.h.
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
  invalid_argument,     ///< an argument of the caller is invalid
  invalid_file,         ///< a file or byte range has the wrong format or is damaged
  incompatible,         ///< well formed, but not for this GPU
  not_found,            ///< the name does not exist
  unsupported,          ///< valid but not implemented: the message names it
  out_of_resources,     ///< requires more registers, memory, LDS, ... than available
  memory_fault,         ///< a kernel accessed memory that is not mapped for the access
  illegal_instruction,  ///< a kernel executed bytes that are not an instruction of its GPU
  aborted,              ///< a kernel trapped, timed out or was stopped: see `fault`
  system,               ///< a system call failed
};

/// "memory_fault".
constexpr std::string_view name_of(FailureKind kind) {
  constexpr std::array<std::string_view, 10> names{
      "invalid_argument", "invalid_file", "incompatible",        "not_found", "unsupported",
      "out_of_resources", "memory_fault", "illegal_instruction", "aborted",   "system"};
  return names[static_cast<size_t>(kind)];
}

/// Where and how a kernel failed. Work-group, wave and work-item are those in the report, `Failure::message`.
struct KernelFault {
  enum class Kind : uint8_t {
    memory,               ///< accessed `address`, which is not mapped for the access
    illegal_instruction,  ///< not an instruction of this GPU, or not supported by Atoll
    instruction_fetch,    ///< jumped outside the code
    scratch_overflow,     ///< private address past the wave's scratch
    lds_overflow,
    abort,        ///< s_trap 2: llvm.trap, assert
    exception,    ///< of floating point, enabled in MODE
    timeout,      ///< GpuOptions::timeout_seconds
    interrupted,  ///< Gpu::interrupt
  };
  Kind kind = Kind::memory;
  std::string kernel;                 ///< demangled
  std::string function;               ///< function around the instruction, if it is not the kernel itself
  std::string instruction;            ///< as text
  uint64_t program_counter = 0;       ///< its address
  std::string source_file;            ///< of the instruction; empty without debug information
  uint32_t line = 0, column = 0;      ///< 0 if unknown
  std::optional<uint64_t> address{};  ///< accessed address of a memory fault
  bool is_write = false;              ///< what the access was
  std::string near{};                 ///< what is next to the address, as text
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

/// A failure. `message` is text for users; that of a kernel fault has several lines.
struct Failure {
  std::string message{};
  FailureKind kind = FailureKind::invalid_argument;
  std::optional<KernelFault> fault{};  ///< if a kernel faulted, timed out or was stopped
};

template <typename T>
using Expected = std::expected<T, Failure>;

/// A failure as an exception: see value_of().
class Error : public std::runtime_error {
 public:
  explicit Error(Failure failure) : std::runtime_error(failure.message), failure_(std::move(failure)) {}
  const Failure& failure() const noexcept { return failure_; }

 private:
  Failure failure_;
};

/// Returns the value or throws Error. (std::expected::value() throws an exception without a message.)
template <typename T>
T value_of(Expected<T> expected) {
  if (!expected) throw Error(std::move(expected).error());
  if constexpr (!std::is_void_v<T>) return std::move(*expected);
}

}  // namespace Atoll

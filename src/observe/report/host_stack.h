// observe: host call stacks, stored as addresses and symbolised when a report needs them.
//
// Frames are named by the symbol tables of their file, and lines come from the file's DWARF line tables if present
// (compile the program with -g). Frames inside Atoll and inside a language runtime (HIP, OpenCL) are omitted, except
// for the runtime function that the program called. Code in headers of HIP and the C++ library is reported at the
// user's call of it. For a Python program the frames are those of Python functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll::observe {

struct HostStack {
  static constexpr size_t max_frames = 24;
  std::array<void*, max_frames> frames{};
  size_t count = 0;
  std::string python{};  ///< the thread's Python frames, one per line (python_stack.h); empty outside Python

  /// Captures the calling thread's stack, without the caller of this function.
  static HostStack here();
  /// Returns a hash that is equal for equal stacks.
  uint64_t hash() const { return hash_from(0); }
  /// Returns a hash of the frames that called a language runtime or Atoll.
  uint64_t hash_of_caller() const;

 private:
  uint64_t hash_from(size_t first) const;
};

struct HostFrames {
  std::string call;                 ///< the runtime function that the program called: "hipMalloc"; may be empty
  std::vector<std::string> frames;  ///< of the program: "main  file.hip:12", innermost first; may be empty
  /// True if the call is an allocation by the program, not by the runtime for its own use.
  bool by_program = false;
};

HostFrames describe(const HostStack& stack);

/// Returns a report's lines: "hipMalloc" and its callers. `function` is used if the stack does not name the call.
std::vector<std::string> lines_of(const HostStack& stack, std::string_view function);

}  // namespace Atoll::observe

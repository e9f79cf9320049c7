// observe: call stacks of the host's, kept as addresses and put into words when a report needs them.
//
// A frame is named by the symbol tables of the file that it is in, and its line by the file's DWARF line tables, if it
// has them (compile the program with -g). Frames inside of Atoll and inside of a language runtime (HIP, OpenCL) are
// left out, but for the runtime's function that the program called. Code of HIP's and the C++ library's headers is
// reported at the user's call of it. Of a Python program, the frames are those of Python functions.
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
  std::string python{};  ///< the thread's Python frames, a line each (python_stack.h); empty outside of Python

  /// The calling thread's, without the caller of this.
  static HostStack here();
  /// The same for the same calls.
  uint64_t hash() const { return hash_from(0); }
  /// Of what called a language runtime, or Atoll.
  uint64_t hash_of_caller() const;

 private:
  uint64_t hash_from(size_t first) const;
};

struct HostFrames {
  std::string call;                 ///< the runtime's function that the program called: "hipMalloc"; or empty
  std::vector<std::string> frames;  ///< of the program: "main  file.hip:12", innermost first; may be empty
  /// Whether the call is one by which a program allocates, so that the memory is the program's and not the runtime's
  /// own.
  bool by_program = false;
};

HostFrames describe(const HostStack& stack);

/// The lines of a report: "hipMalloc", and whence. `function` is named where the stack does not say what was called.
std::vector<std::string> lines_of(const HostStack& stack, std::string_view function);

}  // namespace Atoll::observe

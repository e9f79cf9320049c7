// observe: captures the call stack of a Python program for reports about host code. The C stack has only frames of the
// interpreter there.
//
// The interpreter writes a thread's traceback with the function that faulthandler uses. It needs no interpreter lock,
// which ctypes has released before a runtime is called. It is looked up in the process, so no Python version is
// required. Interpreters that do not export it yield no frames.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace Atoll::observe {

/// Returns the calling thread's Python traceback as the interpreter writes it, the innermost frame first. Empty if the
/// process has no interpreter, or the thread runs no Python code.
std::string python_stack();

/// Returns a traceback's frames as lines of a report: "function  file.py:12".
std::vector<std::string> python_frames(std::string_view traceback);

}  // namespace Atoll::observe

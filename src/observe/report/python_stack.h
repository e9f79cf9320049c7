// observe: the call stack of a Python program, for reports that name a place of the host's. A C stack has frames of the
// interpreter's there, which say nothing of the program.
//
// The interpreter writes a thread's traceback by the function that faulthandler uses. That function needs no lock of
// the interpreter's, which ctypes has released by the time that a runtime is called. It is looked up in the process, so
// that nothing here depends on a version of Python. Interpreters that do not export it give no frames.
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

// observe: calls the interpreter's own traceback writer.
#include "observe/report/python_stack.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <mutex>
#include <type_traits>

#include <fmt/format.h>

namespace Atoll::observe {

namespace {

/// Functions of CPython (pycore_traceback.h, pystate.h); null if the process has no interpreter.
struct Python {
  int (*is_initialized)() = nullptr;
  void* (*thread_state)() = nullptr;
  void (*dump_traceback)(int file, void* thread_state) = nullptr;

  static const Python& of_process() {
    static const Python python = [] {
      Python found;
      const auto look_up = [](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_cvref_t<decltype(function)>>(dlsym(RTLD_DEFAULT, name));
      };
      look_up(found.is_initialized, "Py_IsInitialized");
      look_up(found.thread_state, "PyGILState_GetThisThreadState");
      look_up(found.dump_traceback, "_Py_DumpTraceback");
      return found;
    }();
    return python;
  }
  bool is_there() const {
    return is_initialized != nullptr && thread_state != nullptr && dump_traceback != nullptr && is_initialized() != 0;
  }
};

}  // namespace

std::string python_stack() {
  const Python& python = Python::of_process();
  if (!python.is_there()) return {};
  void* const thread = python.thread_state();
  if (thread == nullptr) return {};
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static const int file = memfd_create("python stack", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, 0) != 0 || lseek(file, 0, SEEK_SET) != 0) return {};
  python.dump_traceback(file, thread);
  std::array<char, 8192> text{};
  const ssize_t size = pread(file, text.data(), text.size(), 0);
  return size <= 0 ? std::string() : std::string(text.data(), static_cast<size_t>(size));
}

std::vector<std::string> python_frames(std::string_view traceback) {
  std::vector<std::string> frames;
  while (!traceback.empty()) {
    const size_t end = traceback.find('\n');
    const std::string_view line = traceback.substr(0, end);
    traceback.remove_prefix(end == std::string_view::npos ? traceback.size() : end + 1);
    constexpr std::string_view file_mark = "  File \"", line_mark = "\", line ", function_mark = " in ";
    const size_t at_line = line.rfind(line_mark);
    if (!line.starts_with(file_mark) || at_line == std::string_view::npos) continue;
    const std::string_view file = line.substr(file_mark.size(), at_line - file_mark.size());
    const std::string_view rest = line.substr(at_line + line_mark.size());
    const size_t at_function = rest.find(function_mark);
    if (at_function == std::string_view::npos) continue;
    const std::string_view function = rest.substr(at_function + function_mark.size());
    frames.push_back(fmt::format("{}  {}:{}", function, file, rest.substr(0, at_function)));
  }
  return frames;
}

}  // namespace Atoll::observe

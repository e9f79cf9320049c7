// observe: walks host stacks, symbolises frames, and removes those of runtimes.
#include "observe/report/host_stack.h"

#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "debug_info/inlined_calls.h"
#include "debug_info/symbolizer.h"
#include "machine/memory/address_range.h"
#include "observe/report/python_stack.h"
#include "support/bytes.h"
#include "support/demangle.h"
#include "support/fork.h"
#include "support/mapped_file.h"

namespace Atoll::observe {

namespace {

/// A file mapped into the process, opened for its symbols and lines.
struct Module {
  std::optional<support::MappedFile> file;
  bool is_relative = true;                ///< its addresses are relative to the load address
  std::vector<object::Symbol> functions;  ///< by address
};

/// Reads the symbol table, which programs have unless stripped.
void read_functions(Module& module) {
  const std::span<const uint8_t> bytes = module.file->bytes();
  const auto header = support::read<Elf64_Ehdr>(bytes, 0);
  if (!header || !support::starts_with(bytes, ELFMAG)) return;
  module.is_relative = header->e_type == ET_DYN;
  module.functions = debug_info::function_symbols(bytes);
}

/// Cached, because a report needs the same files repeatedly.
Module& module_at(const char* path) {
  static auto* const modules = new std::map<std::string, std::unique_ptr<Module>>;
  std::unique_ptr<Module>& module = (*modules)[path];
  if (module != nullptr) return *module;
  module = std::make_unique<Module>();
  // The dynamic loader's name of the program is the name it was invoked with.
  auto file = support::MappedFile::open(path);
  if (!file) file = support::MappedFile::open("/proc/self/exe");
  if (file) {
    module->file.emplace(std::move(*file));
    read_functions(*module);
  }
  return *module;
}

struct Frame {
  const void* base = nullptr;  ///< load address of the module
  std::string module;          ///< file name without directories
  std::string function, line;
};

Frame frame_at(void* address) {
  // A return address points after the call.
  auto* const pc = static_cast<char*>(address) - 1;
  Frame frame;
  Dl_info info{};
  if (dladdr(pc, &info) == 0 || info.dli_fname == nullptr) return frame;
  frame.base = info.dli_fbase;
  const std::string_view path = info.dli_fname;
  frame.module = path.substr(path.rfind('/') + 1);
  Module& module = module_at(info.dli_fname);
  const uint64_t offset =
      reinterpret_cast<uint64_t>(pc) - (module.is_relative ? reinterpret_cast<uint64_t>(info.dli_fbase) : 0);
  if (module.file) {
    const debug_info::Symbolizer symbolizer(module.file->bytes(), module.functions, 0);
    frame.function = symbolizer.function_at(offset);
    frame.line = symbolizer.source_at(offset);
  }
  if (frame.function.empty() && info.dli_sname != nullptr) frame.function = support::demangled(info.dli_sname);
  return frame;
}

bool is_runtime(std::string_view module) {
  constexpr std::string_view runtimes[] = {"libamdhip64.so", "libamdocl64.so", "libOpenCL.so", "libhsa-runtime64.so",
                                           "libatoll-hip-calls.so"};
  return std::ranges::any_of(runtimes, [&](std::string_view name) { return module.starts_with(name); });
}

/// The modules through which Python code calls C functions.
bool is_python_interpreter(std::string_view module) {
  constexpr std::string_view parts[] = {"python", "libpython", "_ctypes", "libffi", "_cffi"};
  return std::ranges::any_of(parts, [&](std::string_view name) { return module.starts_with(name); });
}

/// Returns the name of the language runtime's function that is called before a return address: through a PLT stub or a
/// pointer (-fno-plt). The function may have left no frame: HIP 6 and 7 tail-call an unnamed function.
std::string called_before(const void* return_address, const void* own) {
  const auto at = reinterpret_cast<uint64_t>(return_address);
  Dl_info caller{};
  if (dladdr(return_address, &caller) == 0) return {};
  // Accepts only targets in the caller's module, because the bytes may belong to another instruction.
  const auto is_of_caller = [&](uint64_t address, uint64_t bytes) {
    Dl_info info{};
    return dladdr(reinterpret_cast<const void*>(address), &info) != 0 && info.dli_fbase == caller.dli_fbase &&
           machine::is_mapped(address, bytes);
  };
  const auto read = [](uint64_t address, auto value) {
    std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
    return value;
  };
  const auto relative = [&](uint64_t next) { return next + static_cast<uint64_t>(int64_t{read(next - 4, int32_t{})}); };
  constexpr uint8_t call_relative = 0xE8, bound = 0xF2;
  constexpr uint16_t call_by_pointer = 0x15FF, jump_by_pointer = 0x25FF;
  constexpr uint32_t endbr64 = 0xFA1E'0FF3;
  constexpr uint64_t longest_call = 6, longest_stub = 11;

  uint64_t pointer = 0;
  if (!is_of_caller(at - longest_call, longest_call)) return {};
  if (read(at - 6, uint16_t{}) == call_by_pointer) {
    pointer = relative(at);
  } else if (read(at - 5, uint8_t{}) == call_relative) {
    uint64_t stub = relative(at);
    if (!is_of_caller(stub, longest_stub)) return {};
    if (read(stub, uint32_t{}) == endbr64) stub += sizeof endbr64;
    if (read(stub, uint8_t{}) == bound) stub += sizeof bound;
    if (read(stub, uint16_t{}) != jump_by_pointer) return {};
    pointer = relative(stub + 6);
  }
  if (pointer == 0 || !is_of_caller(pointer, sizeof pointer)) return {};
  const auto* const function = reinterpret_cast<const void*>(read(pointer, uint64_t{}));
  Dl_info info{};
  if (dladdr(function, &info) == 0 || info.dli_saddr != function || info.dli_fbase == own) return {};
  const std::string_view path = info.dli_fname;
  return is_runtime(path.substr(path.rfind('/') + 1)) ? info.dli_sname : std::string();
}

const void* own_base() {
  Dl_info info{};
  return dladdr(reinterpret_cast<const void*>(&own_base), &info) != 0 ? info.dli_fbase : nullptr;
}

}  // namespace

HostStack HostStack::here() {
  HostStack stack;
  void* all[max_frames + 2];
  const int found = backtrace(all, std::size(all));
  for (int i = 2; i < found; ++i) stack.frames[stack.count++] = all[i];
  stack.python = python_stack();
  return stack;
}

uint64_t HostStack::hash_from(size_t first) const {
  uint64_t sum = count - first + std::hash<std::string>()(python);
  for (size_t i = first; i < count; ++i) sum = (sum ^ reinterpret_cast<uint64_t>(frames[i])) * 0x9E37'79B9'7F4A'7C15;
  return sum;
}

uint64_t HostStack::hash_of_caller() const {
  // The buffer may be too small for all interpreter frames.
  if (!python.empty()) return std::hash<std::string>()(python);
  static const void* const own = own_base();
  size_t first = 0;
  for (; first < count; ++first) {
    Dl_info info{};
    if (dladdr(static_cast<char*>(frames[first]) - 1, &info) == 0 || info.dli_fname == nullptr) continue;
    const std::string_view path = info.dli_fname;
    if (info.dli_fbase != own && !is_runtime(path.substr(path.rfind('/') + 1))) break;
  }
  return hash_from(first);
}

HostFrames describe(const HostStack& stack) {
  static constinit std::mutex mutex;
  [[maybe_unused]] static const bool is_known = [] {
    support::keep_free_in_forks(mutex, support::LockDepth::innermost);
    return true;
  }();
  const std::lock_guard lock(mutex);
  static const void* const own = own_base();
  HostFrames result;
  const bool is_python = !stack.python.empty();
  for (size_t i = 0; i < stack.count; ++i) {
    const Frame frame = frame_at(stack.frames[i]);
    if (frame.base == nullptr) continue;
    if (result.frames.empty() && (frame.base == own || is_runtime(frame.module))) {
      // The function of Atoll that was called may have left no frame, so the caller of this class names it.
      result.call = frame.base == own ? std::string() : frame.function;
      continue;
    }
    if (frame.module.starts_with("libc.so") || frame.module.starts_with("ld-linux")) break;
    if (frame.function == "_start") break;
    // A template of HIP's headers that was not inlined; its caller follows.
    if (result.frames.empty() && debug_info::is_system_place(frame.line)) continue;
    if (is_python && is_python_interpreter(frame.module)) break;
    if (is_python && frame.line.empty()) continue;  // an extension module
    if (result.frames.empty()) {
      if (std::string called = called_before(stack.frames[i], own); !called.empty()) result.call = std::move(called);
    }
    result.frames.push_back(fmt::format("{}{}{}", frame.function.empty() ? "in " + frame.module : frame.function,
                                        frame.line.empty() ? "" : "  ", frame.line));
    if (frame.function.empty() && !frame.line.empty()) result.frames.back() = frame.line;
    if (frame.function == "main") break;
  }
  for (std::string& line : python_frames(stack.python)) result.frames.push_back(std::move(line));
  // Allocations in other calls are for the runtime itself.
  constexpr std::string_view api[] = {"hipMalloc",   "hipHostMalloc", "hipHostAlloc",  "hipExtMalloc",
                                      "hipMemAlloc", "clSVMAlloc",    "clCreateBuffer"};
  // Managed memory is allocated by another call (hsa/memory/svm.h).
  const bool allocates = result.call != "hipMallocManaged" && std::ranges::any_of(api, [&](std::string_view prefix) {
                           return result.call.starts_with(prefix);
                         });
  result.by_program = !result.frames.empty() && (result.call.empty() || allocates);
  return result;
}

std::vector<std::string> lines_of(const HostStack& stack, std::string_view function) {
  HostFrames frames = describe(stack);
  std::vector<std::string> lines;
  if (frames.frames.empty()) {
    if (!function.empty()) lines.emplace_back(function);
    return lines;
  }
  const std::string call = frames.call.empty() ? std::string(function) : frames.call;
  frames.frames.front() = call.empty() ? frames.frames.front() : "by " + call + " in " + frames.frames.front();
  return frames.frames;
}

}  // namespace Atoll::observe

// hsa: the list of loaded code objects that debuggers read: _amdgpu_r_debug, laid out as the dynamic loader's r_debug.
#pragma once

#include <link.h>

#include <cstdint>
#include <string>

namespace Atoll::hsa {

/// One loaded code object's place in the list, from when it is made until it is destroyed.
class DebuggerEntry {
 public:
  DebuggerEntry(uint64_t base, std::string uri);
  ~DebuggerEntry();
  DebuggerEntry(const DebuggerEntry&) = delete;
  DebuggerEntry& operator=(const DebuggerEntry&) = delete;

 private:
  std::string uri_;
  link_map map_{};
};

}  // namespace Atoll::hsa

// machine: what lies at an address of the process. See host_address.h.
#include "machine/memory/host_address.h"

#include <pthread.h>

#include <charconv>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

namespace Atoll::machine {

namespace {

/// Returns whether the address is on the calling thread's stack.
bool is_on_own_stack(uint64_t address) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
  void* begin = nullptr;
  size_t size = 0;
  const bool known = pthread_attr_getstack(&attributes, &begin, &size) == 0;
  pthread_attr_destroy(&attributes);
  return known && address - reinterpret_cast<uint64_t>(begin) < size;
}

}  // namespace

std::optional<std::string> describe_host_address(uint64_t address) {
  std::ifstream maps("/proc/self/maps");  // proc(5): "address perms offset dev inode pathname"
  for (std::string line; std::getline(maps, line);) {
    uint64_t begin = 0, end = 0;
    const char* const last = line.data() + line.size();
    const auto dash = std::from_chars(line.data(), last, begin, 16);
    if (dash.ptr == last) continue;
    const auto space = std::from_chars(dash.ptr + 1, last, end, 16);
    if (address < begin || address >= end || last - space.ptr < 5) continue;
    if (space.ptr[1] != 'r') return std::nullopt;
    const size_t at = line.find_first_of("/[");
    const std::string_view name = at == std::string::npos ? std::string_view() : std::string_view(line).substr(at);
    if (name == "[stack]") return "the stack of the program's first thread";
    if (is_on_own_stack(address)) return "the stack of the thread that runs the kernel";
    if (name == "[heap]") return "the heap";
    if (name.starts_with('/')) return fmt::format("in {}", name);
    return "memory of the process, such as of malloc() or of a thread's stack";
  }
  return std::nullopt;
}

}  // namespace Atoll::machine

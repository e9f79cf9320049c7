// hsa: keeping the debuggers' list. A debugger finds it by its name, sets a breakpoint where r_brk points, and reads it
// before and after each change.
// Source: ROCr's runtime and rocgdb, by which version 11 is what today's list says of itself.
#include "hsa/tools/debugger_list.h"

#include <mutex>
#include <utility>

#include "support/fork.h"

extern "C" {

/// Debuggers stop here.
[[gnu::noinline]] static void atoll_code_objects_changed() { __asm__ volatile("" ::: "memory"); }

extern r_debug _amdgpu_r_debug;
r_debug _amdgpu_r_debug = {.r_version = 11,
                           .r_map = nullptr,
                           .r_brk = reinterpret_cast<ElfW(Addr)>(&atoll_code_objects_changed),
                           .r_state = r_debug::RT_CONSISTENT,
                           .r_ldbase = 0};

}  // extern "C"

namespace Atoll::hsa {

namespace {

std::mutex list_mutex;
link_map* last = nullptr;

template <typename Change>
void change_list(decltype(r_debug::r_state) state, const Change& change) {
  [[maybe_unused]] static const bool is_known = [] {
    support::keep_free_in_forks(list_mutex, support::LockDepth::innermost);
    return true;
  }();
  const std::scoped_lock lock(list_mutex);
  _amdgpu_r_debug.r_state = state;
  atoll_code_objects_changed();
  change();
  _amdgpu_r_debug.r_state = r_debug::RT_CONSISTENT;
  atoll_code_objects_changed();
}

}  // namespace

DebuggerEntry::DebuggerEntry(uint64_t base, std::string uri) : uri_(std::move(uri)) {
  map_.l_addr = base;
  map_.l_name = uri_.data();
  change_list(r_debug::RT_ADD, [this] {
    map_.l_prev = last;
    (last != nullptr ? last->l_next : _amdgpu_r_debug.r_map) = &map_;
    last = &map_;
  });
}

DebuggerEntry::~DebuggerEntry() {
  change_list(r_debug::RT_DELETE, [this] {
    (map_.l_prev != nullptr ? map_.l_prev->l_next : _amdgpu_r_debug.r_map) = map_.l_next;
    (map_.l_next != nullptr ? map_.l_next->l_prev : last) = map_.l_prev;
  });
}

}  // namespace Atoll::hsa

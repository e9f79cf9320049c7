// machine: recovery from host signals when a kernel accesses unmapped memory.
//
// A guest address is a host address, so a kernel's bad load is a host SIGSEGV (or SIGBUS, past the end of a mapped
// file) in the middle of an engine. The guard turns it into a value: the handler detects that the thread is inside
// guarded(), and jumps back out to it. Signals of other origin go to the handler that was installed before
// Atoll's, or to the default action.
//
// The handler may run in a thread that never entered the guard, and must not allocate. So it cannot access
// thread-local variables: a library loaded by dlopen allocates them at a thread's first access. Variables without
// allocation (initial-exec) would use up the small reserve that the C library keeps for all such libraries. The
// handler looks up its thread in a list instead.
#pragma once

#include <atomic>
#include <csetjmp>
#include <cstddef>
#include <cstdint>

namespace Atoll::machine {

/// An access that the host refused.
struct HostFault {
  uint64_t address = 0;
  bool address_known = false;  ///< x86 does not say the address when it is not canonical
  bool is_write = false;
};

namespace guard {

struct Frame {
  sigjmp_buf jump;
  Frame* outer;
  HostFault fault;
};

/// The innermost guarded() of this thread, as the signal handler finds it.
Frame*& innermost();

}  // namespace guard

/// Installs the handlers, or puts them back in front when the program has replaced them since. Cheap: one system
/// call when they are in place.
void install_fault_guard();

/// Calls `work`; false when a memory access inside failed. `work` is then left where it was, without running
/// destructors: it must hold no locks and own nothing at its memory accesses.
template <typename Work>
[[gnu::noinline]] bool guarded(HostFault& fault, const Work& work) {
  guard::Frame*& innermost = guard::innermost();
  guard::Frame frame;
  frame.outer = innermost;
  if (sigsetjmp(frame.jump, 0) != 0) {
    innermost = frame.outer;
    fault = frame.fault;
    return false;
  }
  innermost = &frame;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler must not move accesses out of the guard
  try {
    work();
  } catch (...) {
    innermost = frame.outer;
    throw;
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  innermost = frame.outer;
  return true;
}

/// Leaves the innermost guarded() of this thread as an access that the host refuses does: for one that the host would
/// allow. The same holds of what is left.
[[noreturn, gnu::cold]] void refuse_access(uint64_t address, bool is_write);

/// While it lives, the pages [begin, end) can be read but not written: threads that try wait until it is gone, and then
/// write to what is mapped there by then, which must be writable. The thread that holds must not write there itself,
/// and no thread's stack may lie there. One hold at a time; the next waits.
class WriteHold {
 public:
  WriteHold(uint64_t begin, uint64_t end);
  WriteHold(const WriteHold&) = delete;
  WriteHold& operator=(const WriteHold&) = delete;
  ~WriteHold();
  bool holds() const { return holds_; }  ///< false when the pages could not be protected

 private:
  bool holds_;
};

/// Copies guest memory that may not be there.
bool read_guest(void* to, uint64_t address, size_t bytes);

}  // namespace Atoll::machine

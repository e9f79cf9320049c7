// machine: the SIGSEGV and SIGBUS handlers that guarded() relies on. See fault_guard.h.
//
// Handlers and the program's own. Whatever was installed before ours is kept and called for signals that are not
// ours. When the program installs a handler later, install_fault_guard() (called before each dispatch) puts ours
// back in front and keeps the program's as well: they form a chain, the latest first. A later handler may itself
// have kept ours as its "old" one and call it; each such round goes one link further down the chain, so
// that it ends at the program's first handler or at the default action.
#include "machine/report/fault_guard.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "support/fork.h"

namespace Atoll::machine {

namespace {

constexpr unsigned max_links = 16;

/// The handlers of one signal that were there before ours was put in front. Written under `install_mutex`, read by the
/// signal handler, which sees `links` only after the entry is complete.
struct Chain {
  int signal;
  struct sigaction actions[max_links];
  std::atomic<unsigned> links{0};
};
Chain chains[] = {{.signal = SIGSEGV, .actions = {}}, {.signal = SIGBUS, .actions = {}}};
std::mutex install_mutex;

/// How far down its chain a thread has passed a signal on. A handler may call ours again for the same signal; then
/// the context is the same and the stack deeper. One that left by a jump leaves this behind, which the next signal
/// recognises by either.
struct PassedOn {
  const void* context;
  const char* stack;
  unsigned links;
};

/// Data of a thread for the signal handler.
struct ThreadState {
  std::atomic<uintptr_t> thread{0};  ///< its pthread_self(), 0 when nobody's
  guard::Frame* innermost = nullptr;
  PassedOn passed_on{};
  uint64_t holds_seen = 0;  ///< the number of ended WriteHolds at its last fault
};

/// Threads' states, in blocks that are never freed. That of a thread that only ever got a signal remains its own when
/// it ends, for the next thread of the same pthread_self().
struct ThreadBlock {
  ThreadState states[64];
  std::atomic<ThreadBlock*> next{nullptr};
};
ThreadBlock first_block;

template <typename Look>
ThreadState* find_state(const Look& look) {
  for (ThreadBlock* block = &first_block; block != nullptr; block = block->next.load(std::memory_order_acquire))
    for (ThreadState& state : block->states)
      if (look(state)) return &state;
  return nullptr;
}

uintptr_t this_thread() { return static_cast<uintptr_t>(pthread_self()); }

/// This thread's state, or null when it has none. For the signal handler too.
ThreadState* state_of_thread() {
  return find_state([self = this_thread()](const ThreadState& state) {
    return state.thread.load(std::memory_order_relaxed) == self;
  });
}

/// This thread's state, a new one when it has none. For the signal handler too, so memory comes from mmap.
ThreadState& make_state_of_thread() {
  if (ThreadState* state = state_of_thread()) return *state;
  const auto claim = [self = this_thread()](ThreadState& state) {
    uintptr_t nobody = 0;
    return state.thread.load(std::memory_order_relaxed) == 0 && state.thread.compare_exchange_strong(nobody, self);
  };
  while (true) {
    if (find_state(claim) != nullptr)
      return *state_of_thread();  // not its own, when a signal came between and claimed one
    void* memory = mmap(nullptr, sizeof(ThreadBlock), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) abort();
    auto* added = new (memory) ThreadBlock;
    ThreadBlock* last = &first_block;
    for (ThreadBlock* next = nullptr; !last->next.compare_exchange_strong(next, added); next = nullptr) last = next;
  }
}

bool is_write_access(const ucontext_t& context) {
#if defined(__x86_64__)
  return (context.uc_mcontext.gregs[REG_ERR] & 2) != 0;  // bit 1 of the page fault's error code
#else
  static_cast<void>(context);
  return false;
#endif
}

/// Gives a signal that is none of ours to the handler before ours.
void pass_on(int signal, siginfo_t* info, void* context) {
  Chain& chain = signal == SIGSEGV ? chains[0] : chains[1];
  const unsigned links = chain.links.load(std::memory_order_acquire);
  const auto* here = static_cast<const char*>(__builtin_frame_address(0));
  PassedOn& passed_on = make_state_of_thread().passed_on;
  const bool again = passed_on.context == context && here < passed_on.stack;
  const unsigned depth = again ? passed_on.links : 0;
  const struct sigaction* next = depth < links ? &chain.actions[links - 1 - depth] : nullptr;
  const bool with_info = next != nullptr && (next->sa_flags & SA_SIGINFO) != 0;
  if (with_info || (next != nullptr && next->sa_handler != SIG_DFL && next->sa_handler != SIG_IGN)) {
    const PassedOn before = passed_on;
    passed_on = {.context = context, .stack = here, .links = depth + 1};
    if (with_info) {
      next->sa_sigaction(signal, info, context);
    } else {
      next->sa_handler(signal);
    }
    passed_on = before;
    return;
  }
  // Default action: the instruction is executed again and ends the process as without Atoll. (A program cannot ignore a
  // SIGSEGV that it caused.) An asynchronous signal has no such instruction and is raised again.
  struct sigaction plain{};
  plain.sa_handler = SIG_DFL;
  sigaction(signal, &plain, nullptr);
  if (info->si_code <= 0) raise(signal);
}

/// The pages of the current WriteHold (empty: none), and the number of holds so far.
std::atomic<uint64_t> held_begin{0}, held_end{0}, holds_ended{0};
std::mutex hold_mutex;

/// Returns whether the fault is a write to held pages, which are then writable again. If the hold ended in between, the
/// count differs from the thread's count at its last fault.
bool waited_for_hold(uint64_t address) {
  const auto inside = [address] {
    return address >= held_begin.load(std::memory_order_acquire) && address < held_end.load(std::memory_order_acquire);
  };
  if (inside()) {
    while (inside()) sched_yield();
    return true;
  }
  const uint64_t ended = holds_ended.load(std::memory_order_acquire);
  return std::exchange(make_state_of_thread().holds_seen, ended) != ended;
}

void on_signal(int signal, siginfo_t* info, void* context) {
  if (info->si_code == SEGV_ACCERR && signal == SIGSEGV && is_write_access(*static_cast<const ucontext_t*>(context)) &&
      waited_for_hold(reinterpret_cast<uint64_t>(info->si_addr))) {
    return;
  }
  const ThreadState* state = state_of_thread();
  guard::Frame* frame = state != nullptr ? state->innermost : nullptr;
  if (frame == nullptr || info->si_code <= 0) {  // si_code <= 0: sent by kill() and the like
    pass_on(signal, info, context);
    return;
  }
  // A non-canonical address raises a general protection fault, for which the kernel knows no address.
  frame->fault.address_known = info->si_code != SI_KERNEL;
  frame->fault.address = frame->fault.address_known ? reinterpret_cast<uint64_t>(info->si_addr) : 0;
  const auto& interrupted = *static_cast<const ucontext_t*>(context);
  frame->fault.is_write = is_write_access(interrupted);
  // The handler may run with signals blocked by the kernel, the program or a sanitizer; siglongjmp does not return to
  // restore them.
  pthread_sigmask(SIG_SETMASK, &interrupted.uc_sigmask, nullptr);
  siglongjmp(frame->jump, 1);
}

}  // namespace

guard::Frame*& guard::innermost() {
  // The pointer has no destructor: a program may launch kernels while it ends, when those have run.
  static thread_local ThreadState* state = nullptr;
  struct Owner {
    ~Owner() {
      state->passed_on = {};
      std::exchange(state, nullptr)->thread.store(0, std::memory_order_release);
    }
  };
  if (state == nullptr) {
    static thread_local Owner owner;
    state = &make_state_of_thread();
  }
  return state->innermost;
}

void refuse_access(uint64_t address, bool is_write) {
  guard::Frame* frame = guard::innermost();
  if (frame == nullptr) abort();
  const auto top = static_cast<int64_t>(address) >> 47;
  const bool is_canonical = top == 0 || top == -1;  // the host tells no others
  frame->fault = {.address = is_canonical ? address : 0, .address_known = is_canonical, .is_write = is_write};
  siglongjmp(frame->jump, 1);
}

void install_fault_guard() {
  [[maybe_unused]] static const bool is_known = [] {
    support::keep_free_in_forks(install_mutex, support::LockDepth::innermost);
    support::keep_free_in_forks(hold_mutex, support::LockDepth::outermost);
    return true;
  }();
  const std::lock_guard lock(install_mutex);
  for (Chain& chain : chains) {
    struct sigaction current{};
    if (sigaction(chain.signal, nullptr, &current) != 0) continue;
    if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == on_signal) continue;
    const unsigned links = chain.links.load(std::memory_order_relaxed);
    if (links == max_links) continue;  // a program that keeps replacing ours gets its way in the end
    chain.actions[links] = current;
    chain.links.store(links + 1, std::memory_order_release);
    // SA_NODEFER, so that a handler of the program's that leaves by a jump finds the next signal not blocked;
    // SA_ONSTACK for threads of the program that run out of stack and have prepared for it.
    struct sigaction ours{};
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | (current.sa_flags & SA_RESTART);
    sigemptyset(&ours.sa_mask);
    sigaction(chain.signal, &ours, nullptr);
  }
}

WriteHold::WriteHold(uint64_t begin, uint64_t end) {
  install_fault_guard();
  hold_mutex.lock();
  held_begin.store(begin, std::memory_order_release);
  held_end.store(end, std::memory_order_release);
  holds_ = mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ) == 0;
}

WriteHold::~WriteHold() {
  const uint64_t begin = held_begin.load(std::memory_order_relaxed), end = held_end.load(std::memory_order_relaxed);
  // Also when the pages have been replaced by writable ones: their holder may have failed to.
  if (holds_) mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE);
  holds_ended.fetch_add(1, std::memory_order_release);
  held_end.store(0, std::memory_order_release);
  hold_mutex.unlock();
}

bool read_guest(void* to, uint64_t address, size_t bytes) {
  HostFault fault;
  return guarded(fault, [&] { std::memcpy(to, reinterpret_cast<const void*>(address), bytes); });
}

}  // namespace Atoll::machine

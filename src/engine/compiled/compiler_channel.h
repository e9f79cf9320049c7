// engine/compiled: the shared memory of a program and its compiler process.
//
// It carries requests, answers and liveness. The program keeps no file descriptor, which it could close by accident or
// pass to children, and no waiting thread. The memory is a sparse memory file: untouched pages cost nothing.
#pragma once

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace Atoll::engine {

struct CompilerChannel {
  static constexpr int descriptor = 3;  ///< descriptor number in the compiler process
  static constexpr unsigned seconds_to_start =
      30;  ///< after this many seconds the compiler counts as dead and is killed by SIGALRM
  static constexpr uint32_t slot_count = 16;
  static constexpr uint64_t slot_bytes = uint64_t{32} << 20;
  static constexpr uint64_t first_slot = 4096;
  static constexpr uint64_t bytes = first_slot + slot_count * slot_bytes;

  enum class Compiler : uint32_t {
    starting,
    running,
    leaving,  ///< was idle
    refuses,  ///< its build differs from the program's
  };
  enum class SlotState : uint32_t { free, asked, taken, answered };

  /// A request, replaced by its answer. The state determines which process owns the other fields.
  struct Slot {
    std::atomic<SlotState> state;
    uint32_t is_code;          ///< the answer is a TranslatedCode; otherwise an error text
    uint64_t size;             ///< size of the request or answer
    std::atomic<bool> urgent;  ///< request at the program's priority
  };

  uint64_t fingerprint;           ///< build_fingerprint() of the program's Atoll
  int32_t program;                ///< process id
  std::atomic<uint32_t> posted;   ///< number of posts and priority changes; a futex
  std::atomic<uint32_t> answers;  ///< number of answers; a futex
  std::atomic<Compiler> compiler;
  /// Robust mutex held by the compiler's first thread, so that its death is detected.
  pthread_mutex_t life;
  Slot slots[slot_count];

  uint8_t* data(uint32_t slot) { return reinterpret_cast<uint8_t*>(this) + first_slot + slot * slot_bytes; }
};
static_assert(sizeof(CompilerChannel) <= CompilerChannel::first_slot);

/// Sleeps until `word` differs from `seen`, a wake-up, or the timeout.
inline void futex_wait(std::atomic<uint32_t>& word, uint32_t seen, long milliseconds) {
  const timespec time{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT, seen, &time, nullptr, 0);
}
inline void futex_wake(std::atomic<uint32_t>& word) { syscall(SYS_futex, &word, FUTEX_WAKE, INT32_MAX); }

}  // namespace Atoll::engine

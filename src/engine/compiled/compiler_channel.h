// engine/compiled: the memory that a program and its compiler process share.
//
// Everything goes through it: requests, answers, and who is there. The program keeps no file descriptor, which it
// could close unawares or hand on to its children, and no thread that waits. The memory is a sparse memory file: pages
// that nobody has written cost nothing.
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
  static constexpr int descriptor = 3;  ///< that the compiler process finds it at
  static constexpr unsigned seconds_to_start =
      30;  ///< after which the compiler counts as dead, and is ended by SIGALRM
  static constexpr uint32_t slot_count = 16;
  static constexpr uint64_t slot_bytes = uint64_t{32} << 20;
  static constexpr uint64_t first_slot = 4096;
  static constexpr uint64_t bytes = first_slot + slot_count * slot_bytes;

  enum class Compiler : uint32_t {
    starting,
    running,
    leaving,  ///< it had nothing to do
    refuses,  ///< it is of another build than the program's Atoll
  };
  enum class SlotState : uint32_t { free, asked, taken, answered };

  /// A request, and later the answer in its place. Whoever the state is up to owns the rest.
  struct Slot {
    std::atomic<SlotState> state;
    uint32_t is_code;          ///< the answer is a TranslatedCode; otherwise text that says why there is none
    uint64_t size;             ///< of the request or the answer
    std::atomic<bool> urgent;  ///< the answer is worth as much of the host's time as the program
  };

  uint64_t fingerprint;           ///< build_fingerprint() of the program's Atoll
  int32_t program;                ///< process id
  std::atomic<uint32_t> posted;   ///< requests so far, and hurries; a futex
  std::atomic<uint32_t> answers;  ///< so far; a futex
  std::atomic<Compiler> compiler;
  /// Held by the compiler's first thread as long as it lives; robust, so that it is known when it does not any more.
  pthread_mutex_t life;
  Slot slots[slot_count];

  uint8_t* data(uint32_t slot) { return reinterpret_cast<uint8_t*>(this) + first_slot + slot * slot_bytes; }
};
static_assert(sizeof(CompilerChannel) <= CompilerChannel::first_slot);

/// Sleeps until `word` is not `seen` any more, is woken, or the time is over.
inline void futex_wait(std::atomic<uint32_t>& word, uint32_t seen, long milliseconds) {
  const timespec time{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT, seen, &time, nullptr, 0);
}
inline void futex_wake(std::atomic<uint32_t>& word) { syscall(SYS_futex, &word, FUTEX_WAKE, INT32_MAX); }

}  // namespace Atoll::engine

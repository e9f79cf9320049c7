// observe: runs the functions registered for the end of a thread.
#include "observe/race/thread_slots.h"

#include <vector>

namespace Atoll::observe {

void at_thread_end(void (*end)()) {
  static thread_local bool has_ended = false;  // no destructor: readable after the list was destroyed
  struct Ends {
    std::vector<void (*)()> list;
    ~Ends() {
      has_ended = true;
      for (void (*const each)() : list) each();
    }
  };
  if (has_ended) return;
  static thread_local Ends ends;
  ends.list.push_back(end);
}

}  // namespace Atoll::observe

// observe: see thread_slots.h.
#include "observe/race/thread_slots.h"

#include <vector>

namespace Atoll::observe {

void at_thread_end(void (*end)()) {
  static thread_local bool has_ended = false;  // without a destructor: it can be asked when the list has gone
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

// observe: see thread_slots.h.
#include "observe/thread_slots.h"

#include <vector>

namespace Atoll::observe {

namespace {

struct Owners {
  std::vector<std::unique_ptr<OfThread>> list;
  ~Owners() {
    for (const auto& owner : list) owner->forget();
  }
};

}  // namespace

void goes_with_thread(std::unique_ptr<OfThread> owner) {
  static thread_local Owners owners;
  owners.list.push_back(std::move(owner));
}

}  // namespace Atoll::observe

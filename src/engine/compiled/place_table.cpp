// engine/compiled: the places where waves come in (place_table.h).
#include "engine/compiled/place_table.h"

#include <utility>

namespace Atoll::engine {

PlaceTable::~PlaceTable() {
  for (auto& head : buckets_) {
    for (Place* place = head.load(); place != nullptr;) delete std::exchange(place, place->next);
  }
}

Place& PlaceTable::add(uint64_t pc) {
  const std::lock_guard lock(mutex_);
  if (Place* place = find(pc)) return *place;
  auto& head = buckets_[bucket(pc)];
  auto* place = new Place(pc, code_.find(pc), head.load());
  head.store(place, std::memory_order_release);
  return *place;
}

void PlaceTable::add_way(uint64_t pc, Way way) {
  Place& place = at(pc);
  const std::lock_guard lock(mutex_);
  way.next = place.ways.load();
  ways_.push_back(std::make_unique<Way>(way));  // waves may be on any of the ways for as long as there are waves
  place.ways.store(ways_.back().get(), std::memory_order_release);
}

void PlaceTable::forget(uint64_t begin, uint64_t end) {
  const std::lock_guard lock(mutex_);
  for (auto& head : buckets_) {
    for (Place* place = head.load(); place != nullptr; place = place->next) {
      if (place->pc < begin || place->pc >= end) continue;
      place->ways.store(nullptr);
      place->heat.store(0);
      place->visited.store(false);
    }
  }
}

}  // namespace Atoll::engine

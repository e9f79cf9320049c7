// engine/compiled: the addresses at which waves come in (entry_table.h).
#include "engine/compiled/entry_table.h"

#include <utility>

namespace Atoll::engine {

EntryTable::~EntryTable() {
  for (auto& head : buckets_) {
    for (Entry* entry = head.load(); entry != nullptr;) delete std::exchange(entry, entry->next);
  }
}

Entry& EntryTable::add(uint64_t pc) {
  const std::lock_guard lock(mutex_);
  if (Entry* entry = find(pc)) return *entry;
  auto& head = buckets_[bucket(pc)];
  auto* entry = new Entry(pc, code_.find(pc), head.load());
  head.store(entry, std::memory_order_release);
  return *entry;
}

void EntryTable::add_code(uint64_t pc, EntryCode code) {
  Entry& entry = at(pc);
  const std::lock_guard lock(mutex_);
  code.next = entry.codes.load();
  // Kept to the end: waves may be in any of it.
  codes_.push_back(std::make_unique<EntryCode>(code));
  entry.codes.store(codes_.back().get(), std::memory_order_release);
}

void EntryTable::forget(uint64_t begin, uint64_t end) {
  const std::lock_guard lock(mutex_);
  for (auto& head : buckets_) {
    for (Entry* entry = head.load(); entry != nullptr; entry = entry->next) {
      if (entry->pc < begin || entry->pc >= end) continue;
      entry->codes.store(nullptr);
      entry->hotness.store(0);
      entry->visited.store(false);
      entry->executability.store(Entry::Executability::unknown);
    }
  }
}

}  // namespace Atoll::engine

// compiler: stores after a region's loop (deferred_stores.h).
#include "compiler/memory/deferred_stores.h"

namespace Atoll::compiler {

std::vector<unsigned> DeferredStores::keys_of(const RegionItem& item) {
  const ChunkMemory::Prepared& access = *item.access;
  std::vector<unsigned> keys{row_key(*access.operands.address, 0)};
  for (unsigned word = 0; word < semantics::memory_access(*item.instruction).words(); ++word) {
    keys.push_back(row_key(*access.operands.data[access.element], word));
  }
  return keys;
}

DeferredStores::DeferredStores(Frame& frame, ChunkMemory& memory, std::span<const RegionItem> items, llvm::Value* exec)
    : frame_(frame), memory_(memory) {
  if (std::ranges::none_of(items, &RegionItem::is_deferred)) return;
  for (const RegionItem& item : items) {
    const VectorSet writes = lane_effects_of(*item.instruction).vector_writes;
    for (unsigned key = 0; writes.any() && key < writes.size(); ++key) {
      if (writes[key]) last_writes_[key] = &item;
    }
  }
  for (const RegionItem& item : items) {
    if (!item.is_deferred) continue;
    order_.push_back(&item);
    Store& store = stores_[&item] = {.exec = exec, .has_own_exec = item.exec_written, .words = {}};
    if (store.has_own_exec) {
      store.exec = frame_.local(frame_.i64(), llvm::Align(8));
      frame_.ir.CreateStore(frame_.ir.getInt64(0), store.exec);
    }
    for (const unsigned key : keys_of(item)) {
      const auto last = last_writes_.find(key);
      if (last == last_writes_.end() || last->second < &item) {
        store.words.push_back(frame_.row_address(key));
        rows_.set(key);
      } else {
        store.words.push_back(frame_.local(llvm::ArrayType::get(frame_.i32(), semantics::wave_lanes), llvm::Align(64)));
      }
    }
  }
}

void DeferredStores::come_to(const RegionItem& item, ChunkState& chunk) {
  llvm::IRBuilder<>& ir = frame_.ir;
  const Store& store = stores_.at(&item);
  if (store.has_own_exec) {
    llvm::Value* placed = ir.CreateShl(chunk.bits(chunk.exec()), chunk.first_lane64());
    ir.CreateStore(ir.CreateOr(ir.CreateLoad(frame_.i64(), store.exec), placed), store.exec);
  }
  const std::vector<unsigned> keys = keys_of(item);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!llvm::isa<llvm::AllocaInst>(store.words[i])) continue;
    llvm::Value* to = ir.CreateInBoundsGEP(frame_.i32(), store.words[i], chunk.first_lane64());
    ir.CreateAlignedStore(chunk.row(keys[i]), to, llvm::Align(64));
  }
}

void DeferredStores::emit() {
  for (const RegionItem* item : order_) {
    const Store& store = stores_.at(item);
    llvm::Value* exec = store.has_own_exec ? frame_.ir.CreateLoad(frame_.i64(), store.exec) : store.exec;
    memory_.emit_for_wave(*item->access, exec, store.words.front(), llvm::ArrayRef(store.words).drop_front());
  }
}

}  // namespace Atoll::compiler

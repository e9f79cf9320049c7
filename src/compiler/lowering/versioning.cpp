// compiler: emits the run-time check of loop versioning.
#include "compiler/lowering/versioning.h"

#include <algorithm>

#include "compiler/memory/guest_bounds.h"

namespace Atoll::compiler {

namespace {

llvm::Value* number(llvm::IRBuilder<>& ir, int64_t value) { return ir.getInt64(static_cast<uint64_t>(value)); }

}  // namespace

VersionGuard::VersionGuard(Frame& frame, ValuLowering& lanes, ChunkMemory& memory, const AffineAddresses& strides,
                           std::span<const RegionItem> items)
    : frame_(frame), lanes_(lanes), memory_(memory), strides_(strides), items_(items), slice_(items.size()) {
  for (const RegionItem& item : items_) {
    if (!item.address) continue;
    ++accesses_;
    rows_ |= item.address->rows;
    const auto is_same = [&](const AffineAddresses::Form* other) { return *other == *item.address; };
    if (std::ranges::none_of(addresses_, is_same)) addresses_.push_back(&*item.address);
  }
  if (!addresses_.empty()) find_slice();
}

/// Which instructions the addresses depend on.
void VersionGuard::find_slice() {
  VectorSet rows;
  std::set<unsigned> carries;
  for (size_t i = items_.size(); i-- > 0;) {
    const RegionItem& item = items_[i];
    if (item.address) {
      const isa::Operand& address = *item.access->operands.address;
      for (unsigned word = 0; word < address.words; ++word) rows.set(row_key(address, word));
    }
    if (!item.is_vector) continue;
    const LaneEffects effects = lane_effects_of(*item.instruction);
    const isa::Operand* carry = item.lanes.mask_result;
    if ((effects.vector_writes & rows).none() && (carry == nullptr || !carries.contains(carry->reg))) continue;
    slice_[i] = true;
    rows = (rows & ~effects.vector_overwrites) | effects.vector_reads;
    if (carry != nullptr) carries.erase(carry->reg);
    if (item.lanes.mask != nullptr) carries.insert(item.lanes.mask->reg);
  }
}

bool VersionGuard::is_worth_it() const {
  const auto computing = static_cast<size_t>(std::ranges::count(slice_, true));
  return addresses_.size() + computing > rows_.count() && is_short(items_.size() - computing, accesses_);
}

bool VersionGuard::is_short(size_t items, size_t accesses) { return items <= max_items_of_an_access * accesses; }

void VersionGuard::require(llvm::Value* condition) {
  outcome_ = outcome_ != nullptr ? frame_.ir.CreateAnd(outcome_, condition) : condition;
}

void VersionGuard::require(const AffineAddresses::Condition& condition) {
  const int64_t stride = strides_.stride(condition.word->form);
  if (stride == 0) return;
  llvm::IRBuilder<>& ir = frame_.ir;
  llvm::Value* word = first_words_.at({condition.word->item, condition.word->key});
  // A number with a sign, moved up by half of its range.
  if (condition.is_signed) word = ir.CreateXor(word, ir.getInt32(1u << (condition.bits - 1)));
  const uint64_t end = uint64_t{1} << condition.bits;
  llvm::Value* first = ir.CreateAnd(ir.CreateZExt(word, frame_.i64()), end - 1);
  require(ir.CreateICmpULT(ir.CreateAdd(first, number(ir, stride * last_lane())), ir.getInt64(end)));
}

/// Of the active lanes. Lane 0's word is what they are compared with, even if that lane is not active.
void VersionGuard::require_stride_of_row(unsigned key) {
  llvm::IRBuilder<>& ir = frame_.ir;
  const unsigned lanes = frame_.wave_size();
  std::vector<uint32_t> steps(lanes);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    steps[lane] = static_cast<uint32_t>(strides_.stride_of_row(key)) * lane;
  }
  llvm::Value* row = frame_.row_address(key);
  auto* type = llvm::FixedVectorType::get(frame_.i32(), lanes);
  llvm::Value* words = ir.CreateAlignedLoad(type, row, llvm::Align(64));
  llvm::Value* expected = ir.CreateAdd(ir.CreateVectorSplat(lanes, first_words_.at({{}, key})),
                                       llvm::ConstantDataVector::get(frame_.context, steps));
  llvm::Value* others = ir.CreateBitCast(ir.CreateICmpNE(words, expected), ir.getIntNTy(lanes));
  others = ir.CreateZExt(others, frame_.i64());
  require(ir.CreateICmpEQ(ir.CreateAnd(others, frame_.exec()), ir.getInt64(0)));
}

/// That no lane loads what a lane of a chunk before it has stored.
void VersionGuard::require_order(const RegionItem& load, const ChunkMemory::Strided& from, const RegionItem& store,
                                 const ChunkMemory::Strided& to) {
  llvm::IRBuilder<>& ir = frame_.ir;
  const auto bytes = [](const RegionItem& item) { return int64_t{semantics::memory_access(*item.instruction).bytes}; };
  const int64_t loaded = last_lane() * from.stride + bytes(load), stored = last_lane() * to.stride + bytes(store);
  for (unsigned element = 0; element < load.access->elements(); ++element) {
    llvm::Value* address = ir.CreateAdd(from.address, number(ir, load.access->distance(element)));
    llvm::Value* ahead = ir.CreateSub(to.address, address);
    if (from.stride >= to.stride) {
      // Unless lane 0 stores within what is loaded, and further on than where it loads itself.
      require(ir.CreateICmpUGE(ir.CreateSub(ahead, ir.getInt64(1)), number(ir, loaded - 1)));
    } else {
      require(ir.CreateICmpUGE(ahead, number(ir, loaded)));
      require(ir.CreateICmpUGE(ir.CreateNeg(ahead), number(ir, stored)));
    }
  }
}

void VersionGuard::compute_first_lane() {
  llvm::IRBuilder<>& ir = frame_.ir;
  auto* block = llvm::BasicBlock::Create(frame_.context, "first", frame_.function);
  llvm::Instruction* begin = ir.CreateBr(block);
  ir.SetInsertPoint(block);
  ChunkState chunk(frame_, begin, begin, ir.getInt64(0), /*branches=*/false);
  chunk.set_mask(isa::scalar::exec_lo, llvm::ConstantInt::getTrue(frame_.lanes()));
  const auto first = [&](unsigned key) { return ir.CreateExtractElement(chunk.row(key), uint64_t{0}); };
  for (unsigned key = 0; key < rows_.size(); ++key) {
    if (rows_[key]) first_words_[{{}, key}] = first(key);
  }
  std::set<std::pair<std::optional<size_t>, unsigned>> wanted;
  for (const RegionItem& item : items_) {
    if (!item.address) continue;
    for (const AffineAddresses::Condition& each : item.address->conditions)
      wanted.emplace(each.word->item, each.word->key);
  }
  llvm::Value *from_bases = nullptr, *of_flat = nullptr;  // of all accesses to memory, or'ed, and of flat ones
  for (size_t i = 0; i < items_.size(); ++i) {
    const RegionItem& item = items_[i];
    if (slice_[i]) {
      lanes_.emit(item.lanes, /*keep_inactive=*/false, chunk);
      for (const auto& [at, key] : wanted) {
        if (at == i) first_words_[{at, key}] = first(key);
      }
    }
    if (!item.address) continue;
    const isa::Operand& address = *item.access->operands.address;
    llvm::Value* low = first(row_key(address, 0));
    llvm::Value* high = address.words == 2 ? first(row_key(address, 1)) : nullptr;
    strided_[i] = {.address = memory_.first_address(*item.access, low, high), .stride = item.stride};
    if (llvm::Value* inside = memory_.is_inside(*item.access, low, item.stride)) require(inside);
    const MemorySpace space = item.access->operands.space;
    if (outside_apertures(space) != MemorySpace::global) continue;
    llvm::Value* from_base = frame_.bounds->offset(strided_[i].address);
    from_bases = from_bases != nullptr ? ir.CreateOr(from_bases, from_base) : from_base;
    if (space == MemorySpace::flat) of_flat = of_flat != nullptr ? ir.CreateOr(of_flat, from_base) : from_base;
  }
  if (from_bases != nullptr) require(frame_.bounds->hold(from_bases));
  if (of_flat != nullptr) require(frame_.bounds->avoid_apertures(of_flat));
}

llvm::Value* VersionGuard::emit(const RegionItem* store) {
  llvm::IRBuilder<>& ir = frame_.ir;
  compute_first_lane();
  for (unsigned key = 0; key < rows_.size(); ++key) {
    if (rows_[key]) require_stride_of_row(key);
  }
  std::vector<AffineAddresses::Condition> conditions;
  bool all_lanes = false;
  for (const RegionItem& item : items_) {
    if (!item.address) continue;
    all_lanes |= ChunkMemory::needs_all_lanes(item.stride);
    for (const AffineAddresses::Condition& each : item.address->conditions) {
      if (std::ranges::find(conditions, each) == conditions.end()) conditions.push_back(each);
    }
  }
  for (const AffineAddresses::Condition& each : conditions) require(each);
  if (all_lanes) require(ir.CreateICmpEQ(frame_.exec(), ir.getInt64(frame_.all_lanes())));
  for (size_t i = 0; store != nullptr && i < items_.size(); ++i) {
    const RegionItem& item = items_[i];
    const bool is_load = item.access && item.address && &item != store;
    if (is_load && *item.address == *store->address && item.stride == store->stride) {
      strided_.at(static_cast<size_t>(store - items_.data())).is_fetched = true;
    }
    if (&item == store || !item.access) continue;
    if (outside_apertures(item.access->operands.space) != outside_apertures(store->access->operands.space)) continue;
    require_order(item, strided_.at(i), *store, strided_.at(static_cast<size_t>(store - items_.data())));
  }
  return outcome_ != nullptr ? outcome_ : ir.getTrue();
}

const ChunkMemory::Strided* VersionGuard::strided(size_t item) const {
  const auto found = strided_.find(item);
  return found != strided_.end() ? &found->second : nullptr;
}

}  // namespace Atoll::compiler

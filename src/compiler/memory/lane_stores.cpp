// compiler: stores of one chunk of lanes, to neighbouring or any addresses (lane_access.h).
#include "compiler/memory/lane_access.h"

#include <llvm/IR/MDBuilder.h>

#include <fmt/format.h>

#include "compiler/lowering/phi.h"
#include "compiler/memory/guest_bounds.h"

namespace Atoll::compiler {

using semantics::chunk_lanes;
using semantics::MemoryAccess;

void LaneAccess::store_even(const MemoryAccess& access, bool fetch_ahead, llvm::Value* address, llvm::Value* active,
                            const Words& data) {
  if (fetch_ahead) prefetch(address, access.bytes, true);
  store_neighbours(address, access.bytes, active, stored(access, data));
}

/// The words of which the lowest bytes go to memory.
LaneAccess::Words LaneAccess::stored(const MemoryAccess& access, const Words& data) {
  Words words = data;
  if (access.half == MemoryAccess::Half::high) words[0] = ir().CreateLShr(words[0], splat(ir().getInt32(16)));
  return words;
}

void LaneAccess::store_lanes(const MemoryAccess& access, const Addresses& at, llvm::Value* active, const Words& data,
                             bool in_bounds) {
  const unsigned bytes = access.bytes;
  const Words words = stored(access, data);
  if (context_.is_hot) return store_in_place(bytes, at, active, words, in_bounds);
  if (!in_bounds) note_lanes(at, active);
  if (at.starts == nullptr) frame_.bounds->check();
  call_store(bytes, at, active, words);
}

void LaneAccess::store_in_place(unsigned bytes, const Addresses& at, llvm::Value* active, const Words& data,
                                bool in_bounds) {
  const bool looks = !in_bounds && at.starts == nullptr;
  if (looks && at.high == nullptr) {
    note_base(at, active);
    frame_.bounds->check();
  }
  const AddressPattern pattern = relate(at, active, bytes, in_bounds);
  PhiBuilder ways(frame_, 0);
  llvm::BasicBlock* neighbours = block("neighbours");
  llvm::BasicBlock* anywhere = block("anywhere");
  llvm::Value* can = bytes == 4 ? pattern.neighbours : ir().CreateAnd(pattern.neighbours, all(active));
  ir().CreateCondBr(can, neighbours, anywhere, llvm::MDBuilder(frame_.context).createBranchWeights(16, 1));
  const GuestBounds::Noted before = looks ? frame_.bounds->noted() : GuestBounds::Noted{};
  ir().SetInsertPoint(neighbours);
  if (pattern.from_base != nullptr) {
    frame_.bounds->note(pattern.from_base);
    frame_.bounds->check();
  }
  if (at.starts == nullptr) prefetch(pattern.address, bytes, true);
  store_neighbours(pattern.address, bytes, active, data);
  ways.add_incoming({});
  ir().SetInsertPoint(anywhere);
  if (pattern.from_base != nullptr) {
    frame_.bounds->set_noted(before);
    note_lanes(at, active);
    frame_.bounds->check();
  }
  store_anywhere(scattered(at), bytes, inside(at, active), data);
  ways.add_incoming({});
  ways.join();
}

/// store_in_place() in a function that all such stores share.
void LaneAccess::call_store(unsigned bytes, const Addresses& at, llvm::Value* active, const Words& data) {
  const unsigned words = (bytes + 3) / 4;
  call_shared(fmt::format("store_{}", bytes), at, active, llvm::ArrayRef(data).take_front(words), ir().getVoidTy(),
              [&](const Addresses& there, llvm::Value* lanes, llvm::Argument* next) {
                Words stored{};
                for (unsigned word = 0; word < words; ++word) stored[word] = next++;
                store_in_place(bytes, there, lanes, stored, /*in_bounds=*/true);
                ir().CreateRetVoid();
              });
}

/// The lanes' elements one after the other.
llvm::Value* LaneAccess::interleave(const Words& data, unsigned words) {
  llvm::SmallVector<int, 64> order;
  const auto joined = [&](llvm::Value* a, llvm::Value* b) {
    llvm::SmallVector<int, 64> both;
    for (unsigned i = 0; i < 2 * llvm::cast<llvm::FixedVectorType>(a->getType())->getNumElements(); ++i) {
      both.push_back(static_cast<int>(i));
    }
    return ir().CreateShuffleVector(a, b, both);
  };
  llvm::Value* rows = data[0];
  if (words == 2) rows = joined(data[0], data[1]);
  if (words > 2) {
    llvm::Value* last = words == 4 ? data[3] : llvm::PoisonValue::get(data[0]->getType());
    rows = joined(joined(data[0], data[1]), joined(data[2], last));
  }
  for (unsigned lane = 0; lane < chunk_lanes; ++lane) {
    for (unsigned word = 0; word < words; ++word) order.push_back(static_cast<int>(word * chunk_lanes + lane));
  }
  return ir().CreateShuffleVector(rows, order);
}

void LaneAccess::store_neighbours(llvm::Value* address, unsigned bytes, llvm::Value* active, const Words& data) {
  if (bytes == 4) {
    ir().CreateMaskedStore(data[0], address, unaligned, active);
  } else if (bytes < 4) {
    ir().CreateAlignedStore(ir().CreateTrunc(data[0], lanes_of(ir().getIntNTy(bytes * 8))), address, unaligned);
  } else {
    ir().CreateAlignedStore(interleave(data, bytes / 4), address, unaligned);
  }
}

void LaneAccess::store_anywhere(const Scattered& at, unsigned bytes, llvm::Value* lanes, const Words& data) {
  if (bytes == 4 && frame_.has_scatters) {
    ir().CreateMaskedScatter(data[0], pointers(at), unaligned, lanes);
  } else if (bytes == 8 && frame_.has_scatters) {
    llvm::Value* pairs = ir().CreateBitCast(interleave(data, 2), lanes_of(frame_.i64()));
    ir().CreateMaskedScatter(pairs, pointers(at), unaligned, lanes);
  } else {
    llvm::SmallVector<llvm::Value*, 6> arguments{wide(at), bits(lanes)};
    for (unsigned word = 0; word < (bytes + 3) / 4; ++word) arguments.push_back(data[word]);
    call_sparing(store_elements(bytes), arguments);
  }
}

/// Stores the lanes' elements of `bytes` one by one.
llvm::Function* LaneAccess::store_elements(unsigned bytes) {
  llvm::Module& module = *frame_.function->getParent();
  const std::string name = "store_elements_" + std::to_string(bytes);
  if (llvm::Function* made = module.getFunction(name)) return made;
  const unsigned words = (bytes + 3) / 4;
  llvm::SmallVector<llvm::Type*, 6> parameters{lanes_of(frame_.i64()), frame_.i16()};
  parameters.append(words, lanes_of(frame_.i32()));
  llvm::Function* function = new_sparing(name, ir().getVoidTy(), parameters);
  const llvm::IRBuilderBase::InsertPointGuard guard(ir());
  ir().SetInsertPoint(llvm::BasicBlock::Create(frame_.context, "lanes", function));
  llvm::Value* addresses = ir().CreateAlloca(lanes_of(frame_.i64()));
  ir().CreateStore(function->getArg(0), addresses);
  Words data{};
  for (unsigned word = 0; word < words; ++word) data[word] = function->getArg(2 + word);
  llvm::Value* all_elements = interleave(data, words);
  llvm::Value* elements = ir().CreateAlloca(all_elements->getType());
  ir().CreateStore(all_elements, elements);
  visit_lanes(function->getArg(1), [&](llvm::Value* lane) {
    llvm::Value* to = ir().CreateIntToPtr(
        ir().CreateLoad(frame_.i64(), ir().CreateInBoundsGEP(frame_.i64(), addresses, lane)), frame_.pointer());
    llvm::Value* from = ir().CreateInBoundsGEP(frame_.i32(), elements, ir().CreateMul(lane, ir().getInt64(words)));
    // LLVM copies an integer of 128 bits in halves, of which other waves could see one.
    llvm::Type* element = ir().getIntNTy(bytes * 8);
    if (bytes == 16) element = llvm::FixedVectorType::get(frame_.i32(), 4);
    ir().CreateAlignedStore(ir().CreateAlignedLoad(element, from, unaligned), to, unaligned, bytes == 16);
  });
  ir().CreateRetVoid();
  return function;
}

}  // namespace Atoll::compiler

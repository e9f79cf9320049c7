// compiler: loads and stores of one chunk of lanes at known addresses.
//
// The access is selected at run time by the active lanes' addresses: consecutive ones become one vector load or store,
// equal ones one scalar load, others a gather or scatter. Inactive lanes access nothing. Rare and long code is in
// functions shared by a module. In cold code the whole access is such a function, to save compile time.
//
// Gathers and scatters keep lane order: if lanes store to the same place, the highest wins.
#pragma once

#include <array>
#include <string>

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include "compiler/analysis/memory_operands.h"
#include "compiler/lowering/chunk_state.h"
#include "compiler/lowering/operation.h"
#include "isa/instruction.h"
#include "semantics/memory/memory_access.h"

namespace Atoll::compiler {

/// A calling convention in which the callee preserves half of the vector registers. Arguments must fit into registers,
/// which are six for integers and eight for vectors. With others on the stack LLVM 22 fails on hosts with AVX-512
/// ("Interference usage of base pointer/frame pointer"): it saves the frame pointer around the call and its arguments.
inline constexpr llvm::CallingConv::ID sparing = llvm::CallingConv::Intel_OCL_BI;

/// Settings shared by all accesses of some code.
struct AccessContext {
  Frame& frame;
  Operations& operations;
  /// Inline accesses because the code is hot; otherwise they call shared functions.
  bool is_hot = true;
  /// The scalar parts of addresses are checked elsewhere (GuestBounds).
  bool has_bases_checked = false;
};

class LaneAccess {
 public:
  explicit LaneAccess(const AccessContext& context) : context_(context), frame_(context.frame) {}

  using Words = std::array<llvm::Value*, 4>;

  /// Emits strided accesses; `address`: pointer to the chunk's first element.
  Words load_even(const semantics::MemoryAccess& access, MemorySpace space, llvm::Value* address, int64_t stride,
                  llvm::Value* active);
  void store_even(const semantics::MemoryAccess& access, bool fetch_ahead, llvm::Value* address, llvm::Value* active,
                  const Words& data);
  /// Merges a loaded value into its register.
  llvm::Value* place_half(const semantics::MemoryAccess& access, llvm::Value* value, llvm::Value* old);

 protected:
  /// Addresses of the chunk's elements: base + ((low + offset) mod 2^32), + high << 32 if there are upper words. The
  /// offset is separate so that accesses with the same `low` share their pattern.
  struct Addresses {
    llvm::Value* base = nullptr;  ///< i64
    llvm::Value* low = nullptr;   ///< 16 x i32
    uint32_t offset = 0;
    llvm::Value* high = nullptr;    ///< 16 x i32, or null
    llvm::Value* starts = nullptr;  ///< i32: elements from low + offset = `starts` on are out of bounds; or null
  };
  /// Lane 0's address, and how the other lanes' addresses relate to it.
  struct AddressPattern {
    llvm::Value* address;     ///< of lane 0, a pointer
    llvm::Value* neighbours;  ///< i1: active lanes' elements are consecutive
    llvm::Value* equal;       ///< i1: lane 0 is active, and all active lanes' addresses are equal
    /// i1: active lanes access every second dword of LDS, as when lanes load pairs one by one. Null: not computed.
    llvm::Value* every_second = nullptr;
    /// For memory: distance from the accessible range, i64; 0 without active lanes. Null: not computed.
    llvm::Value* from_base = nullptr;
  };

  llvm::IRBuilder<>& ir() { return frame_.ir; }
  llvm::Type* lanes_of(llvm::Type* element) { return llvm::FixedVectorType::get(element, semantics::chunk_lanes); }
  llvm::Value* splat(llvm::Value* value) { return ir().CreateVectorSplat(semantics::chunk_lanes, value); }
  llvm::Value* bits(llvm::Value* lanes) { return ir().CreateBitCast(lanes, frame_.i16()); }
  llvm::Value* all(llvm::Value* lanes) { return ir().CreateICmpEQ(bits(lanes), ir().getInt16(0xFFFF)); }
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(frame_.context, name, ir().GetInsertBlock()->getParent());
  }
  /// Joins two words to i64, and returns a word of 32 or 64 bits.
  llvm::Value* joined(llvm::Value* low, llvm::Value* high) {
    return ir().CreateOr(ir().CreateZExt(low, frame_.i64()), ir().CreateShl(ir().CreateZExt(high, frame_.i64()), 32));
  }
  llvm::Value* word_of(llvm::Value* value, unsigned word) {
    return ir().CreateTrunc(word == 0 ? value : ir().CreateLShr(value, 32), frame_.i32());
  }
  /// Emits a loop over the lanes of a 16-bit mask, lowest first; `visit(lane)` (i64) emits its body. The insertion
  /// point is then after it.
  template <typename Visit>
  void visit_lanes(llvm::Value* lanes, Visit visit);

  /// Loads the words of an element, 0 in inactive lanes. `old`: previous result register, for loads into half of it.
  Words load_lanes(const semantics::MemoryAccess& access, const Addresses& at, llvm::Value* active, llvm::Value* old,
                   bool in_bounds = false);
  void store_lanes(const semantics::MemoryAccess& access, const Addresses& at, llvm::Value* active, const Words& data,
                   bool in_bounds = false);
  AddressPattern relate(const Addresses& at, llvm::Value* active, unsigned bytes, bool in_bounds);
  /// For memory: notes the lanes' addresses for the check (GuestBounds).
  void note_lanes(const Addresses& at, llvm::Value* active);
  /// Does the same for the scalar part of addresses with 32-bit offsets. Does nothing if it is checked elsewhere.
  void note_base(const Addresses& at, llvm::Value* active);
  /// Returns low + offset.
  llvm::Value* places(const Addresses& at);
  llvm::Value* wide(const Addresses& at);
  /// Arbitrary addresses for a gather or scatter. In LDS they are 32-bit offsets from a base, which takes half as many
  /// host instructions as 64 bits.
  struct Scattered {
    llvm::Value* base = nullptr;   ///< a pointer to dwords, or null
    llvm::Value* lanes = nullptr;  ///< 16 x i64; or, with a base, 16 x i32 that are positive where lanes are active
  };
  Scattered scattered(const Addresses& at);
  Scattered scattered(llvm::Value* addresses) { return {nullptr, addresses}; }
  Scattered after(const Scattered& at, uint64_t bytes);
  llvm::Value* wide(const Scattered& at);
  llvm::Value* pointers(const Scattered& at);
  llvm::Value* inside(const Addresses& at, llvm::Value* active);

  /// For memory, `in_bounds`: the addresses are known to be valid or checked elsewhere.
  Words load_in_place(const semantics::MemoryAccess& access, const Addresses& at, llvm::Value* active, bool in_bounds);
  Words load_scattered(const semantics::MemoryAccess& access, const Addresses& at, const AddressPattern& pattern,
                       llvm::Value* active);
  void store_in_place(unsigned bytes, const Addresses& at, llvm::Value* active, const Words& data, bool in_bounds);
  Words call_load(const semantics::MemoryAccess& access, const Addresses& at, llvm::Value* active);
  void call_store(unsigned bytes, const Addresses& at, llvm::Value* active, const Words& data);
  /// Creates a function of the module that is never inlined, without a body.
  llvm::Function* new_function(const std::string& name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters);
  /// Does the same with the calling convention `sparing`, which its calls must use.
  llvm::Function* new_sparing(const std::string& name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters);
  llvm::CallInst* call_sparing(llvm::Function* function, llvm::ArrayRef<llvm::Value*> arguments);
  /// Calls the function of this name and kind of addresses. If it is new, `emit` emits its body from the addresses,
  /// active lanes, and first parameter for `data`.
  template <typename Emit>
  llvm::CallInst* call_shared(std::string name, const Addresses& at, llvm::Value* active,
                              llvm::ArrayRef<llvm::Value*> data, llvm::Type* result, Emit emit);

  /// Gathers elements of 32 or 64 bits; 0 in other lanes.
  llvm::Value* gather(llvm::Type* element, const Scattered& at, llvm::Value* lanes);
  llvm::Function* gather_by_branches(llvm::Type* element);
  llvm::Value* load_dwords(const Scattered& at, llvm::Value* lanes) { return gather(frame_.i32(), at, lanes); }
  /// Prefetches for a later wave, assuming that it continues the chunk's addresses.
  void prefetch(llvm::Value* address, unsigned bytes, bool to_write);
  Words stored(const semantics::MemoryAccess& access, const Words& data);
  Words load_neighbours(llvm::Value* address, unsigned bytes, bool sign_extend, llvm::Value* active);
  Words load_every_second(llvm::Value* address);
  Words load_equal(llvm::Value* address, unsigned bytes, bool sign_extend);
  /// Size of the window from a lane's element on, in which load_near() finds elements.
  static constexpr unsigned window_bytes = 128;
  /// Lanes that share a window, which begins with the first one's element.
  enum class Sharing : uint8_t { all, halves };
  llvm::Value* are_near(const Addresses& at, llvm::Value* lanes, unsigned bytes, Sharing sharing);
  Words load_near(const Addresses& at, const semantics::MemoryAccess& access, llvm::Value* lanes, Sharing sharing,
                  bool notes);
  llvm::Value* offsets_in_window(llvm::Value* low, Sharing sharing);
  llvm::Value* address_of(const Addresses& at, unsigned lane);
  Words load_anywhere(const Scattered& at, unsigned bytes, bool sign_extend, llvm::Value* lanes);
  void store_neighbours(llvm::Value* address, unsigned bytes, llvm::Value* active, const Words& data);
  void store_anywhere(const Scattered& at, unsigned bytes, llvm::Value* lanes, const Words& data);
  llvm::Function* load_quads();
  llvm::Function* store_elements(unsigned bytes);
  llvm::Value* interleave(const Words& data, unsigned words);
  llvm::Value* every(llvm::Value* dwords, unsigned step, unsigned first);
  llvm::Value* narrowed(llvm::Value* dwords, unsigned bytes, bool sign_extend);

  const AccessContext& context_;
  Frame& frame_;
};

template <typename Visit>
void LaneAccess::visit_lanes(llvm::Value* lanes, Visit visit) {
  llvm::BasicBlock* before = ir().GetInsertBlock();
  llvm::BasicBlock *next = block("next"), *body = block("lane"), *done = block("done");
  ir().CreateBr(next);
  ir().SetInsertPoint(next);
  llvm::PHINode* left = ir().CreatePHI(frame_.i16(), 2);
  left->addIncoming(lanes, before);
  ir().CreateCondBr(ir().CreateICmpEQ(left, ir().getInt16(0)), done, body);
  ir().SetInsertPoint(body);
  visit(ir().CreateZExt(ir().CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, ir().getTrue()), frame_.i64()));
  left->addIncoming(ir().CreateAnd(left, ir().CreateSub(left, ir().getInt16(1))), ir().GetInsertBlock());
  ir().CreateBr(next);
  ir().SetInsertPoint(done);
}

template <typename Emit>
llvm::CallInst* LaneAccess::call_shared(std::string name, const Addresses& at, llvm::Value* active,
                                        llvm::ArrayRef<llvm::Value*> data, llvm::Type* result, Emit emit) {
  llvm::SmallVector<llvm::Value*, 8> arguments{at.base, places(at), bits(active)};
  if (at.high != nullptr) arguments.push_back(at.high);
  if (at.starts != nullptr) arguments.push_back(at.starts);
  arguments.append(data.begin(), data.end());
  name += at.high != nullptr ? "_wide" : at.starts != nullptr ? "_bounded" : "";

  llvm::Module& module = *frame_.function->getParent();
  llvm::Function* function = module.getFunction(name);
  if (function == nullptr) {
    llvm::SmallVector<llvm::Type*, 8> parameters;
    for (llvm::Value* argument : arguments) parameters.push_back(argument->getType());
    function = new_sparing(name, result, parameters);
    const llvm::IRBuilderBase::InsertPointGuard guard(ir());
    ir().SetInsertPoint(llvm::BasicBlock::Create(frame_.context, "lanes", function));
    llvm::Argument* next = function->arg_begin();
    Addresses there{.base = next++, .low = next++};
    llvm::Value* lanes = ir().CreateBitCast(next++, frame_.lanes());
    if (at.high != nullptr) there.high = next++;
    if (at.starts != nullptr) there.starts = next++;
    emit(there, lanes, next);
  }
  return call_sparing(function, arguments);
}

}  // namespace Atoll::compiler

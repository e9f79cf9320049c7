// compiler: loads and stores of one chunk of lanes, once it is known where their elements are.
//
// An access is decided when it runs, by what the active lanes' addresses are to each other: neighbours become one
// vector load or store, equal addresses one scalar load for all, anything else a gather or scatter. Lanes that are not
// active touch nothing. What is rare and long is a function of its own, made once for a module; so is, in code that is
// not run often, the access as a whole, for LLVM's time is for each instruction that it sees.
//
// A gather or scatter keeps the order of the interpreter: where lanes store to the same place, the last one wins.
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

/// A calling convention that leaves half of the host's vector registers to the caller.
inline constexpr llvm::CallingConv::ID sparing = llvm::CallingConv::Intel_OCL_BI;

/// What all accesses of a piece of code share.
struct AccessContext {
  Frame& frame;
  Operations& operations;
  /// Whether the code is run often enough that an access is worth being part of it, rather than a call of a function
  /// that all share.
  bool is_hot = true;
  /// Whether somebody else looks at the scalar parts of addresses (GuestBounds).
  bool has_bases_checked = false;
};

class LaneAccess {
 public:
  explicit LaneAccess(const AccessContext& context) : context_(context), frame_(context.frame) {}

  using Words = std::array<llvm::Value*, 4>;

  /// For lanes of which it is known how they lie; `address` is the chunk's first lane's, a pointer.
  Words load_even(const semantics::MemoryAccess& access, MemorySpace space, llvm::Value* address, int64_t stride,
                  llvm::Value* active);
  void store_even(const semantics::MemoryAccess& access, bool fetch_ahead, llvm::Value* address, llvm::Value* active,
                  const Words& data);
  /// What becomes of a register that a value is loaded into.
  llvm::Value* place_half(const semantics::MemoryAccess& access, llvm::Value* value, llvm::Value* old);

 protected:
  /// Where the elements of the chunk's lanes are: at base + ((low + offset) mod 2^32), + high << 32 if there are upper
  /// words. The offset stands apart so that accesses with the same `low` find out only once what it is like.
  struct Addresses {
    llvm::Value* base = nullptr;  ///< i64
    llvm::Value* low = nullptr;   ///< 16 x i32
    uint32_t offset = 0;
    llvm::Value* high = nullptr;  ///< 16 x i32, or null
    llvm::Value* starts =
        nullptr;  ///< i32: elements from low + offset = `starts` on read as 0, are not written; or null
  };
  /// The access of lane 0 and how the other lanes' relate to it.
  struct AddressPattern {
    llvm::Value* address;     ///< of lane 0, a pointer
    llvm::Value* neighbours;  ///< i1: each active lane's element is right after that of the lane before
    llvm::Value* equal;       ///< i1: lane 0 is active, and every active lane's element is lane 0's
    /// i1: each active lane's dword of LDS is the second one after that of the lane before, as where lanes have pairs
    /// that they load one by one. Null: not looked at.
    llvm::Value* every_second = nullptr;
    /// Of memory: how far the address is from the begin of what the GPU may touch, 64 bits; 0 without active lanes.
    /// Null if nobody looks.
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
  /// 64 bits of two words, and a word of 32 or 64 bits.
  llvm::Value* joined(llvm::Value* low, llvm::Value* high) {
    return ir().CreateOr(ir().CreateZExt(low, frame_.i64()), ir().CreateShl(ir().CreateZExt(high, frame_.i64()), 32));
  }
  llvm::Value* word_of(llvm::Value* value, unsigned word) {
    return ir().CreateTrunc(word == 0 ? value : ir().CreateLShr(value, 32), frame_.i32());
  }
  /// A loop over the lanes of a mask (16 bits), lowest first, from where the builder stands, which is after it then:
  /// `visit(lane)` (64 bits) makes its body.
  template <typename Visit>
  void visit_lanes(llvm::Value* lanes, Visit visit);

  /// The words of the element that `access` loads, 0 in other lanes than `active`. `old` is what the result register
  /// held, for loads into half of it.
  Words load_lanes(const semantics::MemoryAccess& access, const Addresses& at, llvm::Value* active, llvm::Value* old,
                   bool in_bounds = false);
  void store_lanes(const semantics::MemoryAccess& access, const Addresses& at, llvm::Value* active, const Words& data,
                   bool in_bounds = false);
  AddressPattern relate(const Addresses& at, llvm::Value* active, unsigned bytes, bool in_bounds);
  /// Of memory: has it looked at whether these lanes' addresses are right (GuestBounds).
  void note_lanes(const Addresses& at, llvm::Value* active);
  /// The same of the scalar part of addresses that have offsets of 32 bits from there; nothing to do if somebody else
  /// looks.
  void note_base(const Addresses& at, llvm::Value* active);
  /// low + offset
  llvm::Value* places(const Addresses& at);
  llvm::Value* wide(const Addresses& at);
  /// Addresses of which each may be anywhere, as a gather or scatter takes them. In LDS they are 32 bits after a
  /// base: half as many of the host's instructions as for 64 bits.
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

  /// Of memory, `in_bounds`: it is known, or looked at by others, whether the addresses are right.
  Words load_in_place(const semantics::MemoryAccess& access, const Addresses& at, llvm::Value* active, bool in_bounds);
  Words load_scattered(const semantics::MemoryAccess& access, const Addresses& at, const AddressPattern& pattern,
                       llvm::Value* active);
  void store_in_place(unsigned bytes, const Addresses& at, llvm::Value* active, const Words& data, bool in_bounds);
  Words call_load(const semantics::MemoryAccess& access, const Addresses& at, llvm::Value* active);
  void call_store(unsigned bytes, const Addresses& at, llvm::Value* active, const Words& data);
  /// A function of the module that is called and never inlined, without code yet.
  llvm::Function* new_function(const std::string& name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters);
  /// The same with the calling convention `sparing`, which calls of it must have.
  llvm::Function* new_sparing(const std::string& name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters);
  llvm::CallInst* call_sparing(llvm::Function* function, llvm::ArrayRef<llvm::Value*> arguments);
  /// Calls the function of this name (and the kind of addresses), which `emit` makes the body of if it is new: given
  /// the addresses and active lanes as it sees them, and its first parameter for `data`.
  template <typename Emit>
  llvm::CallInst* call_shared(std::string name, const Addresses& at, llvm::Value* active,
                              llvm::ArrayRef<llvm::Value*> data, llvm::Type* result, Emit emit);

  /// Elements of a type (32 or 64 bits), zeros for other lanes than these.
  llvm::Value* gather(llvm::Type* element, const Scattered& at, llvm::Value* lanes);
  llvm::Function* gather_by_branches(llvm::Type* element);
  llvm::Value* load_dwords(const Scattered& at, llvm::Value* lanes) { return gather(frame_.i32(), at, lanes); }
  /// Has the host fetch what the lanes of a later wave will want, if they go on as the chunk's do.
  void prefetch(llvm::Value* address, unsigned bytes, bool to_write);
  Words stored(const semantics::MemoryAccess& access, const Words& data);
  Words load_neighbours(llvm::Value* address, unsigned bytes, bool sign_extend, llvm::Value* active);
  Words load_every_second(llvm::Value* address);
  Words load_equal(llvm::Value* address, unsigned bytes, bool sign_extend);
  /// Bytes from a lane's element on: a window out of which load_near() takes elements.
  static constexpr unsigned window_bytes = 128;
  /// Lanes that share a window, of which the first one's element begins it.
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

// compiler: loads and stores of one chunk of lanes.
//
// An access is decided when it runs, by what the active lanes' addresses are to each other: neighbours become one
// vector load or store, equal addresses one scalar load for all, anything else a gather or scatter. Lanes that are not
// active touch nothing. What is rare and long is a function of its own, made once for a module; so is, in code that is
// not run often, the access as a whole, for LLVM's time is for each instruction that it sees.
//
// Atomics on memory, and what is rare of flat addresses and scratch, is done by the engine
// (engine/compiled/chunk_access.h).
//
// A gather or scatter keeps the order of the interpreter: where lanes store to the same place, the last one wins.
#pragma once

#include <array>
#include <map>
#include <optional>

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include "compiler/analysis/memory_operands.h"
#include "compiler/lowering/chunk_state.h"
#include "compiler/lowering/operation.h"
#include "isa/instruction.h"
#include "semantics/memory_access.h"

namespace Atoll::compiler {

/// A calling convention that leaves half of the host's vector registers to the caller.
inline constexpr llvm::CallingConv::ID sparing = llvm::CallingConv::Intel_OCL_BI;

class ChunkMemory {
 public:
  ChunkMemory(Frame& frame, Operations& operations) : frame_(frame), operations_(operations) {}

  /// Whether the code that follows is run often enough that an access is worth being part of it, rather than a call of
  /// a function that all share.
  void set_hot(bool is_hot) { is_hot_ = is_hot; }

  /// A load or store that memory_operands() accepts, with its scalar operands as they are when it is prepared.
  struct Prepared {
    const isa::Instruction* instruction = nullptr;
    MemoryOperands operands;
    unsigned element = 0;                ///< which one a store stores, of those that the instruction has for each lane
    llvm::Value* scalar_base = nullptr;  ///< 64 bits; of scratch, 32 bits; of a buffer, with its offset for the wave
    /// Of a buffer, 32 bits: how many bytes there are after `scalar_base`, or, if there is an index, records, ...
    llvm::Value* buffer_end = nullptr;
    llvm::Value* buffer_stride = nullptr;  ///< ... and how many bytes each has
  };
  Prepared prepare(const isa::Instruction& instruction, unsigned element, ScalarRegisters& registers);
  /// The same of scratch as a buffer, with its ScratchBuffers.
  static Prepared prepare_on_stack(const isa::Instruction& instruction, llvm::Value* base);
  /// The same of a buffer that is plain (RawBuffers).
  Prepared prepare_in_buffer(const isa::Instruction& instruction, const MemoryOperands& operands,
                             ScalarRegisters& registers);

  /// What is known beforehand of an access whose lanes are the same distance from each other: where lane 0's first
  /// element is (64 bits), be that lane active or not, and the distance in bytes.
  struct Strided {
    llvm::Value* address = nullptr;
    int64_t stride = 0;
    bool is_fetched = false;  ///< ahead for later waves, by another access
  };
  /// Whether such an access can be done by what is left then: without a look at the lanes' addresses.
  static bool prefers_stride(const semantics::MemoryAccess& access, int64_t stride);
  /// Whether it needs all lanes to be active. With a stride of 0 at least one must be.
  static bool needs_all_lanes(int64_t stride);
  /// The address that lane 0's rows `low` and `high` (32 bits; null if it has none) make.
  llvm::Value* first_address(const Prepared& prepared, llvm::Value* low, llvm::Value* high);
  /// Whether all lanes' elements are inside of memory that has a limit. Null: it has none.
  llvm::Value* is_inside(const Prepared& prepared, llvm::Value* low, int64_t stride);
  /// What an instruction adds to the address of an element by itself.
  static int64_t offset_of(const isa::Instruction& instruction, const MemoryOperands& operands, unsigned element);
  /// From the first element of the access to the others that the instruction has for each lane: bytes.
  static unsigned elements(const Prepared& prepared);
  static int64_t distance(const Prepared& prepared, unsigned element);

  /// Carries it out for the chunk's lanes of EXEC. `keep_inactive`: the other lanes of a result keep what they have;
  /// otherwise they may get anything.
  void emit(const Prepared& prepared, bool keep_inactive, ChunkState& chunk, const Strided* strided = nullptr);

  /// Whether a store can be executed for the whole wave by emit_for_wave(): those to LDS.
  static bool can_for_wave(const isa::Instruction& instruction, const MemoryOperands& operands);
  /// A call of a function that all such stores share: in the lanes of `exec` (64 bits), with what whole rows in memory
  /// hold.
  void emit_for_wave(const Prepared& prepared, llvm::Value* exec, llvm::Value* address,
                     llvm::ArrayRef<llvm::Value*> data);

 private:
  using Words = std::array<llvm::Value*, 4>;
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
  };

  llvm::IRBuilder<>& ir() { return frame_.ir; }
  llvm::Type* lanes_of(llvm::Type* element) { return llvm::FixedVectorType::get(element, semantics::chunk_lanes); }
  llvm::Value* splat(llvm::Value* value) { return ir().CreateVectorSplat(semantics::chunk_lanes, value); }
  llvm::Value* bits(llvm::Value* lanes) { return ir().CreateBitCast(lanes, frame_.i16()); }
  llvm::Value* all(llvm::Value* lanes) { return ir().CreateICmpEQ(bits(lanes), ir().getInt16(0xFFFF)); }
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(frame_.context, name, ir().GetInsertBlock()->getParent());
  }
  Addresses addresses(const Prepared& prepared, unsigned element, ChunkState& chunk);
  llvm::Value* may_be_in_aperture(const Addresses& at, llvm::Value* active);
  llvm::SmallVector<llvm::Value*, 4> loaded_before(const semantics::MemoryAccess& access, llvm::Value* old);
  Words load_flat(const Prepared& prepared, llvm::Value* old, ChunkState& chunk);
  void store_flat(const Prepared& prepared, const Words& data, ChunkState& chunk);
  void emit_atomic(const Prepared& prepared, bool keep_inactive, ChunkState& chunk);

  struct InBuffer {
    Addresses at;
    llvm::Value* inside = nullptr;  ///< active lanes whose elements are in the buffer as a whole
    llvm::Value* offset = nullptr;  ///< from Prepared::scalar_base: 16 x i32; null if there is an index
  };
  InBuffer in_buffer(const Prepared& prepared, ChunkState& chunk);
  llvm::Value* is_before_end(const Prepared& prepared, llvm::Value* offset, unsigned bytes);
  llvm::Value* cut_off(const Prepared& prepared, const InBuffer& place, ChunkState& chunk);
  Words load_buffer(const Prepared& prepared, llvm::Value* old, ChunkState& chunk);
  void store_buffer(const Prepared& prepared, const Words& data, ChunkState& chunk);
  void store_dwords_inside(const Prepared& prepared, const InBuffer& place, llvm::Value* lanes, const Words& data);

  /// Of atomics on LDS.
  static bool does_in_place(const semantics::MemoryAccess& access);
  Words lds_atomic(semantics::AccessNumber number, bool yields, const Addresses& at, llvm::Value* active,
                   llvm::ArrayRef<llvm::Value*> rows);
  Words call_lds_atomic(semantics::AccessNumber number, bool yields, const Addresses& at, llvm::Value* active,
                        llvm::ArrayRef<llvm::Value*> rows);
  llvm::Value* in_host_memory(llvm::Value* chunk);
  llvm::Function* lds_atomic_in_turn(semantics::AccessNumber number, bool yields, unsigned rows);
  llvm::Value* one_lds_atomic(const semantics::MemoryAccess& access, llvm::Value* address, llvm::Value* data,
                              llvm::Value* data2);
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

  /// An access of a chunk that the engine can execute, or may have to.
  struct EngineAccess {
    semantics::AccessNumber number{};
    engine::AddressSpace space{};
    bool yields = true;  ///< the values of result registers; if not, they are not waited for
    llvm::Value *wave = nullptr, *jit_context = nullptr;
    llvm::Value* addresses =
        nullptr;  ///< 16 x i64; before it is clear that the engine has to, of scratch: i32 or 16 of it
    llvm::Value* active = nullptr;      ///< lanes
    llvm::Value* first_lane = nullptr;  ///< 32 bits
  };
  struct Done {
    Words words{};                     ///< a load's data, or an atomic's results
    llvm::Value* went_well = nullptr;  ///< 8 bits; null: it did
  };
  llvm::StructType* done_type(unsigned words);
  template <typename Write>
  Done call_shared(const std::string& name, unsigned words, const EngineAccess& at, llvm::ArrayRef<llvm::Value*> data,
                   Write write);
  Done done(llvm::Value* result, unsigned words);
  /// Has the engine do it; `data` as in engine::ChunkAccess.
  Done call_engine(const EngineAccess& access, llvm::ArrayRef<llvm::Value*> data);
  Words call_engine(semantics::AccessNumber number, engine::AddressSpace space, llvm::Value* addresses,
                    llvm::ArrayRef<llvm::Value*> data, llvm::Value* active, ChunkState& chunk, bool yields = true);

  template <typename Finish>
  void access_scratch(const EngineAccess& at, llvm::Value* scratch, llvm::Value* size,
                      llvm::ArrayRef<llvm::Value*> data, Finish finish);
  Words access_scratch(const Prepared& prepared, llvm::ArrayRef<llvm::Value*> data, ChunkState& chunk);
  Done call_access_scratch(const EngineAccess& at, llvm::ArrayRef<llvm::Value*> data);
  llvm::Value* replaced_part(const semantics::MemoryAccess& access, llvm::Value* dwords, llvm::Value* value,
                             llvm::Value* shift);
  llvm::Value* loaded_part(const semantics::MemoryAccess& access, llvm::Value* dwords, llvm::Value* old,
                           llvm::Value* shift);
  Words load_scratch(const Prepared& prepared, llvm::Value* old, ChunkState& chunk);
  void store_scratch(const Prepared& prepared, const Words& data, ChunkState& chunk);

  /// The words of the element that `access` loads, 0 in other lanes than `active`. `old` is what the result register
  /// held, for loads into half of it.
  Words load(const semantics::MemoryAccess& access, const Addresses& at, llvm::Value* active, llvm::Value* old);
  void store(const semantics::MemoryAccess& access, const Addresses& at, llvm::Value* active, const Words& data);
  AddressPattern relate(const Addresses& at, llvm::Value* active, unsigned bytes);
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

  Words load_in_place(const semantics::MemoryAccess& access, const Addresses& at, llvm::Value* active);
  Words load_scattered(const semantics::MemoryAccess& access, const Addresses& at, const AddressPattern& pattern,
                       llvm::Value* active);
  void store_in_place(unsigned bytes, const Addresses& at, llvm::Value* active, const Words& data);
  Words call_load(const semantics::MemoryAccess& access, const Addresses& at, llvm::Value* active);
  void call_store(unsigned bytes, const Addresses& at, llvm::Value* active, const Words& data);
  void emit_store_of_wave(llvm::Function& function, unsigned bytes);
  /// A function of the module that is called and never inlined, without code yet.
  llvm::Function* new_function(const std::string& name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters);
  llvm::Function* new_shared(const std::string& name, llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments);
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
  /// For lanes of which it is known how they lie; `address` is the chunk's first lane's, a pointer.
  Words load_even(const semantics::MemoryAccess& access, MemorySpace space, llvm::Value* address, int64_t stride,
                  llvm::Value* active);
  void store_even(const semantics::MemoryAccess& access, bool fetch_ahead, llvm::Value* address, llvm::Value* active,
                  const Words& data);
  Words stored(const semantics::MemoryAccess& access, const Words& data);
  Words load_neighbours(llvm::Value* address, unsigned bytes, bool sign_extend, llvm::Value* active);
  Words load_every_second(llvm::Value* address);
  Words load_equal(llvm::Value* address, unsigned bytes, bool sign_extend);
  Words load_anywhere(const Scattered& at, unsigned bytes, bool sign_extend, llvm::Value* lanes);
  void store_neighbours(llvm::Value* address, unsigned bytes, llvm::Value* active, const Words& data);
  void store_anywhere(const Scattered& at, unsigned bytes, llvm::Value* lanes, const Words& data);
  llvm::Function* load_quads();
  llvm::Function* store_elements(unsigned bytes);
  llvm::Value* interleave(const Words& data, unsigned words);
  llvm::Value* every(llvm::Value* dwords, unsigned step, unsigned first);
  llvm::Value* lds_bytes();
  llvm::Value* lds_base();
  llvm::Value* of_wave(size_t offset, llvm::Type* type);
  llvm::Value* place_half(const semantics::MemoryAccess& access, llvm::Value* value, llvm::Value* old);
  llvm::Value* lds_starts(unsigned bytes);

  Frame& frame_;
  Operations& operations_;
  bool is_hot_ = true;
  llvm::Value* lds_bytes_ = nullptr;
  llvm::Value* lds_base_ = nullptr;
  std::map<size_t, llvm::Value*> of_wave_;
};

template <typename Visit>
void ChunkMemory::visit_lanes(llvm::Value* lanes, Visit visit) {
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
llvm::CallInst* ChunkMemory::call_shared(std::string name, const Addresses& at, llvm::Value* active,
                                         llvm::ArrayRef<llvm::Value*> data, llvm::Type* result, Emit emit) {
  llvm::SmallVector<llvm::Value*, 8> arguments{at.base, places(at), bits(active)};
  if (at.high != nullptr) arguments.push_back(at.high);
  if (at.starts != nullptr) arguments.push_back(at.starts);
  arguments.append(data.begin(), data.end());
  name += at.high != nullptr ? "_wide" : at.starts != nullptr ? "_bounded" : "";

  llvm::Module& module = *frame_.function->getParent();
  llvm::Function* function = module.getFunction(name);
  if (function == nullptr) {
    function = new_shared(name, result, arguments);
    const llvm::IRBuilderBase::InsertPointGuard guard(ir());
    ir().SetInsertPoint(llvm::BasicBlock::Create(frame_.context, "lanes", function));
    llvm::Argument* next = function->arg_begin();
    Addresses there{.base = next++, .low = next++};
    llvm::Value* lanes = ir().CreateBitCast(next++, frame_.lanes());
    if (at.high != nullptr) there.high = next++;
    if (at.starts != nullptr) there.starts = next++;
    emit(there, lanes, next);
  }
  llvm::CallInst* call = ir().CreateCall(function, arguments);
  call->setCallingConv(sparing);
  return call;
}

}  // namespace Atoll::compiler

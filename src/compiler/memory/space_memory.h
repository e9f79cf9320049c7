// compiler: the kinds of memory: GlobalMemory (including flat addresses), LdsMemory, ScratchMemory and BufferMemory.
// ScalarMemory handles scalar loads.
//
// Each computes its elements' addresses and valid lanes; LaneAccess moves the data. The engine executes atomics on
// memory and rare flat and scratch accesses (engine/compiled/chunk_access.h).
#pragma once

#include "compiler/memory/access_filter.h"
#include "compiler/memory/lane_access.h"
#include "compiler/memory/prepared_access.h"
#include "engine/compiled/chunk_access.h"

namespace Atoll::compiler {

class SpaceMemory : public LaneAccess {
 public:
  using LaneAccess::LaneAccess;
  virtual ~SpaceMemory() = default;
  SpaceMemory(const SpaceMemory&) = delete;
  SpaceMemory& operator=(const SpaceMemory&) = delete;

  /// Applies the access filter (frame.odd) to an element before its access.
  virtual void look_at(const PreparedAccess& prepared, unsigned element, ChunkState& chunk) = 0;
  // The following apply to the chunk's lanes in EXEC. Loads the words of an element. `old`: previous result register,
  // for loads into half of it, or null.
  virtual Words load(const PreparedAccess& prepared, unsigned element, llvm::Value* old, ChunkState& chunk) = 0;
  virtual void store(const PreparedAccess& prepared, const Words& data, ChunkState& chunk) = 0;
  /// `data`: the operands' words. Returns the old values if `yields`.
  virtual Words atomic(const PreparedAccess& prepared, bool yields, llvm::ArrayRef<llvm::Value*> data,
                       ChunkState& chunk) = 0;

 protected:
  static InlineAccessFilter::Element element_of(const PreparedAccess& prepared) {
    const semantics::MemoryAccess& access = semantics::memory_access(*prepared.instruction);
    return {.bytes = access.bytes,
            .alignment = prepared.operands.is_atomic ? access.bytes : 1u,
            .writes = prepared.operands.stores()};
  }
  /// An access of a chunk that the engine executes, or may have to.
  struct EngineAccess {
    semantics::AccessNumber number{};
    engine::AddressSpace space{};
    bool yields = true;  ///< returns values of result registers
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
  Done call_access(const std::string& name, unsigned words, const EngineAccess& at, llvm::ArrayRef<llvm::Value*> data,
                   Write write);
  Done done(llvm::Value* result, unsigned words);
  /// Calls the engine; `data` as in engine::ChunkAccess.
  Done call_engine(const EngineAccess& access, llvm::ArrayRef<llvm::Value*> data);
  Words call_engine(semantics::AccessNumber number, engine::AddressSpace space, llvm::Value* addresses,
                    llvm::ArrayRef<llvm::Value*> data, llvm::Value* active, ChunkState& chunk, bool yields = true);

  /// Returns the initial contents of the rows that the engine loads into.
  llvm::SmallVector<llvm::Value*, 4> loaded_before(const semantics::MemoryAccess& access, llvm::Value* old);
  /// Returns the number of result words of an access.
  static unsigned result_words(const semantics::MemoryAccess& access);
};

/// Calls a function with the parts of an access and its data. `write` emits its body if it is new.
template <typename Write>
SpaceMemory::Done SpaceMemory::call_access(const std::string& name, unsigned words, const EngineAccess& at,
                                           llvm::ArrayRef<llvm::Value*> data, Write write) {
  llvm::Module& module = *frame_.function->getParent();
  llvm::SmallVector<llvm::Value*, 8> arguments{at.wave, at.jit_context, at.addresses, bits(at.active), at.first_lane};
  arguments.append(data.begin(), data.end());
  llvm::Function* function = module.getFunction(name);
  if (function == nullptr) {
    llvm::SmallVector<llvm::Type*, 8> parameters;
    for (llvm::Value* argument : arguments) parameters.push_back(argument->getType());
    function = new_function(name, done_type(words), parameters);
    const llvm::IRBuilderBase::InsertPointGuard guard(ir());
    ir().SetInsertPoint(llvm::BasicBlock::Create(frame_.context, "", function));
    write(function);
  }
  return done(ir().CreateCall(function, arguments), words);
}

}  // namespace Atoll::compiler

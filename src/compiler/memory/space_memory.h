// compiler: the kinds of memory that a chunk of lanes accesses, each in a file of its own: GlobalMemory (flat
// addresses, too), LdsMemory, ScratchMemory and BufferMemory. What scalar instructions load is ScalarMemory's.
//
// Each knows where its elements are and which lanes may touch them; LaneAccess moves them. Atomics on memory, and what
// is rare of flat addresses and scratch, are done by the engine (engine/compiled/chunk_access.h).
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

  /// For one who wants odd accesses (frame.odd): looks at the element that is about to be accessed.
  virtual void look_at(const PreparedAccess& prepared, unsigned element, ChunkState& chunk) = 0;
  // For the chunk's lanes of EXEC, by an access of this memory.
  /// The words of one of the elements. `old` is what the result register held, for loads into half of it, or null.
  virtual Words load(const PreparedAccess& prepared, unsigned element, llvm::Value* old, ChunkState& chunk) = 0;
  virtual void store(const PreparedAccess& prepared, const Words& data, ChunkState& chunk) = 0;
  /// `data`: the operands' words. What was there before, if it is wanted (`yields`).
  virtual Words atomic(const PreparedAccess& prepared, bool yields, llvm::ArrayRef<llvm::Value*> data,
                       ChunkState& chunk) = 0;

 protected:
  static InlineAccessFilter::Element element_of(const PreparedAccess& prepared) {
    const semantics::MemoryAccess& access = semantics::memory_access(*prepared.instruction);
    return {.bytes = access.bytes,
            .alignment = prepared.operands.is_atomic ? access.bytes : 1u,
            .writes = prepared.operands.stores()};
  }
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
  Done call_access(const std::string& name, unsigned words, const EngineAccess& at, llvm::ArrayRef<llvm::Value*> data,
                   Write write);
  Done done(llvm::Value* result, unsigned words);
  /// Has the engine do it; `data` as in engine::ChunkAccess.
  Done call_engine(const EngineAccess& access, llvm::ArrayRef<llvm::Value*> data);
  Words call_engine(semantics::AccessNumber number, engine::AddressSpace space, llvm::Value* addresses,
                    llvm::ArrayRef<llvm::Value*> data, llvm::Value* active, ChunkState& chunk, bool yields = true);

  /// What the engine finds in the rows that it loads into.
  llvm::SmallVector<llvm::Value*, 4> loaded_before(const semantics::MemoryAccess& access, llvm::Value* old);
  /// How many words an access yields.
  static unsigned result_words(const semantics::MemoryAccess& access);
};

/// Calls a function with the parts of an access and its data, which `write` writes if nobody has yet.
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

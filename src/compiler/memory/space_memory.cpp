// compiler: accesses of one chunk of lanes that the engine carries out (space_memory.h).
#include "compiler/memory/space_memory.h"

#include <fmt/format.h>

#include "engine/memory/fine_grained_atomics.h"

namespace Atoll::compiler {

using engine::AddressSpace;
using engine::ChunkAccess;
using semantics::MemoryAccess;

SpaceMemory::Done SpaceMemory::call_engine(const EngineAccess& at, llvm::ArrayRef<llvm::Value*> data) {
  const MemoryAccess& access = semantics::memory_access(at.number);
  const unsigned words = at.yields ? result_words(access) : 0;
  // Code of several modes may stand in one module.
  const auto denormals = static_cast<uint8_t>(
      semantics::memory_atomic_denormals(access.operation, access.bytes, frame_.mode.floats, *frame_.target.processor));
  const bool drops = access.kind == MemoryAccess::Kind::atomic &&
                     engine::drops_on_fine_grained(*frame_.target.processor, access.operation);
  const std::string name = fmt::format("access_{}_{}_{}{}", static_cast<unsigned>(at.number),
                                       static_cast<unsigned>(at.space), unsigned{denormals}, at.yields ? "" : "_only");
  return call_access(name, words, at, data, [&](llvm::Function* function) {
    auto* local = ir().CreateAlloca(llvm::ArrayType::get(frame_.i32(), sizeof(ChunkAccess) / 4));
    local->setAlignment(row_align);
    const auto row = [&](size_t offset, unsigned word) {
      return frame_.at(local, offset + word * sizeof(engine::Row));
    };
    ir().CreateAlignedStore(function->getArg(2), frame_.at(local, offsetof(ChunkAccess, addresses)), row_align);
    for (unsigned i = 0; i < data.size(); ++i) {
      ir().CreateAlignedStore(function->getArg(5 + i), row(offsetof(ChunkAccess, data), i), row_align);
    }
    llvm::Value* called =
        ir().CreateLoad(frame_.pointer(), frame_.at(function->getArg(1), offsetof(engine::JitContext, access)));
    auto* type = llvm::FunctionType::get(ir().getInt8Ty(),
                                         {frame_.pointer(), frame_.pointer(), frame_.i32(), frame_.i32(), frame_.i32(),
                                          ir().getInt8Ty(), ir().getInt8Ty(), ir().getInt8Ty()},
                                         false);
    llvm::CallInst* call = ir().CreateCall(
        type, called,
        {function->getArg(0), local, ir().CreateZExt(function->getArg(3), frame_.i32()), function->getArg(4),
         ir().getInt32(static_cast<uint32_t>(at.number)), ir().getInt8(static_cast<uint8_t>(at.space)),
         ir().getInt8(denormals), ir().getInt8(drops ? 1 : 0)});
    for (unsigned parameter = 5; parameter < 8; ++parameter) call->addParamAttr(parameter, llvm::Attribute::ZExt);
    const size_t results =
        access.kind == MemoryAccess::Kind::atomic ? offsetof(ChunkAccess, result) : offsetof(ChunkAccess, data);
    llvm::Value* whole = llvm::PoisonValue::get(done_type(words));
    for (unsigned word = 0; word < words; ++word) {
      whole =
          ir().CreateInsertValue(whole, ir().CreateAlignedLoad(frame_.chunk(), row(results, word), row_align), word);
    }
    ir().CreateRet(ir().CreateInsertValue(whole, call, words));
  });
}

llvm::StructType* SpaceMemory::done_type(unsigned words) {
  llvm::SmallVector<llvm::Type*, 5> values(words, frame_.chunk());
  values.push_back(ir().getInt8Ty());
  return llvm::StructType::get(frame_.context, values);
}

SpaceMemory::Done SpaceMemory::done(llvm::Value* result, unsigned words) {
  Done done;
  for (unsigned word = 0; word < words; ++word) done.words[word] = ir().CreateExtractValue(result, word);
  done.went_well = ir().CreateExtractValue(result, words);
  return done;
}

unsigned SpaceMemory::result_words(const MemoryAccess& access) {
  return access.kind == MemoryAccess::Kind::store ? 0 : access.words();
}

/// In the wave's code.
LaneAccess::Words SpaceMemory::call_engine(semantics::AccessNumber number, AddressSpace space, llvm::Value* addresses,
                                           llvm::ArrayRef<llvm::Value*> data, llvm::Value* active, ChunkState& chunk,
                                           bool yields) {
  const Done done = call_engine({.number = number,
                                 .space = space,
                                 .yields = yields,
                                 .wave = frame_.wave,
                                 .jit_context = frame_.jit_context,
                                 .addresses = addresses,
                                 .active = active,
                                 .first_lane = chunk.first_lane()},
                                data);
  if (space != AddressSpace::lds) frame_.check(ir().CreateICmpNE(done.went_well, ir().getInt8(0)));
  return done.words;
}

/// What the engine finds in the rows that it loads into.
llvm::SmallVector<llvm::Value*, 4> SpaceMemory::loaded_before(const MemoryAccess& access, llvm::Value* old) {
  llvm::SmallVector<llvm::Value*, 4> rows(access.words(), llvm::Constant::getNullValue(frame_.chunk()));
  if (old != nullptr) rows[0] = old;
  return rows;
}

}  // namespace Atoll::compiler

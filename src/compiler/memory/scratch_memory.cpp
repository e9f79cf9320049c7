// compiler: loads and stores of one chunk of lanes in scratch (scratch_memory.h).
#include "compiler/memory/scratch_memory.h"

#include <bit>

#include <llvm/IR/MDBuilder.h>

#include <fmt/format.h>

#include "compiler/lowering/phi.h"

namespace Atoll::compiler {

using engine::AddressSpace;
using semantics::chunk_lanes;
using semantics::MemoryAccess;
using Half = MemoryAccess::Half;

PreparedAccess ScratchMemory::prepare_on_stack(const isa::Instruction& instruction, llvm::Value* base) {
  return {.instruction = &instruction, .operands = *memory_operands(instruction), .scalar_base = base};
}

/// A member of the Wave that stays as it is while the function runs.
llvm::Value* ScratchMemory::of_wave(size_t offset, llvm::Type* type) {
  llvm::Value*& loaded = of_wave_[offset];
  if (loaded == nullptr) {
    llvm::IRBuilder<> entry(frame_.allocas->getTerminator());
    loaded = entry.CreateLoad(type, entry.CreateConstInBoundsGEP1_64(entry.getInt8Ty(), frame_.wave, offset));
  }
  return loaded;
}

/// Carries out a load or store in scratch where the builder stands, by one of two ways, both of which end with
/// `finish`.
template <typename Finish>
void ScratchMemory::access_scratch(const EngineAccess& at, llvm::Value* scratch, llvm::Value* size,
                                   llvm::ArrayRef<llvm::Value*> data, Finish finish) {
  const MemoryAccess& access = semantics::memory_access(at.number);
  llvm::Value* offset = at.addresses;
  llvm::Value* is_usual = ir().getTrue();
  if (offset->getType()->isVectorTy()) {
    llvm::Value* first = ir().CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits(at.active), ir().getFalse());
    first = ir().CreateAnd(first, ir().getInt16(chunk_lanes - 1));
    offset = ir().CreateExtractElement(at.addresses, ir().CreateZExt(first, frame_.i64()));
    llvm::Value* differ = ir().CreateAnd(ir().CreateICmpNE(at.addresses, splat(offset)), at.active);
    is_usual = ir().CreateICmpEQ(bits(differ), ir().getInt16(0));
  }
  // One private address that all active lanes use, inside, and within one dword or aligned to dwords.
  llvm::Value* wide_offset = ir().CreateZExt(offset, frame_.i64());
  llvm::Value* end = ir().CreateAdd(wide_offset, ir().getInt64(access.bytes));
  is_usual = ir().CreateAnd(is_usual, ir().CreateICmpULE(end, ir().CreateZExt(size, frame_.i64())));
  llvm::Value* in_dword = ir().CreateAnd(offset, ir().getInt32(3));
  if (access.bytes >= 4) is_usual = ir().CreateAnd(is_usual, ir().CreateICmpEQ(in_dword, ir().getInt32(0)));
  if (access.bytes == 2) is_usual = ir().CreateAnd(is_usual, ir().CreateICmpNE(in_dword, ir().getInt32(3)));
  llvm::BasicBlock* usual = block("private");
  llvm::BasicBlock* others = block("others");
  ir().CreateCondBr(is_usual, usual, others, llvm::MDBuilder(frame_.context).createBranchWeights(16, 1));

  ir().SetInsertPoint(usual);
  // Bytes from a lane's dword to its next.
  const uint64_t scratch_row = uint64_t{frame_.wave_size()} * 4;
  const auto row_shift = static_cast<uint64_t>(std::countr_zero(scratch_row / 4));
  llvm::Value* distance = ir().CreateShl(ir().CreateAnd(wide_offset, ~uint64_t{3}), ir().getInt64(row_shift));
  distance = ir().CreateAdd(distance, ir().CreateShl(ir().CreateZExt(at.first_lane, frame_.i64()), 2));
  llvm::Value* place = ir().CreateGEP(ir().getInt8Ty(), scratch, distance);
  const bool is_store = access.kind == MemoryAccess::Kind::store;
  llvm::Value* zeros = llvm::Constant::getNullValue(frame_.chunk());
  llvm::Value* shift = ir().CreateShl(in_dword, 3);
  Done done;
  for (unsigned word = 0; word < access.words(); ++word) {
    llvm::Value* address = frame_.at(place, word * scratch_row);
    llvm::Value* dwords = nullptr;
    if (!is_store || access.bytes < 4) {
      dwords = ir().CreateMaskedLoad(frame_.chunk(), address, dword_align, at.active, zeros);
    }
    if (is_store) {
      llvm::Value* value = access.bytes < 4 ? replaced_part(access, dwords, data[0], shift) : data[word];
      ir().CreateMaskedStore(value, address, dword_align, at.active);
    } else {
      done.words[word] = access.bytes < 4 ? loaded_part(access, dwords, data[0], shift) : dwords;
    }
  }
  finish(done);

  ir().SetInsertPoint(others);
  EngineAccess wide = at;
  if (!at.addresses->getType()->isVectorTy()) wide.addresses = splat(at.addresses);
  wide.addresses = ir().CreateZExt(wide.addresses, lanes_of(frame_.i64()));
  finish(call_engine(wide, data));
}

/// Dwords with some of their bytes, from bit `shift` on, replaced by a register's.
llvm::Value* ScratchMemory::replaced_part(const MemoryAccess& access, llvm::Value* dwords, llvm::Value* value,
                                          llvm::Value* shift) {
  if (access.half == Half::high) value = ir().CreateLShr(value, splat(ir().getInt32(16)));
  llvm::Value* part = ir().CreateShl(ir().getInt32(access.bytes == 1 ? 0xFF : 0xFFFF), shift);
  value = ir().CreateAnd(ir().CreateShl(value, splat(shift)), splat(part));
  return ir().CreateOr(value, ir().CreateAnd(dwords, splat(ir().CreateNot(part))));
}

/// What a register gets of dwords' bytes from bit `shift` on.
llvm::Value* ScratchMemory::loaded_part(const MemoryAccess& access, llvm::Value* dwords, llvm::Value* old,
                                        llvm::Value* shift) {
  llvm::Value* narrow =
      ir().CreateTrunc(ir().CreateLShr(dwords, splat(shift)), lanes_of(ir().getIntNTy(access.bytes * 8u)));
  llvm::Value* value =
      access.sign_extend ? ir().CreateSExt(narrow, frame_.chunk()) : ir().CreateZExt(narrow, frame_.chunk());
  return place_half(access, value, old);
}

/// access_scratch() in a function that all such accesses share.
SpaceMemory::Done ScratchMemory::call_access_scratch(const EngineAccess& at, llvm::ArrayRef<llvm::Value*> data) {
  const unsigned words = result_words(semantics::memory_access(at.number));
  const bool by_lane = at.addresses->getType()->isVectorTy();
  const std::string name = fmt::format("scratch_{}{}", static_cast<unsigned>(at.number), by_lane ? "_by_lane" : "");
  return call_access(name, words, at, data, [&](llvm::Function* function) {
    EngineAccess there = at;
    there.wave = function->getArg(0);
    there.jit_context = function->getArg(1);
    there.addresses = function->getArg(2);
    there.active = ir().CreateBitCast(function->getArg(3), frame_.lanes());
    there.first_lane = function->getArg(4);
    llvm::SmallVector<llvm::Value*, 4> rows;
    for (unsigned i = 0; i < data.size(); ++i) rows.push_back(function->getArg(5 + i));
    const auto field = [&](size_t offset, llvm::Type* type) {
      return ir().CreateLoad(type, frame_.at(there.wave, offset));
    };
    access_scratch(there, field(offsetof(Wave, scratch), frame_.pointer()),
                   field(offsetof(Wave, scratch_bytes_per_lane), frame_.i32()), rows, [&](const Done& done) {
                     llvm::Value* result = llvm::PoisonValue::get(done_type(words));
                     for (unsigned word = 0; word < words; ++word) {
                       result = ir().CreateInsertValue(result, done.words[word], word);
                     }
                     llvm::Value* went_well = done.went_well != nullptr ? done.went_well : ir().getInt8(1);
                     ir().CreateRet(ir().CreateInsertValue(result, went_well, words));
                   });
  });
}

/// Private addresses: 32 bits, or 16 of it.
llvm::Value* ScratchMemory::places(const PreparedAccess& prepared, ChunkState& chunk) {
  llvm::Value* base = ir().getInt32(static_cast<uint32_t>(prepared.instruction->offset));
  if (prepared.scalar_base != nullptr) base = ir().CreateAdd(base, prepared.scalar_base);
  if (prepared.operands.address == nullptr) return base;
  llvm::Value* offsets = chunk.row(row_key(*prepared.operands.address, 0));
  // Offsets in a buffer don't wrap around.
  if (prepared.operands.resource == nullptr) return ir().CreateAdd(offsets, splat(base));
  return ir().CreateBinaryIntrinsic(llvm::Intrinsic::uadd_sat, offsets, splat(base));
}

void ScratchMemory::look_at(const PreparedAccess& prepared, unsigned /*element*/, ChunkState& chunk) {
  frame_.odd->look_at_scratch(element_of(prepared), places(prepared, chunk), {chunk.exec(), chunk.first_lane()});
}

LaneAccess::Words ScratchMemory::access_scratch(const PreparedAccess& prepared, llvm::ArrayRef<llvm::Value*> data,
                                                ChunkState& chunk) {
  const isa::Instruction& instruction = *prepared.instruction;
  const EngineAccess at{.number = semantics::access_number(instruction),
                        .space = AddressSpace::scratch,
                        .wave = frame_.wave,
                        .jit_context = frame_.jit_context,
                        .addresses = places(prepared, chunk),
                        .active = chunk.exec(),
                        .first_lane = chunk.first_lane()};
  const auto check = [&](const Done& done) {
    if (done.went_well != nullptr) frame_.check(ir().CreateICmpNE(done.went_well, ir().getInt8(0)));
  };
  if (!context_.is_hot) {
    const Done done = call_access_scratch(at, data);
    check(done);
    return done.words;
  }
  PhiBuilder ways(frame_, result_words(semantics::memory_access(instruction)));
  access_scratch(at, of_wave(offsetof(Wave, scratch), frame_.pointer()),
                 of_wave(offsetof(Wave, scratch_bytes_per_lane), frame_.i32()), data, [&](const Done& done) {
                   check(done);
                   ways.add_incoming(done.words);
                 });
  return ways.join();
}

LaneAccess::Words ScratchMemory::load(const PreparedAccess& prepared, unsigned /*element*/, llvm::Value* old,
                                      ChunkState& chunk) {
  const MemoryAccess& access = semantics::memory_access(*prepared.instruction);
  return access_scratch(prepared, loaded_before(access, old), chunk);
}

void ScratchMemory::store(const PreparedAccess& prepared, const Words& data, ChunkState& chunk) {
  const MemoryAccess& access = semantics::memory_access(*prepared.instruction);
  access_scratch(prepared, llvm::ArrayRef(data).take_front(access.words()), chunk);
}

/// There are none in any generation.
LaneAccess::Words ScratchMemory::atomic(const PreparedAccess& /*prepared*/, bool /*yields*/,
                                        llvm::ArrayRef<llvm::Value*> /*data*/, ChunkState& /*chunk*/) {
  llvm_unreachable("an atomic on scratch");
}

}  // namespace Atoll::compiler

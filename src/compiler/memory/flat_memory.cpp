// compiler: flat addresses, scratch and atomics on memory of one chunk of lanes (chunk_memory.h).
//
// A flat address is nearly always one of memory, which a look at the upper halves tells. Scratch is swizzled: dword n
// of all lanes lies together (engine/global_memory.cpp), so lanes that use the same private address, as they do for
// spilled registers and local variables, use neighbouring dwords. Whatever else there is, the engine does.
#include "compiler/memory/chunk_memory.h"

#include <bit>

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <fmt/format.h>

#include "compiler/lowering/phi.h"
#include "machine/memory.h"

namespace Atoll::compiler {

using engine::AddressSpace;
using engine::ChunkAccess;
using semantics::chunk_lanes;
using semantics::MemoryAccess;
using Half = MemoryAccess::Half;

namespace {

/// Whether an access yields values.
unsigned result_words(const MemoryAccess& access) {
  return access.kind == MemoryAccess::Kind::store ? 0 : access.words();
}

}  // namespace

ChunkMemory::Done ChunkMemory::call_engine(const EngineAccess& at, llvm::ArrayRef<llvm::Value*> data) {
  const MemoryAccess& access = semantics::memory_access(at.number);
  const unsigned words = at.yields ? result_words(access) : 0;
  const std::string name = fmt::format("access_{}_{}{}", static_cast<unsigned>(at.number),
                                       static_cast<unsigned>(at.space), at.yields ? "" : "_only");
  return call_shared(name, words, at, data, [&](llvm::Function* function) {
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
    auto* type = llvm::FunctionType::get(
        ir().getInt8Ty(),
        {frame_.pointer(), frame_.pointer(), frame_.i32(), frame_.i32(), frame_.i32(), ir().getInt8Ty()}, false);
    llvm::CallInst* call = ir().CreateCall(
        type, called,
        {function->getArg(0), local, ir().CreateZExt(function->getArg(3), frame_.i32()), function->getArg(4),
         ir().getInt32(static_cast<uint32_t>(at.number)), ir().getInt8(static_cast<uint8_t>(at.space))});
    call->addParamAttr(5, llvm::Attribute::ZExt);
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

/// Calls a function with the parts of an access and its data, which `write` writes if nobody has yet.
template <typename Write>
ChunkMemory::Done ChunkMemory::call_shared(const std::string& name, unsigned words, const EngineAccess& at,
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

llvm::StructType* ChunkMemory::done_type(unsigned words) {
  llvm::SmallVector<llvm::Type*, 5> values(words, frame_.chunk());
  values.push_back(ir().getInt8Ty());
  return llvm::StructType::get(frame_.context, values);
}

ChunkMemory::Done ChunkMemory::done(llvm::Value* result, unsigned words) {
  Done done;
  for (unsigned word = 0; word < words; ++word) done.words[word] = ir().CreateExtractValue(result, word);
  done.went_well = ir().CreateExtractValue(result, words);
  return done;
}

/// In the wave's code.
ChunkMemory::Words ChunkMemory::call_engine(semantics::AccessNumber number, AddressSpace space, llvm::Value* addresses,
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

void ChunkMemory::emit_atomic(const Prepared& prepared, bool keep_inactive, ChunkState& chunk) {
  const MemoryOperands& operands = prepared.operands;
  const semantics::AccessNumber number = semantics::access_number(*prepared.instruction);
  const MemoryAccess& access = semantics::memory_access(number);
  const unsigned words = access.words();
  llvm::SmallVector<llvm::Value*, 4> data;
  for (unsigned i = 0; i < (semantics::has_two_operands(access.operation) ? 2u : 1u); ++i) {
    // The second operand has a register of its own, or is after the first.
    const isa::Operand& operand = operands.data[1] != nullptr ? *operands.data[i] : *operands.data[0];
    const unsigned first = operands.data[1] != nullptr ? 0 : i * words;
    for (unsigned word = 0; word < words; ++word) data.push_back(chunk.row(row_key(operand, first + word)));
  }
  const bool yields = operands.result != nullptr;
  Words old;
  if (operands.space == MemorySpace::buffer) {
    const InBuffer place = in_buffer(prepared, chunk);
    old = call_engine(number, AddressSpace::global, wide(place.at), data, place.inside, chunk, yields);
    for (unsigned word = 0; yields && word < words; ++word) {
      old[word] = ir().CreateSelect(place.inside, old[word], llvm::Constant::getNullValue(frame_.chunk()));
    }
  } else if (operands.space == MemorySpace::lds && does_in_place(access)) {
    const Addresses at = addresses(prepared, 0, chunk);
    old = is_hot_ ? lds_atomic(number, yields, at, chunk.exec(), data)
                  : call_lds_atomic(number, yields, at, chunk.exec(), data);
  } else {
    Addresses at = addresses(prepared, 0, chunk);
    AddressSpace space = AddressSpace::global;
    if (operands.space == MemorySpace::flat) space = AddressSpace::flat;
    if (operands.space == MemorySpace::lds) {
      space = AddressSpace::lds;
      at.base = ir().getInt64(0);
    }
    old = call_engine(number, space, wide(at), data, chunk.exec(), chunk, yields);
  }
  if (!yields) return;
  for (unsigned word = 0; word < words; ++word) {
    const unsigned key = row_key(*operands.result, word);
    if (keep_inactive) chunk.set_active_lanes(key, old[word]);
    if (!keep_inactive) chunk.set_row(key, old[word]);
  }
}

/// Whether an active lane's address may be in an aperture. An offset adds no more than 1 to an upper half.
llvm::Value* ChunkMemory::may_be_in_aperture(const Addresses& at, llvm::Value* active) {
  static_assert(machine::shared_aperture_hi < machine::private_aperture_hi);
  llvm::Value* high = ir().CreateICmpUGE(at.high, splat(ir().getInt32(machine::shared_aperture_hi - 1)));
  return ir().CreateICmpNE(bits(ir().CreateAnd(high, active)), ir().getInt16(0));
}

ChunkMemory::Words ChunkMemory::load_flat(const Prepared& prepared, llvm::Value* old, ChunkState& chunk) {
  const semantics::AccessNumber number = semantics::access_number(*prepared.instruction);
  const MemoryAccess& access = semantics::memory_access(number);
  const Addresses at = addresses(prepared, 0, chunk);
  llvm::Value* active = chunk.exec();
  PhiBuilder ways(frame_, access.words());
  llvm::BasicBlock* aperture = block("aperture");
  llvm::BasicBlock* memory = block("memory");
  ir().CreateCondBr(may_be_in_aperture(at, active), aperture, memory,
                    llvm::MDBuilder(frame_.context).createBranchWeights(1, 4));
  ir().SetInsertPoint(aperture);
  ways.add_incoming(call_engine(number, AddressSpace::flat, wide(at), loaded_before(access, old), active, chunk));
  ir().SetInsertPoint(memory);
  ways.add_incoming(load(access, at, active, old));
  return ways.join();
}

void ChunkMemory::store_flat(const Prepared& prepared, const Words& data, ChunkState& chunk) {
  const semantics::AccessNumber number = semantics::access_number(*prepared.instruction);
  const MemoryAccess& access = semantics::memory_access(number);
  const Addresses at = addresses(prepared, 0, chunk);
  llvm::Value* active = chunk.exec();
  PhiBuilder ways(frame_, 0);
  llvm::BasicBlock* aperture = block("aperture");
  llvm::BasicBlock* memory = block("memory");
  ir().CreateCondBr(may_be_in_aperture(at, active), aperture, memory,
                    llvm::MDBuilder(frame_.context).createBranchWeights(1, 4));
  ir().SetInsertPoint(aperture);
  call_engine(number, AddressSpace::flat, wide(at), llvm::ArrayRef(data).take_front(access.words()), active, chunk);
  ways.add_incoming({});
  ir().SetInsertPoint(memory);
  store(access, at, active, data);
  ways.add_incoming({});
  ways.join();
}

/// What the engine finds in the rows that it loads into.
llvm::SmallVector<llvm::Value*, 4> ChunkMemory::loaded_before(const MemoryAccess& access, llvm::Value* old) {
  llvm::SmallVector<llvm::Value*, 4> rows(access.words(), llvm::Constant::getNullValue(frame_.chunk()));
  if (old != nullptr) rows[0] = old;
  return rows;
}

/// A member of the Wave that stays as it is while the function runs.
llvm::Value* ChunkMemory::of_wave(size_t offset, llvm::Type* type) {
  llvm::Value*& loaded = of_wave_[offset];
  if (loaded == nullptr) {
    llvm::IRBuilder<> entry(frame_.allocas->getTerminator());
    loaded = entry.CreateLoad(type, entry.CreateConstInBoundsGEP1_64(entry.getInt8Ty(), frame_.wave, offset));
  }
  return loaded;
}

ChunkMemory::Prepared ChunkMemory::prepare_on_stack(const isa::Instruction& instruction, llvm::Value* base) {
  return {.instruction = &instruction, .operands = *memory_operands(instruction), .scalar_base = base};
}

/// Carries out a load or store in scratch where the builder stands, by one of two ways, both of which end with
/// `finish`.
template <typename Finish>
void ChunkMemory::access_scratch(const EngineAccess& at, llvm::Value* scratch, llvm::Value* size,
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
llvm::Value* ChunkMemory::replaced_part(const MemoryAccess& access, llvm::Value* dwords, llvm::Value* value,
                                        llvm::Value* shift) {
  if (access.half == Half::high) value = ir().CreateLShr(value, splat(ir().getInt32(16)));
  llvm::Value* part = ir().CreateShl(ir().getInt32(access.bytes == 1 ? 0xFF : 0xFFFF), shift);
  value = ir().CreateAnd(ir().CreateShl(value, splat(shift)), splat(part));
  return ir().CreateOr(value, ir().CreateAnd(dwords, splat(ir().CreateNot(part))));
}

/// What a register gets of dwords' bytes from bit `shift` on.
llvm::Value* ChunkMemory::loaded_part(const MemoryAccess& access, llvm::Value* dwords, llvm::Value* old,
                                      llvm::Value* shift) {
  llvm::Value* narrow =
      ir().CreateTrunc(ir().CreateLShr(dwords, splat(shift)), lanes_of(ir().getIntNTy(access.bytes * 8u)));
  llvm::Value* value =
      access.sign_extend ? ir().CreateSExt(narrow, frame_.chunk()) : ir().CreateZExt(narrow, frame_.chunk());
  return place_half(access, value, old);
}

/// access_scratch() in a function that all such accesses share.
ChunkMemory::Done ChunkMemory::call_access_scratch(const EngineAccess& at, llvm::ArrayRef<llvm::Value*> data) {
  const unsigned words = result_words(semantics::memory_access(at.number));
  const bool by_lane = at.addresses->getType()->isVectorTy();
  const std::string name = fmt::format("scratch_{}{}", static_cast<unsigned>(at.number), by_lane ? "_by_lane" : "");
  return call_shared(name, words, at, data, [&](llvm::Function* function) {
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

ChunkMemory::Words ChunkMemory::access_scratch(const Prepared& prepared, llvm::ArrayRef<llvm::Value*> data,
                                               ChunkState& chunk) {
  const isa::Instruction& instruction = *prepared.instruction;
  llvm::Value* base = ir().getInt32(static_cast<uint32_t>(instruction.offset));
  if (prepared.scalar_base != nullptr) base = ir().CreateAdd(base, prepared.scalar_base);
  llvm::Value* addresses = base;
  if (prepared.operands.address != nullptr) {
    llvm::Value* offsets = chunk.row(row_key(*prepared.operands.address, 0));
    // Offsets in a buffer don't wrap around.
    addresses = prepared.operands.resource != nullptr
                    ? ir().CreateBinaryIntrinsic(llvm::Intrinsic::uadd_sat, offsets, splat(base))
                    : ir().CreateAdd(offsets, splat(base));
  }
  const EngineAccess at{.number = semantics::access_number(instruction),
                        .space = AddressSpace::scratch,
                        .wave = frame_.wave,
                        .jit_context = frame_.jit_context,
                        .addresses = addresses,
                        .active = chunk.exec(),
                        .first_lane = chunk.first_lane()};
  const auto check = [&](const Done& done) {
    if (done.went_well != nullptr) frame_.check(ir().CreateICmpNE(done.went_well, ir().getInt8(0)));
  };
  if (!is_hot_) {
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

ChunkMemory::Words ChunkMemory::load_scratch(const Prepared& prepared, llvm::Value* old, ChunkState& chunk) {
  const MemoryAccess& access = semantics::memory_access(*prepared.instruction);
  return access_scratch(prepared, loaded_before(access, old), chunk);
}

void ChunkMemory::store_scratch(const Prepared& prepared, const Words& data, ChunkState& chunk) {
  const MemoryAccess& access = semantics::memory_access(*prepared.instruction);
  access_scratch(prepared, llvm::ArrayRef(data).take_front(access.words()), chunk);
}

}  // namespace Atoll::compiler

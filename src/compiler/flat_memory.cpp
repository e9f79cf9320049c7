// compiler: flat addresses, scratch and atomics of one chunk of lanes (chunk_memory.h).
//
// A flat address is nearly always one of memory, which a look at the upper halves tells. Scratch is swizzled: dword n
// of all lanes lies together (engine/global_memory.cpp), so lanes that use the same private address, as they do for
// spilled registers and local variables, use neighbouring dwords. Whatever else there is, the engine does.
#include "compiler/chunk_memory.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <fmt/format.h>

#include "compiler/ways.h"
#include "machine/memory.h"

namespace Atoll::compiler {

using engine::AddressSpace;
using engine::ChunkAccess;
using semantics::chunk_lanes;
using semantics::MemoryAccess;
using Half = MemoryAccess::Half;

namespace {

const llvm::Align row_align(64), dword_align(4);

constexpr uint64_t scratch_row = semantics::wave_lanes * 4;  ///< bytes from a lane's dword to its next

/// Whether an access yields values.
unsigned result_words(const MemoryAccess& access) {
  return access.kind == MemoryAccess::Kind::store ? 0 : access.words();
}

}  // namespace

ChunkMemory::Words ChunkMemory::call_engine(isa::Opcode opcode, AddressSpace space, llvm::Value* addresses,
                                            llvm::Value* active, llvm::ArrayRef<llvm::Value*> data, ChunkState& chunk) {
  const MemoryAccess& access = semantics::memory_access(opcode);
  const unsigned words = result_words(access);
  llvm::Module& module = *frame_.function->getParent();
  const std::string name = fmt::format("access_{}_{}", static_cast<unsigned>(opcode), static_cast<unsigned>(space));
  llvm::SmallVector<llvm::Type*, 5> values(words, frame_.chunk());
  values.push_back(ir().getInt8Ty());  // whether all went well
  auto* result = llvm::StructType::get(frame_.context, values);
  llvm::SmallVector<llvm::Value*, 8> arguments{frame_.wave, frame_.image, addresses, bits(active), chunk.first_lane()};
  arguments.append(data.begin(), data.end());
  llvm::Function* function = module.getFunction(name);
  if (function == nullptr) {
    llvm::SmallVector<llvm::Type*, 8> parameters;
    for (llvm::Value* argument : arguments) parameters.push_back(argument->getType());
    function = llvm::Function::Create(llvm::FunctionType::get(result, parameters, false),
                                      llvm::GlobalValue::InternalLinkage, name, module);
    function->addFnAttr(llvm::Attribute::NoInline);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    const llvm::IRBuilderBase::InsertPointGuard guard(ir());
    ir().SetInsertPoint(llvm::BasicBlock::Create(frame_.context, "", function));
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
        ir().CreateLoad(frame_.pointer(), frame_.at(function->getArg(1), offsetof(engine::Image, access)));
    auto* type = llvm::FunctionType::get(
        ir().getInt8Ty(),
        {frame_.pointer(), frame_.pointer(), frame_.i32(), frame_.i32(), frame_.i32(), ir().getInt8Ty()}, false);
    llvm::CallInst* call = ir().CreateCall(
        type, called,
        {function->getArg(0), local, ir().CreateZExt(function->getArg(3), frame_.i32()), function->getArg(4),
         ir().getInt32(static_cast<uint32_t>(opcode)), ir().getInt8(static_cast<uint8_t>(space))});
    call->addParamAttr(5, llvm::Attribute::ZExt);
    const size_t results =
        access.kind == MemoryAccess::Kind::atomic ? offsetof(ChunkAccess, result) : offsetof(ChunkAccess, data);
    llvm::Value* whole = llvm::PoisonValue::get(result);
    for (unsigned word = 0; word < words; ++word) {
      whole =
          ir().CreateInsertValue(whole, ir().CreateAlignedLoad(frame_.chunk(), row(results, word), row_align), word);
    }
    ir().CreateRet(ir().CreateInsertValue(whole, call, words));
  }
  llvm::Value* all = ir().CreateCall(function, arguments);
  if (space != AddressSpace::lds) {
    frame_.check(ir().CreateICmpNE(ir().CreateExtractValue(all, words), ir().getInt8(0)));
  }
  Words loaded{};
  for (unsigned word = 0; word < words; ++word) loaded[word] = ir().CreateExtractValue(all, word);
  return loaded;
}

void ChunkMemory::emit_atomic(const Prepared& prepared, bool keep_inactive, ChunkState& chunk) {
  const MemoryOperands& operands = prepared.operands;
  const isa::Opcode opcode = prepared.instruction->opcode;
  const MemoryAccess& access = semantics::memory_access(opcode);
  const unsigned words = access.words();
  llvm::SmallVector<llvm::Value*, 4> data;
  for (unsigned i = 0; i < (semantics::has_two_operands(access.operation) ? 2u : 1u); ++i) {
    // The second operand has a register of its own, or is behind the first.
    const isa::Operand& operand = operands.data[1] != nullptr ? *operands.data[i] : *operands.data[0];
    const unsigned first = operands.data[1] != nullptr ? 0 : i * words;
    for (unsigned word = 0; word < words; ++word) data.push_back(chunk.row(row_key(operand, first + word)));
  }
  Addresses at = addresses(prepared, 0, chunk);
  AddressSpace space = AddressSpace::global;
  if (operands.space == MemorySpace::flat) space = AddressSpace::flat;
  if (operands.space == MemorySpace::lds) {
    space = AddressSpace::lds;
    at.base = ir().getInt64(0);
  }
  const Words old = call_engine(opcode, space, wide(at), chunk.exec(), data, chunk);
  if (operands.result == nullptr) return;
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
  const isa::Opcode opcode = prepared.instruction->opcode;
  const MemoryAccess& access = semantics::memory_access(opcode);
  const Addresses at = addresses(prepared, 0, chunk);
  llvm::Value* active = chunk.exec();
  Ways ways(frame_, access.words());
  llvm::BasicBlock* aperture = block("aperture");
  llvm::BasicBlock* memory = block("memory");
  ir().CreateCondBr(may_be_in_aperture(at, active), aperture, memory,
                    llvm::MDBuilder(frame_.context).createBranchWeights(1, 4));
  ir().SetInsertPoint(aperture);
  ways.end_way(call_engine(opcode, AddressSpace::flat, wide(at), active, loaded_before(access, old), chunk));
  ir().SetInsertPoint(memory);
  ways.end_way(load(access, at, active, old));
  return ways.join();
}

void ChunkMemory::store_flat(const Prepared& prepared, const Words& data, ChunkState& chunk) {
  const isa::Opcode opcode = prepared.instruction->opcode;
  const MemoryAccess& access = semantics::memory_access(opcode);
  const Addresses at = addresses(prepared, 0, chunk);
  llvm::Value* active = chunk.exec();
  Ways ways(frame_, 0);
  llvm::BasicBlock* aperture = block("aperture");
  llvm::BasicBlock* memory = block("memory");
  ir().CreateCondBr(may_be_in_aperture(at, active), aperture, memory,
                    llvm::MDBuilder(frame_.context).createBranchWeights(1, 4));
  ir().SetInsertPoint(aperture);
  call_engine(opcode, AddressSpace::flat, wide(at), active, llvm::ArrayRef(data).take_front(access.words()), chunk);
  ways.end_way({});
  ir().SetInsertPoint(memory);
  store(access, at, active, data);
  ways.end_way({});
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

ChunkMemory::ScratchPlace ChunkMemory::scratch_place(const Prepared& prepared, ChunkState& chunk) {
  const isa::Instruction& instruction = *prepared.instruction;
  const unsigned bytes = semantics::memory_access(instruction.opcode).bytes;
  llvm::Value* base = ir().getInt32(static_cast<uint32_t>(instruction.offset));
  if (prepared.scalar_base != nullptr) base = ir().CreateAdd(base, prepared.scalar_base);
  ScratchPlace place{};
  place.usual = ir().getTrue();
  if (prepared.operands.address == nullptr) {
    place.offset = base;
    place.offsets = splat(base);
  } else {
    llvm::Value* offsets = chunk.row(row_key(*prepared.operands.address, 0));
    // Offsets in a buffer don't wrap around.
    place.offsets = prepared.operands.resource != nullptr
                        ? ir().CreateBinaryIntrinsic(llvm::Intrinsic::uadd_sat, offsets, splat(base))
                        : ir().CreateAdd(offsets, splat(base));
    llvm::Value* active = chunk.exec();
    llvm::Value* first = ir().CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits(active), ir().getFalse());
    first = ir().CreateAnd(first, ir().getInt16(chunk_lanes - 1));
    place.offset = ir().CreateExtractElement(place.offsets, ir().CreateZExt(first, frame_.i64()));
    llvm::Value* differ = ir().CreateAnd(ir().CreateICmpNE(place.offsets, splat(place.offset)), active);
    place.usual = ir().CreateICmpEQ(bits(differ), ir().getInt16(0));
  }
  llvm::Value* size = of_wave(offsetof(Wave, scratch_bytes_per_lane), frame_.i32());
  llvm::Value* wide_offset = ir().CreateZExt(place.offset, frame_.i64());
  llvm::Value* inside =
      ir().CreateICmpULE(ir().CreateAdd(wide_offset, ir().getInt64(bytes)), ir().CreateZExt(size, frame_.i64()));
  place.usual = ir().CreateAnd(place.usual, inside);
  llvm::Value* in_dword = ir().CreateAnd(place.offset, ir().getInt32(3));
  if (bytes >= 4) place.usual = ir().CreateAnd(place.usual, ir().CreateICmpEQ(in_dword, ir().getInt32(0)));
  if (bytes == 2) place.usual = ir().CreateAnd(place.usual, ir().CreateICmpNE(in_dword, ir().getInt32(3)));
  llvm::Value* distance = ir().CreateShl(ir().CreateAnd(wide_offset, ~uint64_t{3}), ir().getInt64(6));
  static_assert(scratch_row / 4 == 1u << 6);
  distance = ir().CreateAdd(distance, ir().CreateShl(chunk.first_lane64(), 2));
  place.address = ir().CreateGEP(ir().getInt8Ty(), of_wave(offsetof(Wave, scratch), frame_.pointer()), distance);
  return place;
}

ChunkMemory::Words ChunkMemory::load_scratch(const Prepared& prepared, llvm::Value* old, ChunkState& chunk) {
  const isa::Opcode opcode = prepared.instruction->opcode;
  const MemoryAccess& access = semantics::memory_access(opcode);
  const ScratchPlace place = scratch_place(prepared, chunk);
  llvm::Value* active = chunk.exec();
  Ways ways(frame_, access.words());
  llvm::BasicBlock* usual = block("private");
  llvm::BasicBlock* others = block("others");
  ir().CreateCondBr(place.usual, usual, others, llvm::MDBuilder(frame_.context).createBranchWeights(16, 1));

  ir().SetInsertPoint(usual);
  llvm::Value* zeros = llvm::Constant::getNullValue(frame_.chunk());
  Words loaded{};
  for (unsigned word = 0; word < access.words(); ++word) {
    llvm::Value* address = frame_.at(place.address, word * scratch_row);
    loaded[word] = ir().CreateMaskedLoad(frame_.chunk(), address, dword_align, active, zeros);
  }
  if (access.bytes < 4) {
    llvm::Value* shift = ir().CreateShl(ir().CreateAnd(place.offset, ir().getInt32(3)), 3);
    llvm::Value* narrow =
        ir().CreateTrunc(ir().CreateLShr(loaded[0], splat(shift)), lanes_of(ir().getIntNTy(access.bytes * 8u)));
    loaded[0] = access.sign_extend ? ir().CreateSExt(narrow, frame_.chunk()) : ir().CreateZExt(narrow, frame_.chunk());
    loaded[0] = place_half(access.half, loaded[0], old);
  }
  ways.end_way(loaded);

  ir().SetInsertPoint(others);
  llvm::Value* addresses = ir().CreateZExt(place.offsets, lanes_of(frame_.i64()));
  ways.end_way(call_engine(opcode, AddressSpace::scratch, addresses, active, loaded_before(access, old), chunk));
  return ways.join();
}

void ChunkMemory::store_scratch(const Prepared& prepared, const Words& data, ChunkState& chunk) {
  const isa::Opcode opcode = prepared.instruction->opcode;
  const MemoryAccess& access = semantics::memory_access(opcode);
  const ScratchPlace place = scratch_place(prepared, chunk);
  llvm::Value* active = chunk.exec();
  Ways ways(frame_, 0);
  llvm::BasicBlock* usual = block("private");
  llvm::BasicBlock* others = block("others");
  ir().CreateCondBr(place.usual, usual, others, llvm::MDBuilder(frame_.context).createBranchWeights(16, 1));

  ir().SetInsertPoint(usual);
  for (unsigned word = 0; word < access.words(); ++word) {
    llvm::Value* address = frame_.at(place.address, word * scratch_row);
    llvm::Value* value = data[word];
    if (access.bytes < 4) {
      if (access.half == Half::high) value = ir().CreateLShr(value, splat(ir().getInt32(16)));
      llvm::Value* zeros = llvm::Constant::getNullValue(frame_.chunk());
      llvm::Value* dwords = ir().CreateMaskedLoad(frame_.chunk(), address, dword_align, active, zeros);
      llvm::Value* shift = ir().CreateShl(ir().CreateAnd(place.offset, ir().getInt32(3)), 3);
      llvm::Value* part = ir().CreateShl(ir().getInt32(access.bytes == 1 ? 0xFF : 0xFFFF), shift);
      value = ir().CreateAnd(ir().CreateShl(value, splat(shift)), splat(part));
      value = ir().CreateOr(value, ir().CreateAnd(dwords, splat(ir().CreateNot(part))));
    }
    ir().CreateMaskedStore(value, address, dword_align, active);
  }
  ways.end_way({});

  ir().SetInsertPoint(others);
  llvm::Value* addresses = ir().CreateZExt(place.offsets, lanes_of(frame_.i64()));
  call_engine(opcode, AddressSpace::scratch, addresses, active, llvm::ArrayRef(data).take_front(access.words()), chunk);
  ways.end_way({});
  ways.join();
}

}  // namespace Atoll::compiler

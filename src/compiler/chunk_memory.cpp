// compiler: loads and stores of one chunk of lanes (chunk_memory.h).
#include "compiler/chunk_memory.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <fmt/format.h>

#include "compiler/ways.h"

namespace Atoll::compiler {

namespace {

using semantics::chunk_lanes;
using semantics::MemoryAccess;
using Half = MemoryAccess::Half;

const llvm::Align unaligned(1);

llvm::Constant* multiples(llvm::LLVMContext& context, uint32_t step) {
  uint32_t values[chunk_lanes];
  for (unsigned lane = 0; lane < chunk_lanes; ++lane) values[lane] = lane * step;
  return llvm::ConstantDataVector::get(context, llvm::ArrayRef<uint32_t>(values));
}

}  // namespace

int64_t ChunkMemory::offset_of(const isa::Instruction& instruction, const MemoryOperands& operands, unsigned element) {
  if (operands.space != MemorySpace::lds) return instruction.offset;
  const MemoryAccess& access = semantics::memory_access(instruction.opcode);
  const uint32_t field = element == 0 ? static_cast<uint32_t>(instruction.offset) : instruction.offset1;
  return field * (access.elements == 2 ? access.offset_unit : 1u);
}

llvm::Value* ChunkMemory::lds_base() {
  if (lds_base_ == nullptr) {
    llvm::IRBuilder<> entry(frame_.allocas->getTerminator());
    const auto load = [&](llvm::Value* base, size_t offset, llvm::Type* type) {
      return entry.CreateLoad(type, entry.CreateConstInBoundsGEP1_64(entry.getInt8Ty(), base, offset));
    };
    llvm::Value* group = load(frame_.wave, offsetof(Wave, work_group), frame_.pointer());
    lds_base_ = entry.CreatePtrToInt(load(group, offsetof(machine::WorkGroup, lds), frame_.pointer()), frame_.i64());
    lds_bytes_ = load(group, offsetof(machine::WorkGroup, lds_bytes), frame_.i32());
  }
  return lds_base_;
}

llvm::Value* ChunkMemory::lds_bytes() {
  lds_base();
  return lds_bytes_;
}

ChunkMemory::Prepared ChunkMemory::prepare(const isa::Instruction& instruction, unsigned element,
                                           ScalarRegisters& registers) {
  Prepared prepared{.instruction = &instruction, .operands = *memory_operands(instruction), .element = element};
  if (const isa::Operand* base = prepared.operands.scalar_base) {
    prepared.scalar_base = base->words == 2 ? registers.pair(base->reg) : registers.word(base->reg);
  }
  return prepared;
}

bool ChunkMemory::likes_stride(const MemoryAccess& access, int64_t stride) {
  if (stride == access.bytes) return true;
  return access.kind == MemoryAccess::Kind::load && (stride == 0 || (stride == 4 && access.bytes % 4 == 0));
}

// Only dwords are loaded and stored under a mask.
bool ChunkMemory::needs_all_lanes(int64_t stride) { return stride != 0 && stride != 4; }

unsigned ChunkMemory::elements(const Prepared& prepared) {
  return prepared.operands.is_store ? 1 : semantics::memory_access(prepared.instruction->opcode).elements;
}

int64_t ChunkMemory::distance(const Prepared& prepared, unsigned element) {
  if (element == 0) return 0;
  return offset_of(*prepared.instruction, prepared.operands, element) -
         offset_of(*prepared.instruction, prepared.operands, 0);
}

llvm::Value* ChunkMemory::first_address(const Prepared& prepared, llvm::Value* low, llvm::Value* high) {
  llvm::Value* address = ir().CreateZExt(low, frame_.i64());
  if (high != nullptr) {
    address = ir().CreateOr(address, ir().CreateShl(ir().CreateZExt(high, frame_.i64()), 32));
  }
  if (prepared.scalar_base != nullptr) address = ir().CreateAdd(address, prepared.scalar_base);
  if (prepared.operands.space == MemorySpace::lds) address = ir().CreateAdd(address, lds_base());
  const int64_t offset = offset_of(*prepared.instruction, prepared.operands, prepared.element);
  return ir().CreateAdd(address, ir().getInt64(static_cast<uint64_t>(offset)));
}

llvm::Value* ChunkMemory::is_inside(const Prepared& prepared, llvm::Value* low, int64_t stride) {
  if (prepared.operands.space != MemorySpace::lds) return nullptr;
  int64_t last = offset_of(*prepared.instruction, prepared.operands, prepared.element);
  for (unsigned element = 1; element < elements(prepared); ++element) {
    last = std::max(last, offset_of(*prepared.instruction, prepared.operands, element));
  }
  last += int64_t{semantics::wave_lanes - 1} * stride;
  llvm::Value* starts = lds_starts(semantics::memory_access(prepared.instruction->opcode).bytes);
  llvm::Value* place = ir().CreateAdd(ir().CreateZExt(low, frame_.i64()), ir().getInt64(static_cast<uint64_t>(last)));
  return ir().CreateICmpULT(place, ir().CreateZExt(starts, frame_.i64()));
}

/// The first place, from which on an element of so many bytes would not lie inside of LDS as a whole: 32 bits.
llvm::Value* ChunkMemory::lds_starts(unsigned bytes) {
  return ir().CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, ir().CreateAdd(lds_bytes(), ir().getInt32(1)),
                                    ir().getInt32(bytes));
}

void ChunkMemory::emit(const Prepared& prepared, bool keep_inactive, ChunkState& chunk, const Even* even) {
  const MemoryOperands& operands = prepared.operands;
  if (operands.is_atomic) return emit_atomic(prepared, keep_inactive, chunk);
  const MemoryAccess& access = semantics::memory_access(prepared.instruction->opcode);
  const unsigned words = access.words();
  llvm::Value* active = chunk.exec();
  /// Of the chunk's first lane.
  const auto even_address = [&](unsigned element) {
    llvm::Value* lanes = ir().CreateMul(chunk.first_lane64(), ir().getInt64(static_cast<uint64_t>(even->stride)));
    llvm::Value* distance = ir().getInt64(static_cast<uint64_t>(ChunkMemory::distance(prepared, element)));
    llvm::Value* address = ir().CreateAdd(ir().CreateAdd(even->address, distance), lanes);
    return ir().CreateIntToPtr(address, frame_.pointer());
  };
  if (operands.is_store) {
    Words data{};
    const isa::Operand& source = *operands.data[prepared.element];
    for (unsigned word = 0; word < words; ++word) data[word] = chunk.row(row_key(source, word));
    if (even != nullptr) {
      const bool fetch_ahead = operands.space == MemorySpace::global && !even->is_fetched;
      return store_even(access, fetch_ahead, even_address(0), active, data);
    }
    if (operands.space == MemorySpace::flat) return store_flat(prepared, data, chunk);
    if (operands.space == MemorySpace::scratch) return store_scratch(prepared, data, chunk);
    if (operands.space == MemorySpace::buffer) return store_buffer(prepared, data, chunk);
    return store(access, addresses(prepared, prepared.element, chunk), active, data);
  }
  const isa::Operand& result = *operands.result;
  Words loaded[2]{};
  for (unsigned element = 0; element < access.elements; ++element) {
    llvm::Value* old = access.half != Half::none ? chunk.row(row_key(result, 0)) : nullptr;
    if (even != nullptr) {
      loaded[element] = load_even(access, operands.space, even_address(element), even->stride, active);
      loaded[element][0] = place_half(access.half, loaded[element][0], old);
    } else if (operands.space == MemorySpace::flat) {
      loaded[element] = load_flat(prepared, old, chunk);
    } else if (operands.space == MemorySpace::scratch) {
      loaded[element] = load_scratch(prepared, old, chunk);
    } else if (operands.space == MemorySpace::buffer) {
      loaded[element] = load_buffer(prepared, old, chunk);
    } else {
      loaded[element] = load(access, addresses(prepared, element, chunk), active, old);
    }
  }
  for (unsigned i = 0; i < access.elements * words; ++i) {
    llvm::Value* value = loaded[i / words][i % words];
    if (keep_inactive) chunk.set_active_lanes(row_key(result, i), value);
    if (!keep_inactive) chunk.set_row(row_key(result, i), value);
  }
}

ChunkMemory::Addresses ChunkMemory::addresses(const Prepared& prepared, unsigned element, ChunkState& chunk) {
  const isa::Instruction& instruction = *prepared.instruction;
  const MemoryAccess& access = semantics::memory_access(instruction.opcode);
  const isa::Operand& address = *prepared.operands.address;
  Addresses at;
  at.low = chunk.row(row_key(address, 0));
  if (prepared.operands.space == MemorySpace::lds) {
    at.offset = static_cast<uint32_t>(offset_of(instruction, prepared.operands, element));
    at.base = lds_base();
    at.starts = lds_starts(access.bytes);
    return at;
  }
  at.base = ir().getInt64(static_cast<uint64_t>(offset_of(instruction, prepared.operands, element)));
  if (prepared.scalar_base != nullptr) {
    at.base = ir().CreateAdd(prepared.scalar_base, at.base);
  } else {
    at.high = chunk.row(row_key(address, 1));
  }
  return at;
}

ChunkMemory::Relation ChunkMemory::relate(const Addresses& at, llvm::Value* active, unsigned bytes) {
  Relation relation{};
  llvm::Value* first = ir().CreateExtractElement(at.low, uint64_t{0});
  llvm::Value* upper_differs = nullptr;
  const auto none_differs = [&](llvm::Value* expected) {
    llvm::Value* differs = ir().CreateXor(at.low, expected);
    if (upper_differs != nullptr) differs = ir().CreateOr(differs, upper_differs);
    llvm::Value* lanes = ir().CreateICmpNE(differs, llvm::Constant::getNullValue(differs->getType()));
    return ir().CreateICmpEQ(bits(ir().CreateAnd(lanes, active)), ir().getInt16(0));
  };
  llvm::Value* place = ir().CreateZExt(ir().CreateAdd(first, ir().getInt32(at.offset)), frame_.i64());
  llvm::Value* address = ir().CreateAdd(at.base, place);
  if (at.high != nullptr) {
    llvm::Value* upper = ir().CreateExtractElement(at.high, uint64_t{0});
    address = ir().CreateAdd(address, ir().CreateShl(ir().CreateZExt(upper, frame_.i64()), 32));
    upper_differs = ir().CreateXor(at.high, splat(upper));
  }
  // Where no lane is active, the addresses may be anything. An access without lanes does nothing at any address, but a
  // host takes a hundred times as long for it where nothing is mapped.
  llvm::Value* any = ir().CreateICmpNE(bits(active), ir().getInt16(0));
  llvm::Value* on_stack = ir().CreateIntrinsic(llvm::Intrinsic::addressofreturnaddress, {frame_.pointer()}, {});
  address = ir().CreateSelect(any, address, ir().CreatePtrToInt(on_stack, frame_.i64()));
  relation.address = ir().CreateIntToPtr(address, frame_.pointer());
  relation.neighbours = none_differs(ir().CreateAdd(splat(first), multiples(frame_.context, bytes)));
  relation.equal = ir().CreateAnd(none_differs(splat(first)), ir().CreateExtractElement(active, uint64_t{0}));
  // Neighbours must all lie inside, and their places not wrap around.
  llvm::Value* end = at.starts != nullptr ? ir().CreateZExt(at.starts, frame_.i64()) : ir().getInt64(uint64_t{1} << 32);
  llvm::Value* last = ir().CreateAdd(place, ir().getInt64(uint64_t{chunk_lanes - 1} * bytes));
  relation.neighbours = ir().CreateAnd(relation.neighbours, ir().CreateICmpULT(last, end));
  if (at.starts != nullptr) relation.equal = ir().CreateAnd(relation.equal, ir().CreateICmpULT(place, end));
  return relation;
}

llvm::Value* ChunkMemory::places(const Addresses& at) {
  return at.offset == 0 ? at.low : ir().CreateAdd(at.low, splat(ir().getInt32(at.offset)));
}

llvm::Value* ChunkMemory::wide(const Addresses& at) {
  llvm::Type* type = lanes_of(frame_.i64());
  llvm::Value* addresses = ir().CreateZExt(places(at), type);
  if (at.high != nullptr) {
    addresses = ir().CreateOr(addresses, ir().CreateShl(ir().CreateZExt(at.high, type), splat(ir().getInt64(32))));
  }
  return ir().CreateAdd(addresses, splat(at.base));
}

ChunkMemory::Apart ChunkMemory::apart(const Addresses& at) {
  // What has a limit is LDS, which is much smaller than 2^31 bytes.
  if (at.starts == nullptr) return apart(wide(at));
  return {ir().CreateIntToPtr(at.base, frame_.pointer()), places(at)};
}

ChunkMemory::Apart ChunkMemory::behind(const Apart& at, uint64_t bytes) {
  return {at.base, ir().CreateAdd(at.lanes, llvm::ConstantInt::get(at.lanes->getType(), bytes))};
}

llvm::Value* ChunkMemory::wide(const Apart& at) {
  if (at.base == nullptr) return at.lanes;
  llvm::Value* lanes = ir().CreateZExt(at.lanes, lanes_of(frame_.i64()));
  return ir().CreateAdd(lanes, splat(ir().CreatePtrToInt(at.base, frame_.i64())));
}

llvm::Value* ChunkMemory::pointers(const Apart& at) {
  if (at.base == nullptr) return ir().CreateIntToPtr(at.lanes, lanes_of(frame_.pointer()));
  return ir().CreateGEP(ir().getInt8Ty(), at.base, at.lanes);
}

llvm::Value* ChunkMemory::inside(const Addresses& at, llvm::Value* active) {
  if (at.starts == nullptr) return active;
  return ir().CreateAnd(active, ir().CreateICmpULT(places(at), splat(at.starts)));
}

ChunkMemory::Words ChunkMemory::load(const MemoryAccess& access, const Addresses& at, llvm::Value* active,
                                     llvm::Value* old) {
  Words words = is_hot_ ? load_in_place(access, at, active) : call_load(access, at, active);
  words[0] = place_half(access.half, words[0], old);
  return words;
}

ChunkMemory::Words ChunkMemory::load_in_place(const MemoryAccess& access, const Addresses& at, llvm::Value* active) {
  const unsigned bytes = access.bytes;
  const Relation relation = relate(at, active, bytes);
  Ways ways(frame_, access.words());
  llvm::BasicBlock* neighbours = block("neighbours");
  llvm::BasicBlock* others = block("others");
  // Only dwords are loaded under a mask: for other elements it would take many instructions to spread.
  llvm::Value* can = bytes == 4 ? relation.neighbours : ir().CreateAnd(relation.neighbours, all(active));
  ir().CreateCondBr(can, neighbours, others, llvm::MDBuilder(frame_.context).createBranchWeights(16, 1));

  ir().SetInsertPoint(neighbours);
  if (at.starts == nullptr) prefetch(relation.address, bytes, false);
  ways.end_way(load_neighbours(relation.address, bytes, access.sign_extend, active));
  ir().SetInsertPoint(others);
  ways.end_way(load_apart(access, at, relation, active));
  return ways.join();
}

/// What becomes of a register that a value is loaded into.
llvm::Value* ChunkMemory::place_half(Half half, llvm::Value* value, llvm::Value* old) {
  const auto bits_of = [&](llvm::Value* of, uint32_t mask) { return ir().CreateAnd(of, splat(ir().getInt32(mask))); };
  if (half == Half::low) return ir().CreateOr(bits_of(old, 0xFFFF'0000), bits_of(value, 0xFFFF));
  if (half == Half::none) return value;
  return ir().CreateOr(bits_of(old, 0xFFFF), ir().CreateShl(value, splat(ir().getInt32(16))));
}

ChunkMemory::Words ChunkMemory::load_even(const MemoryAccess& access, MemorySpace space, llvm::Value* address,
                                          int64_t stride, llvm::Value* active) {
  if (stride == 0) return load_equal(address, access.bytes, access.sign_extend);
  if (space == MemorySpace::global) prefetch(address, static_cast<unsigned>(stride), false);
  if (stride == access.bytes) return load_neighbours(address, access.bytes, access.sign_extend, active);
  Words words{};  // a lane's second one is the next lane's first
  for (unsigned word = 0; word < access.words(); ++word) {
    words[word] = load_neighbours(frame_.at(address, word * 4), 4, false, active)[0];
  }
  return words;
}

void ChunkMemory::store_even(const MemoryAccess& access, bool fetch_ahead, llvm::Value* address, llvm::Value* active,
                             const Words& data) {
  if (fetch_ahead) prefetch(address, access.bytes, true);
  store_neighbours(address, access.bytes, active, stored(access, data));
}

/// The words of which the lowest bytes go to memory.
ChunkMemory::Words ChunkMemory::stored(const MemoryAccess& access, const Words& data) {
  Words words = data;
  if (access.half == Half::high) words[0] = ir().CreateLShr(words[0], splat(ir().getInt32(16)));
  return words;
}

/// For lanes that are no neighbours.
ChunkMemory::Words ChunkMemory::load_apart(const MemoryAccess& access, const Addresses& at, const Relation& relation,
                                           llvm::Value* active) {
  Ways ways(frame_, access.words());
  llvm::BasicBlock* equal = block("equal");
  llvm::BasicBlock* anywhere = block("anywhere");
  ir().CreateCondBr(relation.equal, equal, anywhere);
  ir().SetInsertPoint(equal);
  ways.end_way(load_equal(relation.address, access.bytes, access.sign_extend));
  ir().SetInsertPoint(anywhere);
  ways.end_way(load_anywhere(apart(at), access.bytes, access.sign_extend, inside(at, active)));
  return ways.join();
}

llvm::Function* ChunkMemory::new_function(const std::string& name, llvm::Type* result,
                                          llvm::ArrayRef<llvm::Type*> parameters) {
  auto* type = llvm::FunctionType::get(result, parameters, false);
  auto* function =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, *frame_.function->getParent());
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return function;
}

llvm::Function* ChunkMemory::new_shared(const std::string& name, llvm::Type* result,
                                        llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::SmallVector<llvm::Type*, 8> parameters;
  for (llvm::Value* argument : arguments) parameters.push_back(argument->getType());
  llvm::Function* function = new_function(name, result, parameters);
  // For AVX-512 LLVM does not count the frame pointer among what this convention preserves, although callers rely on
  // it.
  function->addFnAttr("frame-pointer", "all");
  function->setCallingConv(sparing);
  return function;
}

/// load_in_place() in a function that all such loads share.
ChunkMemory::Words ChunkMemory::call_load(const MemoryAccess& access, const Addresses& at, llvm::Value* active) {
  const unsigned words = access.words();
  auto* result = llvm::StructType::get(
      frame_.context, llvm::SmallVector<llvm::Type*, 4>(words, static_cast<llvm::Type*>(frame_.chunk())));
  const std::string name = fmt::format("load_{}{}", access.bytes, access.sign_extend ? "_signed" : "");
  llvm::Value* all =
      call_shared(name, at, active, {}, result, [&](const Addresses& there, llvm::Value* lanes, const llvm::Argument*) {
        const Words loaded = load_in_place(access, there, lanes);
        llvm::Value* whole = llvm::PoisonValue::get(result);
        for (unsigned word = 0; word < words; ++word) whole = ir().CreateInsertValue(whole, loaded[word], word);
        ir().CreateRet(whole);
      });
  Words loaded{};
  for (unsigned word = 0; word < words; ++word) loaded[word] = ir().CreateExtractValue(all, word);
  return loaded;
}

/// Every `step`th dword of a vector of them, from the `first` one.
llvm::Value* ChunkMemory::every(llvm::Value* dwords, unsigned step, unsigned first) {
  int picked[chunk_lanes];
  for (unsigned lane = 0; lane < chunk_lanes; ++lane) picked[lane] = static_cast<int>(lane * step + first);
  return ir().CreateShuffleVector(dwords, llvm::ArrayRef<int>(picked));
}

void ChunkMemory::prefetch(llvm::Value* address, unsigned bytes, bool to_write) {
  // Waves that begin one after the other mostly go on where the one before ended. The host's own prefetcher does not
  // see that early enough: their loads are few, and far apart in time.
  constexpr unsigned waves_ahead = 4, line = 64;
  const unsigned distance = waves_ahead * semantics::wave_lanes * bytes;
  for (unsigned offset = 0; offset < chunk_lanes * bytes; offset += line) {
    ir().CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},
                         {ir().CreateConstGEP1_64(ir().getInt8Ty(), address, distance + offset),
                          ir().getInt32(to_write ? 1 : 0), ir().getInt32(3), ir().getInt32(1)});
  }
}

ChunkMemory::Words ChunkMemory::load_neighbours(llvm::Value* address, unsigned bytes, bool sign_extend,
                                                llvm::Value* active) {
  llvm::Type* words = lanes_of(frame_.i32());
  if (bytes < 4) {
    llvm::Value* loaded = ir().CreateAlignedLoad(lanes_of(ir().getIntNTy(bytes * 8)), address, unaligned);
    return {sign_extend ? ir().CreateSExt(loaded, words) : ir().CreateZExt(loaded, words)};
  }
  if (bytes == 4) {
    return {ir().CreateMaskedLoad(words, address, unaligned, active, llvm::Constant::getNullValue(words))};
  }
  const unsigned count = bytes / 4;
  llvm::Value* loaded =
      ir().CreateAlignedLoad(llvm::FixedVectorType::get(frame_.i32(), chunk_lanes * count), address, unaligned);
  Words result{};
  for (unsigned word = 0; word < count; ++word) result[word] = every(loaded, count, word);
  return result;
}

ChunkMemory::Words ChunkMemory::load_equal(llvm::Value* address, unsigned bytes, bool sign_extend) {
  if (bytes < 4) {
    llvm::Value* loaded = ir().CreateAlignedLoad(ir().getIntNTy(bytes * 8), address, unaligned);
    return {splat(sign_extend ? ir().CreateSExt(loaded, frame_.i32()) : ir().CreateZExt(loaded, frame_.i32()))};
  }
  Words result{};
  const unsigned words = bytes / 4;
  for (unsigned word = 0; word + 1 < words; word += 2) {
    // Volatile, so that LLVM does not make two of it: no other wave may see one of the dwords without the other.
    llvm::Value* two = ir().CreateAlignedLoad(frame_.i64(), frame_.at(address, word * 4), unaligned, true);
    result[word] = splat(ir().CreateTrunc(two, frame_.i32()));
    result[word + 1] = splat(ir().CreateTrunc(ir().CreateLShr(two, 32), frame_.i32()));
  }
  if (words % 2 != 0) {
    result[words - 1] = splat(ir().CreateAlignedLoad(frame_.i32(), frame_.at(address, (words - 1) * 4), unaligned));
  }
  return result;
}

llvm::Value* ChunkMemory::gather(llvm::Type* element, const Apart& at, llvm::Value* lanes) {
  if (!frame_.has_scatters) return ir().CreateCall(gather_by_branches(element), {wide(at), bits(lanes)});
  llvm::Type* type = lanes_of(element);
  return ir().CreateMaskedGather(type, pointers(at), unaligned, lanes, llvm::Constant::getNullValue(type));
}

/// What LLVM makes of a gather for hosts that have none, or slow ones, is long.
llvm::Function* ChunkMemory::gather_by_branches(llvm::Type* element) {
  llvm::Module& module = *frame_.function->getParent();
  const std::string name = fmt::format("gather_{}", element->getIntegerBitWidth());
  if (llvm::Function* made = module.getFunction(name)) return made;
  llvm::Type* result = lanes_of(element);
  llvm::Function* function = new_function(name, result, {lanes_of(frame_.i64()), frame_.i16()});
  const llvm::IRBuilderBase::InsertPointGuard guard(ir());
  ir().SetInsertPoint(llvm::BasicBlock::Create(frame_.context, "lanes", function));
  llvm::Value* active = ir().CreateBitCast(function->getArg(1), lanes_of(frame_.i1()));
  ir().CreateRet(ir().CreateMaskedGather(result, pointers(apart(function->getArg(0))), unaligned, active,
                                         llvm::Constant::getNullValue(result)));
  return function;
}

ChunkMemory::Words ChunkMemory::load_anywhere(const Apart& at, unsigned bytes, bool sign_extend, llvm::Value* lanes) {
  switch (bytes) {
    case 4:
      return {load_dwords(at, lanes)};
    case 8:
    case 12: {
      llvm::Value* loaded = gather(frame_.i64(), at, lanes);
      llvm::Value* dwords = ir().CreateBitCast(loaded, llvm::FixedVectorType::get(frame_.i32(), chunk_lanes * 2));
      Words words{every(dwords, 2, 0), every(dwords, 2, 1)};
      if (bytes == 12) words[2] = load_dwords(behind(at, 8), lanes);
      return words;
    }
    case 16: {
      llvm::Value* loaded = ir().CreateCall(load_quads(), {wide(at), bits(lanes)});
      Words words{};
      for (unsigned word = 0; word < 4; ++word) words[word] = ir().CreateExtractValue(loaded, word);
      return words;
    }
    default:
      break;
  }
  // Bytes and shorts come out of the dwords that hold them: no other page than theirs is touched.
  const Apart aligned{at.base, ir().CreateAnd(at.lanes, llvm::ConstantInt::get(at.lanes->getType(), ~uint64_t{3}))};
  llvm::Value* place = ir().CreateAnd(ir().CreateTrunc(at.lanes, lanes_of(frame_.i32())), splat(ir().getInt32(3)));
  llvm::Value* shift = ir().CreateShl(place, splat(ir().getInt32(3)));
  llvm::Value* dword = load_dwords(aligned, lanes);
  llvm::Value* value;
  if (bytes == 1) {
    value = ir().CreateLShr(dword, shift);
  } else {
    llvm::Value* split = ir().CreateAnd(lanes, ir().CreateICmpEQ(place, splat(ir().getInt32(3))));
    llvm::Value* next = load_dwords(behind(aligned, 4), split);
    value = ir().CreateIntrinsic(llvm::Intrinsic::fshr, {dword->getType()}, {next, dword, shift});
  }
  llvm::Value* narrow = ir().CreateTrunc(value, lanes_of(ir().getIntNTy(bytes * 8)));
  return {sign_extend ? ir().CreateSExt(narrow, dword->getType()) : ir().CreateZExt(narrow, dword->getType())};
}

/// Loads 16 bytes for each lane: the four rows of their dwords. Lanes that are not active load zeros.
llvm::Function* ChunkMemory::load_quads() {
  llvm::Module& module = *frame_.function->getParent();
  constexpr const char* name = "load_quads";
  if (llvm::Function* made = module.getFunction(name)) return made;
  llvm::Type* row = lanes_of(frame_.i32());
  auto* result = llvm::StructType::get(frame_.context, {row, row, row, row});
  llvm::Function* function = new_function(name, result, {lanes_of(frame_.i64()), frame_.i16()});
  const llvm::IRBuilderBase::InsertPointGuard guard(ir());
  ir().SetInsertPoint(llvm::BasicBlock::Create(frame_.context, "lanes", function));

  llvm::Type* quad = llvm::FixedVectorType::get(frame_.i32(), 4);
  auto* zeros = new llvm::GlobalVariable(module, quad, true, llvm::GlobalValue::InternalLinkage,
                                         llvm::Constant::getNullValue(quad), "zeros");
  llvm::Value* active = ir().CreateBitCast(function->getArg(1), lanes_of(frame_.i1()));
  llvm::Value* addresses =
      ir().CreateSelect(active, function->getArg(0), splat(ir().CreatePtrToInt(zeros, frame_.i64())));
  // Four lanes at a time: their quads next to each other, then the first dwords, the second, and so on.
  std::array<llvm::Value*, 4> rows{};
  for (unsigned group = 0; group < chunk_lanes; group += 4) {
    std::array<llvm::Value*, 4> quads{};
    for (unsigned i = 0; i < 4; ++i) {
      llvm::Value* address = ir().CreateIntToPtr(ir().CreateExtractElement(addresses, group + i), frame_.pointer());
      quads[i] = ir().CreateAlignedLoad(quad, address, unaligned);
    }
    llvm::Value* low01 = ir().CreateShuffleVector(quads[0], quads[1], {0, 4, 1, 5});
    llvm::Value* low23 = ir().CreateShuffleVector(quads[2], quads[3], {0, 4, 1, 5});
    llvm::Value* high01 = ir().CreateShuffleVector(quads[0], quads[1], {2, 6, 3, 7});
    llvm::Value* high23 = ir().CreateShuffleVector(quads[2], quads[3], {2, 6, 3, 7});
    const std::array<llvm::Value*, 4> columns{
        ir().CreateShuffleVector(low01, low23, {0, 1, 4, 5}), ir().CreateShuffleVector(low01, low23, {2, 3, 6, 7}),
        ir().CreateShuffleVector(high01, high23, {0, 1, 4, 5}), ir().CreateShuffleVector(high01, high23, {2, 3, 6, 7})};
    for (unsigned word = 0; word < 4; ++word) {
      llvm::Value*& whole = rows[word];
      if (whole == nullptr) whole = llvm::PoisonValue::get(row);
      whole = ir().CreateInsertVector(row, whole, columns[word], ir().getInt64(group));
    }
  }
  llvm::Value* all_rows = llvm::PoisonValue::get(result);
  for (unsigned word = 0; word < 4; ++word) all_rows = ir().CreateInsertValue(all_rows, rows[word], word);
  ir().CreateRet(all_rows);
  return function;
}

void ChunkMemory::store(const MemoryAccess& access, const Addresses& at, llvm::Value* active, const Words& data) {
  const unsigned bytes = access.bytes;
  const Words words = stored(access, data);
  if (is_hot_) store_in_place(bytes, at, active, words);
  if (!is_hot_) call_store(bytes, at, active, words);
}

void ChunkMemory::store_in_place(unsigned bytes, const Addresses& at, llvm::Value* active, const Words& data) {
  const Relation relation = relate(at, active, bytes);
  Ways ways(frame_, 0);
  llvm::BasicBlock* neighbours = block("neighbours");
  llvm::BasicBlock* anywhere = block("anywhere");
  llvm::Value* can = bytes == 4 ? relation.neighbours : ir().CreateAnd(relation.neighbours, all(active));
  ir().CreateCondBr(can, neighbours, anywhere, llvm::MDBuilder(frame_.context).createBranchWeights(16, 1));
  ir().SetInsertPoint(neighbours);
  if (at.starts == nullptr) prefetch(relation.address, bytes, true);
  store_neighbours(relation.address, bytes, active, data);
  ways.end_way({});
  ir().SetInsertPoint(anywhere);
  store_anywhere(apart(at), bytes, inside(at, active), data);
  ways.end_way({});
  ways.join();
}

/// store_in_place() in a function that all such stores share.
void ChunkMemory::call_store(unsigned bytes, const Addresses& at, llvm::Value* active, const Words& data) {
  const unsigned words = (bytes + 3) / 4;
  call_shared(fmt::format("store_{}", bytes), at, active, llvm::ArrayRef(data).take_front(words), ir().getVoidTy(),
              [&](const Addresses& there, llvm::Value* lanes, llvm::Argument* next) {
                Words stored{};
                for (unsigned word = 0; word < words; ++word) stored[word] = next++;
                store_in_place(bytes, there, lanes, stored);
                ir().CreateRetVoid();
              });
}

/// The lanes' elements one behind the other.
llvm::Value* ChunkMemory::interleave(const Words& data, unsigned words) {
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

void ChunkMemory::store_neighbours(llvm::Value* address, unsigned bytes, llvm::Value* active, const Words& data) {
  if (bytes == 4) {
    ir().CreateMaskedStore(data[0], address, unaligned, active);
  } else if (bytes < 4) {
    ir().CreateAlignedStore(ir().CreateTrunc(data[0], lanes_of(ir().getIntNTy(bytes * 8))), address, unaligned);
  } else {
    ir().CreateAlignedStore(interleave(data, bytes / 4), address, unaligned);
  }
}

void ChunkMemory::store_anywhere(const Apart& at, unsigned bytes, llvm::Value* lanes, const Words& data) {
  if (bytes == 4 && frame_.has_scatters) {
    ir().CreateMaskedScatter(data[0], pointers(at), unaligned, lanes);
  } else if (bytes == 8 && frame_.has_scatters) {
    llvm::Value* pairs = ir().CreateBitCast(interleave(data, 2), lanes_of(frame_.i64()));
    ir().CreateMaskedScatter(pairs, pointers(at), unaligned, lanes);
  } else {
    llvm::SmallVector<llvm::Value*, 6> arguments{wide(at), bits(lanes)};
    for (unsigned word = 0; word < (bytes + 3) / 4; ++word) arguments.push_back(data[word]);
    ir().CreateCall(store_elements(bytes), arguments);
  }
}

/// Stores the lanes' elements of `bytes` one by one.
llvm::Function* ChunkMemory::store_elements(unsigned bytes) {
  llvm::Module& module = *frame_.function->getParent();
  const std::string name = "store_elements_" + std::to_string(bytes);
  if (llvm::Function* made = module.getFunction(name)) return made;
  const unsigned words = (bytes + 3) / 4;
  llvm::SmallVector<llvm::Type*, 6> parameters{lanes_of(frame_.i64()), frame_.i16()};
  parameters.append(words, lanes_of(frame_.i32()));
  llvm::Function* function = new_function(name, ir().getVoidTy(), parameters);
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
    llvm::Type* element = ir().getIntNTy(bytes * 8);
    ir().CreateAlignedStore(ir().CreateAlignedLoad(element, from, unaligned), to, unaligned);
  });
  ir().CreateRetVoid();
  return function;
}

}  // namespace Atoll::compiler

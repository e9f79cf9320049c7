// compiler: loads and stores of one chunk of lanes: where its elements are (chunk_memory.h). chunk_loads.cpp and
// chunk_stores.cpp move them.
#include "compiler/memory/chunk_memory.h"

#include "compiler/llvm/unused_loads.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

namespace Atoll::compiler {

namespace {

using semantics::chunk_lanes;
using semantics::MemoryAccess;

llvm::Constant* multiples(llvm::LLVMContext& context, uint32_t step) {
  uint32_t values[chunk_lanes];
  for (unsigned lane = 0; lane < chunk_lanes; ++lane) values[lane] = lane * step;
  return llvm::ConstantDataVector::get(context, llvm::ArrayRef<uint32_t>(values));
}

}  // namespace

int64_t ChunkMemory::offset_of(const isa::Instruction& instruction, const MemoryOperands& operands, unsigned element) {
  if (operands.space != MemorySpace::lds) return instruction.offset;
  const MemoryAccess& access = semantics::memory_access(instruction);
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

bool ChunkMemory::prefers_stride(const MemoryAccess& access, int64_t stride) {
  if (stride == access.bytes) return true;
  return access.kind == MemoryAccess::Kind::load && (stride == 0 || (stride == 4 && access.bytes % 4 == 0));
}

// Only dwords are loaded and stored under a mask.
bool ChunkMemory::needs_all_lanes(int64_t stride) { return stride != 0 && stride != 4; }

unsigned ChunkMemory::elements(const Prepared& prepared) {
  return prepared.operands.is_store ? 1 : semantics::memory_access(*prepared.instruction).elements;
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
  last += int64_t{frame_.wave_size() - 1} * stride;
  llvm::Value* starts = lds_starts(semantics::memory_access(*prepared.instruction).bytes);
  llvm::Value* place = ir().CreateAdd(ir().CreateZExt(low, frame_.i64()), ir().getInt64(static_cast<uint64_t>(last)));
  return ir().CreateICmpULT(place, ir().CreateZExt(starts, frame_.i64()));
}

/// The first place, from which on an element of so many bytes would not lie inside of LDS as a whole: 32 bits.
llvm::Value* ChunkMemory::lds_starts(unsigned bytes) {
  return ir().CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, ir().CreateAdd(lds_bytes(), ir().getInt32(1)),
                                    ir().getInt32(bytes));
}

void ChunkMemory::emit(const Prepared& prepared, bool keep_inactive, ChunkState& chunk, const Strided* strided) {
  const MemoryOperands& operands = prepared.operands;
  if (operands.is_atomic) return emit_atomic(prepared, keep_inactive, chunk);
  const MemoryAccess& access = semantics::memory_access(*prepared.instruction);
  const unsigned words = access.words();
  llvm::Value* active = chunk.exec();
  /// Of the chunk's first lane.
  const auto even_address = [&](unsigned element) {
    llvm::Value* lanes = ir().CreateMul(chunk.first_lane64(), ir().getInt64(static_cast<uint64_t>(strided->stride)));
    llvm::Value* distance = ir().getInt64(static_cast<uint64_t>(ChunkMemory::distance(prepared, element)));
    llvm::Value* address = ir().CreateAdd(ir().CreateAdd(strided->address, distance), lanes);
    return ir().CreateIntToPtr(address, frame_.pointer());
  };
  if (operands.is_store) {
    Words data{};
    const isa::Operand& source = *operands.data[prepared.element];
    for (unsigned word = 0; word < words; ++word) data[word] = chunk.row(row_key(source, word));
    if (strided != nullptr) {
      const bool fetch_ahead = operands.space == MemorySpace::global && !strided->is_fetched;
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
    llvm::Value* old = access.keeps_half() ? chunk.row(row_key(result, 0)) : nullptr;
    if (strided != nullptr) {
      loaded[element] = load_even(access, operands.space, even_address(element), strided->stride, active);
      loaded[element][0] = place_half(access, loaded[element][0], old);
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
  if (operands.space != MemorySpace::lds) note_loaded(ir(), llvm::ArrayRef(loaded[0]).take_front(words));
  for (unsigned i = 0; i < access.elements * words; ++i) {
    llvm::Value* value = loaded[i / words][i % words];
    if (keep_inactive) chunk.set_active_lanes(row_key(result, i), value);
    if (!keep_inactive) chunk.set_row(row_key(result, i), value);
  }
}

ChunkMemory::Addresses ChunkMemory::addresses(const Prepared& prepared, unsigned element, ChunkState& chunk) {
  const isa::Instruction& instruction = *prepared.instruction;
  const MemoryAccess& access = semantics::memory_access(instruction);
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

ChunkMemory::AddressPattern ChunkMemory::relate(const Addresses& at, llvm::Value* active, unsigned bytes) {
  AddressPattern pattern{};
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
  pattern.address = ir().CreateIntToPtr(address, frame_.pointer());
  pattern.neighbours = none_differs(ir().CreateAdd(splat(first), multiples(frame_.context, bytes)));
  pattern.equal = ir().CreateAnd(none_differs(splat(first)), ir().CreateExtractElement(active, uint64_t{0}));
  // Neighbours must all lie inside, and their places not wrap around.
  llvm::Value* end = at.starts != nullptr ? ir().CreateZExt(at.starts, frame_.i64()) : ir().getInt64(uint64_t{1} << 32);
  llvm::Value* last = ir().CreateAdd(place, ir().getInt64(uint64_t{chunk_lanes - 1} * bytes));
  pattern.neighbours = ir().CreateAnd(pattern.neighbours, ir().CreateICmpULT(last, end));
  if (at.starts != nullptr && bytes == 4) {
    llvm::Value* end_of_pairs = ir().CreateAdd(place, ir().getInt64(uint64_t{chunk_lanes - 1} * 8));
    pattern.every_second = ir().CreateAnd(none_differs(ir().CreateAdd(splat(first), multiples(frame_.context, 8))),
                                          ir().CreateICmpULT(end_of_pairs, end));
  }
  if (at.starts != nullptr) pattern.equal = ir().CreateAnd(pattern.equal, ir().CreateICmpULT(place, end));
  return pattern;
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

ChunkMemory::Scattered ChunkMemory::scattered(const Addresses& at) {
  // What has a limit is LDS, which is much smaller than 2^31 bytes.
  if (at.starts == nullptr) return scattered(wide(at));
  return {ir().CreateIntToPtr(at.base, frame_.pointer()), places(at)};
}

ChunkMemory::Scattered ChunkMemory::after(const Scattered& at, uint64_t bytes) {
  return {at.base, ir().CreateAdd(at.lanes, llvm::ConstantInt::get(at.lanes->getType(), bytes))};
}

llvm::Value* ChunkMemory::wide(const Scattered& at) {
  if (at.base == nullptr) return at.lanes;
  llvm::Value* lanes = ir().CreateZExt(at.lanes, lanes_of(frame_.i64()));
  return ir().CreateAdd(lanes, splat(ir().CreatePtrToInt(at.base, frame_.i64())));
}

llvm::Value* ChunkMemory::pointers(const Scattered& at) {
  if (at.base == nullptr) return ir().CreateIntToPtr(at.lanes, lanes_of(frame_.pointer()));
  return ir().CreateGEP(ir().getInt8Ty(), at.base, at.lanes);
}

llvm::Value* ChunkMemory::inside(const Addresses& at, llvm::Value* active) {
  if (at.starts == nullptr) return active;
  return ir().CreateAnd(active, ir().CreateICmpULT(places(at), splat(at.starts)));
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

}  // namespace Atoll::compiler

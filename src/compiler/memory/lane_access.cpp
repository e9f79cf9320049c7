// compiler: loads and stores of one chunk of lanes: how their addresses relate to each other (lane_access.h).
// lane_loads.cpp and lane_stores.cpp move the elements.
#include "compiler/memory/lane_access.h"

#include <cstdlib>

#include "compiler/memory/guest_bounds.h"

namespace Atoll::compiler {

using semantics::chunk_lanes;

namespace {

llvm::Constant* multiples(llvm::LLVMContext& context, uint32_t step) {
  uint32_t values[chunk_lanes];
  for (unsigned lane = 0; lane < chunk_lanes; ++lane) values[lane] = lane * step;
  return llvm::ConstantDataVector::get(context, llvm::ArrayRef<uint32_t>(values));
}

}  // namespace

LaneAccess::AddressPattern LaneAccess::relate(const Addresses& at, llvm::Value* active, unsigned bytes,
                                              bool in_bounds) {
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
  if (!in_bounds && at.starts == nullptr && at.high != nullptr) {
    pattern.from_base = ir().CreateSelect(any, frame_.bounds->offset(address), ir().getInt64(0));
  }
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

void LaneAccess::note_lanes(const Addresses& at, llvm::Value* active) {
  if (at.starts != nullptr) return;  // LDS
  if (at.high == nullptr) return note_base(at, active);
  // What is added to the upper half without being a multiple of 4 GiB is little, where it is known.
  const auto* distance = llvm::dyn_cast<llvm::ConstantInt>(at.base);
  const bool is_near = distance != nullptr && std::abs(distance->getSExtValue()) < 1 << 30;
  llvm::Value* outside =
      is_near ? frame_.bounds->are_outside(at.high, /*or_in_aperture=*/false) : frame_.bounds->are_outside(wide(at));
  frame_.bounds->note_lanes(ir().CreateAnd(outside, active));
}

void LaneAccess::note_base(const Addresses& at, llvm::Value* active) {
  if (context_.has_bases_checked) return;
  llvm::Value* any = ir().CreateICmpNE(bits(active), ir().getInt16(0));
  frame_.bounds->note(ir().CreateSelect(any, frame_.bounds->offset(at.base), ir().getInt64(0)));
}

llvm::Value* LaneAccess::places(const Addresses& at) {
  return at.offset == 0 ? at.low : ir().CreateAdd(at.low, splat(ir().getInt32(at.offset)));
}

llvm::Value* LaneAccess::wide(const Addresses& at) {
  llvm::Type* type = lanes_of(frame_.i64());
  llvm::Value* addresses = ir().CreateZExt(places(at), type);
  if (at.high != nullptr) {
    addresses = ir().CreateOr(addresses, ir().CreateShl(ir().CreateZExt(at.high, type), splat(ir().getInt64(32))));
  }
  return ir().CreateAdd(addresses, splat(at.base));
}

LaneAccess::Scattered LaneAccess::scattered(const Addresses& at) {
  // What has a limit is LDS, which is much smaller than 2^31 bytes.
  if (at.starts == nullptr) return scattered(wide(at));
  return {ir().CreateIntToPtr(at.base, frame_.pointer()), places(at)};
}

LaneAccess::Scattered LaneAccess::after(const Scattered& at, uint64_t bytes) {
  return {at.base, ir().CreateAdd(at.lanes, llvm::ConstantInt::get(at.lanes->getType(), bytes))};
}

llvm::Value* LaneAccess::wide(const Scattered& at) {
  if (at.base == nullptr) return at.lanes;
  llvm::Value* lanes = ir().CreateZExt(at.lanes, lanes_of(frame_.i64()));
  return ir().CreateAdd(lanes, splat(ir().CreatePtrToInt(at.base, frame_.i64())));
}

llvm::Value* LaneAccess::pointers(const Scattered& at) {
  if (at.base == nullptr) return ir().CreateIntToPtr(at.lanes, lanes_of(frame_.pointer()));
  return ir().CreateGEP(ir().getInt8Ty(), at.base, at.lanes);
}

llvm::Value* LaneAccess::inside(const Addresses& at, llvm::Value* active) {
  if (at.starts == nullptr) return active;
  return ir().CreateAnd(active, ir().CreateICmpULT(places(at), splat(at.starts)));
}

llvm::Function* LaneAccess::new_function(const std::string& name, llvm::Type* result,
                                         llvm::ArrayRef<llvm::Type*> parameters) {
  auto* type = llvm::FunctionType::get(result, parameters, false);
  auto* function =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, *frame_.function->getParent());
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return function;
}

llvm::Function* LaneAccess::new_sparing(const std::string& name, llvm::Type* result,
                                        llvm::ArrayRef<llvm::Type*> parameters) {
  llvm::Function* function = new_function(name, result, parameters);
  // For AVX-512 this convention does not preserve the frame pointer. LLVM before 22 relied on it all the same, LLVM 22
  // saves it around the call.
  function->addFnAttr("frame-pointer", "all");
  function->setCallingConv(sparing);
  return function;
}

llvm::CallInst* LaneAccess::call_sparing(llvm::Function* function, llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::CallInst* call = ir().CreateCall(function, arguments);
  call->setCallingConv(sparing);
  return call;
}

}  // namespace Atoll::compiler

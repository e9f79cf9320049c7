// compiler: loads of one chunk of lanes, from neighbouring, equal or any addresses (lane_access.h).
#include "compiler/memory/lane_access.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>

#include <fmt/format.h>

#include "compiler/lowering/phi.h"
#include "compiler/memory/guest_bounds.h"

namespace Atoll::compiler {

using semantics::chunk_lanes;
using semantics::MemoryAccess;
using Half = MemoryAccess::Half;

LaneAccess::Words LaneAccess::load_lanes(const MemoryAccess& access, const Addresses& at, llvm::Value* active,
                                         llvm::Value* old, bool in_bounds) {
  if (!context_.is_hot && !in_bounds) note_lanes(at, active);
  Words words = context_.is_hot ? load_in_place(access, at, active, in_bounds) : call_load(access, at, active);
  words[0] = place_half(access, words[0], old);
  return words;
}

LaneAccess::Words LaneAccess::load_in_place(const MemoryAccess& access, const Addresses& at, llvm::Value* active,
                                            bool in_bounds) {
  const unsigned bytes = access.bytes;
  if (!in_bounds && at.starts == nullptr && at.high == nullptr) note_base(at, active);
  const AddressPattern pattern = relate(at, active, bytes, in_bounds);
  PhiBuilder ways(frame_, access.words());
  llvm::BasicBlock* neighbours = block("neighbours");
  llvm::BasicBlock* others = block("others");
  // Only dwords are loaded under a mask: for other elements it would take many instructions to spread.
  llvm::Value* can = bytes == 4 ? pattern.neighbours : ir().CreateAnd(pattern.neighbours, all(active));
  ir().CreateCondBr(can, neighbours, others, llvm::MDBuilder(frame_.context).createBranchWeights(16, 1));

  ir().SetInsertPoint(neighbours);
  if (pattern.from_base != nullptr) frame_.bounds->note(pattern.from_base);
  if (at.starts == nullptr) prefetch(pattern.address, bytes, false);
  ways.add_incoming(load_neighbours(pattern.address, bytes, access.sign_extend, active));
  ir().SetInsertPoint(others);
  ways.add_incoming(load_scattered(access, at, pattern, active));
  return ways.join();
}

/// What becomes of a register that a value is loaded into.
llvm::Value* LaneAccess::place_half(const MemoryAccess& access, llvm::Value* value, llvm::Value* old) {
  if (access.half == Half::none) return value;
  const auto bits_of = [&](llvm::Value* of, uint32_t mask) { return ir().CreateAnd(of, splat(ir().getInt32(mask))); };
  const bool is_low = access.half == Half::low;
  value = is_low ? bits_of(value, 0xFFFF) : ir().CreateShl(value, splat(ir().getInt32(16)));
  return access.keeps_half() ? ir().CreateOr(value, bits_of(old, is_low ? 0xFFFF'0000 : 0xFFFF)) : value;
}

LaneAccess::Words LaneAccess::load_even(const MemoryAccess& access, MemorySpace space, llvm::Value* address,
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

/// For lanes that are no neighbours.
LaneAccess::Words LaneAccess::load_scattered(const MemoryAccess& access, const Addresses& at,
                                             const AddressPattern& pattern, llvm::Value* active) {
  PhiBuilder ways(frame_, access.words());
  if (pattern.every_second != nullptr) {
    llvm::BasicBlock *pairs = block("pairs"), *others = block("others");
    ir().CreateCondBr(pattern.every_second, pairs, others);
    ir().SetInsertPoint(pairs);
    ways.add_incoming(load_every_second(pattern.address));
    ir().SetInsertPoint(others);
  }
  llvm::BasicBlock* equal = block("equal");
  llvm::BasicBlock* anywhere = block("anywhere");
  ir().CreateCondBr(pattern.equal, equal, anywhere);
  ir().SetInsertPoint(equal);
  if (pattern.from_base != nullptr) frame_.bounds->note(pattern.from_base);
  ways.add_incoming(load_equal(pattern.address, access.bytes, access.sign_extend));
  ir().SetInsertPoint(anywhere);
  llvm::Value* lanes = inside(at, active);
  // Not in LDS, where windows made gfx942's sgemm slower: they overlap several recent stores, which are not forwarded.
  if (frame_.has_scatters && at.starts == nullptr && access.bytes <= 8) {
    for (const Sharing sharing : {Sharing::all, Sharing::halves}) {
      llvm::BasicBlock *near = block("near"), *others = block("others");
      ir().CreateCondBr(are_near(at, lanes, access.bytes, sharing), near, others);
      ir().SetInsertPoint(near);
      ways.add_incoming(load_near(at, access, lanes, sharing, pattern.from_base != nullptr));
      ir().SetInsertPoint(others);
    }
  }
  if (pattern.from_base != nullptr) note_lanes(at, active);
  ways.add_incoming(load_anywhere(scattered(at), access.bytes, access.sign_extend, lanes));
  return ways.join();
}

llvm::Value* LaneAccess::address_of(const Addresses& at, unsigned lane) {
  const auto word = [&](llvm::Value* words) { return ir().CreateExtractElement(words, uint64_t{lane}); };
  llvm::Value* place = ir().CreateAdd(word(at.low), ir().getInt32(at.offset));
  llvm::Value* address = ir().CreateAdd(at.base, ir().CreateZExt(place, frame_.i64()));
  if (at.high == nullptr) return address;
  return ir().CreateAdd(address, ir().CreateShl(ir().CreateZExt(word(at.high), frame_.i64()), 32));
}

/// How far the elements are from the begin of their lanes' window.
llvm::Value* LaneAccess::offsets_in_window(llvm::Value* low, Sharing sharing) {
  int first[chunk_lanes];
  for (int lane = 0; lane < static_cast<int>(chunk_lanes); ++lane) first[lane] = sharing == Sharing::all ? 0 : lane & 8;
  return ir().CreateSub(low, ir().CreateShuffleVector(low, llvm::ArrayRef<int>(first)));
}

/// Whether the elements of all active lanes are within their window, whose first lane is active: 1 bit. Each window
/// lies in the page of its first element, so that reading all of it does not fault.
llvm::Value* LaneAccess::are_near(const Addresses& at, llvm::Value* lanes, unsigned bytes, Sharing sharing) {
  constexpr uint64_t page = 4096;
  llvm::Value* offsets = offsets_in_window(at.low, sharing);
  llvm::Value* far = nullptr;
  if (bytes < 4) {
    far = ir().CreateICmpUGT(offsets, splat(ir().getInt32(window_bytes - 4)));
  } else {
    // Words of 16 bits are permuted: the lowest bit of an odd offset becomes the highest one.
    llvm::Value* rotated =
        ir().CreateIntrinsic(llvm::Intrinsic::fshr, {offsets->getType()}, {offsets, offsets, splat(ir().getInt32(1))});
    far = ir().CreateICmpUGT(rotated, splat(ir().getInt32((window_bytes - bytes) / 2)));
  }
  if (at.high != nullptr) {
    llvm::Value* difference = offsets_in_window(at.high, sharing);
    far = ir().CreateOr(far, ir().CreateICmpNE(difference, llvm::Constant::getNullValue(difference->getType())));
  }
  llvm::SmallVector<llvm::Value*, 8> conditions{ir().CreateICmpEQ(bits(ir().CreateAnd(far, lanes)), ir().getInt16(0))};
  for (unsigned first = 0; first < (sharing == Sharing::all ? 1 : chunk_lanes); first += chunk_lanes / 2) {
    llvm::Value* in_page = ir().CreateAnd(address_of(at, first), page - 1);
    llvm::Value* place = ir().CreateAdd(ir().CreateExtractElement(at.low, uint64_t{first}), ir().getInt32(at.offset));
    conditions.push_back(ir().CreateExtractElement(lanes, uint64_t{first}));
    conditions.push_back(ir().CreateICmpULE(in_page, ir().getInt64(page - window_bytes)));
    conditions.push_back(ir().CreateICmpULE(place, ir().getInt32(-window_bytes)));  // no place wraps around
  }
  return ir().CreateAnd(conditions);
}

/// For elements close to each other in any order, as in interleaved structures: two loads and a permutation of 16-bit
/// words per window, which take a third of a gather's time. `notes`: notes the windows' addresses for the check.
LaneAccess::Words LaneAccess::load_near(const Addresses& at, const MemoryAccess& access, llvm::Value* lanes,
                                        Sharing sharing, bool notes) {
  auto* words = llvm::FixedVectorType::get(frame_.i16(), 2 * chunk_lanes);
  struct Window {
    llvm::Value *first, *second;
  };
  const auto window_at = [&](unsigned lane) -> Window {
    llvm::Value* address = address_of(at, lane);
    if (notes) frame_.bounds->note(frame_.bounds->offset(address));
    llvm::Value* begin = ir().CreateIntToPtr(address, frame_.pointer());
    prefetch(begin, window_bytes / chunk_lanes, false);
    return {ir().CreateAlignedLoad(words, begin, unaligned),
            ir().CreateAlignedLoad(words, frame_.at(begin, window_bytes / 2), unaligned)};
  };
  llvm::SmallVector<Window, 2> windows{window_at(0)};
  if (sharing == Sharing::halves) windows.push_back(window_at(chunk_lanes / 2));
  llvm::Value* offsets = offsets_in_window(at.low, sharing);
  llvm::Value* number = ir().CreateLShr(offsets, splat(ir().getInt32(1)));
  llvm::Value* pairs = ir().CreateOr(number, ir().CreateShl(number, splat(ir().getInt32(16))));
  Words result{};
  for (unsigned word = 0; word < access.words(); ++word) {
    llvm::Value* picked = ir().CreateAdd(pairs, splat(ir().getInt32(0x0001'0000 + word * 0x0002'0002)));
    picked = ir().CreateBitCast(picked, words);
    const auto pick = [&](const Window& window) {
      llvm::Value* value = ir().CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_hi_512, {},
                                                {window.first, picked, window.second});
      return ir().CreateBitCast(value, lanes_of(frame_.i32()));
    };
    llvm::Value* value = pick(windows.front());
    if (windows.size() > 1) {
      value = ir().CreateShuffleVector(value, pick(windows.back()),
                                       {0, 1, 2, 3, 4, 5, 6, 7, 24, 25, 26, 27, 28, 29, 30, 31});
    }
    if (access.bytes < 4) {
      llvm::Value* odd = ir().CreateAnd(offsets, splat(ir().getInt32(1)));
      value = narrowed(ir().CreateLShr(value, ir().CreateShl(odd, splat(ir().getInt32(3)))), access.bytes,
                       access.sign_extend);
    }
    result[word] = ir().CreateSelect(lanes, value, llvm::Constant::getNullValue(value->getType()));
  }
  return result;
}

/// The lowest `bytes` of each dword, extended.
llvm::Value* LaneAccess::narrowed(llvm::Value* dwords, unsigned bytes, bool sign_extend) {
  llvm::Value* narrow = ir().CreateTrunc(dwords, lanes_of(ir().getIntNTy(bytes * 8)));
  return sign_extend ? ir().CreateSExt(narrow, dwords->getType()) : ir().CreateZExt(narrow, dwords->getType());
}

/// load_in_place() in a function that all such loads share.
LaneAccess::Words LaneAccess::call_load(const MemoryAccess& access, const Addresses& at, llvm::Value* active) {
  const unsigned words = access.words();
  auto* result = llvm::StructType::get(
      frame_.context, llvm::SmallVector<llvm::Type*, 4>(words, static_cast<llvm::Type*>(frame_.chunk())));
  const std::string name = fmt::format("load_{}{}", access.bytes, access.sign_extend ? "_signed" : "");
  llvm::Value* all =
      call_shared(name, at, active, {}, result, [&](const Addresses& there, llvm::Value* lanes, const llvm::Argument*) {
        const Words loaded = load_in_place(access, there, lanes, /*in_bounds=*/true);
        llvm::Value* whole = llvm::PoisonValue::get(result);
        for (unsigned word = 0; word < words; ++word) whole = ir().CreateInsertValue(whole, loaded[word], word);
        ir().CreateRet(whole);
      });
  Words loaded{};
  for (unsigned word = 0; word < words; ++word) loaded[word] = ir().CreateExtractValue(all, word);
  return loaded;
}

/// Every `step`th dword of a vector of them, from the `first` one.
llvm::Value* LaneAccess::every(llvm::Value* dwords, unsigned step, unsigned first) {
  int picked[chunk_lanes];
  for (unsigned lane = 0; lane < chunk_lanes; ++lane) picked[lane] = static_cast<int>(lane * step + first);
  return ir().CreateShuffleVector(dwords, llvm::ArrayRef<int>(picked));
}

void LaneAccess::prefetch(llvm::Value* address, unsigned bytes, bool to_write) {
  // A wave mostly continues where the previous one ended. The hardware prefetcher does not detect this early enough,
  // because the loads are few and far apart in time.
  constexpr unsigned waves_ahead = 4, line = 64;
  const unsigned distance = waves_ahead * semantics::wave_lanes * bytes;
  for (unsigned offset = 0; offset < chunk_lanes * bytes; offset += line) {
    ir().CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},
                         {ir().CreateConstGEP1_64(ir().getInt8Ty(), address, distance + offset),
                          ir().getInt32(to_write ? 1 : 0), ir().getInt32(3), ir().getInt32(1)});
  }
}

LaneAccess::Words LaneAccess::load_neighbours(llvm::Value* address, unsigned bytes, bool sign_extend,
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
  // Volatile, as LLVM loads single dwords of elements of four where vectors are short: other waves may write all four.
  const bool keeps_whole = bytes == 16 && !frame_.has_scatters;
  llvm::Value* loaded = ir().CreateAlignedLoad(llvm::FixedVectorType::get(frame_.i32(), chunk_lanes * count), address,
                                               unaligned, keeps_whole);
  Words result{};
  for (unsigned word = 0; word < count; ++word) result[word] = every(loaded, count, word);
  return result;
}

/// Two loads, of which the second one ends with the last lane's dword.
LaneAccess::Words LaneAccess::load_every_second(llvm::Value* address) {
  llvm::Type* words = lanes_of(frame_.i32());
  constexpr int lanes = chunk_lanes;
  llvm::Value* first = ir().CreateAlignedLoad(words, address, unaligned);
  llvm::Value* last = ir().CreateAlignedLoad(words, frame_.at(address, (lanes - 1) * 4), unaligned);
  int picked[chunk_lanes];
  for (int lane = 0; lane < lanes; ++lane) picked[lane] = 2 * lane < lanes ? 2 * lane : 2 * lane + 1;
  return {ir().CreateShuffleVector(first, last, llvm::ArrayRef<int>(picked))};
}

LaneAccess::Words LaneAccess::load_equal(llvm::Value* address, unsigned bytes, bool sign_extend) {
  if (bytes < 4) {
    llvm::Value* loaded = ir().CreateAlignedLoad(ir().getIntNTy(bytes * 8), address, unaligned);
    return {splat(sign_extend ? ir().CreateSExt(loaded, frame_.i32()) : ir().CreateZExt(loaded, frame_.i32()))};
  }
  Words result{};
  const unsigned words = bytes / 4;
  // Volatile, so that LLVM does not make several of one: no other wave may see some of the dwords without the others.
  if (words == 4) {
    llvm::Type* quad = llvm::FixedVectorType::get(frame_.i32(), 4);
    llvm::Value* four = ir().CreateAlignedLoad(quad, address, unaligned, true);
    for (unsigned word = 0; word < 4; ++word) result[word] = splat(ir().CreateExtractElement(four, word));
    return result;
  }
  for (unsigned word = 0; word + 1 < words; word += 2) {
    llvm::Value* two = ir().CreateAlignedLoad(frame_.i64(), frame_.at(address, word * 4), unaligned, true);
    result[word] = splat(ir().CreateTrunc(two, frame_.i32()));
    result[word + 1] = splat(ir().CreateTrunc(ir().CreateLShr(two, 32), frame_.i32()));
  }
  if (words % 2 != 0) {
    result[words - 1] = splat(ir().CreateAlignedLoad(frame_.i32(), frame_.at(address, (words - 1) * 4), unaligned));
  }
  return result;
}

llvm::Value* LaneAccess::gather(llvm::Type* element, const Scattered& at, llvm::Value* lanes) {
  if (!frame_.has_scatters) return call_sparing(gather_by_branches(element), {wide(at), bits(lanes)});
  llvm::Type* type = lanes_of(element);
  return ir().CreateMaskedGather(type, pointers(at), unaligned, lanes, llvm::Constant::getNullValue(type));
}

/// What LLVM makes of a gather for hosts that have none, or slow ones, is long.
llvm::Function* LaneAccess::gather_by_branches(llvm::Type* element) {
  llvm::Module& module = *frame_.function->getParent();
  const std::string name = fmt::format("gather_{}", element->getIntegerBitWidth());
  if (llvm::Function* made = module.getFunction(name)) return made;
  llvm::Type* result = lanes_of(element);
  llvm::Function* function = new_sparing(name, result, {lanes_of(frame_.i64()), frame_.i16()});
  const llvm::IRBuilderBase::InsertPointGuard guard(ir());
  ir().SetInsertPoint(llvm::BasicBlock::Create(frame_.context, "lanes", function));
  llvm::Value* active = ir().CreateBitCast(function->getArg(1), lanes_of(frame_.i1()));
  ir().CreateRet(ir().CreateMaskedGather(result, pointers(scattered(function->getArg(0))), unaligned, active,
                                         llvm::Constant::getNullValue(result)));
  return function;
}

LaneAccess::Words LaneAccess::load_anywhere(const Scattered& at, unsigned bytes, bool sign_extend, llvm::Value* lanes) {
  switch (bytes) {
    case 4:
      return {load_dwords(at, lanes)};
    case 8:
    case 12: {
      llvm::Value* loaded = gather(frame_.i64(), at, lanes);
      llvm::Value* dwords = ir().CreateBitCast(loaded, llvm::FixedVectorType::get(frame_.i32(), chunk_lanes * 2));
      Words words{every(dwords, 2, 0), every(dwords, 2, 1)};
      if (bytes == 12) words[2] = load_dwords(after(at, 8), lanes);
      return words;
    }
    case 16: {
      llvm::Value* loaded = call_sparing(load_quads(), {wide(at), bits(lanes)});
      Words words{};
      for (unsigned word = 0; word < 4; ++word) words[word] = ir().CreateExtractValue(loaded, word);
      return words;
    }
    default:
      break;
  }
  // Bytes and shorts come out of the dwords that hold them: no other page than theirs is touched.
  const Scattered aligned{at.base, ir().CreateAnd(at.lanes, llvm::ConstantInt::get(at.lanes->getType(), ~uint64_t{3}))};
  llvm::Value* place = ir().CreateAnd(ir().CreateTrunc(at.lanes, lanes_of(frame_.i32())), splat(ir().getInt32(3)));
  llvm::Value* shift = ir().CreateShl(place, splat(ir().getInt32(3)));
  llvm::Value* dword = load_dwords(aligned, lanes);
  llvm::Value* value;
  if (bytes == 1) {
    value = ir().CreateLShr(dword, shift);
  } else {
    llvm::Value* split = ir().CreateAnd(lanes, ir().CreateICmpEQ(place, splat(ir().getInt32(3))));
    llvm::Value* next = load_dwords(after(aligned, 4), split);
    value = ir().CreateIntrinsic(llvm::Intrinsic::fshr, {dword->getType()}, {next, dword, shift});
  }
  return {narrowed(value, bytes, sign_extend)};
}

/// Loads 16 bytes for each lane: the four rows of their dwords. Lanes that are not active load zeros.
llvm::Function* LaneAccess::load_quads() {
  llvm::Module& module = *frame_.function->getParent();
  constexpr const char* name = "load_quads";
  if (llvm::Function* made = module.getFunction(name)) return made;
  llvm::Type* row = lanes_of(frame_.i32());
  auto* result = llvm::StructType::get(frame_.context, {row, row, row, row});
  llvm::Function* function = new_sparing(name, result, {lanes_of(frame_.i64()), frame_.i16()});
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

}  // namespace Atoll::compiler

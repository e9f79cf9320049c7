// codegen: selection of memory accesses.
#include <fmt/format.h>
#include <llvm/IR/Constants.h>

#include <algorithm>

#include "codegen/selector.h"
#include "isa/constants.h"
#include "support/bytes.h"

namespace Atoll::codegen {

using isa::Element;
using isa::Opcode;
using isa::Operation;
using target::Generation;

Element memory_element(unsigned bytes) {
  switch (bytes) {
    case 1:
      return Element::u8;
    case 2:
      return Element::u16;
    case 4:
      return Element::b32;
    case 8:
      return Element::b64;
    case 12:
      return Element::b96;
    case 16:
      return Element::b128;
    case 32:
      return Element::b256;
    case 64:
      return Element::b512;
    default:
      return Element::none;
  }
}

int64_t Selector::greatest_offset(unsigned space) const {
  switch (space) {
    case lds_space:
      return 0xFFFF;
    case private_space:
      return 2047;
    case constant_space:
    case global_space:
      return to_.target.processor->generation >= Generation::gfx9 ? 2047 : 0;
    default:
      return 0;
  }
}

void Selector::advance(Address& address, unsigned bytes, unsigned space) {
  const int64_t offset = address.offset + int64_t{bytes};
  if (offset + 16 <= greatest_offset(space)) {
    address.offset = static_cast<int32_t>(offset);
    return;
  }
  const unsigned dwords = space == lds_space || space == private_space ? 1 : 2;
  const MachineOperand sum = fresh(RegisterFile::vgpr, dwords);
  add_offset(sum, Bank::vgpr, dwords, in_vgprs(address.base, dwords),
             MachineOperand::constant_of(static_cast<uint64_t>(offset)));
  address = {.base = sum, .offset = 0};
}

Selector::Address Selector::address_of(const llvm::Value* pointer, unsigned bytes) {
  Address address;
  const unsigned bits = layout_.getIndexTypeSizeInBits(pointer->getType());
  llvm::APInt offset(bits, 0);
  const llvm::Value* base = pointer;
  if (const auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer);
      step != nullptr && step->accumulateConstantOffset(layout_, offset)) {
    base = step->getPointerOperand();
  }
  const int64_t distance = offset.getSExtValue();
  const unsigned space = pointer->getType()->getPointerAddressSpace();
  const int64_t most = greatest_offset(space);
  if (distance < 0 || distance + std::max(0, static_cast<int>(bytes) - 4) > most)
    return {.base = value(pointer), .offset = 0};
  address.base = value(base);
  address.offset = static_cast<int32_t>(distance);
  return address;
}

void Selector::memory(bool loads, const Address& address, const MachineOperand& data, unsigned bytes, unsigned space) {
  const Generation generation = to_.target.processor->generation;
  Element element = memory_element(bytes);
  if (!loads && bytes < 4) element = bytes == 1 ? Element::b8 : Element::b16;
  const Operation operation = loads ? Operation::load : Operation::store;
  const auto put = [&](Place place, Operands operands) {
    const Opcode opcode = need({.place = place, .operation = operation, .type = element, .from = element});
    if (opcode == Opcode::invalid) return;
    emit(opcode, loads ? 1 : 0, std::move(operands)).offset = address.offset;
  };
  if (space == lds_space) {
    if (generation < Generation::gfx9) copy(MachineOperand::scalar(isa::scalar::m0), MachineOperand::constant_of(~0u));
    const MachineOperand at = in_vgprs(address.base, 1);
    if (loads) return put(Place::lds, {data, at});
    return put(Place::lds, {at, in_vgprs(data, std::max(1u, bytes / 4))});
  }
  if (space == private_space) return private_memory(loads, address, data, bytes, element);
  const bool has_flat = to_.target.processor->flat_scratch != target::FlatScratch::none;
  if (!has_flat && space != flat_space) return global_buffer_memory(loads, address, data, element);
  const MachineOperand at = in_vgprs(address.base, 2);
  const MachineOperand from = loads ? data : in_vgprs(data, std::max(1u, bytes / 4));
  const bool has_global = generation >= Generation::gfx9 && space != flat_space;
  if (!has_global) return loads ? put(Place::flat, {from, at}) : put(Place::flat, {at, from});
  const MachineOperand off = MachineOperand::left_out();
  return loads ? put(Place::global, {from, at, off}) : put(Place::global, {at, from, off});
}

MachineOperand Selector::aperture(unsigned space) {
  const target::Processor& processor = *to_.target.processor;
  if (processor.flat_scratch == target::FlatScratch::none ||
      (processor.generation >= Generation::gfx12_5 && space != lds_space))
    refuse(*from_.begin(), "a flat pointer to LDS or private memory on this GPU");
  if (processor.generation < Generation::gfx9) {
    const std::string_view kind = space == lds_space ? "hidden_shared_base" : "hidden_private_base";
    const auto argument = std::ranges::find(to_.arguments, kind, &KernelArgument::kind);
    const MachineOperand high = fresh(RegisterFile::sgpr);
    const Opcode load = need({.place = Place::smem, .operation = Operation::load, .type = Element::b32});
    if (argument == to_.arguments.end() || load == Opcode::invalid) return MachineOperand::constant_of(0);
    emit(load, 1, {high, kernarg_, MachineOperand::left_out()}).offset = static_cast<int32_t>(argument->offset);
    return tuple(RegisterFile::sgpr, {MachineOperand::constant_of(0), high});
  }
  const MachineOperand base = fresh(RegisterFile::sgpr, 2);
  emit(Opcode::s_mov_b64, 1,
       {base, MachineOperand::aperture_of(space == lds_space ? isa::OperandKind::shared_base
                                                             : isa::OperandKind::private_base)});
  return base;
}

MachineOperand Selector::to_flat(const MachineOperand& pointer, unsigned space, bool is_object) {
  // The upper half is that of the aperture's address.
  const MachineOperand base = aperture(space);
  if (is_object) return tuple(pointer.is_constant() ? RegisterFile::sgpr : file_of(pointer), {pointer, part(base, 1)});
  const MachineOperand low = in_vgprs(pointer, 1), not_null = fresh_mask();
  vector_instruction(vector_comparison(isa::Predicate::ne, Element::u32), not_null,
                     {MachineOperand::constant_of(UINT32_MAX), low});
  Operands parts;
  for (const MachineOperand& each : {low, part(base, 1)}) {
    const MachineOperand chosen = fresh(RegisterFile::vgpr);
    vop(Operation::select, Element::b32, chosen, {each, MachineOperand::constant_of(0), not_null});
    parts.push_back(chosen);
  }
  return tuple(RegisterFile::vgpr, parts);
}

void Selector::frame_object(llvm::AllocaInst& at) {
  const auto size = at.getAllocationSize(layout_);
  if (!at.isStaticAlloca() || !size || size->isScalable()) return refuse(at, "an alloca of variable size");
  const auto align = static_cast<uint32_t>(at.getAlign().value());
  const uint32_t offset = static_cast<uint32_t>(support::align_up(to_.scratch_bytes, align));
  to_.scratch_bytes = offset + static_cast<uint32_t>(size->getFixedValue());
  values_[&at] = MachineOperand::constant_of(offset);
}

void Selector::global_buffer_memory(bool loads, const Address& address, const MachineOperand& data, Element element) {
  // GFX6 has no flat instructions: a buffer at address 0 whose 64-bit addresses are not compared with its size.
  const Opcode opcode =
      need({.place = Place::buffer, .operation = loads ? Operation::load : Operation::store, .type = element});
  if (opcode == Opcode::invalid) return;
  constexpr uint32_t data_format = 0xF000;
  const MachineOperand zero = MachineOperand::constant_of(0);
  const MachineOperand resource =
      tuple(RegisterFile::sgpr, {zero, zero, zero, MachineOperand::constant_of(data_format)});
  const MachineOperand moved = loads ? data : in_vgprs(data, std::max<unsigned>(data.dwords, 1));
  MachineInstruction& made = emit(opcode, loads ? 1 : 0, {moved, in_vgprs(address.base, 2), resource, zero});
  made.offset = address.offset;
  made.addr64 = true;
}

void Selector::private_memory(bool loads, const Address& address, const MachineOperand& data, unsigned bytes,
                              Element element) {
  const bool has_scratch = to_.target.processor->flat_scratch >= target::FlatScratch::absolute;
  const Operation operation = loads ? Operation::load : Operation::store;
  const MachineOperand base = in_vgprs(address.base, 1);
  // Buffers of scratch are swizzled in dwords.
  const unsigned count = has_scratch || bytes <= 4 ? 1 : bytes / 4;
  if (count != 1) element = Element::b32;
  const Opcode opcode =
      need({.place = has_scratch ? Place::scratch : Place::buffer, .operation = operation, .type = element});
  if (opcode == Opcode::invalid) return;
  const MachineOperand from = loads ? data : in_vgprs(data, std::max(1u, bytes / 4));
  Operands words;
  for (unsigned i = 0; i < count; ++i) {
    MachineOperand word = count == 1 ? from : loads ? fresh(RegisterFile::vgpr) : part(from, i);
    words.push_back(word);
    Operands operands;
    if (has_scratch) {
      operands =
          loads ? Operands{word, base, MachineOperand::left_out()} : Operands{base, word, MachineOperand::left_out()};
    } else {
      operands = {word, base, scratch_resource_, scratch_offset_};
    }
    MachineInstruction& made = emit(opcode, loads ? 1 : 0, std::move(operands));
    made.offset = address.offset + 4 * static_cast<int32_t>(i);
    made.offen = !has_scratch;
  }
  if (!loads || count == 1) return;
  words.insert(words.begin(), data);
  pseudo(Pseudo::tuple, 1, std::move(words));
}

void Selector::load(llvm::LoadInst& at) {
  in_order(at,
           memory_operation(at, memory_model::Access::load, at.getOrdering(), at.getSyncScopeID(),
                            at.getPointerAddressSpace()),
           [&] { plain_load(at); });
}

void Selector::store(llvm::StoreInst& at) {
  in_order(at,
           memory_operation(at, memory_model::Access::store, at.getOrdering(), at.getSyncScopeID(),
                            at.getPointerAddressSpace()),
           [&] { plain_store(at); });
}

void Selector::plain_load(llvm::LoadInst& at) {
  const MachineOperand result = result_of(at);
  const auto bytes = static_cast<unsigned>(layout_.getTypeStoreSize(at.getType()).getFixedValue());
  if (memory_element(bytes) == Element::none && bytes % 4 != 0)
    return refuse(at, fmt::format("a load of {} bytes", bytes));
  if (bank_of(&at) == Bank::sgpr) {
    const Address address = address_of(at.getPointerOperand(), 4);
    const Opcode opcode = need({.place = Place::smem, .operation = Operation::load, .type = memory_element(bytes)});
    if (opcode == Opcode::invalid) return;
    MachineInstruction& made = emit(opcode, 1, {result, in_sgprs(address.base, 2), MachineOperand::left_out()});
    made.offset = address.offset;
    return;
  }
  const unsigned space = at.getPointerAddressSpace(), piece = piece_of(bytes, at.getAlign().value(), space);
  if (piece == bytes) return memory(true, address_of(at.getPointerOperand(), bytes), result, bytes, space);
  Address address = address_of(at.getPointerOperand(), bytes);
  Operands parts{result};
  for (unsigned first = 0; first < bytes; first += piece, advance(address, piece, space)) {
    parts.push_back(fresh(RegisterFile::vgpr, piece / 4));
    memory(true, address, parts.back(), piece, space);
  }
  pseudo(Pseudo::tuple, 1, std::move(parts));
}

void Selector::plain_store(llvm::StoreInst& at) {
  const llvm::Value* data = at.getValueOperand();
  const auto bytes = static_cast<unsigned>(layout_.getTypeStoreSize(data->getType()).getFixedValue());
  if (memory_element(bytes) == Element::none && bytes % 4 != 0)
    return refuse(at, fmt::format("a store of {} bytes", bytes));
  const unsigned space = at.getPointerAddressSpace(), piece = piece_of(bytes, at.getAlign().value(), space);
  const MachineOperand whole = in_vgprs(value(data), std::max(1u, bytes / 4));
  Address address = address_of(at.getPointerOperand(), bytes);
  for (unsigned first = 0; first < bytes; first += piece, advance(address, piece, space))
    memory(false, address, piece == bytes ? whole : part(whole, first / 4, piece / 4), piece, space);
}

unsigned Selector::piece_of(unsigned bytes, uint64_t align, unsigned space) const {
  if (bytes <= 4) return bytes;
  // The LDS of older GPUs requires alignment of what is wider than a dword.
  const bool needs_alignment = space == lds_space && to_.target.processor->generation < Generation::gfx9;
  for (const unsigned piece : {16u, 12u, 8u}) {
    if (piece > bytes || bytes % piece != 0 || (piece == 12 && bytes != 12)) continue;
    if (needs_alignment && (align < piece || piece > 8)) continue;
    if (piece == 12 && to_.target.processor->generation < Generation::gfx7) continue;
    if (space == lds_space && piece > 8 && align < 16) continue;
    return piece;
  }
  return 4;
}

namespace {

/// Maps an atomicrmw to the table's operation and its element types of 32 and 64 bits.
struct AtomicKind {
  llvm::AtomicRMWInst::BinOp kind;
  Operation operation;
  Element word, wide;
};

constexpr AtomicKind atomic_kinds[] = {
    {llvm::AtomicRMWInst::Xchg, Operation::exchange, Element::b32, Element::b64},
    {llvm::AtomicRMWInst::Add, Operation::add, Element::u32, Element::u64},
    {llvm::AtomicRMWInst::Sub, Operation::sub, Element::u32, Element::u64},
    {llvm::AtomicRMWInst::And, Operation::bit_and, Element::b32, Element::b64},
    {llvm::AtomicRMWInst::Or, Operation::bit_or, Element::b32, Element::b64},
    {llvm::AtomicRMWInst::Xor, Operation::bit_xor, Element::b32, Element::b64},
    {llvm::AtomicRMWInst::Min, Operation::min, Element::i32, Element::i64},
    {llvm::AtomicRMWInst::Max, Operation::max, Element::i32, Element::i64},
    {llvm::AtomicRMWInst::UMin, Operation::min, Element::u32, Element::u64},
    {llvm::AtomicRMWInst::UMax, Operation::max, Element::u32, Element::u64},
    {llvm::AtomicRMWInst::UIncWrap, Operation::increment_wrap, Element::u32, Element::u64},
    {llvm::AtomicRMWInst::UDecWrap, Operation::decrement_wrap, Element::u32, Element::u64},
};

}  // namespace

bool has_atomic_instruction(const llvm::AtomicRMWInst& at, const llvm::DataLayout& layout) {
  const uint64_t bytes = layout.getTypeStoreSize(at.getType());
  return (bytes == 4 || bytes == 8) &&
         std::ranges::find(atomic_kinds, at.getOperation(), &AtomicKind::kind) != std::end(atomic_kinds);
}

void Selector::atomic(llvm::AtomicRMWInst& at) {
  const auto* known = std::ranges::find(atomic_kinds, at.getOperation(), &AtomicKind::kind);
  if (known == std::end(atomic_kinds))
    return refuse(at, fmt::format("atomic {}", llvm::AtomicRMWInst::getOperationName(at.getOperation()).str()));
  const unsigned dwords = dwords_of(at.getType());
  if (dwords > 2) return refuse(at, "an atomic of this width");
  const MachineOperand data = in_vgprs(value(at.getValOperand()), dwords);
  const auto access = at.use_empty() ? memory_model::Access::rmw_no_return : memory_model::Access::rmw;
  in_order(at, memory_operation(at, access, at.getOrdering(), at.getSyncScopeID(), at.getPointerAddressSpace()), [&] {
    atomic_instruction(at, at.getPointerOperand(), {data}, at.use_empty() ? MachineOperand{} : result_of(at),
                       {.operation = known->operation, .type = dwords == 2 ? known->wide : known->word});
  });
}

void Selector::compare_exchange(llvm::AtomicCmpXchgInst& at) {
  const llvm::Value *expected = at.getCompareOperand(), *replacement = at.getNewValOperand();
  const unsigned dwords = dwords_of(expected->getType());
  if (layout_.getTypeStoreSize(expected->getType()) % 4 != 0 || dwords > 2)
    return refuse(at, "a compare and exchange of this width");
  const MachineOperand old = fresh(RegisterFile::vgpr, dwords);
  const MachineOperand compared = in_vgprs(value(expected), dwords), stored = in_vgprs(value(replacement), dwords);
  const Element type = dwords == 2 ? Element::b64 : Element::b32;
  const auto operation = memory_operation(at, memory_model::Access::rmw, at.getMergedOrdering(), at.getSyncScopeID(),
                                          at.getPointerAddressSpace());
  in_order(at, operation, [&] {
    Choice choice{.operation = Operation::compare_exchange, .type = type};
    if (at.getPointerAddressSpace() == lds_space) {
      // Until GFX10 the value that is compared comes first.
      const bool stores_second =
          choice_.find(
              {.place = Place::lds, .operation = choice.operation, .type = type, .from = type, .returns = true}) ==
          Opcode::invalid;
      if (stores_second) choice.operation = Operation::compare_store;
      atomic_instruction(at, at.getPointerOperand(),
                         stores_second ? Operands{compared, stored} : Operands{stored, compared}, old, choice);
    } else {
      Operands parts;
      for (const MachineOperand& each : {stored, compared})
        for (unsigned i = 0; i < dwords; ++i) parts.push_back(part(each, i));
      atomic_instruction(at, at.getPointerOperand(), {tuple(RegisterFile::vgpr, parts)}, old, choice);
    }
  });
  const MachineOperand equal = fresh_mask();
  const Element number = dwords == 2 ? Element::u64 : Element::u32;
  vector_instruction(vector_comparison(isa::Predicate::eq, number), equal, {old, compared});
  pairs_[&at] = {old, equal};
}

void Selector::atomic_instruction(const llvm::Instruction& at, const llvm::Value* pointer, Operands data,
                                  const MachineOperand& old, Choice choice) {
  const Address address = address_of(pointer, 4);
  const unsigned space = pointer->getType()->getPointerAddressSpace();
  const bool returns = old.kind != MachineOperand::Kind::none;
  const Generation generation = to_.target.processor->generation;
  Operands operands;
  if (returns) operands.push_back(old);
  choice.place = Place::lds;
  if (space == lds_space) {
    if (generation < Generation::gfx9) copy(MachineOperand::scalar(isa::scalar::m0), MachineOperand::constant_of(~0u));
    operands.push_back(in_vgprs(address.base, 1));
  } else if (space == flat_space || space == global_space) {
    operands.push_back(in_vgprs(address.base, 2));
    choice.place = generation >= Generation::gfx9 && space == global_space ? Place::global : Place::flat;
  } else {
    return refuse(at, fmt::format("an atomic in address space {}", space));
  }
  operands.insert(operands.end(), data.begin(), data.end());
  if (choice.place == Place::global) operands.push_back(MachineOperand::left_out());
  choice.from = choice.type;
  choice.returns = returns && choice.place == Place::lds;
  const Opcode opcode = need(choice);
  if (opcode == Opcode::invalid) return;
  MachineInstruction& made = emit(opcode, returns ? 1 : 0, std::move(operands));
  made.offset = address.offset;
  made.glc = returns && choice.place != Place::lds;
}

}  // namespace Atoll::codegen

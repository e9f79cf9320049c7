// compiler: whether addresses are of what the GPU may touch (guest_bounds.h).
#include "compiler/memory/guest_bounds.h"

#include "machine/memory/memory.h"

namespace Atoll::compiler {

using machine::AddressBounds;
using machine::WorkGroup;

/// Once for the function: what a dispatch may touch does not change while it runs.
void GuestBounds::load_bounds() {
  if (base_ != nullptr) return;
  llvm::IRBuilder<> entry(frame_.allocas->getTerminator());
  const auto load = [&](llvm::Value* from, size_t offset, llvm::Type* type) {
    return entry.CreateLoad(type, entry.CreateConstInBoundsGEP1_64(entry.getInt8Ty(), from, offset));
  };
  llvm::Value* group = load(frame_.wave, offsetof(Wave, work_group), frame_.pointer());
  constexpr size_t bounds = offsetof(WorkGroup, bounds);
  base_ = load(group, bounds + offsetof(AddressBounds, base), frame_.i64());
  outside_ = load(group, bounds + offsetof(AddressBounds, outside), frame_.i64());
  const auto upper = [&](llvm::Value* value) { return entry.CreateTrunc(entry.CreateLShr(value, 32), frame_.i32()); };
  upper_base_ = upper(base_);
  upper_outside_ = upper(outside_);
  // Where everything is in the bounds, the apertures are not: programs have addresses of 47 bits, apertures more.
  constexpr uint32_t upper_of_program = 0x7fff;
  static_assert(machine::shared_aperture_hi > upper_of_program + 1);
  upper_outside_of_flat_ = entry.CreateOr(upper_outside_, entry.getInt32(~upper_of_program));
}

llvm::Value* GuestBounds::splat(llvm::Value* value) {
  return frame_.ir.CreateVectorSplat(semantics::chunk_lanes, value);
}

/// Of a chunk's lanes, which have one of the bits.
llvm::Value* GuestBounds::has_any(llvm::Value* values, llvm::Value* bits) {
  return frame_.ir.CreateICmpNE(frame_.ir.CreateAnd(values, splat(bits)),
                                llvm::Constant::getNullValue(values->getType()));
}

llvm::Value* GuestBounds::offset(llvm::Value* address) {
  load_bounds();
  return frame_.ir.CreateSub(address, base_);
}

llvm::Value* GuestBounds::hold(llvm::Value* offsets) {
  load_bounds();
  return frame_.ir.CreateICmpEQ(frame_.ir.CreateAnd(offsets, outside_), frame_.ir.getInt64(0));
}

llvm::Value* GuestBounds::avoid_apertures(llvm::Value* offsets) {
  load_bounds();
  llvm::Value* upper = frame_.ir.CreateTrunc(frame_.ir.CreateLShr(offsets, 32), frame_.i32());
  return frame_.ir.CreateICmpEQ(frame_.ir.CreateAnd(upper, upper_outside_of_flat_), frame_.ir.getInt32(0));
}

llvm::Value* GuestBounds::are_outside(llvm::Value* upper_halves, bool or_in_aperture) {
  load_bounds();
  return has_any(frame_.ir.CreateSub(upper_halves, splat(upper_base_)),
                 or_in_aperture ? upper_outside_of_flat_ : upper_outside_);
}

llvm::Value* GuestBounds::are_outside(llvm::Value* addresses) {
  load_bounds();
  return has_any(frame_.ir.CreateSub(addresses, splat(base_)), outside_);
}

void GuestBounds::note(llvm::Value* offset) {
  llvm::IRBuilder<>& ir = frame_.ir;
  if (offsets_ == nullptr) {
    offsets_ = frame_.local(frame_.i64(), llvm::Align(8));
    llvm::IRBuilder<>(frame_.allocas->getTerminator()).CreateStore(ir.getInt64(0), offsets_);
  }
  ir.CreateStore(ir.CreateOr(ir.CreateLoad(frame_.i64(), offsets_), offset), offsets_);
  noted_.addresses = true;
}

void GuestBounds::note_lanes(llvm::Value* outside) {
  llvm::IRBuilder<>& ir = frame_.ir;
  if (lanes_ == nullptr) {
    lanes_ = frame_.local(frame_.lanes(), llvm::Align(2));
    llvm::IRBuilder<>(frame_.allocas->getTerminator())
        .CreateStore(llvm::Constant::getNullValue(frame_.lanes()), lanes_);
  }
  ir.CreateStore(ir.CreateOr(ir.CreateLoad(frame_.lanes(), lanes_), outside), lanes_);
  noted_.lanes = true;
}

void GuestBounds::check() {
  llvm::IRBuilder<>& ir = frame_.ir;
  llvm::Value* is_right = nullptr;
  if (noted_.addresses) {
    is_right = hold(ir.CreateLoad(frame_.i64(), offsets_));
    ir.CreateStore(ir.getInt64(0), offsets_);
  }
  if (noted_.lanes) {
    llvm::Value* outside = ir.CreateBitCast(ir.CreateLoad(frame_.lanes(), lanes_), frame_.i16());
    ir.CreateStore(llvm::Constant::getNullValue(frame_.lanes()), lanes_);
    llvm::Value* none = ir.CreateICmpEQ(outside, ir.getInt16(0));
    is_right = is_right != nullptr ? ir.CreateAnd(is_right, none) : none;
  }
  noted_ = {};
  if (is_right != nullptr) frame_.check(is_right);
}

}  // namespace Atoll::compiler

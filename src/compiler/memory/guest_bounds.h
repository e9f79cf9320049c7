// compiler: whether the addresses that translated code has made are of what the GPU may touch.
//
// Those are one range (machine::WorkGroup::bounds), or parts of it: offsets from its begin have none of certain bits,
// so that the offsets of several addresses, or'ed, have none if all of them are right. So loads are made without a look
// at them, and what they have loaded is not looked at outside of the code's registers until all addresses have been
// found to be right: a load from elsewhere fails by itself, or does no harm. Stores look at their addresses first.
//
// What is wrong leaves the code, and the interpreter finds out which instruction and lane it was, as for what the host
// refuses (compiled_engine.cpp); or that nothing is wrong, where the scalar part of an address has been looked at
// alone.
#pragma once

#include "compiler/lowering/frame.h"

namespace Atoll::compiler {

class GuestBounds {
 public:
  explicit GuestBounds(Frame& frame) : frame_(frame) {}
  GuestBounds(const GuestBounds&) = delete;
  GuestBounds& operator=(const GuestBounds&) = delete;

  /// What has been noted and not checked on the way to where the builder stands.
  struct Noted {
    bool addresses = false, lanes = false;
  };

  /// How far an address (64 bits) is from the range's begin.
  llvm::Value* offset(llvm::Value* address);
  /// Whether all of the addresses are right that `offsets` are of, or'ed (an i1).
  llvm::Value* hold(llvm::Value* offsets);
  /// Whether none of those addresses, all of which are right, is in an aperture; nor any that is less than 4 GiB away.
  llvm::Value* avoid_apertures(llvm::Value* offsets);
  /// Of a chunk's lanes, whether the addresses are wrong that have these upper halves, but for less than 4 GiB more or
  /// less. Apertures are wrong, too.
  llvm::Value* are_outside(llvm::Value* upper_halves, bool or_in_aperture);
  /// The same of whole addresses.
  llvm::Value* are_outside(llvm::Value* addresses);

  void note(llvm::Value* offset);
  /// That these lanes (a chunk's) use wrong addresses.
  void note_lanes(llvm::Value* outside);
  /// Goes on only if all that was noted is right.
  void check();

  /// For ways that part and join again.
  Noted noted() const { return noted_; }
  void set_noted(Noted noted) { noted_ = noted; }

 private:
  void load_bounds();
  llvm::Value* splat(llvm::Value* value);
  llvm::Value* has_any(llvm::Value* values, llvm::Value* bits);

  Frame& frame_;
  llvm::Value *base_ = nullptr, *outside_ = nullptr;
  llvm::Value *upper_base_ = nullptr, *upper_outside_ = nullptr, *upper_outside_of_flat_ = nullptr;  ///< 32 bits
  llvm::Value *offsets_ = nullptr, *lanes_ = nullptr;                                                ///< locals
  Noted noted_;
};

}  // namespace Atoll::compiler

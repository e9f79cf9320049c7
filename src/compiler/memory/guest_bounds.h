// compiler: checks that addresses computed by translated code are accessible to the GPU.
//
// Accessible memory is a range (machine::WorkGroup::bounds) or partitions of it: offsets from its begin lack certain
// bits, so the or'ed offsets of several addresses lack them if all are valid. Loads are executed before the check, and
// their results do not leave the code's registers until all addresses are known to be valid: an invalid load either
// faults or is harmless. Stores check their addresses first.
//
// On failure the code exits, and the interpreter determines the faulting instruction and lane, as for host faults
// (compiled_engine.cpp). It may also find no fault, if only the scalar part of an address was checked.
#pragma once

#include "compiler/lowering/frame.h"

namespace Atoll::compiler {

class GuestBounds {
 public:
  explicit GuestBounds(Frame& frame) : frame_(frame) {}
  GuestBounds(const GuestBounds&) = delete;
  GuestBounds& operator=(const GuestBounds&) = delete;

  /// Addresses noted on the path to the insertion point but not yet checked.
  struct Noted {
    bool addresses = false, lanes = false;
  };

  /// Returns the distance of an address (i64) from the range's begin.
  llvm::Value* offset(llvm::Value* address);
  /// Returns whether all addresses with these or'ed offsets are valid, as i1.
  llvm::Value* hold(llvm::Value* offsets);
  /// Returns whether none of those valid addresses is within 4 GiB of an aperture.
  llvm::Value* avoid_apertures(llvm::Value* offsets);
  /// Returns the chunk's lanes whose addresses with these upper halves are invalid, to within 4 GiB. Apertures are
  /// invalid, too.
  llvm::Value* are_outside(llvm::Value* upper_halves, bool or_in_aperture);
  /// Returns the chunk's lanes with invalid addresses.
  llvm::Value* are_outside(llvm::Value* addresses);

  void note(llvm::Value* offset);
  /// Notes lanes with invalid addresses.
  void note_lanes(llvm::Value* outside);
  /// Emits the check of everything noted.
  void check();

  /// Used to save and join the state at branches.
  Noted noted() const { return noted_; }
  void set_noted(Noted noted) { noted_ = noted; }

 private:
  void load_bounds();
  llvm::Value* splat(llvm::Value* value);
  llvm::Value* has_any(llvm::Value* values, llvm::Value* bits);

  Frame& frame_;
  llvm::Value *base_ = nullptr, *outside_ = nullptr;
  llvm::Value *upper_base_ = nullptr, *upper_outside_ = nullptr, *upper_outside_of_flat_ = nullptr;  ///< 32 bits
  llvm::Value *offsets_ = nullptr, *lanes_ = nullptr;                                                ///< allocas
  Noted noted_;
};

}  // namespace Atoll::compiler

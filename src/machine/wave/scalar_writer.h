// machine: appends the SGPRs of a launch from s0 on, as the makers of LaunchStates do (hsa_launch.cpp, pal_launch.cpp).
#pragma once

#include <cstdint>

#include "isa/instruction.h"
#include "machine/wave/launch_state.h"
#include "object/kernel_descriptor.h"

namespace Atoll::machine {

class ScalarWriter {
 public:
  explicit ScalarWriter(InitialScalars& scalars) : scalars_(scalars) {}

  /// Drops what is written to registers from `end` on.
  void limit(unsigned end) { limit_ = end; }
  void skip_to(unsigned reg) { next_ = reg; }
  unsigned next() const { return next_; }

  void add(InitialScalar::Source source, unsigned part = 0, uint32_t literal = 0) {
    if (next_ < limit_) {
      scalars_.add({.source = source,
                    .part = static_cast<uint8_t>(part),
                    .reg = static_cast<uint8_t>(isa::scalar::s0 + next_),
                    .literal = literal});
    }
    ++next_;
  }
  void word(uint32_t value) { add(InitialScalar::Source::literal, 0, value); }
  void pair(uint64_t value) {
    word(static_cast<uint32_t>(value));
    word(static_cast<uint32_t>(value >> 32));
  }

 private:
  InitialScalars& scalars_;
  unsigned next_ = 0, limit_ = 0;
};

/// Work-group ids in three dimensions, work-group info and scratch offset.
inline constexpr unsigned max_system_sgprs = 5;

/// Appends the system SGPRs, which stand after the user SGPRs and differ between work-groups or waves, and sets the
/// fields of `launch` that say where the same values are otherwise. Sets LaunchState::defined_sgprs.
void add_system_sgprs(LaunchState& launch, const object::KernelDescriptor& descriptor, unsigned user_sgprs,
                      const target::Processor& processor);

/// Sets the registers of a launch but for SGPRs: sizes, mode, work-item ids.
void set_registers(LaunchState& launch, const object::KernelDescriptor& descriptor, const target::Processor& processor);

}  // namespace Atoll::machine

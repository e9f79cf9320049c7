// target: what GPU code runs on, as far as it decides what its instructions do. Whoever decodes, prepares, compiles or
// caches code does it for a Target.
#pragma once

#include "target/processor.h"
#include "target/target_id.h"

namespace Atoll::target {

struct Target {
  const Processor* processor = nullptr;
  /// Loads of 16 bits and less into half a register (D16 loads) write the other half, too, with zeros: where SRAM ECC
  /// protects the register file, it is written in dwords only. LLVM's FeatureSRAMECC (GCNSubtarget,
  /// d16PreservesUnusedBits()); rocBLAS' kernels join two such loads by an OR.
  bool d16_loads_clear = false;
  /// Lanes of a wave: 32 or 64. A kernel's descriptor says it (ENABLE_WAVEFRONT_SIZE32), so a GPU that has both runs
  /// code for either.
  uint8_t wave_size = 64;

  Target() = default;
  /// A GPU of this processor without SRAM ECC, and its waves of 64 lanes if it has them.
  Target(const Processor& processor_)  // NOLINT(google-explicit-constructor)
      : processor(&processor_), wave_size(processor_.has_wave_size(64) ? 64 : 32) {}
  /// The GPU that a target ID with all its features settled names; likewise.
  Target(const TargetId& id)  // NOLINT(google-explicit-constructor)
      : Target(*id.processor) {
    d16_loads_clear = id.sramecc == Setting::on;
  }

  /// The same GPU with waves of that many lanes.
  Target with_wave_size(unsigned lanes) const {
    Target other = *this;
    other.wave_size = static_cast<uint8_t>(lanes);
    return other;
  }
};

}  // namespace Atoll::target

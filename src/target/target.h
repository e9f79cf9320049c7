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

  Target() = default;
  /// A GPU of this processor without SRAM ECC.
  Target(const Processor& processor_) : processor(&processor_) {}  // NOLINT(google-explicit-constructor)
  /// The GPU that a target ID with all its features settled names.
  Target(const TargetId& id)  // NOLINT(google-explicit-constructor)
      : processor(id.processor), d16_loads_clear(id.sramecc == Setting::on) {}
};

}  // namespace Atoll::target

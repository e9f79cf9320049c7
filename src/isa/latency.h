// isa: latency classes of instructions: how long a result takes, and how long issuing the instruction occupies its
// unit.
//
// Unit, operation and types of a row give its class. A table has the timing of each class for each model of the
// hardware, with its sources (latency.cpp). The numbers are estimates for schedulers, not measurements: memory has the
// latency of a hit in a near cache. tests/isa/latency_test.cpp compares the latency of every row with llvm-mca-22.
#pragma once

#include <cstdint>
#include <string_view>

#include "isa/table.h"
#include "target/processor.h"

namespace Atoll::isa {

enum class LatencyClass : uint8_t {
  valu,
  conversion,  ///< between floats and integers, or floats of different widths
  wide,        ///< 64 bits, or two results
  wide_multiply,
  multiply,  ///< integers of 32 bits
  transcendental,
  scalar_transcendental,  ///< whose result is an SGPR
  double_add,             ///< floats of 64 bits: sums, products, comparisons
  double_other,           ///< ... steps of divisions
  double_conversion,
  double_transcendental,
  salu,
  scalar_float,
  smem,
  vmem,
  lds,
  export_,
  branch,
  barrier,
  count
};

LatencyClass latency_class(const InstructionRow& row);

struct Timing {
  unsigned latency = 0;  ///< cycles from issue until another instruction can read the result
  unsigned issue = 0;    ///< cycles for which the unit accepts no other instruction of the wave; 0 if unknown
  friend bool operator==(const Timing&, const Timing&) = default;
};

/// The timing of a class on a processor; no latency if the processor has no such instructions. Matrix instructions take
/// the passes of hazards/matrix_hazards.h besides.
Timing timing_of(LatencyClass latency, const target::Processor& processor);

/// Cycles that a unit of LLVM's models lasts: 4 before GFX10, where a wave of 64 lanes issues in four cycles; 1 from
/// there on.
unsigned unit_of_latency(const target::Processor& processor);

std::string_view name_of(LatencyClass latency);

}  // namespace Atoll::isa

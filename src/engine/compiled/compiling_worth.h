// engine/compiled: the tier-up policy: decides when code is compiled.
//
// Interpretation cost grows with execution, compilation is paid once, and the remaining execution is unknown. The
// policy compares the expected remaining interpretation with the cost of compiling, both in instructions interpreted
// for whole waves.
//
// The remaining work of the current dispatch is known once some of its work-groups have ended. The rest is estimated as
// equal to the kernel's past, as in the ski-rental problem. This bounds the loss: a kernel is compiled when its
// interpretation has cost a multiple of compiling it. A program that ends right then has lost a fraction of its run
// time; a program that continues has lost at most that multiple.
#pragma once

#include <cstdint>
#include <optional>

namespace Atoll::engine {

struct ControlFlow;

/// Code with at least this many instructions is compiled at a lower optimisation level, because compile time then
/// outweighs the last gains in speed.
constexpr uint64_t brief_from_instructions = 300;

/// The cost and benefit of compiling some code.
struct CompilingCost {
  uint64_t interpreted = 0;  ///< number of instructions interpreted in the same time
  /// Large code in small blocks gains less: low optimisation level, and registers in memory between blocks.
  bool gains_less = false;

  static CompilingCost of(const ControlFlow& flow);
  /// Returns the approximate cost in nanoseconds of processor time.
  uint64_t ns() const;
};

/// How often some code has been interpreted.
struct Interpreted {
  uint64_t in_past_runs = 0;  ///< in past runs of programs (past_runs.h)
  uint64_t so_far = 0;        ///< in this run
  uint64_t earlier = 0;       ///< part of `so_far` in earlier dispatches
  /// Remaining work of the current dispatch; unset: unknown.
  std::optional<uint64_t> ahead = {};
};

/// The priority at which code is compiled, if at all.
enum class CompilingIsWorth : uint8_t {
  nothing_yet,
  idle_time,     ///< at idle priority
  program_time,  ///< at the program's priority, with threads of the program yielding
};
CompilingIsWorth compiling_is_worth(const Interpreted& interpreted, const CompilingCost& cost);

}  // namespace Atoll::engine

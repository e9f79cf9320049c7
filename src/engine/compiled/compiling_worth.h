// engine/compiled: when a piece of code is compiled.
//
// Code that the interpreter runs costs little at first and ever more; compiling it costs once, and it is unknown how
// long a program will go on. So what the interpreter may still have to do is held against what compiling costs, both in
// the same unit: instructions that the interpreter runs, counted for whole waves.
//
// Of what is still to come, a part is known: what the dispatch under way has left, once some of its work-groups have
// ended. The rest is a guess: a kernel that has been launched before is launched again, for as long as it has been so
// far. That guess is no better than it sounds. It bounds what may be lost, whenever the program ends: a kernel is
// compiled when it has cost some times what compiling does, so a program that ends just then has lost a part of what it
// took anyway; and one that goes on has lost no more than these few times.
#pragma once

#include <cstdint>
#include <optional>

namespace Atoll::engine {

struct ControlFlow;

/// Code of more instructions is compiled in brief: from there on compiling takes so long that what it takes matters
/// more than the last of the code's speed.
constexpr uint64_t brief_from_instructions = 300;

/// What compiling a piece of code costs, and what is gained by it.
struct CompilingCost {
  uint64_t interpreted = 0;  ///< what the interpreter runs in the time
  /// Much code in small blocks gains less: it is compiled in brief, and registers live in memory between blocks.
  bool gains_less = false;

  static CompilingCost of(const ControlFlow& flow);
  /// Nanoseconds of one of the host's processors, about.
  uint64_t ns() const;
};

/// How much of a piece of code the interpreter runs.
struct Interpreted {
  uint64_t in_past_runs = 0;  ///< of programs (past_runs.h)
  uint64_t so_far = 0;        ///< in this run
  uint64_t earlier = 0;       ///< of that, in dispatches before the one under way
  /// What the dispatch under way has left for threads to begin with; unset: unknown.
  std::optional<uint64_t> ahead = {};
};

/// What compiling a piece of code is worth.
enum class CompilingIsWorth : uint8_t {
  nothing_yet,
  idle_time,     ///< of the host, which nobody else wants
  program_time,  ///< as much of the host's time as the program has, of which it gives up some
};
CompilingIsWorth compiling_is_worth(const Interpreted& interpreted, const CompilingCost& cost);

}  // namespace Atoll::engine

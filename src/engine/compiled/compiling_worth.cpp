// engine/compiled: when a piece of code is compiled (compiling_worth.h).
#include "engine/compiled/compiling_worth.h"

#include <algorithm>

#include "engine/compiled/control_flow.h"

namespace Atoll::engine {

namespace {

/// Cost model of the compiler in interpreted instructions of 15 ns. Fitted to the benchmark's kernels and a hundred of
/// rocPRIM's and rocSPARSE's, most of them within a third: 18 ms to start; 0.18 ms per instruction; 1.5 ms per entry,
/// where all registers are loaded; double precision takes twice the host registers.
constexpr uint64_t for_the_start = 1'200'000, for_an_instruction = 12'000, for_an_entry = 100'000,
                   for_a_double = 30'000;
constexpr uint64_t ns_of_an_instruction = 15;

/// In the mean, of blocks in which registers stay where they are for long enough.
constexpr uint64_t instructions_of_a_large_block = 20;

/// What pays, in times what compiling costs.
struct Thresholds {
  uint64_t known;    ///< what is left of a dispatch
  uint64_t guessed;  ///< that, and what earlier dispatches ran, which later ones will run
};
/// Compiled code is mostly four times as fast as the interpreter, what gains less not even twice. While one of two
/// processors compiles, the other one runs as much as compiling costs, and what is left takes a quarter of its time
/// then, or half: so the program has gained if there was 2.3 times the cost to come, or 3 times. But work-groups may be
/// unlike those before them; and many of the libraries' routines launch a kernel five or ten times and end.
constexpr Thresholds usual{.known = 3, .guessed = 4}, of_less_gain{.known = 6, .guessed = 8};

/// From half of that on, idle time is used: it is cheaper but not free, because processors share caches and memory, and
/// the compiler has to start.
constexpr uint64_t idle_share = 2;

/// What was run in past runs will be run in later ones, which gain more surely than this one; but it is no reason to
/// take any of this one's time.
constexpr uint64_t of_past_runs = 4;

/// Work-groups that have all begun have nothing left, as far as is known. When they have run for so long they may run
/// for as long again.
constexpr uint64_t of_a_dispatch = 16;

uint64_t added(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

}  // namespace

CompilingCost CompilingCost::of(const ControlFlow& flow) {
  uint64_t doubles = 0;
  for (const auto& [pc, block] : flow.blocks) {
    doubles += static_cast<uint64_t>(std::ranges::count_if(block.instructions, [](const Located& at) {
      return at.instruction.destinations != 0 && at.instruction.operands[0].type == isa::DataType::f64;
    }));
  }
  const uint64_t cost = for_the_start + for_an_instruction * flow.instructions + for_an_entry * flow.entries.size() +
                        for_a_double * doubles;
  return {.interpreted = cost,
          .gains_less = flow.instructions > brief_from_instructions &&
                        flow.instructions < instructions_of_a_large_block * flow.blocks.size()};
}

uint64_t CompilingCost::ns() const { return interpreted * ns_of_an_instruction; }

CompilingIsWorth compiling_is_worth(const Interpreted& interpreted, const CompilingCost& cost) {
  using enum CompilingIsWorth;
  const Thresholds& times = cost.gains_less ? of_less_gain : usual;
  const auto& [in_past_runs, so_far, earlier, ahead] = interpreted;
  const auto is_worth = [&](uint64_t work, uint64_t threshold) { return work / threshold >= cost.interpreted; };
  if (is_worth(ahead.value_or(0), times.known) || is_worth(so_far, of_a_dispatch)) return program_time;
  // A single dispatch may be the only one, so that what it has run says nothing of what is to come.
  const bool may_be_the_only_one = ahead && earlier == 0;
  const uint64_t guessed = may_be_the_only_one ? 0 : ahead ? added(*ahead, earlier) : so_far;
  if (is_worth(guessed, times.guessed)) return program_time;
  const bool in_idle_time = is_worth(guessed, times.guessed / idle_share) || is_worth(in_past_runs, of_past_runs);
  return in_idle_time ? idle_time : nothing_yet;
}

}  // namespace Atoll::engine

// observe: caches the wait checker's results per path of a wave.
//
// The findings of an instruction depend on what the wave executed before: the outstanding operations and recently
// written registers. That state gets a number, as in an automaton. A basic block leads from one state to another,
// always with the same findings. Each block is therefore analysed once per entry state, instruction by instruction.
// From then on translated code needs one table look-up per block.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "hazards/hazard_recognizer.h"
#include "hazards/matrix_hazards.h"
#include "hazards/scoreboard.h"
#include "isa/instruction.h"
#include "machine/observer.h"
#include "target/processor.h"

namespace Atoll::observe {

/// The findings in an instruction range, in order.
struct PathEvents {
  template <typename Event>
  struct At {
    uint64_t pc = 0;
    Event event;
  };
  std::vector<At<hazards::RegisterConflict>> conflicts;
  std::vector<At<hazards::HazardRecognizer::Violation>> missing;
  std::vector<At<hazards::MatrixHazards::Missing>> missing_of_matrices;
  hazards::CopySteps copies;
};

/// Register numbers, by register file.
struct RegisterFiles {
  unsigned vgprs = 0, agprs = 0, sgprs = 0;

  bool exceed(const RegisterFiles& allocated) const {
    return vgprs > allocated.vgprs || agprs > allocated.agprs || sgprs > allocated.sgprs;
  }
  void include(const RegisterFiles& more) {
    vgprs = std::max(vgprs, more.vgprs);
    agprs = std::max(agprs, more.agprs);
    sgprs = std::max(sgprs, more.sgprs);
  }
};

class WaitPaths {
 public:
  WaitPaths();

  struct Step {
    uint32_t next = 0;                   ///< the state after the code
    const PathEvents* events = nullptr;  ///< null: no events; valid until code that takes part in it is unloaded
    RegisterFiles named{};               ///< one more than the highest register that the code uses
  };
  /// `state`: 0 at the beginning of a wave.
  Step step(uint32_t state, const machine::InstructionRange& code, const target::Processor& processor,
            unsigned wave_size);

  /// An instruction, and one more than the highest register that it uses.
  struct NamedRegisters {
    uint64_t pc = 0;
    RegisterFiles named{};
  };
  /// Returns the first instruction that uses registers beyond the allocated ones; one at PC 0 if there is none.
  static NamedRegisters first_beyond(const RegisterFiles& allocated, const machine::InstructionRange& code,
                                     const target::Processor& processor, unsigned wave_size);

  /// Returns whether any analysed instruction copies between memory and LDS.
  bool any_copies() const { return any_copies_.load(std::memory_order_relaxed); }
  /// Drops code that is about to be unloaded.
  void forget(uint64_t begin, uint64_t end);

 private:
  struct Facts {
    hazards::OperationInfo operation;
    hazards::HazardInfo hazards;
    uint32_t wait_states = 1;
    hazards::MatrixInfo matrix;
  };
  struct State {
    hazards::Scoreboard operations;
    hazards::HazardRecognizer hazards;
    hazards::MatrixHazards matrices;
  };
  /// The key of a range of instructions besides its address.
  struct Variant {
    uint8_t banks = 0, wave_size = 0;
    bool has_lds_direct = false;  ///< the analysed code has lds_direct_load or lds_param_load
    auto operator<=>(const Variant&) const = default;
  };
  /// A code range and its entry state.
  struct Key {
    uint64_t begin = 0, end = 0;
    uint32_t state = 0;
    Variant variant;
    auto operator<=>(const Key&) const = default;
  };
  /// A thread's most recent look-up.
  struct RecentStep {
    uint64_t epoch = 0;
    Key key;
    Step step;
  };
  /// The contents of a state, which identify it.
  using Identity = std::vector<uint64_t>;

  static Identity identity_of(const State& state);
  const Facts& facts_of(uint64_t pc, const Variant& variant, const isa::Instruction& instruction,
                        const target::Processor& processor);
  Step follow(Key key, const target::Processor& processor);
  uint32_t number_of(State state);

  mutable std::shared_mutex mutex_;
  std::map<std::pair<uint64_t, Variant>, std::unique_ptr<const Facts>> facts_;  ///< by PC and variant
  std::map<uint32_t, State> states_;                                            ///< except number 0, the initial state
  std::map<Identity, uint32_t> numbers_;
  uint32_t last_number_ = 0;
  std::map<Key, Step> steps_;
  std::map<Key, std::unique_ptr<const PathEvents>> events_;
  std::atomic<bool> any_copies_{false}, any_lds_direct_{false};
  std::atomic<uint64_t> epoch_;  ///< changes whenever something is dropped
};

}  // namespace Atoll::observe

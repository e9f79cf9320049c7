// observe: what --check=wait makes of the paths of waves.
//
// What is to be said of an instruction depends on what its wave has executed before it: on the operations that are
// still under way, and on the registers that it has written lately. That is a state, which has a number; a piece of
// straight code leads from one state to another, always the same, and its findings are always the same, too. So each
// piece is looked at once from each state in which a wave comes to it, instruction by instruction. From then on a table
// tells: translated code asks it once a block.
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

/// What there is to say of straight code, in the order of its instructions.
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

/// Numbers of registers, by file.
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
    const PathEvents* events = nullptr;  ///< null: nothing happens; good until code is unloaded that takes part in it
    RegisterFiles named{};               ///< one more than the last register that the code names
  };
  /// `state`: 0 at a wave's begin.
  Step step(uint32_t state, const machine::InstructionRange& code, const target::Processor& processor,
            unsigned wave_size);

  /// An instruction, and one more than the last register that it names.
  struct NamedRegisters {
    uint64_t pc = 0;
    RegisterFiles named{};
  };
  /// The first instruction that names registers beyond those that are allocated; that at 0 if there is none.
  static NamedRegisters first_beyond(const RegisterFiles& allocated, const machine::InstructionRange& code,
                                     const target::Processor& processor, unsigned wave_size);

  /// Whether any instruction that has been looked at copies between memory and LDS.
  bool any_copies() const { return any_copies_.load(std::memory_order_relaxed); }
  /// That code is about to go.
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
  /// What decides beside their place what instructions are.
  struct Variant {
    uint8_t banks = 0, wave_size = 0;
    bool has_lds_direct = false;  ///< code that was looked at has lds_direct_load or lds_param_load
    auto operator<=>(const Variant&) const = default;
  };
  /// A piece of code from a state.
  struct Key {
    uint64_t begin = 0, end = 0;
    uint32_t state = 0;
    Variant variant;
    auto operator<=>(const Key&) const = default;
  };
  /// What a thread has asked for lately.
  struct RecentStep {
    uint64_t epoch = 0;
    Key key;
    Step step;
  };
  /// A state, as what makes it another one than others.
  using Identity = std::vector<uint64_t>;

  static Identity identity_of(const State& state);
  const Facts& facts_of(uint64_t pc, const Variant& variant, const isa::Instruction& instruction,
                        const target::Processor& processor);
  Step follow(Key key, const target::Processor& processor);
  uint32_t number_of(State state);

  mutable std::shared_mutex mutex_;
  std::map<std::pair<uint64_t, Variant>, std::unique_ptr<const Facts>> facts_;  ///< by PC and variant
  std::map<uint32_t, State> states_;                                            ///< but that of number 0: nothing
  std::map<Identity, uint32_t> numbers_;
  uint32_t last_number_ = 0;
  std::map<Key, Step> steps_;
  std::map<Key, std::unique_ptr<const PathEvents>> events_;
  std::atomic<bool> any_copies_{false}, any_lds_direct_{false};
  std::atomic<uint64_t> epoch_;  ///< another one whenever something is forgotten
};

}  // namespace Atoll::observe

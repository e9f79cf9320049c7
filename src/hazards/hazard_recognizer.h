// hazards: follows a wave and finds instructions that come too early after an earlier one, by the hazard table.
//
// For each instruction, HazardInfo says once which rows of the table it is a producer or a consumer of, with which
// registers, and which rows it ends. HazardRecognizer keeps the producers whose hazards are not over yet: per row and
// register the last one, with its distance. Two waves with equal pending hazards behave alike from there on, which
// observe/wait/wait_paths.h relies on.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "hazards/hazard_table.h"
#include "isa/instruction.h"
#include "target/processor.h"

namespace Atoll::hazards {

/// Facts about an instruction that the hazard table reads.
struct HazardInfo {
  static constexpr size_t max_rows = 96;

  struct Connection {
    uint8_t row = 0;
    uint16_t reg = 0;
  };
  std::vector<Connection> consumes, produces;
  std::vector<Connection> violates;  ///< hazards of the instruction alone
  std::bitset<max_rows> ends;
  std::array<uint8_t, static_cast<size_t>(Unit::count)> distance{};  ///< that the instruction adds
  bool resets_lds_nops = true;
  bool is_transcendental = false;
  uint8_t wait_vdst = 0;
  /// Registers that are written, of rows that this ends: VGPRs by the vector ALU, SGPRs by any instruction.
  std::vector<uint16_t> overwritten_vgprs, overwritten_sgprs;

  // For the hazard of partial forwarding.
  uint8_t forwarding_row = no_row;
  bool is_valu = false, writes_exec_by_salu = false;
  std::vector<RegisterRange> sources, results;
  static constexpr uint8_t no_row = UINT8_MAX;
};
/// `has_lds_direct`: whether code has lds_direct_load or lds_param_load. Their hazards keep most VGPRs pending, so that
/// a client leaves them out for code that has neither.
HazardInfo hazard_info(const isa::Instruction& instruction, const isa::Effects& effects,
                       const target::Processor& processor, unsigned wave_size, bool has_lds_direct);

class HazardRecognizer {
 public:
  struct Violation {
    const Hazard* hazard = nullptr;
    uint64_t earlier = 0;  ///< the producer; 0 for a hazard of the instruction alone
    uint16_t reg = 0;
    uint8_t distance = 0, required = 0;  ///< between the two; `required` 0: no distance is enough
  };
  /// Advances over an instruction, and returns what it violates: at most one hazard for each remedy. The info has to
  /// outlive the recognizer and its copies.
  std::vector<Violation> step(const HazardInfo& info, uint64_t pc);

  struct Pending {
    uint8_t row = 0;
    uint16_t reg = 0;
    uint64_t pc = 0;  ///< of the producer; 0 for a row that is only a stage
    std::array<uint8_t, 2> distance{};
    friend bool operator==(const Pending&, const Pending&) = default;
  };
  /// Sorted by row and register.
  const std::vector<Pending>& pending() const { return pending_; }

  /// An instruction since which partial forwarding may matter.
  struct Recent {
    uint64_t pc = 0;
    const HazardInfo* info = nullptr;
  };
  /// The oldest first.
  const std::vector<Recent>& recent() const { return recent_; }
  bool empty() const { return pending_.empty() && recent_.empty(); }

 private:
  const Pending* find(uint8_t row, uint16_t reg) const;
  bool is_in_stage(Stage stage, uint16_t reg) const;
  void forward(const HazardInfo& info, uint64_t pc, std::vector<Violation>& found);

  std::vector<Pending> pending_;
  std::vector<Recent> recent_;
};

}  // namespace Atoll::hazards

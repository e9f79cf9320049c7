// compiler: which registers' values are still needed where.
//
// A vector instruction under EXEC gives some lanes a new value and leaves the others alone. So a row is live in two
// parts: in the lanes that EXEC has at that point, and in those that it lacks. What shrinks or grows EXEC moves lanes
// from one part to the other; whatever else writes it may mix them.
#pragma once

#include <bitset>
#include <map>
#include <vector>

#include "engine/compiled/control_flow.h"
#include "isa/instruction.h"

namespace Atoll::compiler {

/// Scalar registers by isa::scalar number, and SCC.
inline constexpr unsigned scc_number = isa::scalar::count;
using ScalarSet = std::bitset<isa::scalar::count + 1>;
/// VGPRs, and AGPRs from 256.
using RowSet = std::bitset<512>;

/// What an instruction reads and writes, as far as everything outside the instruction is concerned.
struct Effects {
  enum class Exec : uint8_t { stays, shrinks, grows, changes };
  ScalarSet reads, writes;
  RowSet row_reads, row_writes;
  RowSet row_overwrites;        ///< those of row_writes whose old value in active lanes does not matter
  bool reads_inactive = false;  ///< lanes of row_reads that EXEC lacks, too
  Exec exec = Exec::stays;
};
Effects effects_of(const isa::Instruction& instruction);

/// Whether an instruction has no part in what lanes and scalar registers hold: its only effect may be on MODE, which is
/// known of each instruction beforehand (engine::Located).
bool changes_no_data(const isa::Instruction& instruction);

struct Live {
  ScalarSet scalars;
  RowSet active, inactive;  ///< rows, in the lanes that EXEC has and in those that it lacks

  static Live everything();
  friend bool operator==(const Live&, const Live&) = default;
  Live& operator|=(const Live& other);
  /// From what is live behind an instruction to what is live before it.
  void step_back(const Effects& effects);
};

class Liveness {
 public:
  /// Everything is live where waves leave `flow` other than by ending.
  explicit Liveness(const engine::ControlFlow& flow);

  /// Before the block at `pc`; everything if there is none.
  const Live& before(uint64_t pc) const;
  /// Behind the block's last instruction.
  Live behind(const engine::Block& block) const;
  /// Before each of the block's instructions, and behind the last.
  std::vector<Live> within(const engine::Block& block) const;

 private:
  std::map<uint64_t, Live> before_;
  Live everything_ = Live::everything();
};

/// Where waves go behind a block, as far as this is known: `anywhere` if they may go where nobody knows.
struct Successors {
  std::vector<uint64_t> pcs;
  bool anywhere = false;
};
Successors successors_of(const engine::Block& block);

}  // namespace Atoll::compiler

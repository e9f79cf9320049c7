// Tests of the semantics room: executing the pseudo-code of the vendor's ISA guides.
//
// The guides say what an instruction does in a small language: statements over registers (S0, S1, S2, D0, VCC, SCC,
// EXEC), bit ranges of them (S1[22 : 16]), and types (S0.f32, 64'U(x), 16'0.5). parse() makes a tree of an
// instruction's lines, run() executes it for one lane. Nothing of Atoll's own arithmetic is used: integers are of 128
// bits, floating point is the host's, one number at a time, with NaNs whose payload the language hands on.
//
// What the language leaves open is left open: which NaN an arithmetic operation yields (Value::any_nan).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll::semantics::test::pseudocode {

using Word = unsigned __int128;

enum class Kind : uint8_t { bits, unsigned_integer, signed_integer, floating, bf16, fp8, bf8 };

struct Value {
  Kind kind = Kind::unsigned_integer;
  unsigned width = 32;
  Word bits = 0;
  bool any_nan = false;  ///< a NaN that arithmetic made
};

/// What the program says that it cannot be executed, or that this reader does not know.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Node;
using Tree = std::shared_ptr<const Node>;

Tree parse(const std::vector<std::string>& lines);

/// The registers of one lane, and what else a program refers to.
struct Lane {
  std::array<Word, 3> source{};
  std::array<unsigned, 3> source_bits{32, 32, 32};
  Word destination = 0;       ///< before and after
  Word destination_mask = 0;  ///< after: bits that were written
  bool destination_any_nan = false;
  bool carry = false;   ///< of this lane in VCC, before and after
  bool scc = false;     ///< before and after
  uint64_t exec = 0;    ///< before and after
  bool second = false;  ///< after: D1
  bool ieee = false;
  unsigned lane_id = 0;
  uint32_t immediate = 0;  ///< SIMM16 or SIMM32
  unsigned negated = 0;    ///< NEG
  /// Register `source` of another lane.
  std::function<uint32_t(unsigned lane, unsigned source)> other_lane;
  /// The tree of an instruction that this one refers to by name.
  std::function<Tree(const std::string& name)> instruction;
};

void run(const Tree& program, Lane& lane);

}  // namespace Atoll::semantics::test::pseudocode

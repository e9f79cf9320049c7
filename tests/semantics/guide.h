// Tests: what the comparisons with the vendor's ISA guides share: the guides' programs, values to run them with, what
// counts as equal, and what is left out.
#pragma once

#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "isa/opcode_map.h"
#include "isa/table.h"
#include "semantics/evaluate.h"
#include "semantics/pseudocode.h"

namespace Atoll::semantics::test {

/// The programs of a guide by the instructions' names.
class Guide {
 public:
  explicit Guide(const std::string& path);

  bool has(const std::string& name) const { return lines_.contains(name); }
  /// Null if the guide does not have it. Throws pseudocode::Unsupported.
  pseudocode::Tree tree(const std::string& name);

 private:
  std::map<std::string, std::vector<std::string>> lines_;
  std::map<std::string, pseudocode::Tree> trees_;
};

/// What the guide calls the instruction, which may be its name on a later or earlier processor; its own if the guide
/// does not have it.
std::string name_in(const Guide& guide, isa::Opcode opcode, const isa::OpcodeMap& own);

/// Bits of a value of that type: 16, 32 or 64.
unsigned width_of(isa::DataType type);

/// Numbers of a type as registers hold them; above 16-bit ones stands what may not matter.
class Source {
 public:
  Source(isa::DataType type, uint64_t seed);

  size_t edges() const { return edges_.size(); }
  uint64_t edge(size_t i) { return whole(edges_[i % edges_.size()]); }
  uint64_t any();

 private:
  uint64_t whole(uint64_t value);

  isa::DataType type_;
  std::mt19937_64 random_;
  Values edges_;
};

/// Whether the results agree, but for which NaN it is where the guide leaves that open.
bool agree(uint64_t expected, uint64_t got, isa::DataType type, bool any_nan);

/// What is not compared with the guides, and why. Where it says "tested", other tests do it.
const std::map<std::string_view, std::string_view>& exceptions();

/// What GFX10 lets through of two NaNs is another than RDNA3's guide says; test_float_minmax.cpp has it.
bool differs_on_gfx10(std::string_view name);

}  // namespace Atoll::semantics::test

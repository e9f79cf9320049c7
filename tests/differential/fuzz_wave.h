// One wave that runs random code from a state that a number gives, on any engine, and what it leaves behind.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "differential/random_code.h"
#include "machine/engine.h"
#include "machine/wave.h"

namespace Atoll::test {

/// Everything that code can change, and how it ended.
struct FinalState {
  std::array<uint32_t, isa::scalar::count> scalar{};
  bool scc = false;
  uint32_t mode = 0, status = 0, trap_status = 0;
  std::vector<uint32_t> vgprs, agprs, lds, memory, scratch;
  machine::WaveState state{};
  // Of a wave that faulted, which has none of the above: where a fault finds registers is not defined.
  machine::Fault::Kind fault{};
  uint64_t pc = 0;  ///< of the instruction, from the code's begin
  std::string what{};

  bool operator==(const FinalState&) const = default;
  /// What differs in another one, a line for each register or word, at most a few.
  std::string difference(const FinalState& other) const;
  uint64_t digest() const;
};

class FuzzWave {
 public:
  explicit FuzzWave(const target::Processor& processor);

  /// Runs code from the state of that number, `turn` instructions at a time, until it ends or is found to be endless
  /// (the wave is `ready` then). All engines, and all processes, see the same addresses.
  FinalState run(machine::Engine& engine, const RandomCode& code, uint64_t state, uint64_t turn = most_instructions);

  static constexpr uint64_t most_instructions = 1'000'000;

 private:
  struct Unmap {
    size_t bytes;
    void operator()(uint8_t* memory) const;
  };
  using Pages = std::unique_ptr<uint8_t, Unmap>;
  static Pages map(uint64_t address, size_t bytes);
  void prepare(uint64_t state);

  const target::Processor& processor_;
  machine::WorkGroup group_;
  Pages rows_, lds_, memory_, scratch_, code_;
};

}  // namespace Atoll::test

// For the engine's tests: assembles a few lines, and runs them on one wave with registers as given.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/engine.h"
#include "machine/report/fault_guard.h"
#include "machine/wave/wave.h"

namespace Atoll::test {

/// The bytes of the .text section of assembly code for `processor`, by Atoll's assembler: tests/assembler compares it
/// with LLVM's, and a process of that for each text would take most of the tests' time. Adds a test failure, and yields
/// nothing, when the assembler finds fault with the code.
std::vector<uint8_t> assemble(const std::string& source, std::string_view processor, unsigned wave_size = 64);

/// One wave with 256 VGPRs and AGPRs, LDS and scratch. Starts with full EXEC, round to nearest, denormals kept, all
/// registers zero but v0, which holds the lane's number.
class WaveRunner {
 public:
  /// `target_id`: "gfx90a", or "gfx90a:sramecc+" for a GPU with SRAM ECC. `engine`: its name; empty: that of the
  /// environment variable ATOLL_ENGINE, or the default.
  explicit WaveRunner(std::string_view target_id = "gfx90a", std::string_view engine = "", unsigned wave_size = 64);

  machine::Wave& wave() { return group_.waves[0]; }
  machine::WorkGroup& group() { return group_; }
  semantics::Row& v(unsigned i) { return rows_[i]; }
  semantics::Row& a(unsigned i) { return rows_[256 + i]; }
  uint32_t& s(unsigned i) { return wave().scalar[i]; }
  void set_pair(unsigned i, const void* pointer) { wave().set_scalar64(i, reinterpret_cast<uint64_t>(pointer)); }
  /// A VGPR pair of every lane.
  void set_rows(unsigned i, const std::function<uint64_t(unsigned lane)>& value);
  uint64_t v64(unsigned i, unsigned lane) { return v(i)[lane] | uint64_t{v(i + 1)[lane]} << 32; }

  uint8_t* lds() { return lds_.get(); }
  /// The dword of a lane's private memory.
  uint32_t& scratch(unsigned lane, uint32_t address) {
    return reinterpret_cast<uint32_t*>(wave().scratch)[address / 4 * wave().wave_size + lane];
  }

  /// Runs `source`, with a jump by s[100:101] to s_endpgm after it, until the wave stops.
  machine::WaveState run(const std::string& source, uint64_t budget = 1'000'000);
  /// The same for machine code.
  machine::WaveState run_instructions(std::span<const uint8_t> instructions, uint64_t budget = 1'000'000);
  /// Runs machine code that brings its own s_endpgm. What registers hold then is nobody's to see: translated code does
  /// not write back what nothing reads any more.
  machine::WaveState run_code(std::span<const uint8_t> code, uint64_t budget = 1'000'000);
  /// Runs `source` as a scheduler does: up to an access that the host refuses, which the engine then finds the place
  /// of. Nothing if there is none.
  std::optional<machine::HostFault> run_into_fault(const std::string& source);
  /// Lets the wave go on.
  machine::WaveState resume(uint64_t budget = 1'000'000) { return engine_->run(wave(), budget); }
  uint64_t code_address() const { return reinterpret_cast<uint64_t>(code_.get()); }
  machine::Engine& engine() { return *engine_; }
  std::string_view processor() const { return processor_; }

  static constexpr uint32_t lds_bytes = 4096, scratch_bytes_per_lane = 256;

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  void place_source(const std::string& source);
  void place_instructions(std::vector<uint8_t> bytes);
  void place_code(std::span<const uint8_t> code);
  void begin();

  std::string processor_;
  std::unique_ptr<machine::Engine> engine_;
  machine::WorkGroup group_;
  std::unique_ptr<semantics::Row[], Free> rows_;
  std::unique_ptr<uint8_t, Free> lds_, scratch_, code_;
};

}  // namespace Atoll::test

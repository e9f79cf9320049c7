// Atoll's C++ library: runs instructions on one wave and returns what they change, as `atoll eval`. Included by
// atoll.h.
//
//     const std::string code[] = {"v_add_f32 v0, v1, v2"}, values[] = {"v1=1.5", "v2=lane"};
//     auto result = Atoll::evaluate(code, {.gpu = "gfx1100", .values = values});
//     if (result) std::puts(result->text.c_str());  // v0[0] = 0x3fc00000  f32 1.5 ...
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "atoll/code_tools.h"
#include "atoll/failure.h"

namespace Atoll {

struct EvaluateOptions {
  std::string gpu{};                      ///< product, processor or target ID
  std::span<const std::string> values{};  ///< what the wave begins with: "v1=0x11223344", "s[2:3]=lane*4", "exec=0xff",
                                          ///< "mem[0x10000000:64]=1.5"; `atoll eval --help` has all of it
  unsigned wave_size = 0;                 ///< 32 or 64 where the GPU has both; 0: 32 there
  uint64_t max_instructions = 1'000'000;  ///< limit after which it is stopped
  double timeout_seconds = 10;
};

/// A register, or register pair with one value, that has changed.
struct RegisterChange {
  struct Lane {
    uint32_t lane = 0;  ///< 0 for a scalar register
    uint64_t before = 0, after = 0;
  };
  std::string name;  ///< "v0", "v[2:3]", "vcc", "scc", "scratch[0x10]"
  std::string type;  ///< type by which the writing instruction sees it: "f32"
  uint32_t bits = 32;
  bool per_lane = false;
  std::vector<Lane> lanes;  ///< lanes that changed
};

struct MemoryChange {
  std::string memory;  ///< "mem" or "lds"
  uint64_t address = 0;
  std::vector<uint32_t> dwords;  ///< new contents
};

struct Evaluation {
  std::string processor;
  uint32_t wave_size = 0;
  uint64_t instructions = 0;  ///< instructions executed
  std::vector<RegisterChange> registers;
  std::vector<MemoryChange> memory;
  std::vector<std::string> unchanged;  ///< registers that were written without changing
  std::optional<Failure> failure{};    ///< a fault or the instruction limit; changes are those until then
  std::string text;                    ///< one line per change, as `atoll eval` prints it
  std::string json;                    ///< complete result, as `atoll eval --json` prints it
};

/// Runs assembly lines on one wave. Fails for an unknown GPU, or errors in the text or values.
ATOLL_PUBLIC Expected<Evaluation> evaluate(std::span<const std::string> code, const EvaluateOptions& options);

}  // namespace Atoll

// engine/compiled: what the engine asks of the compiler, and what it gets: a piece of GPU code for one target in one
// mode, and the same as host code. Both are bytes on their way (and the answer in the cache on disk), read by the
// same build of Atoll only (build_fingerprint.h).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/compiled/control_flow.h"
#include "semantics/host_vectors.h"
#include "semantics/lanes/lanes.h"
#include "support/error.h"

namespace Atoll::engine {

struct TranslationRequest {
  uint64_t group = 0;  ///< what group_of() says of the code at the root
  target::Target target;
  semantics::HostVectors level{};  ///< of the host's vector instructions, for the host code
  ControlFlow flow;                ///< PCs count from the code's base

  /// A hash of the first bytes of code, for the target in the mode: known before the code is followed.
  static uint64_t group_of(std::span<const uint8_t> code, const target::Target& target, const CodeMode& mode,
                           const Instrumentation& instrumentation);
  /// The request for code that follow() found, for the level of host vectors in use. The machine code is read at its
  /// place, `base` is what PCs are to count from.
  static std::vector<uint8_t> serialise(const target::Target& target, const ControlFlow& flow, uint64_t base,
                                        uint64_t group);
  static support::Result<TranslationRequest> parse(std::span<const uint8_t> bytes);
};

/// Functions of the host's C library that host code may call; it finds their addresses in slots of its own.
struct Import {
  uint32_t slot = 0;  ///< offset in the code of 8 bytes for the address
  uint32_t function = 0;
};
inline constexpr const char* import_names[] = {"memcpy", "memmove", "memset", "memcmp",
                                               // What the portable level has no instructions for.
                                               "fmaf", "fma", "floorf", "floor", "ceilf", "ceil", "truncf", "trunc",
                                               "rintf", "rint", "nearbyintf", "nearbyint", "roundevenf", "roundeven"};

/// Where waves may come in.
struct EntryPoint {
  uint64_t pc = 0;        ///< from the code's base
  uint32_t function = 0;  ///< offset of the host function in the code
  uint32_t number = 0;    ///< that it is called with
};

struct TranslatedCode {
  std::vector<EntryPoint> entries;
  std::vector<uint64_t> helper_pcs;  ///< PCs of interpreter fallbacks and matrix instructions by number
  std::vector<Import> imports;
  std::vector<uint16_t> start_rows;  ///< machine::LiveInRegisters of waves that begin at the root
  uint16_t start_scalars = 0;
  std::vector<uint8_t> code;                     ///< position-independent, to be placed at a multiple of 4096
  uint64_t instructions = 0;                     ///< of the GPU's
  double seconds = 0;                            ///< that the compiler took
  std::map<std::string, uint64_t> untranslated;  ///< what is left to the interpreter's handlers, by name

  /// How many instructions are left to the interpreter's handlers.
  uint64_t fallbacks() const;

  std::vector<uint8_t> serialise() const;
  /// Error: damaged.
  static support::Result<TranslatedCode> parse(std::span<const uint8_t> bytes);
};

}  // namespace Atoll::engine

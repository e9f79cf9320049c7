// engine/compiled: the compiler's request (GPU code for one target in one mode) and answer (host code). Both are
// serialised, and the answer is cached on disk; only the same build of Atoll reads them (build_fingerprint.h).
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
  uint64_t group = 0;  ///< group_of() of the code at the root
  target::Target target;
  semantics::HostVectors level{};  ///< host ISA level of the host code
  ControlFlow flow;                ///< PCs are relative to the code's base

  /// Returns a hash of the target, mode and first bytes of the code, known before the control flow is.
  static uint64_t group_of(std::span<const uint8_t> code, const target::Target& target, const CodeMode& mode,
                           const Instrumentation& instrumentation);
  /// Serialises a request for the result of follow(), for the host ISA level in use. Reads the machine code in memory;
  /// PCs become relative to `base`.
  static std::vector<uint8_t> serialise(const target::Target& target, const ControlFlow& flow, uint64_t base,
                                        uint64_t group);
  static support::Result<TranslationRequest> parse(std::span<const uint8_t> bytes);
};

/// Functions of the host's C library that host code may call through slots with their addresses.
struct Import {
  uint32_t slot = 0;  ///< offset in the code of the 8-byte address slot
  uint32_t function = 0;
};
inline constexpr const char* import_names[] = {"memcpy", "memmove", "memset", "memcmp",
                                               // Functions that the portable level has no instructions for.
                                               "fmaf", "fma", "floorf", "floor", "ceilf", "ceil", "truncf", "trunc",
                                               "rintf", "rint", "nearbyintf", "nearbyint", "roundevenf", "roundeven"};

/// A point at which waves enter.
struct EntryPoint {
  uint64_t pc = 0;        ///< relative to the code's base
  uint32_t function = 0;  ///< offset of the host function in the code
  uint32_t number = 0;    ///< argument of the function
};

struct TranslatedCode {
  std::vector<EntryPoint> entries;
  std::vector<uint64_t> helper_pcs;  ///< PCs of interpreter fallbacks and matrix instructions, by number
  std::vector<Import> imports;
  std::vector<uint16_t> start_rows;  ///< machine::LiveInRegisters of waves that start at the root
  uint16_t start_scalars = 0;
  std::vector<uint8_t> code;                     ///< position-independent, aligned to 4096
  uint64_t instructions = 0;                     ///< number of GPU instructions
  double seconds = 0;                            ///< compile time
  std::map<std::string, uint64_t> untranslated;  ///< number of instructions left to the interpreter's handlers, by name

  /// Returns the number of instructions left to the interpreter's handlers.
  uint64_t fallbacks() const;

  std::vector<uint8_t> serialise() const;
  /// Fails if the bytes are damaged.
  static support::Result<TranslatedCode> parse(std::span<const uint8_t> bytes);
};

}  // namespace Atoll::engine

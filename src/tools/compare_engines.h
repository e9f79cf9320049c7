// tools: `atoll launch --compare-engines`, which executes a kernel in both engines and reports the first difference.
//
// Each execution is a process of its own, forked before anything is allocated: code and buffers then have the same
// addresses in all of them, and a wrong translation can damage only its own process. On a difference the limit of
// translation (engine/compiled/translation_aids.h) is bisected: the kernel is executed with ever fewer instructions
// translated, until the first one is found whose translation changes the result.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "machine/observer.h"
#include "support/error.h"

namespace Atoll::tools {

/// A buffer's contents after an execution.
struct ComparedBuffer {
  std::string name;          ///< of its parameter, or its number
  std::string element_type;  ///< "f32"
  uint64_t address = 0;
  std::vector<uint8_t> bytes;
};

/// The results of one execution.
struct EngineOutcome {
  std::string failure;  ///< empty: the kernel ended well
  std::vector<ComparedBuffer> buffers;
  uint64_t translated = 0, fallbacks = 0;  ///< instructions, if the kernel was compiled
  uint64_t code_bytes = 0;                 ///< of the kernel's code object, as it is loaded
  std::string instruction;                 ///< at EngineRun::described
  std::string last_writer;                 ///< of EngineRun::watched_byte: instruction, work-group, wave and lane
};

/// One execution.
struct EngineRun {
  std::string engine;
  std::optional<uint64_t> limit{};      ///< ATOLL_COMPILE_LIMIT
  std::optional<uint64_t> described{};  ///< offset in the code object of an instruction to describe
  uint64_t watched_byte = 0;            ///< address of which the last writer is of interest; 0: none
};

/// Fills in what an outcome says of code and accesses.
class EngineProbe final : public machine::Observer {
 public:
  EngineProbe(const EngineRun& run, EngineOutcome& outcome) : run_(run), outcome_(outcome) {}

  machine::EventMask watched() const override { return {.dispatches = true, .accesses = run_.watched_byte != 0}; }
  void dispatch_begins(const machine::Dispatch& dispatch) override;
  void access(const machine::Wave& wave, const machine::AccessEvent& access) override;

 private:
  const EngineRun& run_;
  EngineOutcome& outcome_;
};

/// Executes the kernel as `run` says, in the calling process. `probe` is null for the compiled engine, since an
/// observer changes what it compiles. An error means that the kernel could not be launched.
using ExecuteInEngine =
    std::function<support::Result<void>(const EngineRun& run, EngineOutcome& outcome, EngineProbe* probe)>;

/// Exit code for engines whose results differ.
inline constexpr int engines_differ = 3;

/// Compares the engines and prints what was found. Returns the exit code: 0 for equal results, or engines_differ.
support::Result<int> compare_engines(const std::string& kernel, const ExecuteInEngine& execute);

}  // namespace Atoll::tools

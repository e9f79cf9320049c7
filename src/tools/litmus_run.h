// tools: litmus tests executed: the threads as waves of a kernel, with the order checker's caches and waves that give
// way at random (memory_model/litmus_code.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "atoll/atoll.h"
#include "memory_model/litmus.h"
#include "support/error.h"
#include "target/processor.h"

namespace Atoll::tools {

class LitmusRuns {
 public:
  static support::Result<LitmusRuns> create(const std::string& gpu, uint64_t seed);

  /// Outcomes of a number of executions, with the count of each.
  support::Result<std::map<memory_model::LitmusOutcome, uint64_t>> run(const memory_model::LitmusTest& test,
                                                                       uint64_t count);

 private:
  LitmusRuns(Gpu gpu, const target::Processor& processor, uint64_t seed)
      : gpu_(std::move(gpu)), processor_(&processor), seed_(seed) {}

  Gpu gpu_;
  const target::Processor* processor_;
  uint64_t seed_;
};

}  // namespace Atoll::tools

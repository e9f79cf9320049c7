// hsa: the checkers (room observe) of a program under Atoll: what they learn of the runtime's memory, and the exit code
// that findings give a program.
#pragma once

#include <memory>

#include "observe/checkers.h"
#include "support/error.h"

namespace Atoll::hsa {

support::Result<std::unique_ptr<observe::Checkers>> make_checkers(const observe::Options& options);

/// Tells what there is to tell at the end, and writes the report.
void finish_checks(observe::Checkers& checkers);

/// From now on a process that ends with exit code 0 gets this one, if there were findings: by exit(), and under
/// `atoll run`, whose preloaded library has these functions, by quick_exit() and _exit(), too.
void watch_exit_code(int code);

/// In a fork, which has made none.
void forget_findings();

}  // namespace Atoll::hsa

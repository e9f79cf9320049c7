// machine: what lies at an address of the process that is not guest memory, in words, for fault reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace Atoll::machine {

/// "the stack of the program's first thread", "the heap", "in /usr/bin/app"; nothing when nothing is mapped there, or
/// nothing may be read.
std::optional<std::string> describe_host_address(uint64_t address);

}  // namespace Atoll::machine

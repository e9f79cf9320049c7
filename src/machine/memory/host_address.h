// machine: describes host addresses that are not guest memory, for fault reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace Atoll::machine {

/// Returns "the stack of the program's first thread", "the heap", "in /usr/bin/app"; nullopt if the address is unmapped
/// or unreadable.
std::optional<std::string> describe_host_address(uint64_t address);

}  // namespace Atoll::machine

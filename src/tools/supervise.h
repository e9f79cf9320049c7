// tools: runs a program as a child and reports what it leaves unsaid.
//
// `atoll run` becomes the program where nothing has to be said after it. With --check or --stats a process may end
// before it reports: by a signal, by _exit(), or by execution of another program. The supervisor then reads the record
// that the process has left (machine/report/process_record.h), and gives the exit code for findings of any process.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/error.h"

namespace Atoll::tools {

/// Runs the program in a child process that has `records` in its environment already. Signals that other processes send
/// to this one go to the child; those of the terminal reach it by themselves, as both are in one process group. When
/// the child stops, so does this process. `exit_code`: in place of 0 when a process of the run has findings; 0: none.
/// Returns the exit code, or ends by the signal that has ended the child.
support::Result<int> supervise(const std::string& path, const std::vector<char*>& arguments,
                               const std::filesystem::path& records, int exit_code);

}  // namespace Atoll::tools

// Whole programs as a benchmark runs them: each a process of its own, from its start to its end, with directories for
// its cache.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace Atoll::bench {

struct Taken {
  double wall = 0, processor = 0;  ///< seconds; the processor time of the program and of its compiler
};

/// Makes what programs leave behind (Atoll's compiler is no child of its program's) children of this process, so that
/// run_program() can end it and count its processor time. Once, before the first program.
void adopt_what_is_left();

/// Runs the command with its output thrown away. The processor time of its compiler counts as far as it got while the
/// program ran. What it would go on with after the program's end, for the cache, is stopped, so that the next program
/// has the host for itself. If the command fails, so does the benchmark.
Taken run_program(const std::vector<std::string>& command);

/// An empty directory, gone with all that is in it then when this is.
class RunDirectory {
 public:
  RunDirectory();
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;
  const std::filesystem::path& path() const { return directory_; }

 private:
  std::filesystem::path directory_;
};

}  // namespace Atoll::bench

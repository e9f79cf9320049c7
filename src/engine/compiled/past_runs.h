// engine/compiled: interpretation time of code in past program runs, kept on disk next to the cache.
//
// Code that runs only briefly in each run would never be compiled, however often its program runs. The cost is
// therefore accumulated over runs until compiling pays off (compilations.h).
//
// The file is a fixed-size, set-associative table: a code's hash selects a set of records with checksums. If all
// records of a set are in use, the one with the least time is evicted. Processes share it without locks: concurrent
// additions may be lost, and damaged records or a missing file count as zero. Either only changes when code is
// compiled.
#pragma once

#include <cstdint>
#include <string>

namespace Atoll::engine {

class PastRuns {
 public:
  static constexpr uint64_t record_bytes = 24, records_of_a_set = 8, sets = 512;
  static constexpr uint64_t bytes = record_bytes * records_of_a_set * sets;  ///< maximum size of the file

  /// Uses the file at `path`; empty: disabled. It is opened only during an operation, and only if the file and its two
  /// parent directories belong to the user (private_files.h).
  explicit PastRuns(std::string path) : path_(std::move(path)) {}

  /// Returns the instructions of this code that were interpreted for whole waves.
  uint64_t spent(uint64_t code) const;
  /// Adds to that number. Creates the file and its directory. Failures are ignored.
  void add(uint64_t code, uint64_t instructions) const;
  /// Resets the number to 0.
  void forget(uint64_t code) const;

 private:
  std::string path_;
};

}  // namespace Atoll::engine

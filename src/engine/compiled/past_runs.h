// engine/compiled: what the interpreter has spent on code in past runs of programs, kept on disk beside the cache.
//
// Code that runs shortly each time would never be worth compiling, however often its programs run. So what has been
// spent is added up from run to run, until it is worth it (compilations.h).
//
// A table of fixed size in a file: a code's hash chooses a set of records, each with a checksum of its own, and where
// all of a set are taken, the one least spent on makes room. Processes share it without locks: two that add to the
// same code at once may lose what one of them adds, and a damaged record, or no file at all, is a code that nothing is
// known of. Neither can do more than have code compiled sooner or later.
#pragma once

#include <cstdint>
#include <string>

namespace Atoll::engine {

class PastRuns {
 public:
  static constexpr uint64_t record_bytes = 24, records_of_a_set = 8, sets = 512;
  static constexpr uint64_t bytes = record_bytes * records_of_a_set * sets;  ///< of the file at most

  /// Of the file with this name; empty: nothing is kept. It is opened only as long as it is used, and only if it and
  /// the two directories that it is in are the user's own (private_files.h).
  explicit PastRuns(std::string path) : path_(std::move(path)) {}

  /// Instructions that have been interpreted of the code with this hash, counted for whole waves.
  uint64_t spent(uint64_t code) const;
  /// Adds to them. Makes the file and its directory where there is none; what goes wrong goes unsaid.
  void add(uint64_t code, uint64_t instructions) const;
  /// From now on nothing has been spent on the code.
  void forget(uint64_t code) const;

 private:
  std::string path_;
};

}  // namespace Atoll::engine

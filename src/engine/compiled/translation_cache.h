// engine/compiled: the on-disk cache of translated code, shared by a user's programs.
//
// The engine searches it before it requests code; the compiler stores its results. A file holds a request and its
// answer, and look-ups compare the whole request, so hash collisions are harmless. Files are written under a temporary
// name and renamed, hence always complete; checksums detect damaged files, which are removed. Each build of Atoll and
// kind of host has its own directory:
//
//     <directory>/<build and host>/<group>/<hash of the request>
//     <directory>/<build and host>/past-runs
//
// Cached code is executed, so directories and files must be writable by this user only (private_files.h); otherwise the
// cache is disabled.
//
// A group is a hash of the code's first bytes (TranslationRequest::group): one file-system query determines whether a
// full look-up can succeed. past_runs.h keeps the interpretation time of code that is not cached.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "engine/compiled/past_runs.h"
#include "engine/compiled/private_files.h"
#include "support/error.h"

namespace Atoll::engine {

class TranslationCache {
 public:
  /// Uses $ATOLL_CACHE, else $XDG_CACHE_HOME/atoll, else ~/.cache/atoll. Returns nullopt if $ATOLL_CACHE is "off",
  /// there is no home directory, or the program must not trust its environment (support/environment.h). Accesses no
  /// file yet. The error names the invalid variable.
  static support::Result<std::optional<TranslationCache>> from_environment();

  const std::filesystem::path& directory() const { return directory_; }
  uint64_t max_bytes() const { return max_bytes_; }

  /// Fails with the reason if the directory exists and is not used.
  support::Result<void> check() const;
  /// Creates the directory if needed. Returns whether it is used.
  bool make() const;

  /// Returns whether find() may succeed for a request of the group.
  bool has_group(uint64_t group) const;
  /// Returns the answer to a request; updates hits and the file's access time.
  std::optional<std::vector<uint8_t>> find(std::span<const uint8_t> request) const;
  /// Stores an answer. Failures are ignored.
  void store(std::span<const uint8_t> request, std::span<const uint8_t> answer) const;
  /// Disabled if the size limit leaves too little room.
  PastRuns past_runs() const;
  /// If the size limit is exceeded, removes least recently used files until the size is well below it.
  void trim() const;

  struct Contents {
    uint64_t files = 0;  ///< with answers
    uint64_t bytes = 0;  ///< of all files
    uint64_t hits = 0;
  };
  Contents contents() const;
  /// Removes everything. Returns the system's error.
  support::Result<void> clear() const;

 private:
  static std::string build_name();
  static std::string group_name(uint64_t group);
  support::Result<PrivateDirectory> group_directory(uint64_t group, PrivateDirectory::Missing missing) const;

  std::filesystem::path directory_;
  uint64_t max_bytes_ = 0;
};

/// Returns a 64-bit hash of bytes that is the same on every host.
uint64_t hash(std::span<const uint8_t> bytes, uint64_t seed = 0);

}  // namespace Atoll::engine

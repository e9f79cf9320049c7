// engine/compiled: translated code kept on disk, for all programs of a user.
//
// The engine looks here before it asks the compiler; the compiler puts here what it has made. A file holds one request
// and its answer, and what is found is compared with the whole request, so that no hash has to be trusted. Files
// are written under another name and renamed, hence whole at any time; a damaged one is found by its checksum and
// removed. Builds of Atoll and kinds of host have directories of their own:
//
//     <directory>/<build and host>/<group>/<hash of the request>
//     <directory>/<build and host>/past-runs
//
// Whoever could put a file there would have what they like executed, so directories and files have to be the user's own
// (private_files.h): otherwise there is no cache.
//
// A group is what the first bytes of the code say (TranslationRequest::group): whether there is something worth a
// closer look is one question to the file system. What past runs have spent on code that is not there is in a table
// (past_runs.h).
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
  /// In $ATOLL_CACHE, else $XDG_CACHE_HOME/atoll, else ~/.cache/atoll. Nothing if $ATOLL_CACHE is "off" or there
  /// is no home, and in programs that must not trust their environment (support/environment.h). No file is touched yet.
  /// The error says which variable makes no sense.
  static support::Result<std::optional<TranslationCache>> from_environment();

  const std::filesystem::path& directory() const { return directory_; }
  uint64_t max_bytes() const { return max_bytes_; }

  /// The error says why the directory is not used, if it is there and is not.
  support::Result<void> check() const;
  /// Makes the directory where there is none. Whether it is used.
  bool make() const;

  /// Whether find() can succeed for some request of the group.
  bool has_group(uint64_t group) const;
  /// The answer to a request; counted as a hit, and as the file's last use.
  std::optional<std::vector<uint8_t>> find(std::span<const uint8_t> request) const;
  /// Stores an answer. What goes wrong goes unsaid: there is no cache then.
  void store(std::span<const uint8_t> request, std::span<const uint8_t> answer) const;
  /// Keeps nothing where the limit leaves little room for it.
  PastRuns past_runs() const;
  /// Removes the files used longest ago until the rest is well below the limit, if it is above.
  void trim() const;

  struct Contents {
    uint64_t files = 0;  ///< with answers
    uint64_t bytes = 0;  ///< of all files
    uint64_t hits = 0;
  };
  Contents contents() const;
  /// Removes everything. Error: what the system says.
  support::Result<void> clear() const;

 private:
  static std::string build_name();
  static std::string group_name(uint64_t group);
  support::Result<PrivateDirectory> group_directory(uint64_t group, PrivateDirectory::Missing missing) const;

  std::filesystem::path directory_;
  uint64_t max_bytes_ = 0;
};

/// A 64-bit hash of bytes, the same on every host.
uint64_t hash(std::span<const uint8_t> bytes, uint64_t seed = 0);

}  // namespace Atoll::engine

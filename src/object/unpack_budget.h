// object: a bound on what reading a file may cost. Compressed data can unpack to more than 10,000 times their size, and
// where bundles are looked for at every page of a file, the same bytes can be read again and again. All that is
// unpacked for a file, and all that is read in vain, is therefore taken from one budget that follows from the file's
// size.
#pragma once

#include <cstdint>

#include "support/error.h"

namespace Atoll::object {

class UnpackBudget {
 public:
  /// GPU code packs to a tenth of its size, rarely to a hundredth.
  static constexpr uint64_t times_its_size = 1024, base = uint64_t{64} << 20;

  explicit UnpackBudget(uint64_t file_bytes)
      : total_(file_bytes > (UINT64_MAX - base) / times_its_size ? UINT64_MAX : file_bytes * times_its_size + base) {}

  /// Takes that many bytes. Where there are not as many left, that is an error, and nothing is left for what follows.
  support::Result<void> spend(uint64_t bytes) {
    if (bytes <= total_ - spent_) {
      spent_ += bytes;
      return {};
    }
    spent_ = total_;
    return support::fail(support::ErrorKind::out_of_resources,
                         "it unpacks to more than {} MiB, the most that a file of its size may: it is damaged, or made "
                         "to use up memory",
                         total_ >> 20);
  }

 private:
  uint64_t total_, spent_ = 0;
};

}  // namespace Atoll::object

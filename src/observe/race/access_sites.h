// observe: the instructions that access memory, numbered for the race checker's shadow cells.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "machine/observer.h"
#include "machine/wave/dispatch.h"
#include "observe/race/race_waves.h"

namespace Atoll::observe {

/// An accessing instruction, with the first kernel that executed it.
struct Site {
  uint64_t pc = 0;
  std::shared_ptr<const machine::Kernel> kernel;
  const machine::Gpu* gpu = nullptr;
  unsigned wave_size = 0;
  uint32_t bytes = 0;
  const char* verb = "";
  bool spins = false;  ///< spin_loops.h
};

class AccessSites {
 public:
  /// Returns the number of an access's instruction. It is cached in `group`.
  const GroupClocks::RecentSite& number_of(const machine::Wave& wave, const machine::AccessEvent& access,
                                           GroupClocks& group);
  Site at(uint32_t number) const {
    const std::lock_guard lock(mutex_);
    return sites_[number];
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<uint64_t, const char*>, uint32_t> numbers_;
  std::deque<Site> sites_{1};
};

}  // namespace Atoll::observe

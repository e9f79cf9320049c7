// observe: makes findings of conflicting accesses, and defers those that a later atomic may prove harmless.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <tuple>

#include "machine/observer.h"
#include "observe/race/access_sites.h"
#include "observe/race/happens_before.h"
#include "observe/race/race_copies.h"
#include "observe/race/race_waves.h"
#include "observe/report/findings.h"

namespace Atoll::observe {

class RaceReports {
 public:
  RaceReports(Findings& findings, const HappensBefore& order, const AccessSites& sites)
      : findings_(findings), order_(order), sites_(sites) {}

  static constexpr uint32_t every_dispatch = 0;

  void report(const machine::Wave& wave, const Later& later);
  void report_incomplete(const machine::Wave& wave, const Later& later);
  void report_copy(const CopyAccess& copy, uint64_t address, std::string_view other, NamedStack earlier);
  /// Describes where an earlier access was made.
  NamedStack stack_of(const Mark& mark);

  /// Defers a report until the dispatch ends (Doubt). `load_site` is the ordinary load.
  void defer(const machine::Wave& wave, const WaveClock& clock, uint32_t dispatch, const Later& access,
             uint32_t load_site);
  /// Records that a lane performs an atomic on a location it loaded, in the same interval between barriers.
  void retried(WaveClock& clock, uint32_t load_site);
  /// Reports the deferred reports of an ending dispatch, or all.
  void report_deferred(uint32_t dispatch);

 private:
  Finding finding_for(const machine::Wave& wave, const WaveClock& clock, const Later& later, std::string_view kind);

  Findings& findings_;
  const HappensBefore& order_;
  const AccessSites& sites_;

  /// Deferred reports of running dispatches, by the later and the earlier instruction.
  struct DeferredReport {
    Finding finding;
    uint32_t dispatch = 0, load_site = 0;
  };
  std::mutex deferred_mutex_;
  std::map<std::tuple<uint32_t, uint64_t, uint32_t>, DeferredReport> deferred_;  ///< by dispatch, PC and site
  /// PCs of loads that are followed by an atomic on the same location
  std::set<uint32_t> retried_;
};

}  // namespace Atoll::observe

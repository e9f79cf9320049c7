// observe: checks copies by the runtime against accesses of kernels and other copies.
#pragma once

#include <cstdint>
#include <span>

#include "machine/observer.h"
#include "observe/race/access_history.h"
#include "observe/race/happens_before.h"
#include "observe/race/race_copies.h"
#include "observe/race/race_reports.h"
#include "observe/race/requested_copies.h"

namespace Atoll::observe {

class CopyChecker {
 public:
  CopyChecker(AccessHistory& cells, CopyHistory& copies, HappensBefore& order, RaceReports& reports)
      : cells_(cells), copies_(copies), order_(order), reports_(reports) {}

  void copying(const machine::CopyEvent& copy) { asked_.add(copy); }
  void copy_starts(uint64_t copy, std::span<const uint64_t> signals);
  void copy_ends(uint64_t copy, uint64_t completion_signal);
  void copied(const machine::CopyEvent& copy);

  /// Checks an access against completed copies that are not ordered before its dispatch.
  void check_access(const machine::Wave& wave, const machine::AccessEvent& access, GroupClocks& group);
  /// Returns whether accesses of the work-group need no check: no copy is unordered with its dispatch.
  bool needs_no_check(const GroupClocks& group) const {
    return group.copies.empty() && group.copies_version == copies_.version();
  }

 private:
  void check(const CopyAccess& copy);

  AccessHistory& cells_;
  CopyHistory& copies_;
  HappensBefore& order_;
  RaceReports& reports_;
  RequestedCopies asked_;
};

}  // namespace Atoll::observe

// observe: checks accesses of kernels against the shadow cells, and records them there.
//
// An ordinary access whose predecessors are all ordered before it takes a fast path without effects other than its
// record. Atomics, conflicts and whatever is not answered by cached clocks take the slow path, cell by cell.
#pragma once

#include <cstdint>
#include <optional>

#include "machine/observer.h"
#include "observe/race/access_history.h"
#include "observe/race/access_sites.h"
#include "observe/race/copy_checker.h"
#include "observe/race/happens_before.h"
#include "observe/race/race_reports.h"
#include "observe/race/race_waves.h"
#include "observe/report/findings.h"

namespace Atoll::observe {

class ShadowAccesses {
 public:
  struct Pass;

  ShadowAccesses(Findings& findings, AccessHistory& cells, HappensBefore& order, CopyChecker& copies,
                 AccessSites& sites, RaceReports& reports)
      : findings_(findings), cells_(cells), order_(order), copies_(copies), sites_(sites), reports_(reports) {}

  void access(const machine::Wave& wave, const machine::AccessEvent& access);

 private:
  [[gnu::noinline]] void access_cell(Pass& pass, uint64_t address, uint32_t dwords, Cell& cell, const Mark& mark);
  void acquire_cell(Pass& pass, Cell& cell);
  size_t access_block(Pass& pass, CellArena& arena, CellBlock& block, uint64_t address, std::optional<unsigned> spread);
  bool pass_global(GroupClocks& group, WaveClock& clock, const machine::AccessEvent& access,
                   const GroupClocks::RecentSite& site);
  LdsPass pass_lds(GroupClocks& group, WaveClock& clock, const machine::AccessEvent& access,
                   const GroupClocks::RecentSite& site);
  [[gnu::noinline]] void access_closely(const machine::Wave& wave, const machine::AccessEvent& access,
                                        GroupClocks& group, WaveClock& clock, const GroupClocks::RecentSite& site);
  void access_lds(Pass& pass);
  void access_lds_cells(Pass& pass);
  void access_global(Pass& pass);

  Findings& findings_;
  AccessHistory& cells_;
  HappensBefore& order_;
  CopyChecker& copies_;
  AccessSites& sites_;
  RaceReports& reports_;
};

}  // namespace Atoll::observe

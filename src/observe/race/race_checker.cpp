// observe: hands the machine's events to the parts of the race checker.
#include "observe/race/race_checker.h"

#include <memory>
#include <span>

#include "observe/race/access_history.h"
#include "observe/race/access_sites.h"
#include "observe/race/copy_checker.h"
#include "observe/race/happens_before.h"
#include "observe/race/race_copies.h"
#include "observe/race/race_reports.h"
#include "observe/race/shadow_accesses.h"

namespace Atoll::observe {

namespace {

class RaceChecker final : public Checker {
 public:
  explicit RaceChecker(Findings& findings)
      : order_(cells_, copies_),
        reports_(findings, order_, sites_),
        copy_checker_(cells_, copies_, order_, reports_),
        accesses_(findings, cells_, order_, copy_checker_, sites_, reports_) {}

  machine::EventMask watched() const override {
    return {.dispatches = true,
            .work_groups = true,
            .synchronisation = true,
            .accesses = true,
            .barriers = true,
            .memory = true,
            .order = true};
  }

  void dispatch_begins(const machine::Dispatch& dispatch) override { order_.dispatch_begins(dispatch); }
  void dispatch_ends(const machine::Dispatch& dispatch) override {
    order_.dispatch_ends(dispatch, [this](uint32_t number) { reports_.report_deferred(number); });
  }
  void work_group_begins(const machine::WorkGroup& group) override { order_.work_group_begins(group); }
  void work_group_ends(const machine::WorkGroup& group) override { order_.work_group_ends(group); }
  void wave_ends(const machine::Wave& wave) override { order_.wave_ends(wave); }
  void instruction(const machine::Wave& wave, uint64_t, const isa::Instruction& instruction) override {
    order_.instruction(wave, instruction);
  }
  void access(const machine::Wave& wave, const machine::AccessEvent& access) override {
    accesses_.access(wave, access);
  }
  void barrier(const machine::Wave& wave, const machine::BarrierEvent& event) override { order_.barrier(wave, event); }
  void allocated(const machine::MemoryEvent& memory) override {
    cells_.forget(memory.address, memory.address + memory.size);
    copies_.forget(memory.address, memory.address + memory.size);
  }
  void copying(const machine::CopyEvent& copy) override { copy_checker_.copying(copy); }
  void copied(const machine::CopyEvent& copy) override { copy_checker_.copied(copy); }
  void copy_submitted(uint64_t copy) override { order_.runs().copy_submitted(copy); }
  void copy_starts(uint64_t copy, std::span<const uint64_t> signals) override {
    copy_checker_.copy_starts(copy, signals);
  }
  void copy_ends(uint64_t copy, uint64_t completion_signal) override {
    copy_checker_.copy_ends(copy, completion_signal);
  }
  void queue_made(uint64_t queue) override { order_.runs().queue_made(queue); }
  void doorbell(uint64_t queue, uint64_t packets) override { order_.runs().doorbell(queue, packets); }
  void barrier_packet(const machine::BarrierPacketEvent& packet) override { order_.barrier_packet(packet); }
  void signal_seen(uint64_t signal) override { order_.signal_seen(signal); }
  void signal_changes(uint64_t signal, bool replaces) override { order_.runs().signal_changes(signal, replaces); }
  void signal_shown(uint64_t signal) override { order_.runs().signal_shown(signal); }
  void finish() override { reports_.report_deferred(RaceReports::every_dispatch); }

 private:
  AccessHistory cells_;
  CopyHistory copies_;
  AccessSites sites_;
  HappensBefore order_;
  RaceReports reports_;
  CopyChecker copy_checker_;
  ShadowAccesses accesses_;
};

}  // namespace

std::unique_ptr<Checker> make_race_checker(Findings& findings) { return std::make_unique<RaceChecker>(findings); }

}  // namespace Atoll::observe

// machine: several observers of one machine, as one: it selects what any of them selects, and passes each event on to
// those that have selected its kind, in the order in which they were added.
//
// An observer may get more than it has selected, if another has: one of `synchronisation` gets all instructions beside
// one of `instructions`, and one of filtered accesses gets all accesses beside one of `accesses`.
//
// Requests for instrumentation are joined. An access passes the filter if it passes every client's. A wave has one
// number for its path (InstrumentationClient::on_basic_block): with several clients of paths it stands for the tuple of
// their numbers. Undefined registers are one client's state, so at most one client may request undefined_values.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <shared_mutex>
#include <span>
#include <string_view>
#include <vector>

#include "machine/observer.h"

namespace Atoll::machine {

class ObserverMux : public Observer, private InstrumentationClient {
 public:
  ObserverMux() = default;
  ObserverMux(const ObserverMux&) = delete;
  ObserverMux& operator=(const ObserverMux&) = delete;
  ~ObserverMux() override = default;

  /// Adds an observer, which must outlive this. To be called before a machine is made with it. Returns false, and does
  /// not add it, if both it and an earlier one request undefined_values or have a WaveControl.
  bool add(Observer& observer);

  EventMask watched() const override { return watched_.events; }
  InstrumentationClient* instrumentation() override { return watched_.instrumentation.any() ? this : nullptr; }
  WaveControl* wave_control() override { return control_; }

  void code_loaded(const LoadedCode& code) override;
  void code_unloading(const LoadedCode& code) override;
  void dispatch_begins(const Dispatch& dispatch) override;
  void dispatch_ends(const Dispatch& dispatch) override;
  void faulted(const FaultReport& fault) override;
  void work_group_begins(const WorkGroup& group) override;
  void work_group_ends(const WorkGroup& group) override;
  void wave_begins(const Wave& wave) override;
  void wave_ends(const Wave& wave) override;
  void instruction(const Wave& wave, uint64_t pc, const isa::Instruction& instruction) override;
  void access(const Wave& wave, const AccessEvent& access) override;
  void barrier(const Wave& wave, const BarrierEvent& event) override;
  void allocated(const MemoryEvent& memory) override;
  void freed(uint64_t address, std::string_view function, std::function<void()> release) override;
  void copying(const CopyEvent& copy) override;
  void queue_made(uint64_t queue) override;
  void doorbell(uint64_t queue, uint64_t packets) override;
  void barrier_packet(const BarrierPacketEvent& packet) override;
  void signal_seen(uint64_t signal) override;
  void signal_changes(uint64_t signal, bool replaces) override;
  void signal_shown(uint64_t signal) override;
  void copy_submitted(uint64_t copy) override;
  void copy_starts(uint64_t copy, std::span<const uint64_t> signals) override;
  void copy_ends(uint64_t copy, uint64_t completion_signal) override;

 private:
  InstrumentationRequest requested() const override { return watched_.instrumentation; }
  uint32_t on_basic_block(const Wave& wave, uint32_t before, const InstructionRange& code) override;
  AccessFilter access_filter(const Wave& wave) override;
  bool passes_filter(const Wave& wave, const AccessEvent& access, OrdinaryMemory& around) override;
  void override_loaded_values(Wave& wave, const isa::Instruction& next) override;

  /// Numbers of the path clients, in their order, and the number that stands for them.
  using PathTuple = std::vector<uint32_t>;
  PathTuple path_tuple(uint32_t number) const;
  uint32_t number_of(PathTuple tuple);

  Watched watched_;  ///< by any of them
  WaveControl* control_ = nullptr;
  std::vector<Observer*> all_;
  /// Observers and clients that have selected such events.
  std::vector<Observer*> of_code_, of_dispatches_, of_work_groups_, of_instructions_, of_accesses_, of_barriers_,
      of_memory_, of_order_;
  std::vector<InstrumentationClient*> of_filters_, of_loads_, of_paths_;

  mutable std::shared_mutex paths_mutex_;  ///< of what follows, in use with several path clients
  std::map<PathTuple, uint32_t> path_numbers_;
  std::vector<const PathTuple*> path_tuples_;  ///< by number, from 1 on
};

}  // namespace Atoll::machine

// machine: several observers of one machine, as one. See observer_mux.h.
#include "machine/observer_mux.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

namespace Atoll::machine {

bool ObserverMux::add(Observer& observer) {
  const Watched selected = Watched::by(&observer);
  const EventMask& events = selected.events;
  const InstrumentationRequest& request = selected.instrumentation;
  if (request.undefined_values && watched_.instrumentation.undefined_values) return false;
  if (observer.wave_control() != nullptr && control_ != nullptr) return false;
  if (observer.wave_control() != nullptr) control_ = observer.wave_control();
  watched_.events |= events;
  watched_.instrumentation |= request;
  all_.push_back(&observer);
  const bool filters = request.filtered_accesses || request.undefined_values || request.paths;
  if (events.code) of_code_.push_back(&observer);
  if (events.dispatches) of_dispatches_.push_back(&observer);
  if (events.work_groups) of_work_groups_.push_back(&observer);
  if (events.instructions || events.synchronisation || events.whole_waves || request.undefined_values)
    of_instructions_.push_back(&observer);
  if (events.accesses || filters) of_accesses_.push_back(&observer);
  if (events.barriers) of_barriers_.push_back(&observer);
  if (events.memory) of_memory_.push_back(&observer);
  if (events.order) of_order_.push_back(&observer);
  if (InstrumentationClient* const client = observer.instrumentation()) {
    if (filters) of_filters_.push_back(client);
    if (request.loads) of_loads_.push_back(client);
    if (request.paths) of_paths_.push_back(client);
  }
  return true;
}

void ObserverMux::code_loaded(const LoadedCode& code) {
  for (Observer* each : of_code_) each->code_loaded(code);
}
void ObserverMux::code_unloading(const LoadedCode& code) {
  for (Observer* each : of_code_) each->code_unloading(code);
}
void ObserverMux::dispatch_begins(const Dispatch& dispatch) {
  for (Observer* each : of_dispatches_) each->dispatch_begins(dispatch);
}
void ObserverMux::dispatch_ends(const Dispatch& dispatch) {
  for (Observer* each : of_dispatches_) each->dispatch_ends(dispatch);
}
void ObserverMux::faulted(const FaultReport& fault) {
  for (Observer* each : all_) each->faulted(fault);
}
void ObserverMux::work_group_begins(const WorkGroup& group) {
  for (Observer* each : of_work_groups_) each->work_group_begins(group);
}
void ObserverMux::work_group_ends(const WorkGroup& group) {
  for (Observer* each : of_work_groups_) each->work_group_ends(group);
}
void ObserverMux::wave_begins(const Wave& wave) {
  for (Observer* each : of_work_groups_) each->wave_begins(wave);
}
void ObserverMux::wave_ends(const Wave& wave) {
  for (Observer* each : of_work_groups_) each->wave_ends(wave);
}
void ObserverMux::instruction(const Wave& wave, uint64_t pc, const isa::Instruction& instruction) {
  for (Observer* each : of_instructions_) each->instruction(wave, pc, instruction);
}
void ObserverMux::access(const Wave& wave, const AccessEvent& access) {
  for (Observer* each : of_accesses_) each->access(wave, access);
}
void ObserverMux::barrier(const Wave& wave, const BarrierEvent& event) {
  for (Observer* each : of_barriers_) each->barrier(wave, event);
}
void ObserverMux::allocated(const MemoryEvent& memory) {
  for (Observer* each : of_memory_) each->allocated(memory);
}
/// The memory goes when the last observer has released it.
void ObserverMux::freed(uint64_t address, std::string_view function, std::function<void()> release) {
  const std::shared_ptr<void> last(nullptr, [release = std::move(release)](void*) { release(); });
  for (Observer* each : of_memory_) each->freed(address, function, [last] { static_cast<void>(last); });
}
void ObserverMux::copying(const CopyEvent& copy) {
  for (Observer* each : of_memory_) each->copying(copy);
}
void ObserverMux::queue_made(uint64_t queue) {
  for (Observer* each : of_order_) each->queue_made(queue);
}
void ObserverMux::doorbell(uint64_t queue, uint64_t packets) {
  for (Observer* each : of_order_) each->doorbell(queue, packets);
}
void ObserverMux::barrier_packet(const BarrierPacketEvent& packet) {
  for (Observer* each : of_order_) each->barrier_packet(packet);
}
void ObserverMux::signal_seen(uint64_t signal) {
  for (Observer* each : of_order_) each->signal_seen(signal);
}
void ObserverMux::signal_changes(uint64_t signal, bool replaces) {
  for (Observer* each : of_order_) each->signal_changes(signal, replaces);
}
void ObserverMux::signal_shown(uint64_t signal) {
  for (Observer* each : of_order_) each->signal_shown(signal);
}
void ObserverMux::copy_submitted(uint64_t copy) {
  for (Observer* each : of_order_) each->copy_submitted(copy);
}
void ObserverMux::copy_starts(uint64_t copy, std::span<const uint64_t> signals) {
  for (Observer* each : of_order_) each->copy_starts(copy, signals);
}
void ObserverMux::copy_ends(uint64_t copy, uint64_t completion_signal) {
  for (Observer* each : of_order_) each->copy_ends(copy, completion_signal);
}

AccessFilter ObserverMux::access_filter(const Wave& wave) {
  AccessFilter all{.scratch_bytes = UINT32_MAX};
  for (InstrumentationClient* each : of_filters_) {
    const AccessFilter one = each->access_filter(wave);
    all.scratch_bytes = std::min(all.scratch_bytes, one.scratch_bytes);
    all.lds_bytes = std::min(all.lds_bytes, one.lds_bytes);
    all.epoch = std::max(all.epoch, one.epoch);
    if (one.undefined != nullptr) all.undefined = one.undefined;
  }
  return all;
}

bool ObserverMux::passes_filter(const Wave& wave, const AccessEvent& access, OrdinaryMemory& around) {
  around = {.begin = 0, .end = UINT64_MAX};
  for (InstrumentationClient* each : of_filters_) {
    OrdinaryMemory one;
    if (!each->passes_filter(wave, access, one)) return false;
    around = {.begin = std::max(around.begin, one.begin), .end = std::min(around.end, one.end)};
  }
  return true;
}

void ObserverMux::override_loaded_values(Wave& wave, const isa::Instruction& next) {
  for (InstrumentationClient* each : of_loads_) each->override_loaded_values(wave, next);
}

uint32_t ObserverMux::on_basic_block(const Wave& wave, uint32_t before, const InstructionRange& code) {
  if (of_paths_.size() == 1) return of_paths_.front()->on_basic_block(wave, before, code);
  PathTuple tuple = path_tuple(before);
  for (size_t i = 0; i < tuple.size(); ++i) tuple[i] = of_paths_[i]->on_basic_block(wave, tuple[i], code);
  return number_of(std::move(tuple));
}

ObserverMux::PathTuple ObserverMux::path_tuple(uint32_t number) const {
  if (number == 0) return PathTuple(of_paths_.size());
  const std::shared_lock lock(paths_mutex_);
  return *path_tuples_[number - 1];
}

uint32_t ObserverMux::number_of(PathTuple tuple) {
  {
    const std::shared_lock lock(paths_mutex_);
    if (const auto known = path_numbers_.find(tuple); known != path_numbers_.end()) return known->second;
  }
  const std::unique_lock lock(paths_mutex_);
  const auto number = static_cast<uint32_t>(path_tuples_.size() + 1);
  const auto [place, is_new] = path_numbers_.try_emplace(std::move(tuple), number);
  if (is_new) path_tuples_.push_back(&place->first);
  return place->second;
}

}  // namespace Atoll::machine

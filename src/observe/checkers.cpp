// observe: see checkers.h.
#include "observe/checkers.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "machine/wave/dispatch.h"
#include "observe/init/init_checker.h"
#include "observe/memory/memory_checker.h"
#include "observe/order/order_checker.h"
#include "observe/race/race_checker.h"
#include "observe/report/report_file.h"
#include "observe/sync/sync_checker.h"
#include "observe/wait/wait_checker.h"

namespace Atoll::observe {

namespace {

void to_standard_error(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

std::string_view kind_of(const machine::Fault& fault) {
  using enum machine::Fault::Kind;
  switch (fault.kind) {
    case memory:
      return "memory";
    case illegal_instruction:
      return "illegal-instruction";
    case instruction_fetch:
      return "instruction-fetch";
    case scratch_overflow:
      return "scratch-overflow";
    case lds_overflow:
      return "lds-overflow";
    case abort:
      return "abort";
    case exception:
      return "exception";
    case timeout:
      return "timeout";
    case none:
    case interrupted:
      break;
  }
  return "interrupted";
}

/// A fault as it stands in the file of findings.
Finding finding_of(const machine::FaultReport& report) {
  Finding finding{.checker = "fault", .kind = std::string(kind_of(report.fault))};
  const std::string text = report.to_string();
  finding.message = text.substr(0, text.find('\n'));
  finding.kernel = report.kernel;
  finding.function = report.function;
  finding.instruction = report.instruction;
  finding.pc = report.fault.pc;
  finding.source = SourcePlace::parse(report.source);
  finding.source_text = text_around(finding.source);
  std::ranges::copy(report.work_group, finding.work_group);
  std::ranges::copy(report.work_item, finding.work_item);
  finding.wave = report.wave;
  finding.lane = report.fault.lane;
  finding.has_work_item = report.lane_known;
  finding.address = report.owner;
  return finding;
}

}  // namespace

std::string summary_line(const Finding& finding) {
  return fmt::format("  {}: {}{}{}{}\n", finding.checker, finding.kind, finding.source.file.empty() ? "" : " at ",
                     finding.source.to_string(), finding.count > 1 ? fmt::format(", {} times", finding.count) : "");
}

support::Result<std::unique_ptr<Checkers>> Checkers::create(Options options, CheckerContext context) {
  if (const auto checked = check(options); !checked) return std::unexpected(checked.error());
  Suppressions suppressions;
  if (!options.suppressions.empty()) {
    auto read = Suppressions::read(options.suppressions);
    if (!read) return std::unexpected(read.error());
    suppressions = std::move(*read);
  }
  std::unique_ptr<Checkers> checkers(new Checkers(std::move(options), std::move(context), std::move(suppressions)));
  // A report of no findings: the process may end without finish(), which replaces it.
  if (!checkers->options_.report_file.empty())
    if (const auto written = checkers->write(); !written) return std::unexpected(written.error());
  return checkers;
}

Checkers::Checkers(Options options, CheckerContext context, Suppressions suppressions)
    : options_(std::move(options)),
      checker_context_(std::move(context)),
      findings_(std::move(suppressions), checker_context_.report ? checker_context_.report : to_standard_error),
      progress_(!checker_context_.report && isatty(STDERR_FILENO) == 1 ? std::function(to_standard_error)
                                                                       : std::function<void(std::string_view)>()) {
  // A kernel's fault may end the program before finish().
  findings_.added = [this](const Finding& finding) {
    if (checker_context_.found) checker_context_.found(finding);
    if (!options_.report_file.empty()) static_cast<void>(write());
  };
  const auto wanted = [&](std::string_view name) {
    return std::ranges::find(options_.checkers, name) != options_.checkers.end();
  };
  if (wanted("memory") || wanted("leak")) {
    checkers_.push_back(make_memory_checker(findings_, checker_context_, wanted("memory"), wanted("leak")));
  }
  if (wanted("init")) checkers_.push_back(make_init_checker(findings_));
  if (wanted("race")) checkers_.push_back(make_race_checker(findings_));
  if (wanted("sync")) checkers_.push_back(make_sync_checker(findings_));
  if (wanted("wait")) checkers_.push_back(make_wait_checker(findings_));
  if (wanted("order")) checkers_.push_back(make_order_checker(findings_, options_.seed()));
  for (const auto& checker : checkers_) {
    const machine::EventMask wants = checker->watched();
    watched_ |= wants;
    if (wants.code) of_code_.push_back(checker.get());
    if (wants.dispatches) of_dispatches_.push_back(checker.get());
    if (wants.work_groups) of_work_groups_.push_back(checker.get());
    if (wants.instructions || wants.synchronisation || wants.whole_waves || wants.undefined_values)
      of_instructions_.push_back(checker.get());
    if (wants.paths) of_paths_ = checker.get();
    if (wants.accesses || wants.filtered_accesses || wants.undefined_values || wants.paths)
      of_accesses_.push_back(checker.get());
    if (wants.barriers) of_barriers_.push_back(checker.get());
    if (wants.memory) of_memory_.push_back(checker.get());
    if (wants.loads) of_loads_.push_back(checker.get());
    if (wants.order) of_order_.push_back(checker.get());
  }
  if (progress_.is_wanted()) watched_ |= {.dispatches = true, .work_groups = true};
}

support::Result<void> Checkers::finish() {
  if (finished_) return {};
  finished_ = true;
  if (checker_context_.report) findings_.mute();
  for (const auto& checker : checkers_) checker->finish();
  const std::vector<Finding> findings = findings_.all();
  uint64_t errors = 0, times = 0;
  for (const Finding& finding : findings) {
    if (finding.is_note) continue;
    ++errors;
    times += finding.count;
  }
  if (errors != 0 && !checker_context_.report) {
    std::string text = fmt::format("atoll: {} finding{}", errors, errors == 1 ? "" : "s");
    if (times > errors) text += fmt::format(", {} times in all", times);
    if (const uint64_t hidden = findings_.suppressed(); hidden != 0) text += fmt::format("; {} suppressed", hidden);
    text += '\n';
    for (const Finding& finding : findings) {
      if (finding.is_note) continue;
      text += summary_line(finding);
    }
    to_standard_error(text);
  }
  return options_.report_file.empty() ? support::Result<void>{} : write();
}

support::Result<void> Checkers::write() {
  const std::lock_guard lock(report_mutex_);
  std::vector<Finding> findings = findings_.all();
  findings.insert(findings.end(), faults_.begin(), faults_.end());
  return write_report(options_.report_file, findings, checker_context_.program);
}

void Checkers::faulted(const machine::FaultReport& fault) {
  if (options_.report_file.empty()) return;
  // What is wrong there may have been found before it faulted.
  Finding finding = finding_of(fault);
  const auto is_there = [&](const Finding& found) {
    return found.pc == finding.pc || (!found.source.file.empty() && found.source.file == finding.source.file &&
                                      found.source.line == finding.source.line);
  };
  if (std::ranges::any_of(findings_.all(), is_there)) return;
  {
    const std::lock_guard lock(report_mutex_);
    faults_.push_back(std::move(finding));
  }
  static_cast<void>(write());
}

void Checkers::forget() {
  for (const auto& checker : checkers_) checker->forget();
}

void Checkers::code_loaded(const machine::LoadedCode& code) {
  for (Checker* each : of_code_) each->code_loaded(code);
}
void Checkers::code_unloading(const machine::LoadedCode& code) {
  for (Checker* each : of_code_) each->code_unloading(code);
}
void Checkers::dispatch_begins(const machine::Dispatch& dispatch) {
  if (progress_.is_wanted()) progress_.dispatch_begins(dispatch);
  for (Checker* each : of_dispatches_) each->dispatch_begins(dispatch);
}
void Checkers::dispatch_ends(const machine::Dispatch& dispatch) {
  if (progress_.is_wanted()) progress_.dispatch_ends(dispatch);
  for (Checker* each : of_dispatches_) each->dispatch_ends(dispatch);
}
void Checkers::work_group_begins(const machine::WorkGroup& group) {
  for (Checker* each : of_work_groups_) each->work_group_begins(group);
}
void Checkers::work_group_ends(const machine::WorkGroup& group) {
  if (progress_.is_wanted()) progress_.work_group_ends(group);
  for (Checker* each : of_work_groups_) each->work_group_ends(group);
}
void Checkers::wave_begins(const machine::Wave& wave) {
  for (Checker* each : of_work_groups_) each->wave_begins(wave);
}
void Checkers::wave_ends(const machine::Wave& wave) {
  for (Checker* each : of_work_groups_) each->wave_ends(wave);
}
void Checkers::instruction(const machine::Wave& wave, uint64_t pc, const isa::Instruction& instruction) {
  for (Checker* each : of_instructions_) each->instruction(wave, pc, instruction);
}
void Checkers::access(const machine::Wave& wave, const machine::AccessEvent& access) {
  for (Checker* each : of_accesses_) each->access(wave, access);
}
uint32_t Checkers::on_basic_block(const machine::Wave& wave, uint32_t before, const machine::InstructionRange& code) {
  return of_paths_->on_basic_block(wave, before, code);
}
/// Asked where odd accesses alone are wanted: what one of the checkers finds odd is.
machine::AccessFilter Checkers::access_filter(const machine::Wave& wave) {
  machine::AccessFilter all{.scratch_bytes = UINT32_MAX};
  for (Checker* each : of_accesses_) {
    const machine::AccessFilter one = each->access_filter(wave);
    all.scratch_bytes = std::min(all.scratch_bytes, one.scratch_bytes);
    all.lds_bytes = std::min(all.lds_bytes, one.lds_bytes);
    all.epoch = std::max(all.epoch, one.epoch);
    if (one.undefined != nullptr) all.undefined = one.undefined;
  }
  return all;
}
bool Checkers::passes_filter(const machine::Wave& wave, const machine::AccessEvent& access,
                             machine::OrdinaryMemory& around) {
  around = {.begin = 0, .end = UINT64_MAX};
  for (Checker* each : of_accesses_) {
    machine::OrdinaryMemory one;
    if (!each->passes_filter(wave, access, one)) return false;
    around = {.begin = std::max(around.begin, one.begin), .end = std::min(around.end, one.end)};
  }
  return true;
}
void Checkers::override_loaded_values(machine::Wave& wave, const isa::Instruction& next) {
  for (Checker* each : of_loads_) each->override_loaded_values(wave, next);
}
void Checkers::barrier(const machine::Wave& wave, const machine::BarrierEvent& event) {
  for (Checker* each : of_barriers_) each->barrier(wave, event);
}
void Checkers::allocated(const machine::MemoryEvent& memory) {
  for (Checker* each : of_memory_) each->allocated(memory);
}
void Checkers::freed(uint64_t address, std::string_view function, std::function<void()> release) {
  const std::shared_ptr<void> last(nullptr, [release = std::move(release)](void*) { release(); });
  for (Checker* each : of_memory_) each->freed(address, function, [last] { static_cast<void>(last); });
}
void Checkers::copying(const machine::CopyEvent& copy) {
  for (Checker* each : of_memory_) each->copying(copy);
}
void Checkers::copied(const machine::CopyEvent& copy) {
  for (Checker* each : of_memory_) each->copied(copy);
}
void Checkers::lds_laid_out(uint64_t kernarg, const LdsLayout& layout) {
  for (Checker* each : of_memory_) each->lds_laid_out(kernarg, layout);
}
void Checkers::refused_free(uint64_t address, std::string_view function) {
  for (Checker* each : of_memory_) each->refused_free(address, function);
}
void Checkers::refused_copy(const machine::CopyEvent& copy) {
  for (Checker* each : of_memory_) each->refused_copy(copy);
}
void Checkers::allocated_in_stream(uint64_t address, uint64_t bytes, std::string_view function) {
  for (Checker* each : of_memory_) each->allocated_in_stream(address, bytes, function);
}
void Checkers::freed_in_stream(uint64_t address, std::string_view function) {
  for (Checker* each : of_memory_) each->freed_in_stream(address, function);
}
void Checkers::queue_made(uint64_t queue) {
  for (Checker* each : of_order_) each->queue_made(queue);
}
void Checkers::doorbell(uint64_t queue, uint64_t packets) {
  for (Checker* each : of_order_) each->doorbell(queue, packets);
}
void Checkers::barrier_packet(const machine::BarrierPacketEvent& packet) {
  for (Checker* each : of_order_) each->barrier_packet(packet);
}
void Checkers::signal_seen(uint64_t signal) {
  for (Checker* each : of_order_) each->signal_seen(signal);
}
void Checkers::signal_changes(uint64_t signal, bool replaces) {
  for (Checker* each : of_order_) each->signal_changes(signal, replaces);
}
void Checkers::signal_shown(uint64_t signal) {
  for (Checker* each : of_order_) each->signal_shown(signal);
}
void Checkers::copy_submitted(uint64_t copy) {
  for (Checker* each : of_order_) each->copy_submitted(copy);
}
void Checkers::copy_starts(uint64_t copy, std::span<const uint64_t> signals) {
  for (Checker* each : of_order_) each->copy_starts(copy, signals);
}
void Checkers::copy_ends(uint64_t copy, uint64_t completion_signal) {
  for (Checker* each : of_order_) each->copy_ends(copy, completion_signal);
}

}  // namespace Atoll::observe

// observe: dispatches the machine's events to the checkers that subscribe to them, and writes reports.
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

/// Converts a fault into a finding for the report file.
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
  // Writes a report without findings first, because the process may end without finish(), which replaces it.
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
  // Rewrites the report after each finding, because a kernel's fault may end the program before finish().
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
    add(*checker);
    if (checker->watched().memory) of_memory_.push_back(checker.get());
  }
  if (progress_.is_wanted()) add(progress_);
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
  // Findings made before the fault may explain it.
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

}  // namespace Atoll::observe

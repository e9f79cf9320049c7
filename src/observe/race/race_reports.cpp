// observe: words the race checker's findings.
#include "observe/race/race_reports.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "machine/wave/dispatch.h"
#include "observe/race/race_checker.h"
#include "observe/report/host_stack.h"
#include "observe/report/place.h"
#include "support/demangle.h"

namespace Atoll::observe {

namespace {

using machine::Space;

constexpr const char* checker = race_checker;
constexpr const char* advice_for_copies =
    "let the one wait for the other: the same stream, an event, or hipStreamSynchronize() between them";

}  // namespace

/// Describes where an earlier access was made.
NamedStack RaceReports::stack_of(const Mark& mark) {
  const Task& task = order_.task(mark.when.task);
  const Site site = sites_.at(mark.site);
  const std::string access = fmt::format("{} {} bytes", site.verb, site.bytes);
  const std::string wave = fmt::format("kernel '{}', work-group ({}, {}, {}), wave {}, lane {}",
                                       site.kernel ? support::demangled(site.kernel->name) : "", task.work_group[0],
                                       task.work_group[1], task.work_group[2], task.wave, uint32_t{mark.lane});
  NamedStack earlier{.title = "the other access"};
  if (site.gpu != nullptr) earlier.code = machine::code_address(*site.gpu, site.pc, site.wave_size);
  earlier.describe = [access, wave](const debug_info::CodePlace& place) {
    const std::string where = source_of(place);
    std::vector<std::string> frames{access + (where.empty() ? "" : ", ") + where};
    if (!place.instruction.empty()) frames.push_back(place.instruction);
    frames.push_back(wave);
    return frames;
  };
  return earlier;
}

void RaceReports::report(const machine::Wave& wave, const Later& later) {
  const std::string kind = later.copy ? "copy" : later.space == Space::lds ? "lds" : "global";
  if (findings_.known(checker, kind, later.pc, later.conflict.count)) return;
  const WaveClock* const clock = order_.clocks_of(wave).wave;
  if (clock != nullptr) findings_.add(later.pc, finding_for(wave, *clock, later, kind));
}

/// Reports an unordered access that is not a race on this GPU but may be one on others. Here a work-group release and
/// acquire are no instructions, so it is unknown whether the source has them: a note.
void RaceReports::report_incomplete(const machine::Wave& wave, const Later& later) {
  const std::string kind = "not-portable";
  if (findings_.known(checker, kind, later.pc, later.conflict.count)) return;
  const WaveClock* const clock = order_.clocks_of(wave).wave;
  if (clock == nullptr) return;
  Finding note = finding_for(wave, *clock, later, kind);
  note.is_note = true;
  note.message = fmt::format(
      "kernel '{}' {} {} bytes of memory that another wave of its work-group {}: in order here, as waves of a "
      "work-group see each other's accesses on this GPU, but not from GFX10 on in WGP mode",
      note.kernel, later.verb, later.bytes, later.conflict.other_writes ? "has written" : "has read");
  note.advice =
      "check that the source has a work-group release before the synchronisation and an acquire after it; the code for "
      "this GPU is the same without them. With code for gfx1030, --gpu gfx1030 checks it";
  findings_.add(later.pc, std::move(note));
}

Finding RaceReports::finding_for(const machine::Wave& wave, const WaveClock& clock, const Later& later,
                                 std::string_view kind) {
  const Conflict& conflict = later.conflict;
  const bool in_lds = later.space == Space::lds;
  const Task& own = order_.task(clock.task);
  const Task& other = order_.task(conflict.other.when.task);
  const bool same_dispatch = !later.copy && own.dispatch == other.dispatch;
  const bool same_group = same_dispatch && std::ranges::equal(own.work_group, other.work_group);
  Finding finding;
  finding.checker = checker;
  finding.kind = kind;
  set_place(finding, wave, later.pc, conflict.lane);
  const std::string whose = later.copy      ? later.copy->function
                            : same_group    ? "another wave of its work-group"
                            : same_dispatch ? "a wave of another work-group"
                                            : "a wave of another dispatch";
  finding.message =
      fmt::format("kernel '{}' {} {} bytes of {} that {} {}, and nothing orders the two", finding.kernel, later.verb,
                  later.bytes, in_lds ? "LDS" : "memory", whose, conflict.other_writes ? "has written" : "has read");
  finding.address = in_lds ? fmt::format("LDS + {:#x}", conflict.address) : fmt::format("{:#x}", conflict.address);
  if (later.copy) {
    finding.stacks.push_back({"copied", lines_of(later.copy->asked, later.copy->function)});
  } else {
    finding.stacks.push_back(stack_of(conflict.other));
  }
  finding.advice =
      same_group && !in_lds
          ? "put a barrier between them (__syncthreads(), barrier()), which all waves of the work-group reach"
      : same_group    ? "put a barrier between them (__syncthreads(), barrier()), which all waves of the work-group "
                        "reach; in assembly, wait for LDS before it"
      : same_dispatch ? "no barrier reaches other work-groups: use atomics with release and acquire, or a second kernel"
      : later.copy    ? advice_for_copies
                      : "let the one dispatch wait for the other: the same stream, an event, or a barrier packet";
  finding.count = conflict.count;
  return finding;
}

/// Records that a lane performs an atomic on a location it loaded, in the same interval between barriers.
void RaceReports::retried(WaveClock& clock, uint32_t load_site) {
  if (clock.last_retried == load_site) return;
  clock.last_retried = load_site;
  const std::lock_guard lock(deferred_mutex_);
  retried_.insert(load_site);
}

void RaceReports::defer(const machine::Wave& wave, const WaveClock& clock, uint32_t dispatch, const Later& access,
                        uint32_t load_site) {
  const Conflict& conflict = access.conflict;
  const std::lock_guard lock(deferred_mutex_);
  if (retried_.contains(load_site)) return;
  const auto [at, is_new] = deferred_.try_emplace({dispatch, access.pc, uint32_t{conflict.other.site}});
  DeferredReport& later = at->second;
  if (is_new) {
    later.dispatch = dispatch;
    later.load_site = load_site;
    later.finding = finding_for(wave, clock, access, access.space == Space::lds ? "lds" : "global");
  } else {
    later.finding.count += conflict.count;
  }
}

/// Reports the deferred reports of an ending dispatch, or all.
void RaceReports::report_deferred(uint32_t dispatch) {
  std::vector<Finding> reported;
  {
    const std::lock_guard lock(deferred_mutex_);
    for (auto at = deferred_.begin(); at != deferred_.end();) {
      DeferredReport& later = at->second;
      const bool is_over = dispatch == every_dispatch || later.dispatch == dispatch;
      if (is_over && !retried_.contains(later.load_site)) reported.push_back(std::move(later.finding));
      at = is_over ? deferred_.erase(at) : std::next(at);
    }
  }
  for (Finding& finding : reported) {
    const uint64_t pc = finding.pc;
    if (!findings_.known(checker, finding.kind, pc, finding.count)) findings_.add(pc, std::move(finding));
  }
}

void RaceReports::report_copy(const CopyAccess& copy, uint64_t address, std::string_view other, NamedStack earlier) {
  const std::string kind = "copy";
  if (findings_.known(checker, kind, copy.asked.hash(), 1)) return;
  Finding finding;
  finding.checker = checker;
  finding.kind = kind;
  finding.message = fmt::format("{} {} memory that {}, and nothing orders the two", copy.function,
                                copy.writes ? "writes" : "reads", other);
  finding.address = fmt::format("{:#x}", address);
  if (std::vector<std::string> lines = lines_of(copy.asked, copy.function); !lines.empty()) {
    finding.stacks.push_back({"copied", std::move(lines)});
  }
  finding.stacks.push_back(std::move(earlier));
  finding.advice = advice_for_copies;
  findings_.add(copy.asked.hash(), std::move(finding));
}

}  // namespace Atoll::observe

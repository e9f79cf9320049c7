// observe: takes kernel, work-group and work-item from a wave.
#include "observe/report/place.h"

#include <algorithm>
#include <utility>

#include "machine/wave/dispatch.h"
#include "machine/wave/initial_state.h"
#include "support/demangle.h"

namespace Atoll::observe {

void set_place(Finding& finding, const machine::Wave& wave, uint64_t pc, unsigned lane) {
  const machine::WorkGroup& group = *wave.work_group;
  finding.kernel = support::demangled(group.dispatch->kernel->name);
  finding.pc = pc;
  finding.code = machine::code_address(wave, pc);
  std::ranges::copy(group.id, finding.work_group);
  finding.wave = wave.index;
  finding.lane = lane;
  finding.has_work_item = true;
  machine::work_item_of(group, wave.index, lane, finding.work_item);
}

std::string source_of(const debug_info::CodePlace& place) { return SourcePlace::parse(place.source).to_string(); }

std::vector<std::string> instruction_and_source(const debug_info::CodePlace& place) {
  std::vector<std::string> frames{place.instruction};
  if (std::string source = source_of(place); !source.empty()) frames.push_back(std::move(source));
  return frames;
}

std::vector<std::string> source_and_instruction(const debug_info::CodePlace& place) {
  std::vector<std::string> frames;
  if (std::string source = source_of(place); !source.empty()) frames.push_back(std::move(source));
  if (!place.instruction.empty()) frames.push_back(place.instruction);
  return frames;
}

const char* verb_of(const machine::AccessEvent& access) {
  if (access.is_atomic) return "does an atomic on";
  return access.writes ? "writes" : "reads";
}

}  // namespace Atoll::observe

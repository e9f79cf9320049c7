// observe: finds the kernel, source line and work-item of an instruction.
#include "observe/report/place.h"

#include <algorithm>

#include "debug_info/inlined_calls.h"
#include "isa/decode.h"
#include "isa/print.h"
#include "machine/gpu.h"
#include "machine/wave/dispatch.h"
#include "machine/wave/initial_state.h"
#include "support/demangle.h"

namespace Atoll::observe {

void set_place(Finding& finding, const machine::Wave& wave, uint64_t pc, unsigned lane) {
  const machine::WorkGroup& group = *wave.work_group;
  const machine::Dispatch& dispatch = *group.dispatch;
  finding.kernel = support::demangled(dispatch.kernel->name);
  std::ranges::copy(group.id, finding.work_group);
  finding.wave = wave.index;
  finding.lane = lane;
  finding.has_work_item = true;
  machine::work_item_of(group, wave.index, lane, finding.work_item);
  set_code_place(finding, *dispatch.gpu, pc, wave.wave_size);
}

void set_code_place(Finding& finding, const machine::Gpu& gpu, uint64_t pc, unsigned wave_size) {
  finding.pc = pc;
  const std::shared_ptr<const machine::LoadedCode> code = gpu.code_at(pc);
  if (!code) return;
  constexpr uint64_t longest = 20;
  const uint64_t bytes = std::min(code->base() + code->size() - pc, longest);
  const target::Processor& processor = gpu.processor();
  const auto instruction = isa::decode({reinterpret_cast<const uint8_t*>(pc), bytes}, processor, wave_size);
  if (instruction) finding.instruction = isa::print(*instruction, processor);
  finding.function = support::demangled(std::string(code->function_at(pc)));
  if (finding.function == finding.kernel) finding.function.clear();
  finding.source = SourcePlace::parse(debug_info::user_line_at(code->file(), pc - code->base()));
  finding.source_text = text_around(finding.source);
}

const char* verb_of(const machine::AccessEvent& access) {
  if (access.is_atomic) return "does an atomic on";
  return access.writes ? "writes" : "reads";
}

}  // namespace Atoll::observe

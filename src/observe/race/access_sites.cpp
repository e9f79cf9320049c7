// observe: numbers accessing instructions, and looks for spin loops around them.
#include "observe/race/access_sites.h"

#include <span>

#include "machine/gpu.h"
#include "machine/loader.h"
#include "observe/race/spin_loops.h"
#include "observe/report/place.h"

namespace Atoll::observe {

const GroupClocks::RecentSite& AccessSites::number_of(const machine::Wave& wave, const machine::AccessEvent& access,
                                                      GroupClocks& group) {
  const char* verb = verb_of(access);
  GroupClocks::RecentSite& recent = group.recent_sites[access.pc / 4 % group.recent_sites.size()];
  if (recent.pc == access.pc && recent.verb == verb) return recent;
  const std::lock_guard lock(mutex_);
  uint32_t& number = numbers_[{access.pc, verb}];
  if (number == 0 && sites_.size() < Mark::sites) {
    number = static_cast<uint32_t>(sites_.size());
    const machine::Gpu& gpu = *wave.work_group->dispatch->gpu;
    Site& site = sites_.emplace_back();
    site = {.pc = access.pc,
            .kernel = wave.work_group->dispatch->kernel,
            .gpu = &gpu,
            .wave_size = wave.wave_size,
            .bytes = access.bytes,
            .verb = verb};
    const std::shared_ptr<const machine::LoadedCode> code = access.reads ? gpu.code_at(access.pc) : nullptr;
    if (code) {
      const std::span bytes(reinterpret_cast<const uint8_t*>(code->base()), code->size());
      site.spins = spins(bytes, access.pc - code->base(), gpu.processor(), wave.wave_size);
    }
  }
  recent = {.pc = access.pc, .verb = verb, .site = number, .spins = number != 0 && sites_[number].spins};
  return recent;
}

}  // namespace Atoll::observe

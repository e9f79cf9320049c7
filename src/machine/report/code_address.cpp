// machine: finds the loaded code around an address.
#include "machine/report/code_address.h"

#include "machine/gpu.h"
#include "machine/loader.h"
#include "machine/wave/dispatch.h"

namespace Atoll::machine {

debug_info::CodeAddress code_address(const Gpu& gpu, uint64_t pc, unsigned wave_size) {
  debug_info::CodeAddress address{.pc = pc, .processor = &gpu.processor(), .wave_size = wave_size};
  if (const std::shared_ptr<const LoadedCode> code = gpu.code_at(pc)) {
    address.symbolizer = code->symbolizer();
    address.copy_bytes(code->code_from(pc));
  }
  return address;
}

debug_info::CodeAddress code_address(const Wave& wave, uint64_t pc) {
  return code_address(*wave.work_group->dispatch->gpu, pc, wave.wave_size);
}

}  // namespace Atoll::machine

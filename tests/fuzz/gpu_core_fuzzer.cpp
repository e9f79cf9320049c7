// Input: an AMDGPU core file.
#include "object/gpu_core.h"

#include "fuzz/fuzzer.h"

using namespace Atoll;
using test::require;
using test::touch;

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> bytes(data, size);
  static_cast<void>(object::is_gpu_core(bytes));
  const auto core = object::read_gpu_core(bytes);
  if (!core) return 0;
  for (const object::CoreSegment& segment : core->segments) touch(segment.bytes);
  for (const object::CoreCode& code : core->codes) {
    touch(code.file);
    touch(code.uri);
  }
  uint64_t registers = 0;
  for (const object::CoreQueue& queue : core->queues) {
    if (queue.waves.empty()) continue;
    const object::KfdAgent* agent = core->agent_of(queue.queue);
    require(agent != nullptr, "a queue with waves has an agent");
    const target::Processor* processor = object::processor_of_version(agent->gfx_target_version);
    require(processor != nullptr, "and the agent a processor");
    for (const object::SavedWave& wave : queue.waves) {
      static_cast<void>(object::state_of(wave, *processor));
      static_cast<void>(object::exception_of(wave, *processor));
      require(wave.vgprs.size() % wave.lanes == 0, "registers are whole");
      registers += (wave.vgprs.size() + wave.agprs.size()) * sizeof(uint32_t);
    }
  }
  require(registers <= size, "waves are no larger than the file");
  return 0;
}

// machine: what implements Gpu::create_queue().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "machine/memory/memory.h"
#include "machine/queue/queue.h"
#include "machine/schedule/scheduler.h"

namespace Atoll::machine {

/// Turns a kernel dispatch packet into a launch that is ready to run: finds the kernel, checks, starts the clock.
using Launch = std::function<support::Result<std::shared_ptr<Dispatch>>(const aql::KernelDispatchPacket& packet,
                                                                        uint64_t queue_address, uint64_t dispatch_id)>;

/// Fills in what an amd_queue_t says about its GPU: apertures, sizes, offsets; no ring.
void describe_gpu(aql::Queue& queue, const target::GpuModel& model);

/// Creates a queue and its thread. Fails if the size is not a power of two or memory runs out.
support::Result<std::unique_ptr<Queue>> make_queue(QueueOptions options, const target::GpuModel& model, Memory& memory,
                                                   Scheduler& scheduler, Launch launch);

}  // namespace Atoll::machine

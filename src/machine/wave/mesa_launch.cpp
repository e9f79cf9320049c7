// machine: translates a Mesa3D kernel to a LaunchState, by way of the packet and the descriptor that HSA has for it.
#include "machine/wave/mesa_launch.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "machine/loader.h"
#include "machine/queue/aql.h"
#include "machine/wave/hsa_launch.h"
#include "machine/wave/wave.h"

namespace Atoll::machine {

using support::ErrorKind;
using support::fail;

bool needs_packet(const object::EntryPoint& kernel) { return kernel.state && kernel.state->dispatch_ptr; }

support::Result<LaunchState> make_mesa_launch(const object::EntryPoint& kernel, std::shared_ptr<const LoadedCode> code,
                                              const MesaMemory& memory, const std::array<uint32_t, 3>& grid,
                                              const std::array<uint32_t, 3>& work_group, uint32_t dynamic_lds_bytes,
                                              const target::GpuModel& model) {
  const object::KernelDescriptor& descriptor = *kernel.state;
  const std::pair<bool, std::string_view> unset[] = {{descriptor.queue_ptr, "queue pointer"},
                                                     {descriptor.dispatch_id, "dispatch id"},
                                                     {descriptor.flat_scratch_init, "FLAT_SCRATCH"},
                                                     {descriptor.private_segment_size, "private segment size"}};
  for (const auto& [is_read, what] : unset) {
    if (is_read) {
      return fail(ErrorKind::unsupported, "kernel '{}' reads the {} in user SGPRs, which Mesa3D does not set",
                  kernel.name, what);
    }
  }
  HsaKernel hsa;
  hsa.name = kernel.name;
  hsa.code = code;
  hsa.object = hsa.entry = code->base() + kernel.address;
  hsa.descriptor = descriptor;
  hsa.named_vgprs = descriptor.vgprs;
  hsa.named_agprs = descriptor.agprs;
  hsa.watches_exceptions =
      (descriptor.mode & enabled_exceptions) != 0 || code->looks_at_exceptions(*model.target.processor);

  aql::KernelDispatchPacket packet{};
  packet.header = static_cast<uint16_t>(aql::PacketType::kernel_dispatch);
  packet.setup = 3;
  packet.workgroup_size_x = static_cast<uint16_t>(work_group[0]);
  packet.workgroup_size_y = static_cast<uint16_t>(work_group[1]);
  packet.workgroup_size_z = static_cast<uint16_t>(work_group[2]);
  packet.grid_size_x = grid[0];
  packet.grid_size_y = grid[1];
  packet.grid_size_z = grid[2];
  packet.group_segment_size = descriptor.group_segment_fixed_size + dynamic_lds_bytes;
  packet.private_segment_size = descriptor.private_segment_fixed_size;
  packet.kernarg_address = memory.arguments;
  if (memory.packet != 0) std::memcpy(reinterpret_cast<void*>(memory.packet), &packet, sizeof packet);
  return make_hsa_launch(packet, hsa, std::move(code), {.packet = memory.packet, .queue = 0, .dispatch_id = 0}, model);
}

}  // namespace Atoll::machine

// machine: translates a kernel descriptor and an AQL packet to a LaunchState.
#include "machine/wave/hsa_launch.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "machine/loader.h"
#include "machine/report/fault_guard.h"
#include "machine/wave/scalar_writer.h"
#include "machine/wave/wave.h"
#include "object/kernel_code.h"
#include "object/kernel_descriptor_fields.h"

namespace Atoll::machine {

using support::ErrorKind;
using support::fail;

namespace {

/// Extra stack bytes of a work-item whose kernel has a dynamic stack (recursion, calls through pointers). Compilers
/// assumed as much before descriptors had the flag.
constexpr uint64_t dynamic_stack_bytes = 16384;

/// When a kernel has kernel arguments preloaded, its code starts with 256 bytes for firmware that does not do so; the
/// entry lies after them (user guide, "Preloaded Kernel Arguments").
constexpr uint64_t preload_prologue_bytes = 256;

constexpr std::string_view dimension_names[3] = {"x", "y", "z"};

/// Registers are allocated in granules; the metadata says how many of them the compiler has used. It is believed where
/// it agrees with the descriptor.
void count_named_registers(HsaKernel& kernel, const object::KernelMetadata* metadata,
                           const target::Processor& processor) {
  const object::KernelDescriptor& descriptor = kernel.descriptor;
  kernel.named_vgprs = descriptor.vgprs;
  kernel.named_agprs = descriptor.agprs;
  if (metadata == nullptr || metadata->vgpr_count > descriptor.vgprs) return;
  const uint32_t allocated = descriptor.vgprs + (processor.unified_vgprs ? descriptor.agprs : 0u);
  const uint32_t granule = descriptor.wave32 ? processor.vgpr_granule_wave32 : processor.vgpr_granule;
  if (metadata->vgpr_count + granule <= allocated) return;
  kernel.named_vgprs = static_cast<uint16_t>(metadata->vgpr_count);
  if (processor.unified_vgprs) kernel.named_agprs = 0;  // the count is of both, and v0 and so on come first
}

/// Decodes a kernel's descriptor, or its counterpart in code object V2, into `kernel`; nothing if it has neither.
std::optional<support::Result<void>> read_descriptor(HsaKernel& kernel, const LoadedCode& code,
                                                     const target::Processor& processor) {
  const auto read = [&](auto& raw) {
    const uint64_t offset = kernel.object - code.base();
    if (offset > code.size() || code.size() - offset < sizeof raw) return false;
    std::memcpy(&raw, reinterpret_cast<const void*>(kernel.object), sizeof raw);
    return true;
  };
  const auto keep = [&](support::Result<object::KernelDescriptor> decoded) -> support::Result<void> {
    if (!decoded) return std::unexpected(decoded.error());
    kernel.descriptor = *decoded;
    return {};
  };
  if (code.code_object().version == 2) {
    object::RawKernelCode raw;
    if (!read(raw)) return std::nullopt;
    return keep(object::decode_kernel_code(raw, processor));
  }
  object::RawKernelDescriptor raw;
  if (!read(raw)) return std::nullopt;
  kernel.splits_work_groups = object::descriptor_field::tg_split.of(raw) != 0;
  return keep(object::decode_kernel_descriptor(raw, processor));
}

/// Sets grid and work-group size. The error kind is `incompatible` if they contradict each other, and another if one is
/// too large: HSA has a status for each.
support::Result<void> set_geometry(LaunchState& launch, const aql::KernelDispatchPacket& packet,
                                   std::string_view kernel) {
  const uint32_t dimensions = packet.setup & 3;
  if (dimensions == 0) return fail(ErrorKind::incompatible, "the dispatch packet's setup gives 0 dimensions");
  std::array<uint32_t, 3> grid{packet.grid_size_x, packet.grid_size_y, packet.grid_size_z};
  std::array<uint32_t, 3> group{packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z};
  for (unsigned d = 0; d < 3; ++d) {
    const std::string_view name = dimension_names[d];
    const bool unused = d >= dimensions;
    if (unused && (grid[d] > 1 || group[d] > 1)) {
      return fail(ErrorKind::incompatible, "the dispatch packet has {} dimensions, but its {} sizes are not 1",
                  dimensions, name);
    }
    if (!unused && grid[d] == 0) return fail(ErrorKind::incompatible, "the grid's {} size is 0", name);
    if (!unused && group[d] == 0) return fail(ErrorKind::incompatible, "the work-group's {} size is 0", name);
    if (unused) grid[d] = group[d] = 1;
  }
  return machine::set_geometry(launch, grid, group, kernel);
}

support::Result<void> set_scratch(LaunchState& launch, const aql::KernelDispatchPacket& packet, const HsaKernel& kernel,
                                  const target::Processor& processor) {
  const object::KernelDescriptor& descriptor = kernel.descriptor;
  const uint32_t requested = std::max(packet.private_segment_size, descriptor.private_segment_fixed_size);
  uint64_t per_lane = requested;
  if (descriptor.uses_dynamic_stack) {
    per_lane = std::max(per_lane, descriptor.private_segment_fixed_size + dynamic_stack_bytes);
  }
  return machine::set_scratch(launch, requested, per_lane, processor, kernel.name);
}

/// The user SGPRs, which are the same for all waves.
support::Result<void> add_user_sgprs(ScalarWriter& user, const LaunchState& launch, const HsaKernel& kernel,
                                     const HsaPointers& pointers, const target::Processor& processor) {
  using enum InitialScalar::Source;
  const object::KernelDescriptor& descriptor = kernel.descriptor;
  // The packet processor fills at most `user_sgprs`, even if the descriptor has more.
  user.limit(std::min<unsigned>(descriptor.user_sgprs, processor.user_sgprs));
  for (unsigned word = 0; descriptor.private_segment_buffer && word < 4; ++word) user.add(scratch_resource, word);
  if (descriptor.dispatch_ptr) user.pair(pointers.packet);
  if (descriptor.queue_ptr) user.pair(pointers.queue);
  if (descriptor.kernarg_segment_ptr) user.pair(launch.arguments.address);
  if (descriptor.dispatch_id) user.pair(pointers.dispatch_id);
  if (descriptor.flat_scratch_init) {
    // Where FLAT_SCRATCH is an offset and a size, scratch begins where the hardware's hidden base of it is: at offset
    // 0.
    if (processor.flat_scratch == target::FlatScratch::absolute) {
      for (unsigned word = 0; word < 2; ++word) user.add(scratch_address, word);
    } else {
      user.pair(uint64_t{launch.scratch_bytes_per_lane} << 32);
    }
  }
  if (descriptor.private_segment_size) user.word(launch.scratch_bytes_per_lane);
  for (unsigned d = 0; d < 3; ++d)
    if (descriptor.grid_work_groups[d]) user.word(launch.work_groups[d]);
  if (descriptor.kernarg_preload_length == 0) return {};
  std::vector<uint32_t> preloaded(descriptor.kernarg_preload_length);
  const uint64_t from = launch.arguments.address + uint64_t{descriptor.kernarg_preload_offset} * sizeof preloaded[0];
  if (!read_guest(preloaded.data(), from, preloaded.size() * sizeof preloaded[0])) {
    return fail(ErrorKind::memory_fault, "kernel '{}': its arguments at {:#x}, which it has preloaded, are not mapped",
                kernel.name, launch.arguments.address);
  }
  for (const uint32_t word : preloaded) user.word(word);
  return {};
}

}  // namespace

support::Result<std::shared_ptr<HsaKernel>> make_kernel(uint64_t object, const std::shared_ptr<const LoadedCode>& code,
                                                        const target::Processor& processor) {
  auto kernel = std::make_shared<HsaKernel>();
  kernel->object = object;
  kernel->code = code;
  const LoadedSymbol* symbol = code ? code->kernel_at(object) : nullptr;
  const auto descriptor = symbol != nullptr ? read_descriptor(*kernel, *code, processor) : std::nullopt;
  if (!descriptor) {
    return fail(ErrorKind::not_found, "the kernel object {:#x} of the dispatch packet is no loaded kernel", object);
  }
  std::string_view name = symbol->name;
  if (name.ends_with(".kd")) name.remove_suffix(3);
  kernel->name = std::string(name);
  if (symbol->metadata != nullptr) kernel->name = symbol->metadata->name;
  if (!*descriptor) return support::within(fmt::format("kernel '{}'", kernel->name), descriptor->error());
  if (symbol->metadata != nullptr) kernel->cluster_size = symbol->metadata->cluster_dims;
  count_named_registers(*kernel, symbol->metadata, processor);
  kernel->entry = object + static_cast<uint64_t>(kernel->descriptor.entry_offset);
  // From GFX12.5 on there is no code before it for packet processors that do not preload.
  const bool has_prologue = processor.generation < target::Generation::gfx12_5;
  if (kernel->descriptor.kernarg_preload_length != 0 && has_prologue) kernel->entry += preload_prologue_bytes;
  if (!code->contains(kernel->entry)) {
    return fail(ErrorKind::invalid_file, "kernel '{}' has its entry {:#x} outside of its code object", kernel->name,
                kernel->entry);
  }
  kernel->watches_exceptions =
      (kernel->descriptor.mode & enabled_exceptions) != 0 || code->looks_at_exceptions(processor);
  kernel->statistics.kernel = kernel->name;
  return kernel;
}

support::Result<LaunchState> make_hsa_launch(const aql::KernelDispatchPacket& packet, const HsaKernel& kernel,
                                             std::shared_ptr<const LoadedCode> code, const HsaPointers& pointers,
                                             const target::GpuModel& model) {
  const target::Processor& processor = *model.target.processor;
  const object::KernelDescriptor& descriptor = kernel.descriptor;
  LaunchState launch;
  launch.code = std::move(code);
  launch.entry = kernel.entry;
  launch.wave_size = descriptor.wave32 ? 32 : 64;
  if (auto set = set_geometry(launch, packet, kernel.name); !set) return std::unexpected(set.error());
  if (auto set = set_scratch(launch, packet, kernel, processor); !set) return std::unexpected(set.error());
  using enum target::FlatScratch;
  if (descriptor.flat_scratch_init && processor.flat_scratch != absolute && processor.flat_scratch != offset_size) {
    return fail(ErrorKind::unsupported, "kernel '{}' asks for FLAT_SCRATCH_INIT, which {} does not have", kernel.name,
                processor.name);
  }
  auto set = set_lds(launch, descriptor.group_segment_fixed_size, packet.group_segment_size, processor, kernel.name);
  if (set) set = set_residency(launch, kernel.cluster_size, model, kernel.name);
  if (!set) return std::unexpected(set.error());

  set_registers(launch, descriptor, processor);
  launch.named_vgprs = kernel.named_vgprs;
  launch.named_agprs = kernel.named_agprs;
  launch.watches_exceptions = kernel.watches_exceptions;
  launch.splits_work_groups = kernel.splits_work_groups;
  launch.arguments = {.address = packet.kernarg_address, .size = descriptor.kernarg_size};
  if (pointers.packet != 0) launch.packet = {.address = pointers.packet, .size = sizeof packet};

  ScalarWriter sgprs(launch.scalars);
  if (auto added = add_user_sgprs(sgprs, launch, kernel, pointers, processor); !added) {
    return std::unexpected(added.error());
  }
  add_system_sgprs(launch, descriptor, descriptor.user_sgprs, processor);
  return launch;
}

}  // namespace Atoll::machine

// machine: checks a launch against its kernel and its GPU. See dispatch.h.
#include "machine/wave/dispatch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "machine/loader.h"
#include "machine/memory/memory.h"
#include "machine/report/core_dump.h"
#include "machine/wave/resident_group.h"
#include "object/kernel_code.h"

namespace Atoll::machine {

using support::ErrorKind;
using support::fail;

namespace {

constexpr uint32_t max_work_group_size = 1024;  ///< HSA_AGENT_INFO_WORKGROUP_MAX_SIZE of every AMD GPU

/// A wave's scratch is a multiple of this many bytes. No generation's COMPUTE_TMPRING_SIZE.WAVESIZE has a larger unit.
constexpr uint64_t scratch_granule = 1024;

/// Stack of a work-item whose kernel cannot say how much it needs (recursion, calls through pointers), on top of what
/// it knows that it needs. As much as compilers assumed before descriptors could say so.
constexpr uint64_t dynamic_stack_bytes = 16384;

/// When a kernel has kernel arguments preloaded, its code starts with 256 bytes for firmware that does not do so; the
/// entry lies after them (user guide, "Preloaded Kernel Arguments").
constexpr uint64_t preload_prologue_bytes = 256;

constexpr std::string_view dimension_names[3] = {"x", "y", "z"};

/// Sizes that are `incompatible` do not fit each other, which GPUs tell from sizes that are just too large.
support::Result<void> measure_grid(Dispatch& dispatch) {
  const aql::KernelDispatchPacket& packet = dispatch.packet;
  const uint32_t dimensions = packet.setup & 3;
  if (dimensions == 0) return fail(ErrorKind::incompatible, "the dispatch packet's setup gives 0 dimensions");
  const uint32_t grid[3] = {packet.grid_size_x, packet.grid_size_y, packet.grid_size_z};
  const uint32_t group[3] = {packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z};
  dispatch.work_group_count = 1;
  uint64_t group_size = 1;
  for (unsigned d = 0; d < 3; ++d) {
    const std::string_view name = dimension_names[d];
    const bool unused = d >= dimensions;
    if (unused && (grid[d] > 1 || group[d] > 1)) {
      return fail(ErrorKind::incompatible, "the dispatch packet has {} dimensions, but its {} sizes are not 1",
                  dimensions, name);
    }
    if (!unused && grid[d] == 0) return fail(ErrorKind::incompatible, "the grid's {} size is 0", name);
    if (!unused && group[d] == 0) return fail(ErrorKind::incompatible, "the work-group's {} size is 0", name);
    dispatch.grid_size[d] = unused ? 1 : grid[d];
    dispatch.work_group_size[d] = unused ? 1 : group[d];
    dispatch.work_groups[d] = static_cast<uint32_t>(
        (uint64_t{dispatch.grid_size[d]} + dispatch.work_group_size[d] - 1) / dispatch.work_group_size[d]);
    group_size *= dispatch.work_group_size[d];
    if (__builtin_mul_overflow(dispatch.work_group_count, dispatch.work_groups[d], &dispatch.work_group_count)) {
      return fail(ErrorKind::incompatible, "the grid of {} x {} x {} has more work-groups than can be counted", grid[0],
                  grid[1], grid[2]);
    }
  }
  // The most that a kernel was compiled for is the compiler's affair: no GPU checks it, and HIP 6.4 launches kernels of
  // its own with more.
  if (group_size > max_work_group_size) {
    return fail(ErrorKind::invalid_argument,
                "kernel '{}' is launched with work-groups of {} x {} x {}; a GPU has at most {} work-items in one",
                dispatch.kernel->name, group[0], group[1], group[2], max_work_group_size);
  }
  return {};
}

/// The grid has to be one of whole clusters, and all work-groups of one have to fit the GPU, as they may wait for each
/// other.
support::Result<void> measure_clusters(Dispatch& dispatch, const target::Processor& processor) {
  const auto& wanted = dispatch.kernel->cluster_size;
  if (!wanted) return {};
  const unsigned x = (*wanted)[0], y = (*wanted)[1], z = (*wanted)[2];
  const auto refuse = [&](ErrorKind kind, const std::string& why) {
    return fail(kind, "kernel '{}' is for clusters of {} x {} x {} work-groups; {}", dispatch.kernel->name, x, y, z,
                why);
  };
  if (processor.generation < target::Generation::gfx12_5) {
    return refuse(ErrorKind::unsupported, fmt::format("{} has none", processor.name));
  }
  if (std::ranges::find(*wanted, 0u) != wanted->end() || uint64_t{x} * y > max_work_groups_of_cluster ||
      uint64_t{x} * y * z > max_work_groups_of_cluster) {
    return refuse(ErrorKind::out_of_resources, fmt::format("a cluster has 1 to {}", max_work_groups_of_cluster));
  }
  Clusters clusters{.size = *wanted};
  for (unsigned d = 0; d < 3; ++d) {
    if (dispatch.work_groups[d] % clusters.size[d] != 0) {
      return refuse(ErrorKind::invalid_argument,
                    fmt::format("a grid of {} work-groups in {} is not divided into whole ones",
                                dispatch.work_groups[d], dimension_names[d]));
    }
    clusters.count[d] = dispatch.work_groups[d] / clusters.size[d];
  }
  if (clusters.work_groups() > dispatch.max_resident) {
    return refuse(ErrorKind::out_of_resources,
                  fmt::format("{} of its work-groups fit on the GPU", dispatch.max_resident));
  }
  dispatch.cluster_barriers = std::make_unique<ClusterBarrier[]>(clusters.all());
  for (uint64_t i = 0; i < clusters.all(); ++i) dispatch.cluster_barriers[i].begin(clusters.work_groups());
  dispatch.clusters = clusters;
  return {};
}

support::Result<void> measure_scratch(Dispatch& dispatch, const target::Processor& processor) {
  const object::KernelDescriptor& descriptor = dispatch.kernel->descriptor;
  uint64_t per_lane = std::max(dispatch.packet.private_segment_size, descriptor.private_segment_fixed_size);
  if (descriptor.uses_dynamic_stack) {
    per_lane = std::max(per_lane, descriptor.private_segment_fixed_size + dynamic_stack_bytes);
  }
  per_lane = (per_lane + 3) / 4 * 4;
  const uint64_t per_wave = (per_lane * dispatch.wave_size + scratch_granule - 1) / scratch_granule * scratch_granule;
  const uint64_t most = processor.scratch_bytes_per_wave;
  if (per_wave > most) {
    return fail(ErrorKind::out_of_resources,
                "kernel '{}' needs {} bytes of scratch for each work-item; a GPU has at most {}", dispatch.kernel->name,
                per_lane, most / dispatch.wave_size);
  }
  dispatch.scratch_bytes_per_lane = static_cast<uint32_t>(per_lane);
  dispatch.scratch_bytes_per_wave = static_cast<uint32_t>(per_wave);
  return {};
}

/// Registers are allocated in granules; the metadata says how many of them the compiler has used. It is believed where
/// it agrees with the descriptor.
void count_named_registers(Kernel& kernel, const object::KernelMetadata* metadata, const target::Processor& processor) {
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

/// The descriptor of a kernel, or what code object V2 has in its place, decoded; nothing where there is none.
std::optional<support::Result<object::KernelDescriptor>> read_descriptor(uint64_t object, const LoadedCode& code,
                                                                         const target::Processor& processor) {
  const auto read = [&](auto& raw) {
    if (object - code.base() > code.size() || code.size() - (object - code.base()) < sizeof raw) return false;
    std::memcpy(&raw, reinterpret_cast<const void*>(object), sizeof raw);
    return true;
  };
  if (code.code_object().version == 2) {
    object::RawKernelCode raw;
    if (!read(raw)) return std::nullopt;
    return object::decode_kernel_code(raw, processor);
  }
  object::RawKernelDescriptor raw;
  if (!read(raw)) return std::nullopt;
  return object::decode_kernel_descriptor(raw, processor);
}

}  // namespace

Dispatch::Dispatch() = default;
Dispatch::~Dispatch() {
  if (packet_memory != nullptr) packet_memory->release_slot(packet_address);
}

support::Result<std::shared_ptr<Kernel>> make_kernel(uint64_t object, const std::shared_ptr<const LoadedCode>& code,
                                                     const target::Processor& processor) {
  const LoadedSymbol* symbol = code ? code->kernel_at(object) : nullptr;
  const auto descriptor = symbol != nullptr ? read_descriptor(object, *code, processor) : std::nullopt;
  if (!descriptor) {
    return fail(ErrorKind::not_found, "the kernel object {:#x} of the dispatch packet is no loaded kernel", object);
  }
  auto kernel = std::make_shared<Kernel>();
  kernel->object = object;
  kernel->code = code;
  std::string_view name = symbol->name;
  if (name.ends_with(".kd")) name.remove_suffix(3);
  kernel->name = std::string(name);
  if (symbol->metadata != nullptr) kernel->name = symbol->metadata->name;
  if (!*descriptor) return support::within(fmt::format("kernel '{}'", kernel->name), descriptor->error());
  kernel->descriptor = **descriptor;
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

support::Result<void> prepare(Dispatch& dispatch, const target::GpuModel& model) {
  const target::Processor& processor = *model.target.processor;
  const object::KernelDescriptor& descriptor = dispatch.kernel->descriptor;
  dispatch.wave_size = descriptor.wave32 ? 32 : 64;
  if (auto measured = measure_grid(dispatch); !measured) return measured;
  if (auto measured = measure_scratch(dispatch, processor); !measured) return measured;

  using enum target::FlatScratch;
  if (descriptor.flat_scratch_init && processor.flat_scratch != absolute && processor.flat_scratch != offset_size) {
    return fail(ErrorKind::unsupported, "kernel '{}' asks for FLAT_SCRATCH_INIT, which {} does not have",
                dispatch.kernel->name, processor.name);
  }
  dispatch.lds_bytes = std::max(dispatch.packet.group_segment_size, descriptor.group_segment_fixed_size);
  if (dispatch.lds_bytes > processor.lds_bytes) {
    return fail(ErrorKind::out_of_resources, "kernel '{}' is launched with {} bytes of LDS; {} has {} for a work-group",
                dispatch.kernel->name, dispatch.lds_bytes, processor.name, processor.lds_bytes);
  }

  // As many work-groups begin before others end as the GPU has wave slots for: a cooperative launch counts on that,
  // and no program can count on more.
  const uint32_t waves = (dispatch.work_group_size[0] * dispatch.work_group_size[1] * dispatch.work_group_size[2] +
                          dispatch.wave_size - 1) /
                         dispatch.wave_size;
  const uint32_t wave_slots = uint32_t{processor.simds_per_cu} * processor.waves_per_simd;
  dispatch.max_resident = uint64_t{std::max(1u, model.product.compute_units)} * std::max(1u, wave_slots / waves);
  dispatch.work_groups_left = dispatch.work_group_count;
  return measure_clusters(dispatch, processor);
}

bool must_stop(const Dispatch& dispatch, uint64_t now) {
  if (dispatch.cancelled.load(std::memory_order_relaxed) || now >= dispatch.deadline_ns) return true;
  return dispatch.interrupts != nullptr &&
         dispatch.interrupts->load(std::memory_order_relaxed) != dispatch.interrupts_seen;
}

std::optional<uint64_t> instructions_ahead(const Dispatch& dispatch) {
  const uint64_t all = dispatch.work_group_count;
  const uint64_t ended = all - std::min(all, dispatch.work_groups_left.load(std::memory_order_acquire));
  const uint64_t untaken = all - std::min(all, dispatch.next_work_group.load(std::memory_order_relaxed));
  if (ended == 0) return std::nullopt;
  const uint64_t of_each = dispatch.wave_instructions.load(std::memory_order_relaxed) / ended;
  uint64_t ahead = 0;
  return __builtin_mul_overflow(of_each, untaken, &ahead) ? UINT64_MAX : ahead;
}

}  // namespace Atoll::machine

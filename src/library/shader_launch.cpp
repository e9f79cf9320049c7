// library: launches of other ABIs than HSA's: shaders, which take user data in place of arguments
// (machine/wave/pal_launch.h), and Mesa3D's kernels, whose arguments have no metadata (machine/wave/mesa_launch.h).
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "library/failure.h"
#include "library/state.h"
#include "machine/wave/limits.h"
#include "machine/wave/mesa_launch.h"
#include "machine/wave/pal_launch.h"
#include "support/bytes.h"

namespace Atoll {

namespace library {

namespace {

/// The tables that a shader's user SGPRs point to, in memory of the GPU for one launch.
class ShaderTables {
 public:
  explicit ShaderTables(machine::Memory& memory) : memory_(memory) {}
  ShaderTables(const ShaderTables&) = delete;
  ShaderTables& operator=(const ShaderTables&) = delete;
  ~ShaderTables() {
    if (address_ != 0) static_cast<void>(memory_.free(address_));  // it was allocated there: cannot fail
  }

  support::Result<machine::PalTables> make(const machine::PalUserData& data,
                                           const std::array<uint32_t, 3>& work_groups) {
    std::array<uint32_t, machine::PalUserData::max_entries> entries{};
    for (size_t i = 0; i < entries.size(); ++i) entries[i] = data.entries[i].value_or(0);
    const auto made = memory_.allocate(sizeof entries + sizeof work_groups, 0, "a shader's user data");
    if (!made) return std::unexpected(made.error());
    address_ = *made;
    std::memcpy(reinterpret_cast<void*>(address_), entries.data(), sizeof entries);
    std::memcpy(reinterpret_cast<void*>(address_ + sizeof entries), work_groups.data(), sizeof work_groups);
    return machine::PalTables{.spill = address_, .work_groups = address_ + sizeof entries};
  }

 private:
  machine::Memory& memory_;
  uint64_t address_ = 0;
};

/// Splits values into user data entries.
Expected<machine::PalUserData> entries_of(std::span<const UserData> values) {
  machine::PalUserData data;
  for (const UserData& each : values) {
    const std::vector<std::byte>& bytes = each.value.bytes;
    const size_t dwords = (bytes.size() + 3) / 4;
    if (each.value.is_local_memory)
      return refuse(FailureKind::invalid_argument, "user data entry {} cannot be LDS", each.entry);
    if (each.entry >= data.entries.size() || dwords > data.entries.size() - each.entry)
      return refuse(FailureKind::invalid_argument, "user data entries {} to {} exceed the {} that there are",
                    each.entry, each.entry + dwords - 1, data.entries.size());
    for (size_t i = 0; i < dwords; ++i) {
      std::optional<uint32_t>& entry = data.entries[each.entry + i];
      if (entry) return refuse(FailureKind::invalid_argument, "user data entry {} is set twice", each.entry + i);
      uint32_t word = 0;
      std::memcpy(&word, bytes.data() + i * 4, std::min<size_t>(4, bytes.size() - i * 4));
      entry = word;
    }
  }
  return data;
}

/// Returns arguments without metadata in a segment: each at a multiple of the largest power of two that divides its
/// size, up to 16, as compilers lay out numbers and vectors of them.
Expected<std::vector<std::byte>> pack(const object::EntryPoint& kernel, std::span<const Argument> arguments,
                                      uint32_t dimensions) {
  std::vector<std::byte> segment;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::vector<std::byte>& bytes = arguments[i].bytes;
    if (arguments[i].is_local_memory)
      return refuse(FailureKind::unsupported,
                    "kernel {}: argument {} is LDS, for which Mesa3D objects have no metadata", kernel.name, i + 1);
    constexpr size_t max_alignment = 16;
    segment.resize(
        support::align_up(segment.size(), std::clamp<size_t>(bytes.size() & -bytes.size(), 1, max_alignment)));
    segment.insert(segment.end(), bytes.begin(), bytes.end());
  }
  segment.resize(support::align_up(segment.size(), sizeof(uint32_t)));
  const size_t size = kernel.state->kernarg_size;
  const bool has_implicit = size == segment.size() + machine::mesa_implicit_bytes;
  if (!has_implicit && size != segment.size())
    return refuse(FailureKind::invalid_argument, "kernel {} has {} bytes of arguments, {} are given", kernel.name,
                  size < machine::mesa_implicit_bytes ? size : size - machine::mesa_implicit_bytes, segment.size());
  segment.resize(size);
  if (has_implicit) std::memcpy(&segment[size - machine::mesa_implicit_bytes], &dimensions, sizeof dimensions);
  return segment;
}

bool is_compute(const object::EntryPoint& entry) { return entry.state.has_value(); }

/// Returns the launch of a Mesa3D kernel. `packet` is freed by the caller.
support::Result<machine::LaunchState> mesa_launch(Gpu::State& gpu, const PreparedLaunch& launch, uint64_t arguments,
                                                  uint64_t& packet) {
  if (machine::needs_packet(*launch.entry.entry)) {
    const auto slot = gpu.gpu->memory().take_slot();
    if (!slot) return std::unexpected(slot.error());
    packet = *slot;
  }
  return machine::make_mesa_launch(*launch.entry.entry, launch.entry.code, {.arguments = arguments, .packet = packet},
                                   launch.launch.grid, launch.launch.block, launch.launch.dynamic_lds_bytes,
                                   gpu.gpu->model());
}

support::Result<machine::LaunchState> pal_launch(Gpu::State& gpu, const PreparedLaunch& launch, ShaderTables& memory) {
  const object::EntryPoint& shader = *launch.entry.entry;
  machine::PalTables tables;
  if (machine::needs_spill_table(shader) || machine::needs_work_group_table(shader)) {
    std::array<uint32_t, 3> work_groups{};
    for (size_t d = 0; d < 3; ++d)
      work_groups[d] = static_cast<uint32_t>((uint64_t{launch.launch.grid[d]} + launch.launch.block[d] - 1) /
                                             launch.launch.block[d]);
    const auto filled = memory.make(launch.user_data, work_groups);
    if (!filled) return std::unexpected(filled.error());
    tables = *filled;
  }
  return machine::make_pal_launch(shader, launch.entry.code, launch.user_data, tables, launch.launch.grid,
                                  launch.launch.block, gpu.gpu->model());
}

}  // namespace

std::vector<std::string> entries_of(const Code::State& code) {
  std::vector<std::string> names;
  for (const LoadedObject& object : code.objects)
    for (const object::EntryPoint& entry : object.code->entry_points())
      if (is_compute(entry)) names.push_back(entry.name);
  return names;
}

FoundEntry find_entry(const Code::State& code, std::string_view name) {
  for (const LoadedObject& object : code.objects)
    for (const object::EntryPoint& entry : object.code->entry_points())
      if (entry.name == name) return {&entry, object.code};
  return {};
}

KernelInfo describe(const object::EntryPoint& entry) {
  KernelInfo info;
  info.name = entry.name;
  info.max_block_size = machine::max_work_group_size;
  info.required_block = entry.work_group_size.value_or(std::array<uint32_t, 3>{});
  info.is_shader = !entry.is_kernel;
  if (!entry.state) return info;
  info.lds_bytes = entry.state->group_segment_fixed_size;
  info.scratch_bytes = entry.state->private_segment_fixed_size;
  info.vgprs = entry.state->vgprs;
  info.agprs = entry.state->agprs;
  info.sgprs = entry.state->sgprs;
  if (entry.is_kernel) info.argument_bytes = static_cast<uint32_t>(entry.state->kernarg_size);
  return info;
}

Expected<PreparedLaunch> prepare_entry(const Gpu::State&, FoundEntry entry, const LaunchShape& shape,
                                       std::span<const Argument> arguments) {
  const object::EntryPoint& kernel = *entry.entry;
  if (!kernel.is_kernel)
    return refuse(FailureKind::invalid_argument, "{} is a shader, which takes user data and no arguments", kernel.name);
  auto launch = make_launch(kernel.name, shape);
  if (!launch) return std::unexpected(launch.error());
  const uint32_t dimensions = launch->grid[2] > 1 ? 3 : launch->grid[1] > 1 ? 2 : 1;
  auto segment = pack(kernel, arguments, dimensions);
  if (!segment) return std::unexpected(segment.error());
  return PreparedLaunch{.kernel = {},
                        .launch = *std::move(launch),
                        .segment = *std::move(segment),
                        .entry = std::move(entry),
                        .user_data = {}};
}

Expected<PreparedLaunch> prepare_shader(const Gpu::State&, FoundEntry entry, const LaunchShape& shape,
                                        std::span<const UserData> user_data) {
  if (entry.entry->is_kernel)
    return refuse(FailureKind::invalid_argument, "{} is a kernel, which takes arguments and no user data",
                  entry.entry->name);
  auto launch = make_launch(entry.entry->name, shape);
  if (!launch) return std::unexpected(launch.error());
  if (shape.dynamic_lds_bytes != 0)
    return refuse(FailureKind::invalid_argument, "shader {} has no dynamic LDS", entry.entry->name);
  auto data = entries_of(user_data);
  if (!data) return std::unexpected(data.error());
  return PreparedLaunch{
      .kernel = {}, .launch = *std::move(launch), .segment = {}, .entry = std::move(entry), .user_data = *data};
}

Expected<LaunchResult> run_entry(Gpu::State& gpu, const PreparedLaunch& launch) {
  machine::Memory& memory = gpu.gpu->memory();
  const object::EntryPoint& entry = *launch.entry.entry;
  ShaderTables tables(memory);
  uint64_t arguments = 0, packet = 0;
  if (entry.is_kernel) {
    const auto kernarg = gpu.kernarg.take(memory, launch.segment);
    if (!kernarg) return failed(kernarg.error());
    arguments = *kernarg;
  }
  auto state = entry.is_kernel ? mesa_launch(gpu, launch, arguments, packet) : pal_launch(gpu, launch, tables);
  std::optional<machine::FaultReport> fault;
  auto done = state ? gpu.gpu->run(std::move(*state), entry.name, &fault)
                    : support::Result<machine::KernelStatistics>(std::unexpected(state.error()));
  if (entry.is_kernel) gpu.kernarg.give_back(memory, arguments, launch.segment.size());
  if (packet != 0) memory.release_slot(packet);
  if (!done) return std::unexpected(failure_of(std::move(done).error(), fault));
  return LaunchResult{.work_groups = done->work_groups,
                      .waves = done->waves,
                      .wave_instructions = done->wave_instructions,
                      .seconds = done->seconds};
}

}  // namespace library

Expected<LaunchResult> Gpu::launch_shader(const Code& code, std::string_view shader, const LaunchShape& shape,
                                          std::span<const UserData> user_data) const {
  library::FoundEntry found = library::find_entry(*code.state_, shader);
  if (found.entry == nullptr) return library::refuse(FailureKind::not_found, "there is no shader {}", shader);
  if (code.state_->gpu != state_)
    return library::refuse(FailureKind::invalid_argument, "shader {} was loaded on another GPU than it is launched on",
                           shader);
  auto prepared = library::prepare_shader(*state_, std::move(found), shape, user_data);
  if (!prepared) return std::unexpected(std::move(prepared).error());
  return library::run(*state_, *std::move(prepared));
}

}  // namespace Atoll

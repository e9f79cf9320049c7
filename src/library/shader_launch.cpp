// library: launches of PAL compute shaders (machine/wave/pal_launch.h), which take user data in place of arguments.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "library/failure.h"
#include "library/state.h"
#include "machine/wave/pal_launch.h"
#include "object/executable.h"

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

}  // namespace

std::vector<std::string> shaders_of(const Code::State& code) {
  std::vector<std::string> names;
  for (const LoadedObject& object : code.objects) {
    if (object::os_abi_of(object.code->code_object()) != object::OsAbi::amdpal) continue;
    for (std::string& name : machine::pal_shaders(*object.code)) names.push_back(std::move(name));
  }
  return names;
}

std::optional<support::Result<FoundShader>> find_shader(const Code::State& code, std::string_view name) {
  for (const LoadedObject& object : code.objects) {
    if (object::os_abi_of(object.code->code_object()) != object::OsAbi::amdpal) continue;
    auto shader = machine::find_pal_shader(*object.code, name, code.gpu->gpu->processor());
    if (!shader && shader.error().kind == support::ErrorKind::not_found) continue;
    if (!shader) return std::unexpected(shader.error());
    return FoundShader{std::move(*shader), object.code};
  }
  return std::nullopt;
}

}  // namespace library

Expected<LaunchResult> Gpu::launch_shader(const Code& code, std::string_view shader, const LaunchShape& shape,
                                          std::span<const UserData> user_data) const {
  using namespace library;
  const auto found = find_shader(*code.state_, shader);
  if (!found) return refuse(FailureKind::not_found, "there is no shader {}", shader);
  if (!*found) return failed(found->error());
  if (code.state_->gpu != state_)
    return refuse(FailureKind::invalid_argument, "shader {} was loaded on another GPU than it is launched on", shader);
  const machine::PalShader& made = (*found)->shader;
  std::array<uint32_t, 3> grid = shape.grid, block = shape.block, work_groups{};
  for (size_t d = 0; d < 3; ++d) {
    grid[d] = std::max(grid[d], 1u);
    block[d] = std::max(block[d], 1u);
    work_groups[d] = static_cast<uint32_t>((uint64_t{grid[d]} + block[d] - 1) / block[d]);
  }
  const auto data = entries_of(user_data);
  if (!data) return std::unexpected(data.error());
  ShaderTables memory(state_->gpu->memory());
  machine::PalTables tables;
  if (machine::needs_spill_table(made) || machine::needs_work_group_table(made)) {
    const auto filled = memory.make(*data, work_groups);
    if (!filled) return failed(filled.error());
    tables = *filled;
  }
  auto launch = machine::make_pal_launch(made, (*found)->code, *data, tables, grid, block, state_->gpu->model());
  if (!launch) return failed(launch.error());
  std::optional<machine::FaultReport> fault;
  const auto done = state_->gpu->run(std::move(*launch), made.name, &fault);
  if (!done) return std::unexpected(failure_of(done.error(), fault));
  return LaunchResult{.work_groups = done->work_groups,
                      .waves = done->waves,
                      .wave_instructions = done->wave_instructions,
                      .seconds = done->seconds};
}

}  // namespace Atoll

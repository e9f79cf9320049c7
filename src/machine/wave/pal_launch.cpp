// machine: translates PAL's metadata and user data to a LaunchState.
#include "machine/wave/pal_launch.h"

#include <algorithm>
#include <utility>

#include "machine/loader.h"
#include "machine/wave/scalar_writer.h"
#include "machine/wave/wave.h"

namespace Atoll::machine {

using object::EntryPoint;
using object::UserDataKind;
using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

bool maps(const EntryPoint& shader, UserDataKind kind) {
  return std::ranges::any_of(shader.user_data, [kind](const object::PalUserData& each) {
    return object::user_data_mapping(each.mapping).kind == kind;
  });
}

/// Writes the user SGPRs of one launch as the metadata maps them.
class UserDataWriter {
 public:
  UserDataWriter(ScalarWriter& user, const EntryPoint& shader, const LoadedCode& code, const PalUserData& data,
                 const PalTables& tables)
      : user_(user), shader_(shader), code_(code), data_(data), tables_(tables) {}

  Result<void> write() {
    for (const object::PalUserData& each : shader_.user_data) {
      if (each.sgpr < user_.next()) continue;  // the high half of the address before it
      while (user_.next() < each.sgpr) user_.word(0);
      if (auto added = add(object::user_data_mapping(each.mapping)); !added) return added;
    }
    return {};
  }

 private:
  Result<void> add(const object::UserDataMapping& mapping) {
    switch (mapping.kind) {
      case UserDataKind::entry:
        return add_entry(mapping.index);
      case UserDataKind::global_table:
        user_.add(InitialScalar::Source::global_table);
        return {};
      case UserDataKind::shader_table:
        if (shader_.shader_table == 0) {  // register 1 may be mapped to it in any object
          user_.word(0);
          return {};
        }
        return add_low_half(code_.base() + shader_.shader_table, "per-shader table");
      case UserDataKind::spill_table:
        return add_low_half(tables_.spill, "user data spill table");
      case UserDataKind::work_groups:
        user_.pair(tables_.work_groups);
        return {};
      case UserDataKind::unmapped:
        user_.word(0);
        return {};
      default:
        return fail(ErrorKind::unsupported, "shader '{}' reads {} in s{}, which a compute launch does not provide",
                    shader_.name, mapping.name, user_.next());
    }
  }

  Result<void> add_entry(uint32_t index) {
    if (index >= PalUserData::max_entries || !data_.entries[index]) {
      return fail(ErrorKind::invalid_argument, "shader '{}' reads user data entry {} in s{}, which is not set",
                  shader_.name, index, user_.next());
    }
    user_.word(*data_.entries[index]);
    return {};
  }

  /// Writes the low half of an address whose high half a shader takes from its program counter.
  Result<void> add_low_half(uint64_t address, std::string_view what) {
    const uint64_t entry = code_.base() + shader_.address;
    if (address >> 32 != entry >> 32) {
      return fail(ErrorKind::out_of_resources,
                  "the {} of shader '{}' at {:#x} is not in the 4 GiB of its code at {:#x}", what, shader_.name,
                  address, entry);
    }
    user_.word(static_cast<uint32_t>(address));
    return {};
  }

  ScalarWriter& user_;
  const EntryPoint& shader_;
  const LoadedCode& code_;
  const PalUserData& data_;
  const PalTables& tables_;
};

/// Writes user SGPRs that no metadata maps: entry n is sN. PAL has the global table in s0; Mesa3D has the address of
/// the scratch in s0 and s1 (LLVM 22, SIFrameLowering.cpp: implicit buffer pointer).
void add_plain_user_data(ScalarWriter& user, const PalUserData& data, unsigned count, bool is_mesa) {
  for (unsigned i = 0; i < count; ++i) {
    const bool is_set = i < PalUserData::max_entries && data.entries[i];
    if (is_set) {
      user.word(*data.entries[i]);
    } else if (is_mesa && i < 2) {
      user.add(InitialScalar::Source::scratch_address, i);
    } else if (!is_mesa && i == 0) {
      user.add(InitialScalar::Source::global_table);
    } else {
      user.word(0);
    }
  }
}

}  // namespace

unsigned PalUserData::end() const {
  unsigned end = 0;
  for (unsigned i = 0; i < max_entries; ++i)
    if (entries[i]) end = i + 1;
  return end;
}

bool needs_spill_table(const EntryPoint& shader) { return maps(shader, UserDataKind::spill_table); }
bool needs_work_group_table(const EntryPoint& shader) { return maps(shader, UserDataKind::work_groups); }

Result<LaunchState> make_pal_launch(const EntryPoint& shader, std::shared_ptr<const LoadedCode> code,
                                    const PalUserData& user_data, const PalTables& tables,
                                    const std::array<uint32_t, 3>& grid, const std::array<uint32_t, 3>& work_group,
                                    const target::GpuModel& model) {
  const target::Processor& processor = *model.target.processor;
  if (!shader.state) {
    return fail(ErrorKind::unsupported, "shader '{}' is of hardware stage {}; graphics stages are not executed",
                shader.name, object::stage_name(shader.stage));
  }
  object::KernelDescriptor registers = *shader.state;
  if (shader.work_group_size && *shader.work_group_size != work_group) {
    const auto& size = *shader.work_group_size;
    return fail(ErrorKind::invalid_argument,
                "shader '{}' was compiled for work-groups of {} x {} x {}, not {} x {} x {}", shader.name, size[0],
                size[1], size[2], work_group[0], work_group[1], work_group[2]);
  }
  LaunchState launch;
  launch.entry = code->base() + shader.address;
  launch.wave_size = shader.wave_size;
  auto set = set_geometry(launch, grid, work_group, shader.name);
  const uint32_t scratch = registers.private_segment_fixed_size;
  if (set) set = set_scratch(launch, scratch, scratch, processor, shader.name);
  if (set) set = set_lds(launch, registers.group_segment_fixed_size, 0, processor, shader.name);
  if (set) set = set_residency(launch, std::nullopt, model, shader.name);
  if (!set) return std::unexpected(set.error());
  set_registers(launch, registers, processor);
  launch.watches_exceptions = (registers.mode & enabled_exceptions) != 0 || code->looks_at_exceptions(processor);

  unsigned user_sgprs = registers.user_sgprs;
  ScalarWriter user(launch.scalars);
  if (!shader.user_data.empty()) {
    const object::PalUserData& last = shader.user_data.back();
    const bool is_pair = object::user_data_mapping(last.mapping).kind == UserDataKind::work_groups;
    user_sgprs = std::max(user_sgprs, last.sgpr + (is_pair ? 2 : 1));
    user.limit(user_sgprs);
    UserDataWriter writer(user, shader, *code, user_data, tables);
    if (auto added = writer.write(); !added) return std::unexpected(added.error());
    while (user.next() < user_sgprs) user.word(0);
  } else {
    // Mesa3D's objects count the user SGPRs of the code generator only, which the driver adds to.
    const bool is_mesa = code->abi() == object::Abi::mesa3d;
    if (is_mesa || user_sgprs == 0) user_sgprs = std::max(user_sgprs, user_data.end());
    user.limit(user_sgprs);
    if (user_data.end() > user_sgprs) {
      return fail(ErrorKind::invalid_argument, "shader '{}' has {} user SGPRs; user data entry {} is in none of them",
                  shader.name, user_sgprs, user_data.end() - 1);
    }
    add_plain_user_data(user, user_data, user_sgprs, is_mesa);
  }
  if (user_sgprs > processor.user_sgprs) {
    return fail(ErrorKind::out_of_resources, "shader '{}' is given {} user SGPRs; {} has {}", shader.name, user_sgprs,
                processor.name, processor.user_sgprs);
  }
  // A wave has at least the SGPRs that it is given.
  launch.sgprs = std::max<uint16_t>(launch.sgprs, static_cast<uint16_t>(user_sgprs + max_system_sgprs));
  registers.sgprs = launch.sgprs;
  add_system_sgprs(launch, registers, user_sgprs, processor);
  launch.code = std::move(code);
  return launch;
}

}  // namespace Atoll::machine

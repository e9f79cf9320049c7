#include "isa/immediate_names.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "isa/instruction.h"

namespace Atoll::isa {
namespace {

using enum target::Generation;

constexpr NamedValue registers[] = {
    {1, "MODE", gfx6, gfx11_7},
    {2, "STATUS", gfx6, gfx11_7},
    {3, "TRAPSTS", gfx6, gfx11_7},
    {4, "HW_ID", gfx6, gfx950},
    {5, "GPR_ALLOC", gfx6, gfx11_7},
    {6, "LDS_ALLOC", gfx6, gfx11_7},
    {7, "IB_STS", gfx6, gfx12_5},
    {15, "SH_MEM_BASES", gfx9, gfx11_7},
    {16, "TBA_LO", gfx9, gfx10_3},
    {17, "TBA_HI", gfx9, gfx10_3},
    {18, "TMA_LO", gfx9, gfx10_3},
    {19, "TMA_HI", gfx9, gfx10_3},
    {20, "XCC_ID", gfx940, gfx950},
    {21, "SQ_PERF_SNAPSHOT_DATA", gfx940, gfx950},
    {22, "SQ_PERF_SNAPSHOT_DATA1", gfx940, gfx950},
    {23, "SQ_PERF_SNAPSHOT_PC_LO", gfx940, gfx950},
    {24, "SQ_PERF_SNAPSHOT_PC_HI", gfx940, gfx950},
    {18, "PERF_SNAPSHOT_PC_LO", gfx11, gfx11_7},
    {19, "PERF_SNAPSHOT_PC_HI", gfx11, gfx11_7},
    {20, "FLAT_SCR_LO", gfx10, gfx11_7},
    {21, "FLAT_SCR_HI", gfx10, gfx11_7},
    {22, "XNACK_MASK", gfx10, gfx10},
    {23, "HW_ID1", gfx10, gfx11_7},
    {24, "HW_ID2", gfx10, gfx11_7},
    {25, "POPS_PACKER", gfx10, gfx10_3},
    {27, "PERF_SNAPSHOT_DATA", gfx11, gfx11_7},
    {29, "SHADER_CYCLES", gfx10_3, gfx11_7},
    {1, "WAVE_MODE", gfx12, gfx12_5},
    {2, "WAVE_STATUS", gfx12, gfx12_5},
    {4, "WAVE_STATE_PRIV", gfx12, gfx12_5},
    {5, "WAVE_GPR_ALLOC", gfx12, gfx12_5},
    {6, "WAVE_LDS_ALLOC", gfx12, gfx12_5},
    {10, "PERF_SNAPSHOT_DATA", gfx12, gfx12_5},
    {11, "PERF_SNAPSHOT_PC_LO", gfx12, gfx12_5},
    {12, "PERF_SNAPSHOT_PC_HI", gfx12, gfx12_5},
    {15, "PERF_SNAPSHOT_DATA1", gfx12, gfx12_5},
    {16, "PERF_SNAPSHOT_DATA2", gfx12, gfx12_5},
    {17, "WAVE_EXCP_FLAG_PRIV", gfx12, gfx12_5},
    {18, "WAVE_EXCP_FLAG_USER", gfx12, gfx12_5},
    {19, "WAVE_TRAP_CTRL", gfx12, gfx12_5},
    {20, "WAVE_SCRATCH_BASE_LO", gfx12, gfx12_5},
    {21, "WAVE_SCRATCH_BASE_HI", gfx12, gfx12_5},
    {23, "WAVE_HW_ID1", gfx12, gfx12_5},
    {24, "WAVE_HW_ID2", gfx12, gfx12_5},
    {26, "WAVE_SCHED_MODE", gfx12, gfx12_5},
    {28, "IB_STS2", gfx12_5, gfx12_5},
    {29, "SHADER_CYCLES_LO", gfx12, gfx12_5},
    {30, "SHADER_CYCLES_HI", gfx12, gfx12_5},
    {31, "WAVE_DVGPR_ALLOC_LO", gfx12, gfx12_5},
    {32, "WAVE_DVGPR_ALLOC_HI", gfx12, gfx12_5},
    {33, "XNACK_STATE_PRIV", gfx12_5, gfx12_5},
    {34, "XNACK_MASK", gfx12_5, gfx12_5},
};

// Names of other generations that LLVM's assembler also accepts.
constexpr NamedValue other_register_names[] = {
    {23, "HW_ID", gfx10, gfx10_3},           {1, "MODE", gfx12, gfx12_5},
    {2, "STATUS", gfx12, gfx12_5},           {4, "STATE_PRIV", gfx12, gfx12_5},
    {5, "GPR_ALLOC", gfx12, gfx12_5},        {6, "LDS_ALLOC", gfx12, gfx12_5},
    {17, "EXCP_FLAG_PRIV", gfx12, gfx12_5},  {18, "EXCP_FLAG_USER", gfx12, gfx12_5},
    {19, "TRAP_CTRL", gfx12, gfx12_5},       {20, "SCRATCH_BASE_LO", gfx12, gfx12_5},
    {21, "SCRATCH_BASE_HI", gfx12, gfx12_5}, {23, "HW_ID1", gfx12, gfx12_5},
    {24, "HW_ID2", gfx12, gfx12_5},          {31, "DVGPR_ALLOC_LO", gfx12, gfx12_5},
    {32, "DVGPR_ALLOC_HI", gfx12, gfx12_5},
};

constexpr NamedValue message_names[] = {
    {1, "INTERRUPT", gfx6, gfx12_5},
    {2, "GS", gfx6, gfx10_3},
    {3, "GS_DONE", gfx6, gfx10_3},
    {2, "HS_TESSFACTOR", gfx11, gfx12_5},
    {3, "DEALLOC_VGPRS", gfx11, gfx12_5},
    {4, "SAVEWAVE", gfx8, gfx10_3},
    {5, "STALL_WAVE_GEN", gfx9, gfx11_7},
    {6, "HALT_WAVES", gfx9, gfx11_7},
    {7, "ORDERED_PS_DONE", gfx9, gfx10_3},
    {8, "EARLY_PRIM_DEALLOC", gfx9, gfx10_3},
    {9, "GS_ALLOC_REQ", gfx9, gfx12_5},
    {10, "GET_DOORBELL", gfx9, gfx10_3},
    {11, "GET_DDID", gfx10, gfx10_3},
    {10, "SAVEWAVE_HAS_TDM", gfx12_5, gfx12_5},
    {15, "SYSMSG", gfx6, gfx10_3},
    {128, "RTN_GET_DOORBELL", gfx11, gfx12_5},
    {129, "RTN_GET_DDID", gfx11, gfx12_5},
    {130, "RTN_GET_TMA", gfx11, gfx12_5},
    {131, "RTN_GET_REALTIME", gfx11, gfx12_5},
    {132, "RTN_SAVE_WAVE", gfx11, gfx12_5},
    {133, "RTN_GET_TBA", gfx11, gfx12_5},
    {134, "RTN_GET_TBA_TO_PC", gfx11, gfx12_5},
    {135, "RTN_GET_SE_AID_ID", gfx12, gfx12_5},
    {136, "RTN_GET_CLUSTER_BARRIER_STATE", gfx12_5, gfx12_5},
};

constexpr NamedValue targets[] = {
    {8, "mrtz", gfx6, gfx12_5},
    {9, "null", gfx6, gfx10_3},
    {16, "pos4", gfx10, gfx12_5},
    {20, "prim", gfx10, gfx12_5},
    {21, "dual_src_blend0", gfx11, gfx12_5},
    {22, "dual_src_blend1", gfx11, gfx12_5},
};

/// Targets whose names count from the first one's value on.
struct NumberedTargets {
  uint8_t first, last;
  std::string_view name;
  target::Generation until;
};
constexpr NumberedTargets numbered_targets[] = {
    {0, 7, "mrt", gfx12_5}, {12, 15, "pos", gfx12_5}, {32, 63, "param", gfx10_3}};

constexpr CounterField counters[] = {
    {"vmcnt", {0, 4}, {}, gfx6, gfx8},       {"vmcnt", {0, 4}, {14, 2}, gfx9, gfx10_3},
    {"expcnt", {4, 3}, {}, gfx6, gfx10_3},   {"lgkmcnt", {8, 4}, {}, gfx6, gfx950},
    {"lgkmcnt", {8, 6}, {}, gfx10, gfx10_3}, {"vmcnt", {10, 6}, {}, gfx11, gfx12_5},
    {"expcnt", {0, 3}, {}, gfx11, gfx12_5},  {"lgkmcnt", {4, 6}, {}, gfx11, gfx12_5},
};

constexpr CounterField dependencies[] = {
    {"depctr_hold_cnt", {7, 1}, {}, gfx10_3, gfx12_5}, {"depctr_sa_sdst", {0, 1}, {}, gfx10, gfx12_5},
    {"depctr_va_vdst", {12, 4}, {}, gfx10, gfx12_5},   {"depctr_va_sdst", {9, 3}, {}, gfx10, gfx12_5},
    {"depctr_va_ssrc", {8, 1}, {}, gfx10, gfx12_5},    {"depctr_va_vcc", {1, 1}, {}, gfx10, gfx12_5},
    {"depctr_vm_vsrc", {2, 3}, {}, gfx10, gfx12_5},
};

}  // namespace

std::span<const NamedValue> hardware_registers() { return registers; }
std::span<const NamedValue> other_hardware_register_names() { return other_register_names; }
uint16_t hardware_register(unsigned number, target::Generation generation) {
  constexpr std::pair<std::string_view, uint16_t> known[] = {
      {"MODE", hardware::mode},
      {"STATUS", hardware::status},
      {"TRAPSTS", hardware::trap_status},
      {"HW_ID", hardware::hw_id},
      {"GPR_ALLOC", hardware::gpr_alloc},
      {"LDS_ALLOC", hardware::lds_alloc},
      {"IB_STS", hardware::ib_status},
      {"IB_STS2", hardware::ib_status2},
      {"SH_MEM_BASES", hardware::shared_memory_bases},
      {"XCC_ID", hardware::xcc_id},
      {"HW_ID1", hardware::hw_id1},
      {"HW_ID2", hardware::hw_id2},
      {"FLAT_SCR_LO", hardware::flat_scratch_lo},
      {"FLAT_SCR_HI", hardware::flat_scratch_hi},
      {"SCRATCH_BASE_LO", hardware::flat_scratch_lo},
      {"SCRATCH_BASE_HI", hardware::flat_scratch_hi},
      {"SHADER_CYCLES", hardware::shader_cycles},
      {"SHADER_CYCLES_LO", hardware::shader_cycles},
      {"SHADER_CYCLES_HI", hardware::shader_cycles_hi},
      {"TBA_LO", hardware::tba_lo},
      {"TBA_HI", hardware::tba_hi},
      {"TMA_LO", hardware::tma_lo},
      {"TMA_HI", hardware::tma_hi},
      {"STATE_PRIV", hardware::state_private},
      {"EXCP_FLAG_PRIV", hardware::exception_private},
      {"EXCP_FLAG_USER", hardware::exception_user},
      {"TRAP_CTRL", hardware::trap_control},
  };
  const NamedValue* row = find_value(registers, number, generation);
  if (row == nullptr) return hardware::unknown;
  constexpr std::string_view prefix = "WAVE_";  // from GFX12 on
  const std::string_view name = row->name.starts_with(prefix) ? row->name.substr(prefix.size()) : row->name;
  const auto* found = std::ranges::find(known, name, &std::pair<std::string_view, uint16_t>::first);
  return found != std::end(known) ? found->second : hardware::unknown;
}
std::span<const NamedValue> messages() { return message_names; }
std::span<const CounterField> wait_counters() { return counters; }
std::span<const CounterField> dependency_counters() { return dependencies; }

namespace {

const NumberedTargets* find_numbered(unsigned target, target::Generation generation) {
  for (const NumberedTargets& row : numbered_targets) {
    if (target >= row.first && target <= row.last && generation <= row.until) return &row;
  }
  return nullptr;
}

}  // namespace

std::string export_target_name(unsigned target, target::Generation generation) {
  if (const NamedValue* found = find_value(targets, target, generation)) return std::string(found->name);
  if (const NumberedTargets* row = find_numbered(target, generation)) {
    return std::string(row->name) + std::to_string(target - row->first);
  }
  return "invalid_target_" + std::to_string(target);
}

bool is_export_target(unsigned target, target::Generation generation) {
  return find_value(targets, target, generation) != nullptr || find_numbered(target, generation) != nullptr;
}

std::optional<uint8_t> export_target_named(std::string_view name, target::Generation generation) {
  for (uint8_t target = 0; target < 64; ++target) {
    if (export_target_name(target, generation) == name) return target;
  }
  return std::nullopt;
}

const NamedValue* find_value(std::span<const NamedValue> values, unsigned value, target::Generation generation) {
  for (const NamedValue& row : values) {
    if (row.value == value && row.first <= generation && generation <= row.last) return &row;
  }
  return nullptr;
}

}  // namespace Atoll::isa

// object: the table of GPU registers and the searches in it.
#include "object/gpu_registers.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

namespace Atoll::object {

namespace {

using target::Generation;

/// The generations that the table distinguishes. Each stands for itself and those after it without an own one.
enum Column : uint8_t { gfx6, gfx7, gfx8, gfx9, gfx10, gfx10_3, gfx11, gfx11_5, gfx12 };

constexpr Column column_of(Generation generation) {
  switch (generation) {
    case Generation::gfx6:
      return gfx6;
    case Generation::gfx7:
      return gfx7;
    case Generation::gfx8:
      return gfx8;
    case Generation::gfx9:
    case Generation::gfx90a:
    case Generation::gfx940:
    case Generation::gfx950:
      return gfx9;
    case Generation::gfx10:
      return gfx10;
    case Generation::gfx10_3:
      return gfx10_3;
    case Generation::gfx11:
      return gfx11;
    case Generation::gfx11_5:
    case Generation::gfx11_7:
      return gfx11_5;
    case Generation::gfx12:
    case Generation::gfx12_5:
      return gfx12;
  }
  return gfx12;
}

struct Row {
  uint16_t number;
  uint8_t count;
  Column first, last;
  std::string_view name;
  std::span<const RegisterField> fields;
};

constexpr std::span<const RegisterField> no_fields;
#define FIELDS(set, ...) constexpr RegisterField set[] = {__VA_ARGS__};
#define ROW(...)
#include "object/gpu_registers.inc"
#undef FIELDS
#undef ROW

constexpr Row rows[] = {
#define FIELDS(set, ...)
#define ROW(number, count, first, last, name, set) {number, count, first, last, name, set},
#include "object/gpu_registers.inc"
#undef FIELDS
#undef ROW
};

GpuRegister register_of(const Row& row, uint32_t number) {
  GpuRegister found{.number = number, .name = std::string(row.name), .fields = row.fields, .index = {}};
  if (row.count > 1) {
    found.index = number - row.number;
    found.name += std::to_string(*found.index);
  }
  return found;
}

constexpr std::array<std::string_view, num_hardware_stages> stage_names{"ls", "hs", "es", "gs", "vs", "ps", "cs"};

}  // namespace

const RegisterField* GpuRegister::find_field(std::string_view field) const {
  const auto found = std::ranges::find(fields, field, &RegisterField::name);
  return found == fields.end() ? nullptr : &*found;
}

std::optional<GpuRegister> find_register(uint32_t number, Generation generation) {
  const Column column = column_of(generation);
  for (const Row& row : rows) {
    if (number - row.number >= row.count || column < row.first || column > row.last) continue;
    return register_of(row, number);
  }
  return std::nullopt;
}

std::optional<uint32_t> register_number(std::string_view name, Generation generation) {
  const Column column = column_of(generation);
  for (const Row& row : rows) {
    if (column < row.first || column > row.last || !name.starts_with(row.name)) continue;
    for (uint32_t i = 0; i < row.count; ++i)
      if (register_of(row, row.number + i).name == name) return row.number + i;
  }
  return std::nullopt;
}

std::string_view stage_name(HardwareStage stage) { return stage_names[static_cast<size_t>(stage)]; }

std::optional<HardwareStage> find_stage(std::string_view name) {
  if (name.starts_with('.')) name.remove_prefix(1);
  const auto found = std::ranges::find(stage_names, name);
  if (found == stage_names.end()) return std::nullopt;
  return static_cast<HardwareStage>(found - stage_names.begin());
}

bool has_stage(HardwareStage stage, Generation generation) {
  if (stage == HardwareStage::ls || stage == HardwareStage::es) return generation < Generation::gfx9;
  if (stage == HardwareStage::vs) return generation < Generation::gfx11;
  return true;
}

std::optional<UserDataRegister> user_data_register(const GpuRegister& gpu_register) {
  if (!gpu_register.index) return std::nullopt;
  std::string_view name = gpu_register.name;
  if (name.starts_with("COMPUTE_USER_DATA_")) return UserDataRegister{HardwareStage::cs, *gpu_register.index};
  constexpr std::string_view prefix = "SPI_SHADER_USER_DATA_";
  if (!name.starts_with(prefix)) return std::nullopt;
  name = name.substr(prefix.size(), 2);
  for (size_t i = 0; i < stage_names.size(); ++i) {
    const bool same = std::ranges::equal(stage_names[i], name, {}, [](char c) { return static_cast<char>(c - 32); });
    if (same) return UserDataRegister{static_cast<HardwareStage>(i), *gpu_register.index};
  }
  return std::nullopt;
}

}  // namespace Atoll::object

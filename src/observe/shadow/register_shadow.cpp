// observe: the shadow of SGPRs and VGPRs, and the origins of uninitialized values.
#include "observe/shadow/register_shadow.h"

#include <fmt/format.h>

#include "machine/gpu.h"
#include "machine/wave/dispatch.h"

namespace Atoll::observe {

namespace origin {

namespace {

enum class Kind : uint8_t { unknown, scalar, vgpr, agpr, memory, lds, scratch, inactive };
constexpr unsigned number_bits = 28;
constexpr uint32_t most = (1u << number_bits) - 1;

uint32_t make(Kind kind, uint64_t number) {
  return static_cast<uint32_t>(kind) << number_bits | static_cast<uint32_t>(std::min<uint64_t>(number, most));
}
Kind kind_of(uint32_t origin) { return static_cast<Kind>(origin >> number_bits); }

}  // namespace

uint32_t scalar(unsigned reg) { return make(Kind::scalar, reg); }
uint32_t vector(unsigned reg, bool is_agpr) { return make(is_agpr ? Kind::agpr : Kind::vgpr, reg); }
uint32_t memory(uint32_t allocation) { return make(Kind::memory, allocation); }
uint32_t lds(uint64_t offset) { return make(Kind::lds, offset); }
uint32_t scratch(uint64_t address) { return make(Kind::scratch, address); }
uint32_t inactive(unsigned lane) { return make(Kind::inactive, lane); }
bool is_inactive(uint32_t origin) { return kind_of(origin) == Kind::inactive; }

std::optional<uint32_t> memory_of(uint32_t origin) {
  if (kind_of(origin) != Kind::memory) return std::nullopt;
  return origin & most;
}

std::string in_words(uint32_t origin) {
  const uint32_t number = origin & most;
  switch (kind_of(origin)) {
    case Kind::scalar:
      if (number == isa::scalar::vcc_lo || number == isa::scalar::vcc_hi) return "vcc, as the wave began";
      if (number == isa::scalar::m0) return "m0, as the wave began";
      return fmt::format("s{}, as the wave began", number);
    case Kind::vgpr:
      return fmt::format("v{}, as the wave began", number);
    case Kind::agpr:
      return fmt::format("a{}, as the wave began", number);
    case Kind::lds:
      return fmt::format("LDS + {:#x}", number);
    case Kind::scratch:
      return fmt::format("scratch + {:#x}: a local variable or array", number);
    case Kind::inactive:
      return fmt::format("lane {}, which was inactive when its value was read", number);
    case Kind::memory:
    case Kind::unknown:
      break;
  }
  return {};
}

}  // namespace origin

void RegisterShadow::begin(const machine::Wave& wave) {
  first_agpr_ = wave.vgprs;
  count_ = size_t{wave.vgprs} + wave.agprs;
  if (lanes_ == nullptr) {
    lanes_ = std::make_unique_for_overwrite<uint64_t[]>(isa::vector_registers);
    is_whole_ = std::make_unique_for_overwrite<uint8_t[]>(isa::vector_registers);
    origins_ = std::make_unique_for_overwrite<uint32_t[]>(isa::vector_registers);
  }
  if (count_ > capacity_) {
    capacity_ = count_;
    rows_ = std::make_unique_for_overwrite<Row[]>(capacity_);
    settled_ = std::make_unique_for_overwrite<uint64_t[]>(capacity_);
  }
  const machine::LaunchState& launch = wave.work_group->dispatch->launch;
  shared_ = {};
  shared_.lanes = lanes_.get();
  shared_.is_whole = is_whole_.get();
  shared_.origins = origins_.get();
  shared_.scalar_bits = scalars_.data();
  shared_.scalar_origins = scalar_origins_.data();
  for (unsigned reg = launch.defined_sgprs; reg < isa::scalar::ttmp0; ++reg) shared_.set_scalar(reg, true);
  shared_.set_scalar(isa::scalar::m0, true);
  shared_.set_scalar(isa::scc_number, true);
  scalars_.fill(UINT32_MAX);
  static const auto origins_at_begin = [] {
    std::array<uint32_t, isa::scalar::count> origins;
    for (unsigned reg = 0; reg < origins.size(); ++reg) origins[reg] = origin::scalar(reg);
    return origins;
  }();
  scalar_origins_ = origins_at_begin;
  const unsigned ids = launch.work_item_id_rows();
  const uint64_t all_lanes = wave.is_wave32() ? UINT32_MAX : UINT64_MAX;
  static const auto vector_origins_at_begin = [] {
    std::array<uint32_t, isa::vector_registers> origins;
    for (unsigned reg = 0; reg < isa::first_agpr; ++reg) origins[reg] = origin::vector(reg, false);
    for (unsigned reg = isa::first_agpr; reg < origins.size(); ++reg) {
      origins[reg] = origin::vector(reg - isa::first_agpr, true);
    }
    return origins;
  }();
  const auto begin_rows = [&](unsigned first, unsigned count) {
    std::copy_n(vector_origins_at_begin.begin() + first, count, &origins_[first]);
    std::fill_n(&is_whole_[first], count, uint8_t{1});
  };
  begin_rows(0, wave.vgprs);
  begin_rows(isa::first_agpr, wave.agprs);
  for (size_t i = ids; i < count_; ++i) shared_.set_lanes(number(i), all_lanes);
}

void RegisterShadow::settle(size_t index) const {
  const uint64_t undefined = shared_.lanes_of(number(index));
  uint8_t& is_whole = is_whole_[number(index)];
  if (is_whole == 0 && settled_[index] == undefined) return;
  Row& row = rows_[index];
  for (unsigned lane = 0; lane < row.size(); ++lane) {
    const bool is_undefined = (undefined >> lane & 1) != 0;
    row[lane] = !is_undefined ? 0 : is_whole != 0 ? UINT32_MAX : row[lane];
  }
  is_whole = 0;
  settled_[index] = undefined;
}

void RegisterShadow::set_row(size_t index, uint64_t lanes, const Row& undefined, uint32_t origin) {
  if (!has(index)) return;
  settle(index);
  Row& row = rows_[index];
  uint32_t any_new = 0;
  uint64_t undefined_lanes = 0;
  for (unsigned lane = 0; lane < row.size(); ++lane) {
    const bool is_written = (lanes >> lane & 1) != 0;
    row[lane] = is_written ? undefined[lane] : row[lane];
    any_new |= is_written ? undefined[lane] : 0;
    undefined_lanes |= uint64_t{row[lane] != 0} << lane;
  }
  set_lanes(index, undefined_lanes);
  if (any_new != 0) origins_[number(index)] = origin;
}

void RegisterShadow::define_row(size_t index, uint64_t lanes) {
  if (!is_undefined(index)) return;
  shared_.set_lanes(number(index), shared_.lanes_of(number(index)) & ~lanes);
}

uint32_t RegisterShadow::word(const isa::Operand& operand, unsigned word, unsigned lane) const {
  if (operand.kind == isa::OperandKind::scalar) return scalar(operand.reg + word);
  if (operand.kind != isa::OperandKind::vgpr && operand.kind != isa::OperandKind::agpr) return 0;
  const size_t at = index(operand, word);
  return is_undefined(at) ? row(at)[lane] : 0;
}

void RegisterShadow::set_word(const isa::Operand& operand, unsigned word, unsigned lane, uint32_t undefined,
                              uint32_t origin) {
  if (operand.kind == isa::OperandKind::scalar) return set_scalar(operand.reg + word, undefined, origin);
  if (operand.kind != isa::OperandKind::vgpr && operand.kind != isa::OperandKind::agpr) return;
  const size_t at = index(operand, word);
  if (!has(at)) return;
  settle(at);
  rows_[at][lane] = undefined;
  const uint64_t bit = uint64_t{1} << lane, others = shared_.lanes_of(number(at)) & ~bit;
  set_lanes(at, undefined != 0 ? others | bit : others);
  if (undefined != 0) origins_[number(at)] = origin;
}

void RegisterShadow::set_half(const isa::Operand& operand, unsigned lane, uint16_t undefined, bool high,
                              uint32_t origin) {
  const uint32_t old = word(operand, 0, lane);
  set_word(operand, 0, lane, high ? (old & 0xFFFF) | uint32_t{undefined} << 16 : (old & 0xFFFF0000) | undefined,
           origin);
}

void RegisterShadow::define_half(const isa::Operand& operand, uint64_t lanes, bool high) {
  const size_t at = index(operand, 0);
  if (!is_undefined(at)) return;
  Row bits = row(at);
  for (uint32_t& each : bits) each &= high ? 0xFFFFu : 0xFFFF0000u;
  set_row(at, lanes, bits, origin(at));
}

void RegisterShadow::define(const isa::Operand& operand, uint64_t lanes) {
  if (operand.kind == isa::OperandKind::scalar) return define_scalars(operand.reg, operand.words);
  if (operand.kind != isa::OperandKind::vgpr && operand.kind != isa::OperandKind::agpr) return;
  for (unsigned each = 0; each < operand.words; ++each) define_row(index(operand, each), lanes);
}

uint32_t RegisterShadow::origin_of(const isa::Operand& operand, unsigned word) const {
  if (operand.kind == isa::OperandKind::scalar) return scalar_origin(operand.reg + word);
  return origin(index(operand, word));
}

uint32_t RegisterShadow::origin_of(const isa::Operand& operand) const {
  for (unsigned each = 0; each < operand.words; ++each) {
    const bool undefined =
        operand.kind == isa::OperandKind::scalar ? scalar(operand.reg + each) != 0 : is_undefined(index(operand, each));
    if (undefined) return origin_of(operand, each);
  }
  return 0;
}

}  // namespace Atoll::observe

// observe: shadow state of a wave's registers: uninitialized bits and the origin of uninitialized values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "isa/effects.h"
#include "isa/instruction.h"
#include "machine/wave/undefined_registers.h"
#include "machine/wave/wave.h"

namespace Atoll::observe {

/// The origin of an uninitialized value as a number; 0: unknown.
namespace origin {
uint32_t scalar(unsigned reg);
uint32_t vector(unsigned reg, bool is_agpr);
uint32_t memory(uint32_t allocation);
uint32_t lds(uint64_t offset);
uint32_t scratch(uint64_t address);
/// The value was read from a lane that was inactive.
uint32_t inactive(unsigned lane);
bool is_inactive(uint32_t origin);
/// Returns the allocation's number if the value came from memory.
std::optional<uint32_t> memory_of(uint32_t origin);
/// "v3, which the wave began with"
std::string in_words(uint32_t origin);
}  // namespace origin

class RegisterShadow {
 public:
  using Row = std::array<uint32_t, 64>;

  RegisterShadow() = default;
  RegisterShadow(const RegisterShadow&) = delete;
  RegisterShadow& operator=(const RegisterShadow&) = delete;

  /// Resets the shadow for a new wave: only registers that the ABI initializes are defined. Reuses the storage.
  void begin(const machine::Wave& wave);

  /// Registers and lanes with uninitialized bits. Translated code clears those that it writes.
  machine::UndefinedRegisters& shared() { return shared_; }

  // --- Scalars
  uint32_t scalar(unsigned reg) const { return reg < scalars_.size() && shared_.has_scalar(reg) ? scalars_[reg] : 0; }
  bool scalars_undefined(unsigned reg, unsigned words) const {
    for (unsigned word = 0; word < words; ++word) {
      if (scalar(reg + word) != 0) return true;
    }
    return false;
  }
  uint32_t scalar_origin(unsigned reg) const { return reg < scalars_.size() ? scalar_origins_[reg] : 0; }
  void set_scalar(unsigned reg, uint32_t undefined, uint32_t origin) {
    if (reg >= isa::scalar::count || reg == isa::scalar::null) return;
    shared_.set_scalar(reg, undefined != 0);
    scalars_[reg] = undefined;
    if (undefined != 0) scalar_origins_[reg] = origin;
  }
  void define_scalars(unsigned reg, unsigned words) {
    for (unsigned word = 0; word < words; ++word) set_scalar(reg + word, 0, 0);
  }
  uint64_t mask(const machine::Wave& wave, unsigned reg) const {
    return wave.is_wave32() ? scalar(reg) : scalar(reg) | uint64_t{scalar(reg + 1)} << 32;
  }
  void set_mask(const machine::Wave& wave, unsigned reg, uint64_t undefined, uint32_t origin) {
    set_scalar(reg, static_cast<uint32_t>(undefined), origin);
    if (!wave.is_wave32()) set_scalar(reg + 1, static_cast<uint32_t>(undefined >> 32), origin);
  }
  /// Returns whether the result of comparing a mask with 0 is uninitialized.
  bool mask_undefined(const machine::Wave& wave, unsigned reg) const {
    const uint64_t undefined = mask(wave, reg);
    return undefined != 0 && (wave.mask(reg) & ~undefined) == 0;
  }
  bool scc_undefined() const { return shared_.has_scalar(isa::scc_number); }
  uint32_t scc_origin() const { return scc_origin_; }
  void set_scc(bool undefined, uint32_t origin) {
    shared_.set_scalar(isa::scc_number, undefined);
    if (undefined) scc_origin_ = origin;
  }
  void define_scc() { shared_.set_scalar(isa::scc_number, false); }

  // --- Vectors
  // Returns the index of a register's row, which may be out of range.
  size_t index(bool is_agpr, unsigned reg) const {
    return is_agpr ? first_agpr_ + reg : reg < first_agpr_ ? reg : SIZE_MAX;
  }
  size_t index(const isa::Operand& operand, unsigned word) const {
    return index(operand.kind == isa::OperandKind::agpr, operand.reg + word);
  }
  bool has(size_t index) const { return index < count_; }
  bool is_undefined(size_t index) const { return has(index) && shared_.has_row(number(index)); }
  const Row& row(size_t index) const {
    settle(index);
    return rows_[index];
  }
  uint32_t origin(size_t index) const {
    if (!has(index)) return 0;
    return origins_[number(index)];
  }
  /// Writes the shadow of some lanes.
  void set_row(size_t index, uint64_t lanes, const Row& undefined, uint32_t origin);
  void define_row(size_t index, uint64_t lanes);
  uint64_t undefined_lanes(const isa::Operand& operand, unsigned word) const {
    const size_t at = index(operand, word);
    return has(at) ? shared_.lanes_of(number(at)) : 0;
  }
  /// Returns the lanes of a VGPR with uninitialized bits.
  uint64_t undefined_lanes(unsigned vgpr) const {
    const size_t at = index(false, vgpr);
    return has(at) ? shared_.lanes_of(number(at)) : 0;
  }

  // --- Operands: SGPRs or VGPRs
  uint32_t word(const isa::Operand& operand, unsigned word, unsigned lane) const;
  void set_word(const isa::Operand& operand, unsigned word, unsigned lane, uint32_t undefined, uint32_t origin);
  void set_half(const isa::Operand& operand, unsigned lane, uint16_t undefined, bool high, uint32_t origin);
  void define_half(const isa::Operand& operand, uint64_t lanes, bool high);
  void define(const isa::Operand& operand, uint64_t lanes = ~uint64_t{0});
  uint32_t origin_of(const isa::Operand& operand, unsigned word) const;
  /// Returns the origin of the first word with uninitialized bits.
  uint32_t origin_of(const isa::Operand& operand) const;

 private:
  /// Returns the register's number in isa::VectorSet.
  unsigned number(size_t index) const {
    return static_cast<unsigned>(index < first_agpr_ ? index : isa::first_agpr + index - first_agpr_);
  }
  /// Clears the shadow of lanes that have been defined since.
  void settle(size_t index) const;
  void set_lanes(size_t index, uint64_t undefined) {
    shared_.set_lanes(number(index), undefined);
    settled_[index] = undefined;
  }

  machine::UndefinedRegisters shared_;
  // The following arrays are valid only for registers that `shared_` marks.
  std::array<uint32_t, isa::scalar::count> scalars_, scalar_origins_;
  uint32_t scc_origin_ = 0;
  size_t first_agpr_ = 0, count_ = 0, capacity_ = 0;
  // Indexed by number(), as in `shared_`: lanes whose whole register is undefined and whose row is not filled in yet.
  std::unique_ptr<uint64_t[]> lanes_;
  std::unique_ptr<uint8_t[]> is_whole_;
  std::unique_ptr<uint32_t[]> origins_;
  std::unique_ptr<Row[]> rows_;
  std::unique_ptr<uint64_t[]> settled_;  ///< lanes for which the row may be non-zero
};

}  // namespace Atoll::observe

// compiler: the scalar registers of translated code: in the Wave between regions, in allocas within one.
#pragma once

#include <map>

#include "compiler/analysis/liveness.h"
#include "compiler/lowering/frame.h"
#include "isa/table.h"
#include "machine/memory/memory.h"

namespace Atoll::compiler {

/// Scalar registers by isa::scalar number, and SCC, as uniform values.
class ScalarRegisters {
 public:
  virtual ~ScalarRegisters() = default;
  /// Returns a register as i32.
  virtual llvm::Value* word(unsigned reg) = 0;
  virtual void set_word(unsigned reg, llvm::Value* value) = 0;
  /// Returns a register pair as i64.
  virtual llvm::Value* pair(unsigned reg) = 0;
  virtual void set_pair(unsigned reg, llvm::Value* value) = 0;
  /// Returns SCC as i8, 0 or 1.
  virtual llvm::Value* scc() = 0;
  virtual void set_scc(llvm::Value* value) = 0;
};

/// Returns a lane mask as i64, independent of the wave size.
inline llvm::Value* lane_mask(Frame& frame, ScalarRegisters& registers, unsigned reg) {
  if (frame.wave_size() == 64) return registers.pair(reg);
  return frame.ir.CreateZExt(registers.word(reg), frame.i64());
}
inline void set_lane_mask(Frame& frame, ScalarRegisters& registers, unsigned reg, llvm::Value* lanes) {
  if (frame.wave_size() == 64) return registers.set_pair(reg, lanes);
  registers.set_word(reg, frame.ir.CreateTrunc(lanes, frame.i32()));
}

/// Returns whether an operand is the wave's scratch address, which is known at run time.
inline bool is_scratch_base(const isa::Operand& operand) {
  using enum isa::OperandKind;
  return operand.kind == flat_scratch_base_lo || operand.kind == flat_scratch_base_hi;
}
/// Returns such an operand's value as i64 (engine::scalar_value).
inline llvm::Value* scratch_base(Frame& frame, const isa::Operand& operand) {
  llvm::IRBuilder<>& ir = frame.ir;
  llvm::Value* base = ir.CreateLoad(frame.i64(), frame.at(frame.wave, offsetof(Wave, scratch)));
  base = ir.CreateOr(base, ir.getInt64(machine::lane_scratch_base));
  if (operand.kind == isa::OperandKind::flat_scratch_base_hi) return ir.CreateLShr(base, 32);
  return isa::words_of(operand.type) == 2 ? base : ir.CreateAnd(base, ir.getInt64(UINT32_MAX));
}

/// Scalar registers in the Wave.
class WaveScalars final : public ScalarRegisters {
 public:
  explicit WaveScalars(Frame& frame) : frame_(frame) {}
  llvm::Value* word(unsigned reg) override { return frame_.scalar32(reg); }
  void set_word(unsigned reg, llvm::Value* value) override { frame_.set_scalar(reg, value); }
  llvm::Value* pair(unsigned reg) override { return frame_.scalar64(reg); }
  void set_pair(unsigned reg, llvm::Value* value) override { frame_.set_scalar(reg, value); }
  llvm::Value* scc() override { return frame_.ir.CreateLoad(frame_.ir.getInt8Ty(), frame_.scc_address()); }
  void set_scc(llvm::Value* value) override { frame_.ir.CreateStore(value, frame_.scc_address()); }

 private:
  Frame& frame_;
};

/// Scalar registers in the Wave, except that writes to some of them are held back.
class HeldScalars final : public ScalarRegisters {
 public:
  /// The held-back values.
  struct Values {
    std::map<unsigned, llvm::Value*> words;
    llvm::Value* scc = nullptr;
  };

  explicit HeldScalars(Frame& frame) : wave_(frame), ir_(frame.ir) {}
  llvm::Value* word(unsigned reg) override {
    const auto found = values_.words.find(reg);
    return found != values_.words.end() ? found->second : wave_.word(reg);
  }
  void set_word(unsigned reg, llvm::Value* value) override {
    if (held_[reg]) {
      values_.words[reg] = value;
    } else {
      wave_.set_word(reg, value);
      single_.set(reg);
    }
  }
  llvm::Value* pair(unsigned reg) override {
    if (!is_single(reg) && !is_single(reg + 1)) return wave_.pair(reg);
    return join(word(reg), word(reg + 1));
  }
  void set_pair(unsigned reg, llvm::Value* value) override {
    if (held_[reg] || held_[reg + 1]) {
      set_word(reg, ir_.CreateTrunc(value, ir_.getInt32Ty()));
      set_word(reg + 1, ir_.CreateTrunc(ir_.CreateLShr(value, 32), ir_.getInt32Ty()));
    } else {
      wave_.set_pair(reg, value);
      single_.reset(reg);
      single_.reset(reg + 1);
    }
  }
  llvm::Value* scc() override { return values_.scc != nullptr ? values_.scc : wave_.scc(); }
  void set_scc(llvm::Value* value) override {
    if (held_[scc_number]) values_.scc = value;
    if (!held_[scc_number]) wave_.set_scc(value);
  }

  /// Also holds back these.
  void hold(const ScalarSet& registers) { held_ |= registers; }
  /// Drops values of registers that are written elsewhere.
  void forget(const ScalarSet& registers) {
    std::erase_if(values_.words, [&](const auto& value) { return registers[value.first]; });
    if (registers[scc_number]) values_.scc = nullptr;
  }
  const Values& values() const { return values_; }
  /// Stores the values to the Wave.
  void release(const Values& values) {
    for (auto next = values.words.begin(); next != values.words.end(); ++next) {
      const auto& [reg, value] = *next;
      const auto upper = std::next(next);
      if (reg % 2 == 0 && upper != values.words.end() && upper->first == reg + 1) {
        wave_.set_pair(reg, join(value, upper->second));
        next = upper;
      } else {
        wave_.set_word(reg, value);
      }
    }
    if (values.scc != nullptr) wave_.set_scc(values.scc);
  }
  void clear() {
    held_.reset();
    single_.reset();
    values_ = {};
  }

 private:
  bool is_single(unsigned reg) const { return single_[reg] || values_.words.contains(reg); }
  llvm::Value* join(llvm::Value* low, llvm::Value* high) {
    llvm::Type* wide = ir_.getInt64Ty();
    return ir_.CreateOr(ir_.CreateZExt(low, wide), ir_.CreateShl(ir_.CreateZExt(high, wide), 32));
  }

  WaveScalars wave_;
  llvm::IRBuilder<>& ir_;
  ScalarSet held_;
  /// Registers written as words: loading a pair just after storing one half defeats store-to-load forwarding.
  ScalarSet single_;
  Values values_;
};

}  // namespace Atoll::compiler

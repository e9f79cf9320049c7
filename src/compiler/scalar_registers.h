// compiler: where translated code finds the scalar registers: in the Wave between regions, in locals within one.
#pragma once

#include "compiler/frame.h"

namespace Atoll::compiler {

/// Scalar registers by isa::scalar number, and SCC, as values that are the same for the whole wave.
class ScalarRegisters {
 public:
  virtual ~ScalarRegisters() = default;
  /// 32 bits.
  virtual llvm::Value* word(unsigned reg) = 0;
  virtual void set_word(unsigned reg, llvm::Value* value) = 0;
  /// A register and the one behind it, 64 bits.
  virtual llvm::Value* pair(unsigned reg) = 0;
  virtual void set_pair(unsigned reg, llvm::Value* value) = 0;
  /// 8 bits, 0 or 1.
  virtual llvm::Value* scc() = 0;
  virtual void set_scc(llvm::Value* value) = 0;
};

/// Those in the Wave.
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

}  // namespace Atoll::compiler

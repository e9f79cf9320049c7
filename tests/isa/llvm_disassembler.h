// The disassembler of the linked LLVM with its descriptions of instructions and registers, for one processor and wave
// size. Tests that compare what the table says of operands with LLVM derive from it.
#pragma once

#include <memory>
#include <string>

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

#include "isa/patterns.h"
#include "target/processor.h"

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

namespace Atoll::isa::test {

class LlvmDisassembler {
 public:
  /// `wave_size` 0: the processor's own.
  LlvmDisassembler(const target::Processor& processor, unsigned wave_size) {
    static const bool initialised = [] {
      LLVMInitializeAMDGPUTargetInfo();
      LLVMInitializeAMDGPUTargetMC();
      LLVMInitializeAMDGPUDisassembler();
      return true;
    }();
    (void)initialised;
    const llvm::Triple triple("amdgcn-amd-amdhsa");
    std::string error;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple.str(), error);
    registers_.reset(target->createMCRegInfo(triple.str()));
    asm_info_.reset(target->createMCAsmInfo(*registers_, triple.str(), llvm::MCTargetOptions()));
    instructions_.reset(target->createMCInstrInfo());
    const std::string features = wave_size == 64   ? "+wavefrontsize64,-wavefrontsize32"
                                 : wave_size == 32 ? "+wavefrontsize32,-wavefrontsize64"
                                                   : "";
    subtarget_.reset(target->createMCSubtargetInfo(triple.str(), "", ""));
    if (!subtarget_->isCPUStringValid(processor.name)) return;
    subtarget_.reset(target->createMCSubtargetInfo(triple.str(), std::string(processor.name), features));
    context_ = std::make_unique<llvm::MCContext>(triple, asm_info_.get(), registers_.get(), subtarget_.get());
    disassembler_.reset(target->createMCDisassembler(*subtarget_, *context_));
  }

  bool knows_processor() const { return disassembler_ != nullptr; }

 protected:
  /// Returns whether LLVM disassembles the bytes, and then how many of them `size` the instruction has.
  bool disassemble(const Bytes& bytes, llvm::MCInst& instruction, uint64_t& size) const {
    return disassembler_->getInstruction(instruction, size, llvm::ArrayRef(bytes.data(), bytes.size()), 0,
                                         llvm::nulls()) == llvm::MCDisassembler::Success;
  }

  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> asm_info_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> disassembler_;
};

}  // namespace Atoll::isa::test

// Translated code has the vector instructions of the level that it is asked for, and no wider ones: on another host
// they would be illegal, and tests that are run for each level would run the same code each time. LLVM's disassembler
// says which instructions there are.
#include "semantics/host_vectors.h"

#include <gtest/gtest.h>
#include <llvm-c/Target.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/driver/compile.h"
#include "engine/wave_runner.h"
#include "target/processor.h"

namespace Atoll::test {
namespace {

using semantics::HostVectors;

/// Counts of the x86-64 instructions reachable from a function's entry, by the features in which the levels
/// differ.
struct Instructions {
  unsigned count = 0;
  unsigned vex = 0;   ///< encoded as AVX, AVX2, FMA and BMI instructions are
  unsigned evex = 0;  ///< as AVX-512 ones
  bool ymm = false, zmm = false;
};

class HostDisassembler {
 public:
  HostDisassembler() {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
    const llvm::Triple triple("x86_64-unknown-linux-gnu");
    std::string problem;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
    registers_.reset(target->createMCRegInfo(triple));
    assembly_.reset(target->createMCAsmInfo(*registers_, triple, {}));
    features_.reset(target->createMCSubtargetInfo(triple, "x86-64-v4", ""));
    instructions_.reset(target->createMCInstrInfo());
    analysis_.reset(target->createMCInstrAnalysis(instructions_.get()));
    context_ = std::make_unique<llvm::MCContext>(triple, assembly_.get(), registers_.get(), features_.get());
    disassembler_.reset(target->createMCDisassembler(*features_, *context_));
  }

  /// Follows the code from each entry. A test failure where it leads to what is no instruction.
  Instructions look_at(const engine::TranslatedCode& translated) const {
    Instructions found;
    std::set<uint64_t> seen;
    std::vector<uint64_t> open;
    open.reserve(translated.entries.size());
    for (const engine::EntryPoint& entry : translated.entries) open.push_back(entry.function);
    while (!open.empty()) {
      uint64_t at = open.back();
      open.pop_back();
      while (seen.insert(at).second) {
        llvm::MCInst instruction;
        uint64_t size = 0;
        const auto code = llvm::ArrayRef(translated.code).drop_front(std::min(at, translated.code.size()));
        if (disassembler_->getInstruction(instruction, size, code, at, llvm::nulls()) !=
            llvm::MCDisassembler::Success) {
          ADD_FAILURE() << "no instruction at " << at;
          return found;
        }
        count(instruction, code.take_front(size), found);
        uint64_t target = 0;
        if (analysis_->evaluateBranch(instruction, at, size, target)) open.push_back(target);
        const llvm::MCInstrDesc& description = instructions_->get(instruction.getOpcode());
        if (description.isBarrier() || description.isReturn()) break;
        at += size;
      }
    }
    return found;
  }

 private:
  void count(const llvm::MCInst& instruction, llvm::ArrayRef<uint8_t> bytes, Instructions& found) const {
    // Intel's manual, volume 2, sections 2.3.5 and 2.7.1: what these bytes begin in 64-bit mode. Only segment and
    // address size prefixes may stand before them.
    constexpr uint8_t prefixes[] = {0x26, 0x2E, 0x36, 0x3E, 0x64, 0x65, 0x67};
    while (std::ranges::count(prefixes, bytes.front()) != 0) bytes = bytes.drop_front();
    ++found.count;
    if (bytes.front() == 0xC4 || bytes.front() == 0xC5) ++found.vex;
    if (bytes.front() == 0x62) ++found.evex;
    for (const llvm::MCOperand& operand : instruction) {
      if (!operand.isReg()) continue;
      const std::string_view name = registers_->getName(operand.getReg());
      found.ymm |= name.starts_with("YMM");
      found.zmm |= name.starts_with("ZMM");
    }
  }

  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> assembly_;
  std::unique_ptr<llvm::MCSubtargetInfo> features_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> disassembler_;
};

/// The request of an engine for some code of every kind that is done in vectors.
support::Result<engine::TranslationRequest> request_of_vector_code() {
  const std::vector<uint8_t> code = assemble(R"(
    s_mov_b32 s4, 10
again:
    v_add_u32 v1, v0, v1
    v_fma_f32 v2, v1, v3, v2
    v_fma_f64 v[4:5], v[6:7], v[8:9], v[4:5]
    v_floor_f32 v10, v2
    v_exp_f32 v10, v10
    v_cvt_f16_f32 v11, v10
    v_pk_mul_f16 v11, v11, v12
    v_cmp_gt_f32 vcc, v10, v2
    v_cndmask_b32 v13, v11, v2, vcc
    v_mov_b32_dpp v13, v1 row_shr:1
    ds_read_b32 v14, v13
    global_load_dword v15, v[16:17], off
    v_mfma_f32_4x4x1f32 a[0:3], v15, v14, a[0:3]
    v_and_b32 v18, 31, v14
    global_store_dword v[20:21], v18, off
    s_sub_u32 s4, s4, 1
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 again
    s_endpgm)",
                                             "gfx90a");
  const auto base = reinterpret_cast<uint64_t>(code.data());
  const target::Processor& processor = *target::find_processor("gfx90a");
  const auto flow = engine::follow(base, {}, base, base + code.size(), processor);
  if (!flow) return std::unexpected(flow.error());
  return engine::TranslationRequest::parse(engine::TranslationRequest::serialise(processor, *flow, base, 0));
}

TEST(HostVectorsOfTranslations, AreThoseInUse) {
  const auto request = request_of_vector_code();
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(name(request->level), name(semantics::host_vectors()));
}

TEST(HostVectorsOfTranslations, AreUsedAndNoWiderOnes) {
  auto request = request_of_vector_code();
  ASSERT_TRUE(request) << request.error().message;
  const auto host = compiler::HostCompiler::create();
  ASSERT_TRUE(host) << host.error().message;
  const HostDisassembler disassembler;
  for (const HostVectors level : {HostVectors::portable, HostVectors::avx2, HostVectors::avx512}) {
    SCOPED_TRACE(name(level));
    request->level = level;
    const auto made = compiler::compile(*request, **host);
    ASSERT_TRUE(made) << made.error().message;
    const Instructions found = disassembler.look_at(*made);
    EXPECT_GT(found.count, 200U);
    EXPECT_EQ(found.vex > 0, level != HostVectors::portable);
    EXPECT_EQ(found.ymm, level != HostVectors::portable);
    EXPECT_EQ(found.evex > 0, level == HostVectors::avx512);
    EXPECT_EQ(found.zmm, level == HostVectors::avx512);
  }
}

}  // namespace
}  // namespace Atoll::test

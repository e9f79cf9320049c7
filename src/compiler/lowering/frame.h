// compiler: IR helpers shared by the translator and its regions: the location of a wave's state.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>

#include "engine/compiled/code_mode.h"
#include "engine/compiled/jit_context.h"
#include "engine/interpreter/micro_op.h"
#include "isa/effects.h"
#include "machine/wave/wave.h"
#include "semantics/lanes/lanes.h"
#include "target/target.h"

namespace Atoll::compiler {

using engine::Run;
using machine::Row;
using machine::Wave;

class GuestBounds;
class InlineAccessFilter;

/// Alignment of rows; of scalars and single lanes; of arbitrary program memory.
inline const llvm::Align row_align(64), dword_align(4), unaligned(1);

/// Report about the plans of regions (region_plan.h).
struct PlanReport {
  std::string* text = nullptr;      ///< receives the plans as text, if not null
  std::vector<std::string> faults;  ///< invalid plans: the code must not be used
};

/// The host function under construction and the wave it runs. Scalar state is always in the Wave, where interpreter
/// fallbacks and fault handling expect it. Vector registers are in their rows except within a region (region.h).
struct Frame {
  llvm::LLVMContext& context;
  const target::Target& target;
  llvm::IRBuilder<> ir;
  llvm::Function* function;
  llvm::Value *wave, *run;              ///< parameters: Wave*, Run*
  llvm::Value* jit_context;             ///< parameter: const JitContext*
  llvm::Value *vgpr, *agpr;             ///< rows
  llvm::Value* code_base;               ///< i64: guest address that PCs are relative to
  llvm::BasicBlock* allocas;            ///< the block that allocas go to
  engine::CodeMode mode;                ///< mode of the current instruction
  bool has_scatters;                    ///< the host has scatters and fast gathers; otherwise branches are used
  PlanReport& plans;                    ///< receives reports about regions
  GuestBounds* bounds = nullptr;        ///< bounds of accessible memory
  InlineAccessFilter* odd = nullptr;    ///< inline access filter; null: not observed
  uint64_t access_pc = 0;               ///< PC of the current access, for the filter
  llvm::BasicBlock* faulted = nullptr;  ///< block that leaves the function after a fault
  uint64_t uncounted = 0;               ///< instructions of the block not yet added to Run::instructions

  llvm::Type* i1() { return ir.getInt1Ty(); }
  llvm::Type* i16() { return ir.getInt16Ty(); }
  llvm::Type* i32() { return ir.getInt32Ty(); }
  llvm::Type* i64() { return ir.getInt64Ty(); }
  llvm::Type* pointer() { return ir.getPtrTy(); }
  /// Type of one chunk of a row.
  llvm::VectorType* chunk() { return llvm::FixedVectorType::get(i32(), semantics::chunk_lanes); }

  unsigned wave_size() const { return target.wave_size; }
  /// Returns the number of registers in a lane mask.
  unsigned lane_mask_words() const { return wave_size() / 32; }
  /// Returns a lane mask with all lanes of the wave.
  uint64_t all_lanes() const { return ~uint64_t{0} >> (64 - wave_size()); }

  /// Type of a lane mask of one chunk.
  llvm::VectorType* lanes() { return llvm::FixedVectorType::get(i1(), semantics::chunk_lanes); }

  llvm::Value* at(llvm::Value* base, uint64_t offset) {
    return offset == 0 ? base : ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), base, offset);
  }
  llvm::Value* local(llvm::Type* type, llvm::Align align) {
    llvm::IRBuilder<> entry(allocas, allocas->begin());
    auto* made = entry.CreateAlloca(type);
    made->setAlignment(align);
    return made;
  }

  /// Returns the address of a row by its number (isa::VectorSet), relative to these bases.
  llvm::Value* row_address(unsigned key, llvm::Value* vgprs, llvm::Value* agprs) {
    return key < isa::first_agpr ? at(vgprs, key * sizeof(Row)) : at(agprs, (key - isa::first_agpr) * sizeof(Row));
  }
  llvm::Value* row_address(unsigned key) { return row_address(key, vgpr, agpr); }
  llvm::Value* scalar_address(unsigned reg) { return at(wave, offsetof(machine::Wave, scalar) + reg * 4); }
  llvm::Value* scalar32(unsigned reg) { return ir.CreateAlignedLoad(i32(), scalar_address(reg), llvm::Align(4)); }
  llvm::Value* scalar64(unsigned reg) { return ir.CreateAlignedLoad(i64(), scalar_address(reg), llvm::Align(4)); }
  void set_scalar(unsigned reg, llvm::Value* value) {
    ir.CreateAlignedStore(value, scalar_address(reg), llvm::Align(4));
  }
  /// Loads a lane mask as i64, independent of the wave size.
  llvm::Value* lane_mask(unsigned reg) {
    return wave_size() == 64 ? scalar64(reg) : ir.CreateZExt(scalar32(reg), i64());
  }
  void set_lane_mask(unsigned reg, llvm::Value* lanes) {
    set_scalar(reg, wave_size() == 64 ? lanes : ir.CreateTrunc(lanes, i32()));
  }
  /// Stores MODE to the wave. In translated code the mode is a constant.
  void write_mode(const engine::CodeMode& value) {
    write_floats(value.floats);
    write_banks(value.banks);
  }
  /// Does the same if the current mode is known.
  void change_mode(const engine::CodeMode& before, const engine::CodeMode& value) {
    if (value.floats != before.floats) write_floats(value.floats);
    if (value.banks != before.banks) write_banks(value.banks);
  }
  void write_banks(uint8_t banks) {
    if (has_banks()) write_mode_bits(engine::banks_mask, engine::with_banks(0, banks));
  }
  bool has_banks() const { return engine::has_vgpr_banks(*target.processor); }
  void write_floats(const semantics::FloatMode& value) {
    write_mode_bits(machine::float_mode_bits(value), machine::mode_bits_of(value));
    for (llvm::Value* copy : {at(wave, offsetof(machine::Wave, float_mode)),
                              at(run, offsetof(Run, call) + offsetof(semantics::VectorCall, mode))}) {
      ir.CreateAlignedStore(float_mode_bytes(value), copy, llvm::Align(1));
    }
  }
  /// Changes these bits of Wave::mode only. Floating-point bits also have copies: use write_mode().
  void write_mode_bits(uint32_t mask, uint32_t value) {
    llvm::Value* whole = at(wave, offsetof(machine::Wave, mode));
    llvm::Value* others = ir.CreateAnd(ir.CreateLoad(i32(), whole), ~uint64_t{mask});
    ir.CreateStore(ir.CreateOr(others, uint64_t{value}), whole);
  }
  /// Returns whether the wave is in a mode, as i1.
  llvm::Value* is_in_mode(const engine::CodeMode& value) {
    llvm::Constant* bytes = float_mode_bytes(value.floats);
    llvm::Value* now =
        ir.CreateAlignedLoad(bytes->getType(), at(wave, offsetof(machine::Wave, float_mode)), llvm::Align(1));
    llvm::Value* is_same = ir.CreateICmpEQ(now, bytes);
    if (!has_banks()) return is_same;
    llvm::Value* whole = ir.CreateLoad(i32(), at(wave, offsetof(machine::Wave, mode)));
    llvm::Value* banks = ir.CreateAnd(whole, uint64_t{engine::banks_mask});
    return ir.CreateAnd(is_same, ir.CreateICmpEQ(banks, ir.getInt32(engine::with_banks(0, value.banks))));
  }
  llvm::Constant* float_mode_bytes(const semantics::FloatMode& value) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, &value, sizeof value);
    return ir.getIntN(8 * sizeof value, bytes);
  }

  /// Returns the guest address of a PC, which is relative to the code's base.
  llvm::Value* guest_address(uint64_t pc) { return ir.CreateAdd(code_base, ir.getInt64(pc)); }
  /// Stores Wave::pc for a possible fault; the store is not moved.
  void note_pc(uint64_t pc) {
    ir.CreateStore(guest_address(pc), at(wave, offsetof(machine::Wave, pc)), /*isVolatile=*/true);
  }
  /// Records that one chunk runs ahead of Wave::pc, so that a fault can be traced (Run::chunk).
  void note_chunk(llvm::Value* number) {
    ir.CreateStore(ir.CreateTrunc(number, ir.getInt8Ty()), at(run, offsetof(Run, chunk)), /*isVolatile=*/true);
  }
  /// Adds `uncounted` to Run::instructions on the current path.
  void count() {
    llvm::Value* address = at(run, offsetof(Run, instructions));
    ir.CreateStore(ir.CreateAdd(ir.CreateLoad(i64(), address), ir.getInt64(uncounted)), address);
  }
  /// Continues if `is_right` (i1); otherwise leaves, and the wave is re-executed from Wave::pc to find its fault.
  void check(llvm::Value* is_right) {
    if (faulted == nullptr) {
      faulted = llvm::BasicBlock::Create(context, "faulted", function);
      // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): the block owns it
      llvm::ReturnInst::Create(context, ir.getInt8(static_cast<uint8_t>(engine::ExitReason::faults)), faulted);
    }
    auto* right = llvm::BasicBlock::Create(context, "right", function);
    ir.CreateCondBr(is_right, right, faulted, llvm::MDBuilder(context).createBranchWeights(1u << 20, 1));
    ir.SetInsertPoint(right);
  }
  /// Continues if `is_known` (i1); otherwise the interpreter continues at `pc`. The instruction there must not have
  /// been executed.
  void interpret_unless(llvm::Value* is_known, uint64_t pc) {
    auto* other = llvm::BasicBlock::Create(context, "other", function);
    auto* on = llvm::BasicBlock::Create(context, "on", function);
    ir.CreateCondBr(is_known, on, other);
    ir.SetInsertPoint(other);
    count();
    ir.CreateStore(guest_address(pc), at(wave, offsetof(machine::Wave, pc)));
    ir.CreateRet(ir.getInt8(static_cast<uint8_t>(engine::ExitReason::interpreted)));
    ir.SetInsertPoint(on);
  }
  llvm::Value* exec() { return lane_mask(isa::scalar::exec_lo); }
  llvm::Value* scc_address() { return at(wave, offsetof(machine::Wave, scc)); }
};

}  // namespace Atoll::compiler

// compiler: the pieces of IR that the translator and its regions share: where a wave's state lies.
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

/// Of rows; of scalars and single lanes in a row; of what is anywhere in a program's memory.
inline const llvm::Align row_align(64), dword_align(4), unaligned(1);

/// What is said of the plans of regions (region_plan.h).
struct PlanReport {
  std::string* text = nullptr;      ///< what they are is added to it, if there is one
  std::vector<std::string> faults;  ///< plans that are wrong: the code must not be used then
};

/// The host function being made, with the wave that it runs. The scalar state of the wave is always in the Wave: what
/// the interpreter does for one instruction in between, and whoever looks at a fault, find it there. Vector
/// registers are in their rows except within a region (region.h).
struct Frame {
  llvm::LLVMContext& context;
  const target::Target& target;
  llvm::IRBuilder<> ir;
  llvm::Function* function;
  llvm::Value *wave, *run;              ///< parameters: Wave*, Run*
  llvm::Value* jit_context;             ///< parameter: const JitContext*
  llvm::Value *vgpr, *agpr;             ///< rows
  llvm::Value* code_base;               ///< 64 bits: the guest address that PCs count from
  llvm::BasicBlock* allocas;            ///< the block that allocas go to
  engine::CodeMode mode;                ///< of the instruction that is being made
  bool has_scatters;                    ///< that the host has, and quick gathers; without, both are branches
  PlanReport& plans;                    ///< takes what is to be said of regions
  GuestBounds* bounds = nullptr;        ///< of the memory that the wave may touch
  InlineAccessFilter* odd = nullptr;    ///< whoever is told of odd accesses; null: nobody
  uint64_t access_pc = 0;               ///< of the access that is being made, for that
  llvm::BasicBlock* faulted = nullptr;  ///< leaves the function: the wave has come upon a fault
  uint64_t uncounted = 0;               ///< instructions of the block that Run::instructions does not have yet

  llvm::Type* i1() { return ir.getInt1Ty(); }
  llvm::Type* i16() { return ir.getInt16Ty(); }
  llvm::Type* i32() { return ir.getInt32Ty(); }
  llvm::Type* i64() { return ir.getInt64Ty(); }
  llvm::Type* pointer() { return ir.getPtrTy(); }
  /// One chunk of a row.
  llvm::VectorType* chunk() { return llvm::FixedVectorType::get(i32(), semantics::chunk_lanes); }

  unsigned wave_size() const { return target.wave_size; }
  /// Scalar registers that a lane mask of the wave fills.
  unsigned lane_mask_words() const { return wave_size() / 32; }
  /// A lane mask with all lanes of the wave.
  uint64_t all_lanes() const { return ~uint64_t{0} >> (64 - wave_size()); }

  /// A lane mask of one chunk.
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

  /// Of a row, by its number (isa::VectorSet): of the wave, or of part of it where rows begin elsewhere.
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
  /// A lane mask of the wave, as 64 bits whatever registers it fills.
  llvm::Value* lane_mask(unsigned reg) {
    return wave_size() == 64 ? scalar64(reg) : ir.CreateZExt(scalar32(reg), i64());
  }
  void set_lane_mask(unsigned reg, llvm::Value* lanes) {
    set_scalar(reg, wave_size() == 64 ? lanes : ir.CreateTrunc(lanes, i32()));
  }
  /// MODE in the wave, for whoever looks there. Translated code itself knows its mode.
  void write_mode(const engine::CodeMode& value) {
    write_floats(value.floats);
    write_banks(value.banks);
  }
  /// The same where the wave is in a mode that is known.
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
  /// These bits of Wave::mode alone. Those of floating point stand in copies, too: write_mode().
  void write_mode_bits(uint32_t mask, uint32_t value) {
    llvm::Value* whole = at(wave, offsetof(machine::Wave, mode));
    llvm::Value* others = ir.CreateAnd(ir.CreateLoad(i32(), whole), ~uint64_t{mask});
    ir.CreateStore(ir.CreateOr(others, uint64_t{value}), whole);
  }
  /// Whether the wave is in a mode (an i1).
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

  /// The guest address of a PC of the control flow, which counts from the code's base.
  llvm::Value* guest_address(uint64_t pc) { return ir.CreateAdd(code_base, ir.getInt64(pc)); }
  /// Wave::pc, for a fault that may follow: the store stays in its place.
  void note_pc(uint64_t pc) {
    ir.CreateStore(guest_address(pc), at(wave, offsetof(machine::Wave, pc)), /*isVolatile=*/true);
  }
  /// That code for one chunk runs ahead of Wave::pc, so that a fault can be traced (Run::chunk).
  void note_chunk(llvm::Value* number) {
    ir.CreateStore(ir.CreateTrunc(number, ir.getInt8Ty()), at(run, offsetof(Run, chunk)), /*isVolatile=*/true);
  }
  /// Adds `uncounted` to Run::instructions; on this way, if there are others.
  void count() {
    llvm::Value* address = at(run, offsetof(Run, instructions));
    ir.CreateStore(ir.CreateAdd(ir.CreateLoad(i64(), address), ir.getInt64(uncounted)), address);
  }
  /// Goes on only if `is_right` (an i1); otherwise the wave is run again from Wave::pc, to find its fault.
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
  /// Goes on only if `is_known` (an i1); otherwise the interpreter goes on at `pc`, whose instruction and those after
  /// must not have been executed.
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

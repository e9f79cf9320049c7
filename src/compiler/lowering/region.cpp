// compiler: regions (region.h).
#include "compiler/lowering/region.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <llvm/IR/MDBuilder.h>

#include "compiler/lowering/chunk_loop.h"
#include "compiler/lowering/plan_text.h"
#include "compiler/lowering/plan_validation.h"
#include "compiler/memory/access_filter.h"
#include "compiler/memory/deferred_stores.h"
#include "compiler/memory/guest_bounds.h"
#include "compiler/memory/scalar_memory.h"
#include "engine/interpreter/prepare.h"
#include "isa/table.h"

namespace Atoll::compiler {

using Lowering = VaryingMasks::Lowering;

void Region::end_before(const isa::Instruction& instruction) {
  if (plan_.items.empty()) return;
  const Lowering lowering = plan_.masks.lowering(instruction, /*inside=*/true);
  if (lowering == Lowering::neither || lowering == Lowering::on_varying_masks) return end();
  if ((lane_effects_of(instruction).writes & scalars_read_).any()) return end();
  for (unsigned i = 0; i < instruction.destinations; ++i) {
    const isa::Operand& operand = instruction.dst(i);
    for (unsigned word = 0; operand.kind == isa::OperandKind::scalar && word < operand.words; ++word) {
      if (plan_.masks.is_varying(operand.reg + word)) return end();
    }
  }
}

void Region::add(const isa::Instruction& instruction, uint64_t pc) {
  const LaneEffects effects = lane_effects_of(instruction);
  if (MatrixLowering::takes(instruction)) return add_matrix(instruction, effects, pc);
  if ((effects.vector_writes & (plan_.matrix_reads | matrix_writes_)).any() ||
      (effects.vector_reads & matrix_writes_).any())
    end();
  Lowering lowering = plan_.masks.lowering(instruction, !plan_.items.empty());
  const bool is_too_late = plan_.last_store && (lowering == Lowering::memory ||
                                                lowering == Lowering::on_varying_masks || writes_exec(instruction));
  if (lowering == Lowering::neither || is_too_late) {
    end();
    lowering = plan_.masks.lowering(instruction, /*inside=*/false);
  }
  switch (lowering) {
    case Lowering::scalars:
      add_scalar(instruction, effects, pc);
      break;
    case Lowering::memory: {
      // Where each lane stores two elements, all lanes' first ones come before the second ones.
      const bool is_store = memory_operands(instruction)->is_store;
      const unsigned parts = is_store ? semantics::memory_access(instruction).elements : 1;
      for (unsigned element = 0; element < parts; ++element) add_access(instruction, element, pc);
      break;
    }
    case Lowering::lanes: {
      if (const auto halves = DualHalves::of(instruction)) {
        for (const isa::Instruction& half : {halves->first, halves->second}) add_vector(halves_.emplace_back(half), pc);
      } else {
        add_vector(instruction, pc);
      }
      break;
    }
    case Lowering::on_varying_masks: {
      RegionItem& item = new_item(instruction, pc);
      for (unsigned i = 0; i < instruction.sources(); ++i) {
        const isa::Operand& source = instruction.src(i);
        if (!plan_.masks.is_varying_source(instruction, source)) item.whole[i] = scalars_.value(source, registers_);
      }
      if (isa::row_of(instruction).has(isa::flag::scc_in)) item.scc = registers_.scc();
      plan_.every_chunk = true;
      break;
    }
    case Lowering::neither:
      return;
  }
  if (lowering == Lowering::lanes || lowering == Lowering::on_varying_masks) registers_.forget(effects.writes);
  if (versioning_ != Versioning::never && (lowering != Lowering::lanes || plan_.masks.exec_written))
    strides_.forget(effects);
  if (!plan_.items.empty()) {
    scalars_read_ |= effects.reads;
    plan_.steps.push_back({.instruction = &instruction, .pc = pc, .how = lowering, .items_end = plan_.items.size()});
  }
  plan_.masks.step(instruction, lowering);
}

void Region::add_vector(const isa::Instruction& instruction, uint64_t pc) {
  RegionItem& item = new_item(instruction, pc);
  item.is_vector = true;
  item.lanes = lanes_.prepare(instruction, registers_, [this](unsigned reg) { return plan_.masks.is_varying(reg); });
  if (versioning_ != Versioning::never && !plan_.masks.exec_written) strides_.take(item.lanes, plan_.items.size() - 1);
}

/// An instruction that is executed before the loop.
void Region::add_scalar(const isa::Instruction& instruction, const LaneEffects& effects, uint64_t pc) {
  const bool is_load = ScalarMemory::takes(instruction);
  if (is_load && (stores_ & shared_spaces(MemorySpace::global)) != 0) end();
  if (is_load && num_records_ != 0) end();  // is reported when it is executed, after the loads before it
  // If an access fails, the wave restarts with these values.
  if (!plan_.items.empty()) registers_.hold(scalars_read_ | effects.reads);
  if (!is_load) return scalars_.emit(instruction, registers_);
  // If a scalar load fails after a vector instruction that may fault, the wave must find the first fault in program
  // order. If a later vector instruction fails, the load is repeated and reported again.
  const bool is_ahead = may_fault_ || (frame_.odd != nullptr && !plan_.items.empty());
  frame_.access_pc = pc;
  frame_.note_pc(is_ahead ? plan_.items.front().pc : pc);
  if (is_ahead) frame_.note_chunk(frame_.ir.getInt8(0));
  ScalarMemory(frame_).load(instruction, registers_);
  if (is_ahead) frame_.note_chunk(frame_.ir.getInt8(engine::no_chunk));
}

/// An instruction that is executed after the loop.
void Region::add_matrix(const isa::Instruction& instruction, const LaneEffects& effects, uint64_t pc) {
  // What scalars the region has changed, the wave has only after it.
  const bool is_alone = MatrixLowering::reads_scalars(instruction);
  if (is_alone) end();
  new_item(instruction, pc).is_matrix = true;
  plan_.matrix_reads |= effects.vector_reads;
  matrix_writes_ |= effects.vector_writes;
  if (versioning_ != Versioning::never) strides_.forget(effects);
  if (is_alone) end();
}

void Region::set_mode(const engine::CodeMode& mode) {
  if (plan_.items.empty()) return frame_.change_mode(frame_.mode, mode);
  plan_.mode_after = mode;
}

void Region::remove_branch(const isa::Instruction& branch, uint64_t pc, unsigned instructions) {
  llvm::IRBuilder<>& ir = frame_.ir;
  constexpr size_t max_branches = 64;
  if (plan_.skipped_by_branch.size() == max_branches) end();
  if (plan_.items.empty()) {
    llvm::Value* has_lanes = ir.CreateICmpNE(frame_.exec(), ir.getInt64(0));
    return uncount(ir.CreateSelect(has_lanes, ir.getInt64(0), ir.getInt64(instructions)));
  }
  new_item(branch, pc).removed_branch = static_cast<unsigned>(plan_.skipped_by_branch.size());
  plan_.skipped_by_branch.push_back(instructions);
}

void Region::uncount(llvm::Value* instructions) {
  llvm::IRBuilder<>& ir = frame_.ir;
  llvm::Value* address = frame_.at(frame_.run, offsetof(Run, instructions));
  ir.CreateStore(ir.CreateSub(ir.CreateLoad(frame_.i64(), address), instructions), address);
}

/// What the branches that were left out would have skipped.
void Region::uncount_skipped() {
  llvm::IRBuilder<>& ir = frame_.ir;
  if (plan_.skipped_by_branch.empty()) return;
  llvm::Value* had_lanes = ir.CreateLoad(frame_.i64(), has_lanes_);
  llvm::Value* skipped = ir.getInt64(0);
  for (size_t i = 0; i < plan_.skipped_by_branch.size(); ++i) {
    llvm::Value* is_set = ir.CreateICmpNE(ir.CreateAnd(had_lanes, uint64_t{1} << i), ir.getInt64(0));
    skipped = ir.CreateAdd(skipped, ir.CreateSelect(is_set, ir.getInt64(0), ir.getInt64(plan_.skipped_by_branch[i])));
  }
  uncount(skipped);
}

RegionItem& Region::new_item(const isa::Instruction& instruction, uint64_t pc) {
  if (plan_.items.empty()) plan_.masks_before = plan_.masks;
  RegionItem& item = plan_.items.emplace_back();
  item.instruction = &instruction;
  item.pc = pc;
  item.mode = frame_.mode;
  item.exec_written = plan_.masks.exec_written;
  item.inactive_needed = (lane_effects_of(instruction).vector_writes & after_->inactive).any();
  return item;
}

void Region::add_access(const isa::Instruction& instruction, unsigned element, uint64_t pc) {
  MemoryOperands operands = *memory_operands(instruction);
  const bool has_resource = operands.resource != nullptr;
  const semantics::MemoryAccess& access = semantics::memory_access(instruction);
  // Each part of an element that a buffer's end cuts off has a record.
  const uint32_t records = access.elements * (has_resource ? std::max(1u, access.words()) : 1u);
  if (num_records_ + records > engine::LoadRecords::max) end();
  if (has_resource && ordinary_resources_[operands.resource->reg]) operands.space = MemorySpace::buffer;
  const bool is_buffer = operands.space == MemorySpace::buffer;
  const unsigned spaces = shared_spaces(operands.space);
  const bool may_fault = operands.space != MemorySpace::lds;
  // At one address for all, scratch is there or it is not, whatever the region has changed.
  const bool by_lane = operands.space != MemorySpace::scratch || operands.address != nullptr;
  const bool is_late = may_fault && by_lane && changes_what_it_loaded_;
  // The observer of an atomic may inspect the wave.
  const bool follows_mode =
      operands.is_atomic && plan_.mode_after && plan_.mode_after->floats != plan_.items.front().mode.floats;
  // A fault is traced from the region's begin on, without the lanes of chunks that are done with it: others that read
  // theirs would find them not active.
  const bool reads_traced =
      may_fault && !plan_.items.empty() && ValuLowering::crosses_chunks(*plan_.items.front().instruction);
  const bool is_known = !has_resource || (is_buffer ? buffers_.knows(operands) : stack_.knows(operands));
  bool defers = ((loads_ | stores_) & spaces) != 0 && may_defer(instruction, operands);
  const bool conflicts = !defers && (stores_ & spaces) != 0;
  if (conflicts || is_late || follows_mode || reads_traced || !is_known || (may_fault && has_deferred_)) {
    end();
    defers = false;
  }
  llvm::Value* stack = has_resource && !is_buffer ? stack_.find(operands, registers_, pc) : nullptr;
  if (is_buffer) buffers_.check(operands, registers_, pc);
  if (operands.stores() && (loads_ & spaces) != 0 && !defers) {
    if (may_end_with(instruction, operands)) {
      plan_.last_store = plan_.items.size();
      plan_.live_at_store = *before_;
      plan_.masks_at_store = plan_.masks;
      plan_.held_at_store = registers_.values();
    } else {
      end();
    }
  }
  may_fault_ |= may_fault;
  if (frame_.odd != nullptr && frame_.odd->records()) num_records_ += records;
  if (operands.loads()) loads_ |= spaces;
  if (operands.stores()) stores_ |= spaces;
  has_deferred_ |= defers;
  RegionItem& item = new_item(instruction, pc);
  item.is_deferred = defers;
  if (is_buffer) {
    item.access = memory_.prepare_in_buffer(instruction, operands, registers_);
  } else if (has_resource) {
    item.access = ChunkMemory::prepare_on_stack(instruction, stack);
  } else {
    item.access = memory_.prepare(instruction, element, registers_);
  }
  if (!defers) follow_address(item);
  note_changes(instruction, operands);
}

bool Region::may_defer(const isa::Instruction& store, const MemoryOperands& operands) const {
  return versioning_ == Versioning::never && ChunkMemory::can_for_wave(store, operands);
}

void Region::note_changes(const isa::Instruction& instruction, const MemoryOperands& operands) {
  changes_what_it_loaded_ |= operands.is_atomic;
  if (operands.space != MemorySpace::scratch && operands.space != MemorySpace::flat) return;
  const ScratchPart part = scratch_part(instruction, operands);
  if (!operands.is_store) return scratch_loads_.push_back(part);
  changes_what_it_loaded_ |=
      std::ranges::any_of(scratch_loads_, [&](const ScratchPart& loaded) { return loaded.may_overlap(part); });
}

Region::ScratchPart Region::scratch_part(const isa::Instruction& instruction, const MemoryOperands& operands) {
  if (operands.space != MemorySpace::scratch || operands.address != nullptr) return {};
  const isa::Operand* base = operands.resource != nullptr ? operands.resource_offset : operands.scalar_base;
  return {base, operands.resource, instruction.offset, semantics::memory_access(instruction).bytes};
}

bool Region::ScratchPart::may_overlap(const ScratchPart& other) const {
  if (bytes == 0 || other.bytes == 0) return true;
  const auto same = [](const isa::Operand* a, const isa::Operand* b) {
    if (a == nullptr || b == nullptr) return a == b;
    return a->kind == b->kind && a->reg == b->reg && engine::constant_value(*a) == engine::constant_value(*b);
  };
  if (!same(base, other.base) || !same(resource, other.resource)) return true;
  return offset < other.offset + other.bytes && other.offset < offset + bytes;
}

void Region::follow_address(RegionItem& item) {
  const MemoryOperands& operands = item.access->operands;
  const MemorySpace space = outside_apertures(operands.space);
  const bool can_be_even = space == MemorySpace::global || space == MemorySpace::lds;
  if (versioning_ == Versioning::never || plan_.masks.exec_grows || !can_be_even || operands.is_atomic) return;
  const auto form = strides_.address(*item.access);
  if (!form) return;
  const auto stride = strides_.settle(*form, semantics::memory_access(*item.instruction));
  if (!stride || (plan_.masks.exec_written && (*stride == 0 || ChunkMemory::needs_all_lanes(*stride)))) return;
  item.address = form;
  item.stride = *stride;
}

bool Region::may_end_with(const isa::Instruction& store, const MemoryOperands& operands) {
  if (versioning_ == Versioning::never || plan_.masks.exec_written || plan_.every_chunk || stores_ != 0) return false;
  const MemorySpace space = outside_apertures(operands.space);
  if (space != MemorySpace::global && space != MemorySpace::lds) return false;
  if (operands.is_atomic) return false;
  const semantics::MemoryAccess& access = semantics::memory_access(store);
  const unsigned spaces = shared_spaces(operands.space);
  const auto is_unknown = [&](const RegionItem& item) {
    return item.access && (shared_spaces(item.access->operands.space) & spaces) != 0 && !item.address;
  };
  if (access.elements != 1 || std::ranges::any_of(plan_.items, is_unknown)) return false;
  const auto form = strides_.address(memory_.prepare(store, 0, registers_));
  if (!form || !strides_.settle(*form, access)) return false;
  return VersionGuard(frame_, lanes_, memory_, strides_, plan_.items).is_worth_it();
}

/// In the form that fits all.
void Region::emit_in_order() {
  for (const RegionPlan::Loop& loop : plan_.loops) {
    emit_loop(loop, nullptr);
    if (loop.end != plan_.items.size()) registers_.release(plan_.held_at_store);
  }
}

void Region::end() {
  if (plan_.items.empty()) return;
  const engine::CodeMode mode_here = frame_.mode;
  if (!plan_.skipped_by_branch.empty()) {
    has_lanes_ = frame_.local(frame_.i64(), llvm::Align(8));
    frame_.ir.CreateStore(frame_.ir.getInt64(0), has_lanes_);
  }
  VersionGuard guard(frame_, lanes_, memory_, strides_, plan_.items);
  plan_.is_versioned = plan_.last_store || (versioning_ == Versioning::for_addresses && guard.is_worth_it());
  plan_.live = *before_;
  plan_.plan_loops(frame_.lane_mask_words());
  report();
  if (plan_.is_versioned) {
    llvm::IRBuilder<>& ir = frame_.ir;
    llvm::Value* is_known = guard.emit(plan_.last_store ? &plan_.items[*plan_.last_store] : nullptr);
    const auto block = [&](const char* name) {
      return llvm::BasicBlock::Create(frame_.context, name, frame_.function);
    };
    llvm::BasicBlock *known = block("known"), *unknown = block("unknown"), *after = block("after");
    ir.CreateCondBr(is_known, known, unknown, llvm::MDBuilder(frame_.context).createBranchWeights(16, 1));
    ir.SetInsertPoint(known);
    emit_loop(*plan_.versioned, &guard);
    ir.CreateBr(after);
    ir.SetInsertPoint(unknown);
    memory_.set_hot(false);
    emit_in_order();
    memory_.set_hot(is_hot_);
    ir.CreateBr(after);
    ir.SetInsertPoint(after);
  } else {
    emit_in_order();
  }
  registers_.release(registers_.values());
  if (plan_.mode_after) frame_.change_mode(plan_.items.front().mode, *plan_.mode_after);
  frame_.mode = mode_here;
  uncount_skipped();
  clear();
}

/// Validates the plan, and prints it if requested.
void Region::report() {
  const std::vector<std::string> faults = faults_of(plan_);
  if (std::string* text = frame_.plans.text) {
    *text += print(plan_);
    for (const std::string& fault : faults) *text += "  WRONG: " + fault + '\n';
  }
  for (const std::string& fault : faults) {
    frame_.plans.faults.push_back(fmt::format("region at {:#x}: {}", plan_.items.front().pc, fault));
  }
}

void Region::clear() {
  plan_ = {};
  halves_.clear();
  registers_.clear();
  strides_ = {};
  may_fault_ = has_deferred_ = false;
  num_records_ = 0;
  scalars_read_.reset();
  loads_ = stores_ = 0;
  scratch_loads_.clear();
  matrix_writes_.reset();
  changes_what_it_loaded_ = false;
}

/// For one chunk.
void Region::emit_item(const RegionItem& item, ChunkState& chunk, DeferredStores& deferred,
                       const ChunkMemory::Strided* strided) {
  llvm::IRBuilder<>& ir = frame_.ir;
  const bool keep_inactive = item.inactive_needed && (item.exec_written || plan_.masks.exec_grows);
  if (item.is_deferred) {
    if (frame_.odd != nullptr) memory_.look_at(*item.access, chunk);
    deferred.come_to(item, chunk);
  } else if (item.access) {
    memory_.emit(*item.access, keep_inactive, chunk, strided);
  } else if (item.removed_branch) {
    llvm::Value* bit = ir.getInt64(uint64_t{1} << *item.removed_branch);
    llvm::Value* has_lanes = ir.CreateICmpNE(ir.CreateBitCast(chunk.exec(), frame_.i16()), ir.getInt16(0));
    llvm::Value* before_it = ir.CreateLoad(frame_.i64(), has_lanes_);
    ir.CreateStore(ir.CreateOr(before_it, ir.CreateSelect(has_lanes, bit, ir.getInt64(0))), has_lanes_);
  } else if (item.is_vector) {
    lanes_.emit(item.lanes, keep_inactive, chunk);
  } else {
    scalars_.emit_on_varying_masks(*item.instruction, item.whole, item.scc, chunk);
  }
}

/// Whether the addresses of accesses with a scalar base are right, for all lanes and once. Without lanes, the base may
/// be anything.
void Region::check_bases(std::span<const RegionItem> items, const VersionGuard* guard, llvm::Value* exec) {
  llvm::IRBuilder<>& ir = frame_.ir;
  llvm::Value* offsets = nullptr;
  for (const RegionItem& item : items) {
    if (!item.access) continue;
    if (guard != nullptr && guard->strided(static_cast<size_t>(&item - items.data())) != nullptr) continue;
    llvm::Value* offset = memory_.base_offset(*item.access);
    if (offset != nullptr) offsets = offsets != nullptr ? ir.CreateOr(offsets, offset) : offset;
  }
  if (offsets == nullptr) return;
  frame_.check(ir.CreateOr(frame_.bounds->hold(offsets), ir.CreateICmpEQ(exec, ir.getInt64(0))));
}

void Region::emit_loop(const RegionPlan::Loop& planned, const VersionGuard* guard) {
  llvm::IRBuilder<>& ir = frame_.ir;
  const auto items = std::span(std::as_const(plan_.items)).subspan(planned.first, planned.end - planned.first);
  if (std::ranges::all_of(items, &RegionItem::is_matrix)) return matrices_.emit(items);
  ChunkLoop loop(frame_, *frame_.function);
  llvm::BasicBlock* begin = loop.block("begin", loop.lanes);

  llvm::Value* exec = frame_.exec();
  std::map<unsigned, llvm::Value*> gathered;  // 64 bits
  const auto gather = [&] {
    llvm::Value* whole = frame_.local(frame_.i64(), llvm::Align(8));
    ir.CreateStore(ir.getInt64(0), whole);
    return whole;
  };
  const bool may_fault = std::ranges::any_of(
      items, [](const RegionItem& item) { return item.access && item.access->operands.space != MemorySpace::lds; });
  for (const unsigned reg : planned.results.masks) gathered[reg] = gather();
  DeferredStores deferred(frame_, memory_, items, exec);
  llvm::Value* gathered_scc = planned.results.gathers_scc ? gather() : nullptr;
  const auto note_chunk = [&](llvm::Value* chunk) {
    if (may_fault) frame_.note_chunk(chunk);
  };
  if (may_fault) frame_.note_pc(items.front().pc);
  check_bases(items, guard, exec);
  llvm::Instruction* once_end = loop.enter(exec);
  if (frame_.odd != nullptr) frame_.odd->begin_records(once_end);
  // Without active lanes, all that a vector instruction does is to yield masks of zeros.
  if (plan_.every_chunk) ir.CreateBr(begin);
  if (!plan_.every_chunk) loop.skip_inactive(begin);

  ir.SetInsertPoint(begin);
  ChunkState chunk(frame_, once_end, ir.CreateBr(loop.lanes), loop.first_lane(), /*branches=*/false);

  ir.SetInsertPoint(loop.lanes);
  note_chunk(ir.CreateLShr(loop.first_lane(), 4));
  for (const RegionItem& item : items) {
    frame_.mode = item.mode;
    frame_.access_pc = item.pc;
    if (item.is_matrix) continue;
    const auto number = static_cast<size_t>(&item - items.data());
    emit_item(item, chunk, deferred, guard != nullptr ? guard->strided(number) : nullptr);
  }
  frame_.bounds->check();
  llvm::Value* all = llvm::ConstantInt::getTrue(frame_.lanes());
  chunk.write_rows(planned.results.rows | deferred.rows(),
                   plan_.masks.exec_grows ? all : ir.CreateBitCast(loop.active(), frame_.lanes()),
                   versioning_ == Versioning::for_addresses && !plan_.masks.exec_grows);
  const auto place = [&](llvm::Value* slice, llvm::Value* whole) {
    llvm::Value* placed = ir.CreateShl(chunk.bits(slice), chunk.first_lane64());
    ir.CreateStore(ir.CreateOr(ir.CreateLoad(frame_.i64(), whole), placed), whole);
  };
  for (const auto& [reg, whole] : gathered) place(chunk.mask(reg), whole);
  if (gathered_scc != nullptr) place(chunk.scc_slice(), gathered_scc);
  ir.CreateBr(loop.next);
  loop.finish();

  note_chunk(ir.getInt8(engine::no_chunk));
  if (frame_.odd != nullptr) frame_.odd->report_records();
  deferred.emit();
  matrices_.emit(items);
  WaveScalars registers(frame_);
  for (const auto& [reg, whole] : gathered) set_lane_mask(frame_, registers, reg, ir.CreateLoad(frame_.i64(), whole));
  if (gathered_scc != nullptr) {
    llvm::Value* any = ir.CreateICmpNE(ir.CreateLoad(frame_.i64(), gathered_scc), ir.getInt64(0));
    registers.set_scc(ir.CreateZExt(any, ir.getInt8Ty()));
  }
}

}  // namespace Atoll::compiler
